# frozen_string_literal: true

# Tracks the recipes and attributes files that a policy has loaded, and includes one in another. Chef's run contexts answer these
# questions, so Chef::RunContext includes a module that answers them.

class Chef
  module Cookbook
    # Stores the loaded files, and the run contexts that are including recipes now.
    module Loaded
      @recipes = {}
      @attributes = {}
      @reachable = {}
      @including = []

      class << self
        # Recipe objects by `cookbook::recipe`; attributes files by `cookbook::file`; cookbooks of the run by name.
        attr_reader :recipes, :attributes, :reachable

        # Runs the block. Recipes that load in it are included into the given run context.
        def including(run_context)
          @including.push(run_context)
          yield
        ensure
          @including.pop
        end

        # Returns the run context that included the recipe that is being compiled.
        def run_context = @including.last || Chef.run_context

        # Runs the block without an including run context, for recipes of the run list.
        def forget_includer(&) = including(nil, &)
      end
    end

    # Returns cookbook and recipe for a name: `a`, `a::b`, or `::b` within a cookbook.
    def self.parse_recipe_name(name, current_cookbook: nil)
      case name
      when /\A(.+?)::(.+)\z/m then [$1.to_sym, $2]
      when /\A::(.+)/
        raise "current_cookbook is nil, cannot resolve #{name}" if current_cookbook.nil?

        [current_cookbook.to_sym, $1]
      else [name.to_sym, "default"]
      end
    end
  end

  class RunContext
    # Adds the loading of recipes and attributes files to a run context.
    module Loading
      def include_recipe(*names, current_cookbook: nil)
        names.flatten.filter_map { |name| load_recipe(name, current_cookbook: current_cookbook) || nil }
      end

      # Returns the recipe, or false if it has been loaded before.
      def load_recipe(name, current_cookbook: nil)
        cookbook, recipe = Cookbook.parse_recipe_name(name, current_cookbook: current_cookbook)
        warn_of_unreachable(name, cookbook) if unreachable_cookbook?(cookbook)
        # A cookbook's name is never empty, and the host refuses an empty name.
        return cookbook_collection[cookbook] if cookbook.empty?

        full = "#{cookbook}::#{recipe}"
        return false if Cookbook::Loaded.recipes.key?(full)

        # The host finds a missing recipe or cookbook when it requests the compilation.
        Cookbook::Loaded.including(self) { Wrun::Turns.converse("include-recipe", full) }
        Cookbook::Loaded.recipes[full] || true
      end

      def unreachable_cookbook?(cookbook) = !Cookbook::Loaded.reachable.key?(cookbook.to_s)
      def loaded_recipes = Cookbook::Loaded.recipes.keys
      def loaded_fully_qualified_recipe?(cookbook, recipe) = Cookbook::Loaded.recipes.key?("#{cookbook}::#{recipe}")
      def loaded_recipe?(name) = loaded_fully_qualified_recipe?(*Cookbook.parse_recipe_name(name.to_s))
      def loaded_attributes = Cookbook::Loaded.attributes.keys
      def loaded_attribute(cookbook, file) = Cookbook::Loaded.attributes["#{cookbook}::#{file}"] = true
      def loaded_fully_qualified_attribute?(cookbook, file) = Cookbook::Loaded.attributes.key?("#{cookbook}::#{file}")

      def resolve_attribute(cookbook, file)
        path = cookbook_collection[cookbook].attribute_filenames_by_short_filename[file]
        path or raise(Exceptions::AttributeNotFound,
                      "could not find filename for attribute #{file} in cookbook #{cookbook}")
      end

      def has_template_in_cookbook?(cookbook, name) = cookbook_collection[cookbook].has_template_for_node?(node, name)
      def has_cookbook_file_in_cookbook?(cookbook, name) = cookbook_collection[cookbook].has_cookbook_file_for_node?(node, name)

      private

      def warn_of_unreachable(name, cookbook)
        Chef::Log.debug("MissingCookbookDependency:\nRecipe `#{name}` is not in the run_list, and cookbook '#{cookbook}'\n" \
                       "is not a dependency of any cookbook in the run_list. To load this recipe,\nfirst add a " \
                       "dependency of the cookbook '#{cookbook}' into the metadata\nof the cookbook which depends on " \
                       "'#{cookbook}'.\n")
      end
    end
  end

  module DSL
    # `include_recipe` and `load_recipe`, in recipes and actions.
    module IncludeRecipe
      def include_recipe(*names) = run_context.include_recipe(*names, current_cookbook: cookbook_name)
      def load_recipe(name) = run_context.load_recipe(name, current_cookbook: cookbook_name)
    end

    # Adds `include_attribute`, which loads an attributes file at most once per run.
    module IncludeAttribute
      def include_attribute(*specifications)
        specifications.flatten.each do |specification|
          cookbook, file = parse_attribute_file_spec(specification)
          next if run_context.loaded_fully_qualified_attribute?(cookbook, file)

          run_context.loaded_attribute(cookbook, file)
          node.from_file(run_context.resolve_attribute(cookbook, file))
        end
        true
      end

      def parse_attribute_file_spec(specification)
        found = specification.match(/(.+?)::(.+)/)
        found ? [found[1], found[2]] : [specification, "default"]
      end
    end
  end
end
