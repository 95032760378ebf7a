# frozen_string_literal: true

# Provides Erubis on top of this library's templates, for cookbooks that render text themselves.

require_relative "chef/template/compiler"

module Erubis
  VERSION = "2.7.0"

  # A `self` for a template, with values as instance variables.
  class Context
    def initialize(values = {}) = values.each { |name, value| self[name] = value }
    def [](name) = instance_variable_get(:"@#{name}")

    def []=(name, value)
      instance_variable_set(:"@#{name}", value)
    end
  end

  class Eruby
    attr_reader :src, :filename

    def initialize(template, options = {})
      @src = Chef::Template::Compiler.new(template).ruby
      @filename = options[:filename] || "(erubis)"
    end

    # Renders the template with an object as `self`, or with a hash as instance variables.
    def evaluate(context = Context.new)
      context = Context.new(context) if context.is_a?(Hash)
      context.instance_eval(&TOPLEVEL_BINDING.eval("proc { #{src} }", filename, 1))
    end

    # Renders the template with local variables from a binding or a hash.
    def result(variables = TOPLEVEL_BINDING)
      return variables.eval(src, filename, 1) if variables.is_a?(Binding)

      place = Object.new.instance_eval { binding }
      variables.each { |name, value| place.local_variable_set(name.to_sym, value) }
      place.eval(src, filename, 1)
    end
  end

  FastEruby = Eruby
end
