# frozen_string_literal: true

# Passes events of the run to `Chef.event_handler` and to handlers that cookbooks register. The host sends only the events to
# which the guest has subscribed.

class Chef
  module EventDispatch
    # The events that the host can send, by the host's names.
    TOLD = %i[
      run_started converge_start recipe_file_loaded recipe_load_complete converge_complete converge_failed run_completed
      run_failed resource_action_start resource_updated resource_up_to_date resource_skipped resource_failed
      resource_failed_retriable resource_bypassed resource_completed
    ].freeze

    # Chef's events that wrun never sends. A cookbook may define a handler for one, but it is never called.
    UNTOLD = %i[
      run_start ohai_completed skipping_registration registration_start registration_completed registration_failed
      node_load_start node_load_success node_load_failed run_list_expand_failed node_load_completed policyfile_loaded
      cookbook_resolution_start cookbook_resolution_failed cookbook_resolution_complete cookbook_clean_start
      removed_cookbook_file cookbook_clean_complete cookbook_sync_start synchronized_cookbook updated_cookbook_file
      cookbook_sync_failed cookbook_sync_complete cookbook_gem_start cookbook_gem_installing cookbook_gem_using
      cookbook_gem_finished cookbook_gem_failed cookbook_compilation_start library_load_start library_file_loaded
      library_file_load_failed library_load_complete lwrp_load_start lwrp_file_loaded lwrp_file_load_failed
      lwrp_load_complete ohai_plugin_load_start ohai_plugin_file_loaded ohai_plugin_file_load_failed
      ohai_plugin_load_complete compliance_load_start compliance_load_complete profiles_load_start profiles_load_complete
      inputs_load_start inputs_load_complete waivers_load_start waivers_load_complete compliance_profile_loaded
      compliance_waiver_loaded compliance_input_loaded compliance_profile_enabled compliance_waiver_enabled
      compliance_input_enabled attribute_load_start attribute_file_loaded attribute_file_load_failed
      attribute_load_complete definition_load_start definition_file_loaded definition_file_load_failed
      definition_load_complete recipe_load_start recipe_file_load_failed recipe_not_found cookbook_compilation_complete
      action_collection_registration key_migration_status resource_current_state_loaded resource_after_state_loaded
      resource_current_state_load_bypassed resource_update_applied resource_update_progress stream_opened stream_closed
      stream_output handlers_start handler_executed handlers_completed
      provider_requirement_failed whyrun_assumption deprecation run_list_expanded msg attribute_changed
    ].freeze

    # The base class of handlers, with an empty method for each event.
    class Base
      (TOLD + UNTOLD).each { |name| define_method(name) { |*| nil } }

      # Returns the events for which the handler or its class defines a method.
      def self.defined_by(handler)
        TOLD.select { |name| handler.respond_to?(name) && handler.method(name).owner != Base }
      end
    end

    # Passes each event to all handlers of this policy.
    class Dispatcher < Base
      attr_reader :subscribers

      def initialize(*subscribers)
        super()
        @subscribers = subscribers
      end

      def register(handler)
        @subscribers << handler
        listen_to(Base.defined_by(handler))
      end

      def unregister(handler) = @subscribers.reject! { |one| one == handler }

      # Subscribes to events at the host. It requests each event only once.
      def listen_to(names)
        @asked ||= []
        new = names.map(&:name) - @asked
        return if new.empty?

        Wrun::Bridge.call("output.listen", new)
        @asked.concat(new)
      end

      # Calls all handlers of an event, even after an error in one of them.
      def tell(name, *arguments)
        @subscribers.dup.each { |handler| call(handler, name, arguments) }
        nil
      end

      (TOLD + UNTOLD).each { |name| define_method(name) { |*arguments| tell(name, *arguments) } }

      private

      def call(handler, name, arguments)
        return unless handler.respond_to?(name)

        method = handler.method(name)
        arguments = arguments.first(method.arity) if method.arity >= 0
        method.call(*arguments)
      rescue StandardError => error
        Log.error("Error from #{handler.class} for the event #{name}: #{error.message} (#{error.class})")
      end
    end

    DISPATCHER = Dispatcher.new

    # A stream whose output goes to handlers. Cookbooks write progress to it.
    class EventsOutputStream
      attr_reader :events, :options

      def initialize(events, options = {})
        @events = events
        @options = options
        events.stream_opened(self, options)
      end

      def write(text) = events.stream_output(self, text, options)
      alias print write
      alias << write

      def close = events.stream_closed(self, options)
    end

    # The block of `Chef.event_handler`.
    class DSL
      attr_reader :handler

      def initialize(name)
        @handler = Class.new(Base) { define_method(:name) { name } }.new
        DISPATCHER.subscribers << @handler
      end

      def on(event, &block)
        unless Base.method_defined?(event)
          raise Exceptions::InvalidEventType, "Invalid event type: #{event}"
        end

        @handler.define_singleton_method(event) { |*arguments| instance_exec(*arguments, &block) }
        DISPATCHER.listen_to([event]) if TOLD.include?(event)
      end
    end

    def self.subscribe(&block) = DSL.new("event handler").instance_eval(&block)
  end
end
