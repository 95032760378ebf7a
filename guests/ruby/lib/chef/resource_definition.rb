# frozen_string_literal: true

# `define :name, param: default do .. end`: a recipe with parameters, used as if it were a resource.

class Chef
  class ResourceDefinition
    include Mixin::FromFile
    include Mixin::ParamsValidate

    attr_accessor :name, :params, :recipe, :node, :source_file

    def initialize(node = nil)
      @params = {}
      @node = node
    end

    def define(name, parameters = {}, &recipe)
      raise ArgumentError, "Resource definition name must be a symbol, not #{name.inspect}" unless name.is_a?(Symbol)
      raise ArgumentError, "You must pass a block to define" unless recipe

      @name = name
      @params = parameters
      @recipe = recipe
      DSL::Definitions.add_definition(name)
      true
    end

    # In a use's block, `name value` sets a parameter; without a value it reads one.
    def method_missing(name, *given, &block)
      raise ArgumentError, "You must pass only one argument to a parameter" if given.size > 1
      return @params[name] if given.empty? && block.nil?

      @params[name] = block || given.first
    end

    def respond_to_missing?(_name, _all = false) = false
    def to_s = name.to_s
  end

  # The definitions of one file.
  class ResourceDefinitionList
    include Mixin::FromFile

    attr_accessor :defines, :node, :source_file

    def initialize(node = nil)
      @defines = {}
      @node = node
    end

    def define(name, parameters = {}, &recipe)
      @defines[name] = ResourceDefinition.new(node)
      @defines[name].define(name, parameters, &recipe)
      true
    end
  end
end
