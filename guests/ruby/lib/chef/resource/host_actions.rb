# frozen_string_literal: true

# Actions that a cookbook's class inherits from a composite built-in type (`sudo`, `apt_repository`). The host implements the
# actions of such a type with other resources. A cookbook may reopen such a type or define a subclass. This class implements
# inherited actions, and `super()` in overridden ones. It declares a resource of the built-in type inside the action, and the
# host runs it.

require_relative "action_class"

class Chef
  class Resource
    class HostActions < ActionClass
      class << self
        # Returns a class with all actions of a type.
        def for(type)
          actions = type.allowed_actions - [:nothing]
          Class.new(self) do
            self.resource_class = type
            actions.each { |name| action(name) { wrun_have_host_act(name) } }
          end
        end
      end

      private

      def wrun_have_host_act(name)
        resource = new_resource.wrun_for_host(run_context)
        resource.action(name)
        wrun_insert(resource, run_context)
      end
    end
  end
end
