# frozen_string_literal: true

# Defines the methods of recipes and of custom resources' actions.

require_relative "universal"
require_relative "declare_resource"
require_relative "resources"
require_relative "definitions"

class Chef
  module DSL
    # `include_recipe`: see `chef/cookbook`, which knows the cookbooks' files.
    module IncludeRecipe
    end

    module Recipe
      include Universal
      include DeclareResource
      include IncludeRecipe
      include Resources
      include Definitions

      def resource_class_for(name) = Chef::Resource.resource_for_node(name, run_context.node)

      def have_resource_class_for?(name) # rubocop:disable Naming/PredicateName -- Chef's name
        !resource_class_for(name).nil?
      rescue NameError
        false
      end

      # Runs the resources of the block, and their notifications, at once.
      def notifying_block(&)
        compile_and_converge_action(&)
      end

      def subcontext_block(&) = notifying_block(&)

      def exec(arguments)
        raise Exceptions::ResourceNotFound,
              "exec was called, but you probably meant to use an execute resource.  If not, please call Kernel#exec " \
              "explicitly.  The exec block called was \"#{arguments}\""
      end

      # Reports an undefined name in a recipe, in the words of older Ruby versions, which Chef's users know.
      def method_missing(name, *given, &block)
        super
      rescue NameError => error
        raise unless error.name == name && error.receiver.equal?(self) && is_a?(Chef::Recipe)

        what = error.is_a?(NoMethodError) ? "undefined method" : "undefined local variable or method"
        message = "#{what} `#{name}' for #{self}:#{self.class}"
        raise error.is_a?(NoMethodError) ? NoMethodError.new(message, name, given, receiver: self) : NameError.new(message, name, receiver: self)
      end

      def respond_to_missing?(_name, _all = false) = false
    end
  end
end
