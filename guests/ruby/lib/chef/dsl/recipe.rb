# frozen_string_literal: true

# What one may say in a recipe, and in the actions of a custom resource.

require_relative "universal"
require_relative "declare_resource"
require_relative "resources"
require_relative "definitions"

class Chef
  module DSL
    # Recipes of other cookbooks: the files are somebody else's, see `chef/cookbook`.
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

      # Runs what a block declares at once, and notifications too.
      def notifying_block(&)
        compile_and_converge_action(&)
      end

      def subcontext_block(&) = notifying_block(&)

      def exec(arguments)
        raise Exceptions::ResourceNotFound,
              "exec was called, but you probably meant to use an execute resource.  If not, please call Kernel#exec " \
              "explicitly.  The exec block called was \"#{arguments}\""
      end

      # Names that nobody knows, in the words that Chef's users know.
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
