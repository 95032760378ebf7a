# frozen_string_literal: true

# A recipe. Ruby evaluates the recipe's file in an object of this class.

require_relative "dsl/recipe"

class Chef
  class Recipe
    include DSL::Recipe
    include Mixin::FromFile

    attr_accessor :cookbook_name, :recipe_name, :recipe, :params, :run_context

    # `["cookbook", "recipe"]` of `cookbook::recipe`, `::recipe` or `cookbook`.
    def self.parse_recipe_name(name, current_cookbook: nil)
      case name
      when /(.+?)::(.+)/ then [Regexp.last_match(1).to_sym, Regexp.last_match(2)]
      when /^::(.+)/
        raise "current_cookbook is nil, cannot resolve #{name}" if current_cookbook.nil?

        [current_cookbook.to_sym, Regexp.last_match(1)]
      else [name.to_sym, "default"]
      end
    end

    def initialize(cookbook_name, recipe_name, run_context)
      @cookbook_name = cookbook_name
      @recipe_name = recipe_name
      @run_context = run_context
      @params = {}
    end

    def node = run_context.node
    def to_s = "cookbook: #{cookbook_name || "(none)"}, recipe: #{recipe_name || "(none)"} "
    def inspect = to_s

    # Declares resources from data: `{"resources": [{"type": .., "name": .., PROPERTY: VALUE}]}`.
    def from_hash(hash)
      hash["resources"].each do |one|
        said = one.dup
        type = said.delete("type").to_sym
        resource = declare_resource(type, said.delete("name"))
        said.each { |name, value| resource.send(name, value) }
      end
    end
  end
end
