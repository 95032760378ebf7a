# frozen_string_literal: true

# Methods of resource classes for actions: the allowed actions, the default action and the code of custom actions.

class Chef
  class Resource
    module ActionsOfClass
      def allowed_actions(*actions)
        @allowed_actions ||= superclass.respond_to?(:allowed_actions) ? superclass.allowed_actions.dup : [:nothing]
        @allowed_actions |= actions.flatten unless actions.empty?
        @allowed_actions
      end

      def allowed_actions=(actions)
        @allowed_actions = actions.uniq
      end

      def default_action(actions = NOT_PASSED)
        unless NOT_PASSED.equal?(actions)
          @default_action = Array(actions).map(&:to_sym)
          self.allowed_actions |= @default_action
        end
        return @default_action if @default_action

        superclass.respond_to?(:default_action) ? superclass.default_action : [:nothing]
      end
      alias default_action= default_action

      # Defines an action: `action :create do .. end` becomes a method of the type's action class.
      def action(name, description: nil, &code)
        name = name.to_sym
        action_class.action(name, description: description, &code)
        self.allowed_actions += [name]
        default_action(name) if default_action == [:nothing]
      end

      def load_current_value(&) = define_method(:load_current_value!, &)

      # Returns the class that runs this type's actions. The block defines helper methods for them.
      def action_class(&block)
        @action_class ||= make_action_class
        @action_class.class_eval(&block) if block
        @action_class
      end

      def declare_action_class = action_class
      def custom_resource? = !!@action_class || (superclass.respond_to?(:custom_resource?) && superclass.custom_resource?)

      private

      def make_action_class
        type = self
        above =
          if superclass.respond_to?(:custom_resource?) && superclass.custom_resource? then superclass.action_class
          elsif wrun_composite? then HostActions.for(type)
          else ActionClass
          end
        Chef.wrun_types_version += 1
        Class.new(above) { self.resource_class = type }
      end
    end
  end
end
