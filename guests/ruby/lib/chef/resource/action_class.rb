# frozen_string_literal: true

# Runs the actions of a custom resource. `action :create do` defines a method in a subclass of this class.

require_relative "../provider"

class Chef
  class Resource
    class ActionClass < Provider
      class << self
        attr_accessor :resource_class

        def include_resource_dsl? = true
        def to_s = "#{resource_class} action provider"
        def inspect = to_s
      end

      def to_s = "#{new_resource || "<no resource>"} action #{action ? action.inspect : "<no action>"}"

      def load_current_resource
        @current_resource = return_load_current_value
      end

      def load_after_resource
        @after_resource = return_load_current_value
      end

      # Returns a new resource with the present state, or nil. It gets the identifying properties, and then
      # `load_current_value` fills in the others.
      def return_load_current_value
        return unless new_resource.respond_to?(:load_current_value!)

        resource = new_resource.class.new(new_resource.name, new_resource.run_context)
        new_resource.class.properties.each_value do |property|
          next if property.desired_state? && !property.identity? && !property.name_property?

          property.set(resource, new_resource.send(property.name)) if property.set?(new_resource)
        end
        if resource.method(:load_current_value!).arity.positive?
          resource.load_current_value!(new_resource)
        else
          resource.load_current_value!
        end
        resource
      rescue Exceptions::CurrentValueDoesNotExist
        nil
      end
    end
  end
end
