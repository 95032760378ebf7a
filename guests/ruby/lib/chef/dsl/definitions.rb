# frozen_string_literal: true

# Adds a method for each definition (`define`) of a cookbook.

require_relative "../mixin/params_validate"

class Chef
  module DSL
    module Definitions
      def self.add_definition(name)
        define_method(name) { |*given, &block| evaluate_resource_definition(name, *given, &block) }
      end

      def has_resource_definition?(name) = run_context.definitions.key?(name)

      def evaluate_resource_definition(name, *given, &block)
        used = run_context.definitions.fetch(name).dup
        used.params = used.params.dup
        used.node = run_context.node
        used.instance_eval(&block) if block
        recipe = Chef::Recipe.new(cookbook_name, recipe_name, run_context)
        recipe.params = used.params
        recipe.params[:name] = given.first
        recipe.instance_eval(&used.recipe)
      end
    end
  end
end
