# frozen_string_literal: true

# Methods of provider classes, which declare their resource types and actions.

class Chef
  class Provider
    module ClassLevel
      def provides(name, **filters, &) = Chef.provider_handler_map.set(name.to_sym, self, **filters, &)
      def provides?(node, resource) = ProviderResolver.new(node, resource, :nothing).provided_by?(self)
      def supports?(_resource, _action) = true
      def use_inline_resources = nil
      def include_resource_dsl? = false

      # Returns true if the provider runs Ruby code. Returns false for the names of the host's providers.
      def wrun_acts? = true

      # Defines an action: `action :create do .. end`. Its child resources converge in a context of their own.
      def action(name, description: nil, &code)
        action_descriptions[name.to_sym] = description if description
        define_method(:"compile_action_#{name}", &code)
        define_method(:"action_#{name}") { compile_and_converge_action { send(:"compile_action_#{name}") } }
      end

      def action_descriptions = @action_descriptions ||= {}

      def action_description(name)
        action_descriptions[name.to_sym] || (superclass.action_description(name) if superclass.respond_to?(:action_description))
      end

      # Returns true if the action was defined with `action`, not as a method.
      def wrun_compiles?(action) = method_defined?(:"compile_action_#{action}")

      def use(partial)
        wrun_take_in(Wrun::Resources.partial_beside(caller_locations(1, 1).first.path, partial))
      end

      def wrun_take_in(wrun_path) = class_eval(Mixin::FromFile.partial(wrun_path), wrun_path, 1)

      # Forwards the helper methods of the resource's class to the actions. Actions read properties through `new_resource`.
      def include_resource_dsl_module(resource)
        return if @wrun_forwards

        @wrun_forwards = true
        names = helper_names(resource.class)
        include(Module.new do
          names.each { |name| define_method(name) { |*given, **named, &block| new_resource.send(name, *given, **named, &block) } }
        end)
      end

      private

      def helper_names(type)
        properties = type.properties.keys
        type.public_instance_methods + type.protected_instance_methods - instance_methods - properties -
          properties.map { |name| :"#{name}=" } - Resource.instance_methods
      end
    end
  end
end
