# frozen_string_literal: true

# Implements the methods of `Chef` that give libraries and helpers access to the current run.

class Chef
  class << self
    # The root run context. It gives access to the node, the cookbooks and the resource collection.
    attr_reader :run_context

    def start_run(run_context)
      @run_context = run_context
    end

    def set_run_context(run_context) = @run_context = run_context
    def node = Node.instance
    def log = Log
    def logger = Log
    def events = EventDispatch::DISPATCHER

    # `Chef.event_handler { on(:resource_failed) { |resource, action, error| .. } }`
    def event_handler(&block) = EventDispatch.subscribe(&block)

    # Logs a deprecation. `id` is the name under which Chef documents it.
    def deprecated(id, message) = Log.debug("deprecated (#{id}): #{message}")
    def log_deprecation(message, _place = nil) = Log.debug("deprecated: #{message}")
  end
end
