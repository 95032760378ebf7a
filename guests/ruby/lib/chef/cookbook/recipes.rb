# frozen_string_literal: true

# Runs the phase `compile` for one recipe in Ruby, YAML or JSON.

class Chef
  module Cookbook
    module Recipes
      class << self
        # Compiles `cookbook::recipe` and returns it.
        def compile(full_name)
          cookbook_name, recipe_name = Cookbook.parse_recipe_name(full_name)
          run_context = Loaded.run_context
          # Marks the recipe before it is compiled, so that a recipe that includes itself does not loop.
          Loaded.recipes[full_name] = true
          cookbook = CookbookCollection.instance[cookbook_name]
          recipe = Chef::Recipe.new(cookbook.name, recipe_name, run_context)
          Loaded.recipes[full_name] = recipe
          Loaded.including(nil) { evaluate(recipe, cookbook, recipe_name) }
          recipe
        end

        private

        def evaluate(recipe, cookbook, name)
          if (path = cookbook.recipe_filenames_by_name[name]) then recipe.from_file(path)
          elsif (path = cookbook.recipe_yml_filenames_by_name[name]) then Data.from_yaml_file(recipe, path)
          elsif (path = cookbook.recipe_json_filenames_by_name[name]) then Data.from_json_file(recipe, path)
          else raise Wrun::Hints.attach(not_found(cookbook, name), hint(cookbook, name))
          end
        end

        def not_found(cookbook, name)
          Exceptions::RecipeNotFound.new("could not find recipe #{name} for cookbook #{cookbook.name}")
        end

        # Returns a hint with a similar name and all recipes of the cookbook. For a cookbook without recipes, it names its
        # resource types.
        def hint(cookbook, name)
          recipes = %i[recipe_filenames_by_name recipe_yml_filenames_by_name recipe_json_filenames_by_name]
          there = recipes.flat_map { |files| cookbook.public_send(files).keys }.uniq.sort
          near = Wrun::Hints.nearest(name, there)
          return "#{"did you mean `#{near}`? " if near}the recipes of #{cookbook.name}: #{there.join(", ")}" unless there.empty?

          types = types_of(cookbook.name)
          return "#{cookbook.name} has no recipes" if types.empty?

          "#{cookbook.name} has no recipes, only resources to be used in others: #{types.join(", ")}"
        end

        # Returns the names of a cookbook's resource types as recipes use them.
        def types_of(cookbook)
          files = Wrun::Sources.paths(cookbook, "resources").grep(/\.rb\z/)
          classes = Chef::Resource::LWRPBase.loaded_lwrps
          files.filter_map { |file| classes[Wrun::Sources.path(cookbook, file)]&.resource_name }.uniq
        end
      end

      # Compiles recipes in YAML and JSON: lists of resources with their properties.
      module Data
        class << self
          def from_yaml_file(recipe, path)
            text = Mixin::FromFile.text(path)
            if text.scan(/^---\s*$/).size > 1
              raise ArgumentError, "YAML recipe '#{path}' contains multiple documents, only one is supported"
            end

            from_hash(recipe, YAML.safe_load(text, permitted_classes: [Date]), path,
                      "YAML recipe '#{path}' must contain a top-level 'resources' hash (YAML sequence), i.e. 'resources:'")
          end

          def from_json_file(recipe, path)
            from_hash(recipe, JSONCompat.from_json(Mixin::FromFile.text(path)), path,
                      "JSON recipe '#{path}' must contain a top-level 'resources' hash")
          end

          def from_hash(recipe, data, path, complaint)
            raise ArgumentError, complaint unless data.is_a?(Hash) && (data.key?("resources") || data.key?("include_recipes"))

            # Evaluates the code under the path of the recipe's file, so that the resources have it as their source.
            code = "proc { |recipe, type, name, block| recipe.declare_resource(type, name, &block) }"
            declaring = TOPLEVEL_BINDING.eval(code, path, 1)
            data["resources"]&.each { |resource| declare(recipe, resource.dup, declaring) }
            data["include_recipes"]&.each { |name| recipe.include_recipe(name) }
          end

          private

          def declare(recipe, properties, declaring)
            type = properties.delete("type").to_sym
            name = properties.delete("name")
            declaring.call(recipe, type, name, proc { properties.each { |property, value| send(property, value) } })
          end
        end
      end
    end
  end
end
