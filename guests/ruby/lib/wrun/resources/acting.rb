# frozen_string_literal: true

# Answers the host's requests for resources whose actions Ruby runs.

module Wrun
  module Resources
    module Acting
      class << self
        # Runs an action. Its child resources are declared in a context of their own.
        def act(id, action, context, why_run)
          resource = Resources.fetch(id)
          in_mode(why_run) do
            provider = resource.provider_for_action(action.to_sym)
            provider.wrun_child = Chef::ChildRunContext.new(resource.run_context, context, resource.class.unified_mode)
            provider.run_action(action.to_sym)
          end
        end

        # Returns the present state of a resource on the machine.
        def inspect(id)
          resource = Resources.fetch(id)
          provider = resource.provider_for_action(Array(resource.action).first || :nothing)
          provider.load_current_resource
          state_of(provider.current_resource)
        end

        # Returns a resource's state for the report, or nil if it does not exist.
        def state_of(resource) = resource && Values.json(resource.state_for_resource_reporter)

        private

        def in_mode(why_run)
          before = Chef::Config[:why_run]
          Chef::Config[:why_run] = why_run
          yield
        ensure
          Chef::Config[:why_run] = before
        end
      end
    end

    Turns.on("act") { |*call| Acting.act(*call) }
    Turns.on("inspect") { |id| Acting.inspect(id) }
    Turns.on("forget") { |context| forget(context) }
  end
end
