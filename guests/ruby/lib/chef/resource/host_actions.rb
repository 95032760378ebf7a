# frozen_string_literal: true

# The actions that a cookbook's class inherits from a built-in type whose actions the host makes of other resources (`sudo`,
# `apt_repository`). A cookbook may reopen such a type or write a class below it; the actions that it does not write itself, and
# `super()` in those that it does, have the host act, for a resource of the built-in type inside the action.

require_relative "action_class"

class Chef
  class Resource
    class HostActions < ActionClass
      class << self
        # The class with all actions of a type.
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
