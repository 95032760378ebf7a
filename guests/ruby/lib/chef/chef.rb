# frozen_string_literal: true

# `Chef` itself: the run that is going on, as libraries and helpers reach it.

class Chef
  class << self
    # The root run context and what hangs on it.
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

    # A word of what is going away; `id` is the name under which Chef documents it.
    def deprecated(id, message) = Log.debug("deprecated (#{id}): #{message}")
    def log_deprecation(message, _place = nil) = Log.debug("deprecated: #{message}")
  end
end
