# frozen_string_literal: true

# Implements the `self` of a template's code: variables as instance variables, the node, helpers and partials.

class Chef
  module Mixin
    module Template
      # Cookbooks may add methods for all their templates to this module.
      module ChefContext; end

      # A template's own `self`.
      class TemplateContext
        include Enumerable
        include ChefContext

        attr_reader :cookbook_name, :recipe_name, :recipe_line_string, :recipe_path, :recipe_line, :template_name, :template_path

        def initialize(variables = {})
          @_extension_modules = []
          update(variables)
        end

        def [](key) = instance_variable_get(:"@#{key}")

        def []=(key, value)
          instance_variable_set(:"@#{key}", value)
        end

        def keys = instance_variables.map { |name| name.name.delete_prefix("@") }
        def each = instance_variables.each { |name| yield(name.name.delete_prefix("@"), instance_variable_get(name)) }
        def update(values) = values.each_pair { |key, value| self[key] = value }.then { self }
        def to_hash = keys.to_h { |key| [key, self[key]] }

        def run_context = Chef.run_context
        def inspect = "#<#{self.class} template_name=#{@template_name.inspect} cookbook_name=#{@cookbook_name.inspect}>"

        def node
          @node || raise("Could not find a value for node. If you are explicitly setting variables in a template, include a " \
                         "node variable if you plan to use it.")
        end

        # Renders a partial. It sees this template's variables, unless the caller passes other variables.
        def render(partial_name, options = {})
          raise "You cannot render partials in this context" unless @template_finder

          options = options.dup
          variables = options.delete(:variables) || _public_instance_variables
          context = self.class.new(variables.merge(template_finder: @template_finder))
          context._extend_modules(@_extension_modules)
          path = @template_finder.find(partial_name, options)
          _render_template(Chef::Template.text(path), context, filename: path)
        end

        def render_template(path) = _render_template(Chef::Template.text(path), self, filename: path)
        def render_template_from_string(template) = _render_template(template, self)

        def _render_template(template, context, options = {})
          path = options[:filename] || "(erubis)"
          body = Chef::Template::Compiler.body(template, path)
          context.instance_eval(&body).tap { Wrun::Misspelt.variables(template, context, path) }
        rescue StandardError, ScriptError => error
          # If a dry run could not ask something, the template is not wrong: its content is unknown, like that of a lazy value.
          raise if Wrun::Machine.dry_failure?(error)

          error = Chef::Template::Syntax.error(Chef::Template::Compiler.new(template).ruby, path, template) || error if error.is_a?(SyntaxError)
          raise TemplateError.new(error, template, context, options)
        end

        def _extend_modules(modules)
          modules.each do |helpers|
            warn_of_overridden(helpers)
            extend(helpers)
            @_extension_modules << helpers
          end
        end

        def _public_instance_variables
          names = instance_variables - [:@_extension_modules]
          names.to_h { |name| [name.name.delete_prefix("@").to_sym, instance_variable_get(name)] }
        end

        private

        def warn_of_overridden(helpers)
          %i[node render render_template render_template_from_string].each do |name|
            next unless helpers.method_defined?(name) || helpers.private_method_defined?(name)

            Chef::Log.warn("Core template method `#{name}' overridden by extension module #{helpers}")
          end
        end
      end

      # An error in a template. `message` is the original message, and `to_s` also shows the place.
      class TemplateError < RuntimeError
        AROUND = 2
        LONGEST = 10_000

        attr_reader :original_exception, :context, :options

        def initialize(original, template, context, options)
          super()
          @original_exception = original
          @template = template
          @context = context
          @options = options
          @text = shortened(original.message.to_s)
          set_backtrace(original.backtrace) if original.backtrace
        end

        def message = @text

        def line_number
          name = Regexp.escape(options[:filename] || "(erubis)")
          frames = [original_exception.message.to_s, *original_exception.backtrace]
          @line_number ||= frames.filter_map { |frame| frame[/#{name}:(\d+)/, 1]&.to_i }.first
        end

        def source_location = "on line ##{line_number}"

        def source_listing
          lines = @template.split("\n")
          first = line_number ? [line_number - 1 - AROUND, 0].max : 0
          shown = line_number ? lines[first, (AROUND * 2) + 1] || [] : lines
          shown.each_with_index.map { |line, index| "#{(first + index + 1).to_s.rjust(3)}: #{line}" }.join("\n")
        end

        def to_s
          places = []
          places << "cookbook: #{@context.cookbook_name}" if @context.cookbook_name
          places << "template: #{@context.template_name}" if @context.template_name
          hint = places.empty? ? "" : " (#{places.join(", ")})"
          "\n\n#{self.class} (#{message}) #{source_location}#{hint}:\n\n#{source_listing}\n\n" \
            "  #{Array(original_exception.backtrace).join("\n  ")}\n\n"
        end

        private

        def shortened(text)
          text.size > LONGEST ? "#{text[0, LONGEST]}\n... [truncated #{text.size - LONGEST} characters]" : text
        end
      end
    end
  end
end
