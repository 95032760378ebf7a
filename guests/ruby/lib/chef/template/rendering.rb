# frozen_string_literal: true

# Renders the text of a `template` resource from its file and its variables.

class Chef
  class Template
    # Returns the text of a template file from a cookbook or from the machine. Content that is not valid UTF-8 stays binary.
    def self.text(path)
      text = Wrun::Sources.read(path) || ::File.binread(path)
      text = text.dup.force_encoding(Encoding::UTF_8)
      text.valid_encoding? ? text : text.force_encoding(Encoding::BINARY)
    end

    # Finds templates: in a cookbook the most specific one for this node, or by its path on the machine.
    class Finder
      def initialize(run_context, cookbook_name, node)
        @run_context = run_context
        @cookbook_name = cookbook_name
        @node = node
      end

      def find(name, options = {})
        name = options[:source] || name
        return name if options[:local]

        cookbook = @run_context.cookbook_collection[(options[:cookbook] || @cookbook_name).to_s]
        cookbook.preferred_filename_on_disk_location(@node, :templates, name)
      end
    end

    # Renders a resource's template.
    class Rendering
      # The bytes for a `template` resource.
      def self.for(resource) = new(resource).bytes

      # Returns the bytes for the host, or nil if the source file does not exist yet in a dry run.
      def self.content(resource)
        rendering = new(resource)
        rendering.source? ? Wrun::Content.new(rendering.bytes) : nil
      end

      def initialize(resource)
        @resource = resource
        @finder = Finder.new(resource.run_context, resource.cookbook_name, resource.run_context.node)
      end

      def bytes
        context = Mixin::Template::TemplateContext.new(resolved(@resource.variables) || {})
        given = context.keys
        about_template.each { |key, value| context[key] = value unless given.include?(key.name) }
        context[:node] = @resource.run_context.node
        context[:template_finder] = @finder
        context._extend_modules(@resource.helper_modules)
        context.render_template(path).b
      end

      # Returns true if the source file exists. If it is missing, returns false in a dry run and raises an error in a real run.
      def source?
        # The runtime contains the source files of its own types.
        return true if !@resource.local || path.match?(Wrun::Machine::RUNTIME) || ::File.exist?(path)
        return false if Config[:why_run]

        raise Mixin::WhyRun::ResourceRequirements::Assertion::AssertionFailure, "Template source #{path} could not be found."
      end

      private

      def path
        @path ||= @finder.find(source, local: @resource.local, cookbook: @resource.cookbook)
      end

      def source = @resource.source

      def about_template
        {
          cookbook_name: @resource.cookbook_name, recipe_name: @resource.recipe_name, template_name: source,
          recipe_line_string: @resource.source_line, recipe_path: @resource.source_line_file,
          recipe_line: @resource.source_line_number, template_path: path
        }
      end

      # Evaluates lazy values at all depths of the variables.
      def resolved(value)
        case value
        when Hash
          kind = value.is_a?(Node::ImmutableMash) ? ChefUtils::Mash : value.class
          value.each_with_object(kind.new) { |(key, one), all| all[key] = resolved(one) }
        when Array then value.map { |one| resolved(one) }
        when DelayedEvaluator then @resource.instance_eval(&value)
        else value
        end
      end
    end

    # Adds the methods with which a `template` block defines helpers.
    module HelperMethods
      def helper(name, &block)
        unless block
          raise Exceptions::ValidationFailed, "`helper(:method)` requires a block argument (e.g., `helper(:method) { code }`)"
        end
        unless name.is_a?(Symbol)
          raise Exceptions::ValidationFailed,
                "method_name argument to `helper(method_name)` must be a symbol (e.g., `helper(:method) { code }`)"
        end

        inline_helper_blocks[name] = block
      end

      def helpers(helper_module = nil, &block)
        if block && helper_module
          raise Exceptions::ValidationFailed,
                "Passing both a module and block to #helpers is not supported. Call #helpers multiple times instead"
        end
        return inline_helper_modules << block if block
        return given_helper_modules << helper_module if helper_module.is_a?(::Module)

        raise Exceptions::ValidationFailed, complaint(helper_module)
      end

      # All helpers as modules: single methods, then blocks, then modules.
      def helper_modules
        methods = inline_helper_blocks
        single = methods.empty? ? [] : [Module.new { methods.each { |name, body| define_method(name, &body) } }]
        single + inline_helper_modules.map { |body| Module.new(&body) } + given_helper_modules
      end

      def inline_helper_blocks = @inline_helper_blocks ||= {}
      def inline_helper_modules = @inline_helper_modules ||= []

      private

      def given_helper_modules = @helper_modules ||= []

      def complaint(given)
        if given.nil?
          "#helpers requires either a module name or inline module code as a block.\n" \
            "e.g.: helpers do; helper_code; end;\nOR: helpers(MyHelpersModule)"
        else
          "Argument to #helpers must be a module. You gave #{given.inspect} (#{given.class})"
        end
      end
    end
  end

  class Provider
    # Chef's name for the finder. Some cookbooks create one.
    TemplateFinder = Chef::Template::Finder unless const_defined?(:TemplateFinder, false)
  end
end
