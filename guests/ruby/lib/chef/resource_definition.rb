# frozen_string_literal: true

# Implements `define :name, param: default do .. end`: a recipe with parameters that is used like a resource.

class Chef
  class ResourceDefinition
    include Mixin::FromFile
    include Mixin::ParamsValidate

    attr_accessor :name, :params, :recipe, :node, :source_file

    def initialize(node = nil)
      @params = {}
      @node = node
    end

    def define(name, parameters = nil, &recipe)
      raise ArgumentError, "You must use a symbol when defining a new resource!" unless name.is_a?(Symbol)
      unless parameters.nil? || parameters == false || parameters.is_a?(Hash)
        raise ArgumentError, "You must pass a hash as the prototype parameters for a definition."
      end
      raise ArgumentError, "You must pass a block to a definition." unless recipe

      @name = name
      @params = parameters if parameters
      @recipe = recipe
      DSL::Definitions.add_definition(name)
      true
    end

    # Sets a parameter for `name value` in the block of a use. Zero or several values become a list.
    def method_missing(name, *given)
      @params[name] = given.size == 1 ? given.first : given
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

    def define(name, parameters = nil, &recipe)
      @defines[name] = ResourceDefinition.new(node)
      @defines[name].define(name, parameters, &recipe)
      true
    end
  end
end
