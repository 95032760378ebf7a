# frozen_string_literal: true

# Start, report and exception handlers: objects of the policy that hear how the run went.

class Chef
  class Handler
    # Which handlers are to run when, by the name of the phase in which the host asks for them.
    LISTS = { "start" => :start_handlers, "report" => :report_handlers, "exception" => :exception_handlers }.freeze

    class << self
      LISTS.each_value { |name| define_method(name) { Array(Config[name]) } }

      def resolve_handler_instance(handler)
        return handler unless handler.is_a?(Class)

        handler.respond_to?(:instance) ? handler.instance : handler.new
      end
    end

    attr_reader :run_status

    %i[start_time end_time elapsed_time run_context exception backtrace node success? failed?].each do |name|
      define_method(name) { @run_status.public_send(name) }
    end

    def all_resources = @run_status.all_resources
    def updated_resources = @run_status.updated_resources
    def failed_resources = all_resources.select { |it| it.status == "failed" }
    def skipped_resources = all_resources.select { |it| it.status == "skipped" }
    def up_to_date_resources = all_resources.select { |it| it.status == "up-to-date" }
    def unprocessed_resources = []
    def action_collection = nil
    def data = @run_status.to_hash

    # What subclasses do.
    def report; end

    def run_report_unsafe(run_status)
      @run_status = run_status
      report
    end

    def run_report_safely(run_status)
      run_report_unsafe(run_status)
    rescue Exception => error # rubocop:disable Lint/RescueException -- what a handler raises is shown, no more
      Log.error("Report handler #{self.class.name} raised #{error.inspect}")
      Wrun::Failures.frames(error).each { |line| Log.error(line) }
    ensure
      @run_status = nil
    end
  end

  # How the run went, as handlers ask it.
  class RunStatus
    # A resource that ran, as handlers look at it.
    Ran = Struct.new(:resource_name, :name, :action, :status, :cookbook_name, :recipe_name) do
      def declared_type = resource_name
      def declared_key = "#{resource_name}[#{name}]"
      def updated? = status == "updated"
      def updated_by_last_action? = updated?
      def to_s = declared_key
    end

    attr_reader :exception

    def initialize(data)
      @data = data
      @exception = data["exception"] && Wrun::Failures.rebuild(complete(data["exception"]))
    end

    def run_id = @data["run_id"]
    def start_time = Time.at(@data["start_time"] || 0)
    def elapsed_time = (@data["elapsed"] || 0).to_f
    def end_time = start_time + elapsed_time
    def success? = @data.fetch("success", true)
    def failed? = !success?
    def backtrace = exception&.backtrace
    def formatted_exception = exception && "#{exception.class.name}: #{exception.message}"
    def node = Node.instance
    def run_context = Chef.run_context
    def events = EventDispatch::DISPATCHER

    def all_resources
      @all_resources ||= Array(@data["resources"]).map do |it|
        Ran.new(it["type"]&.to_sym, it["name"], it["action"]&.to_sym, it["status"], it["cookbook"], it["recipe"])
      end
    end

    def updated_resources = all_resources.select(&:updated?)

    def to_hash
      {
        node: node, success: success?, start_time: start_time, end_time: end_time, elapsed_time: elapsed_time,
        all_resources: all_resources, updated_resources: updated_resources, exception: formatted_exception,
        backtrace: backtrace, run_id: run_id
      }
    end
    alias to_h to_hash

    private

    def complete(exception) = { "passed" => [], "backtrace" => [], "object" => nil }.merge(exception)
  end

  module Cookbook
    # The phases in which the host has handlers called.
    module Handlers
      class << self
        def run(phase, input)
          if phase == "event" then tell(input)
          elsif Handler::LISTS.key?(phase) then call_all(phase, RunStatus.new(input))
          end
        end

        # Asks the host for the phases for which there are handlers by now.
        def listen
          @asked ||= []
          wanted = Handler::LISTS.select { |_, list| Array(Config[list]).any? }.keys - @asked
          return if wanted.empty?

          Wrun::Bridge.call("output.listen", wanted)
          @asked.concat(wanted)
        end

        private

        def call_all(phase, status)
          Array(Config[Handler::LISTS.fetch(phase)]).each do |handler|
            Handler.resolve_handler_instance(handler).run_report_safely(status)
          end
        end

        def tell(input)
          name = input.fetch("name").to_sym
          EventDispatch::DISPATCHER.tell(name, *arguments(name, input)) if EventDispatch::TOLD.include?(name)
        end

        # What Chef hands to a handler of this event.
        def arguments(name, input)
          case name
          when :recipe_file_loaded then [nil, input["recipe"]]
          when :converge_start then [Chef.run_context]
          when :run_started then [RunStatus.new(input)]
          when :run_completed then [Node.instance, RunStatus.new(input)]
          when :run_failed then RunStatus.new(input).then { |status| [status.exception, status] }
          when :converge_failed then [error_of(input)]
          when /\Aresource_/ then [resource_of(input), input["action"]&.to_sym, error_of(input)]
          else []
          end
        end

        def error_of(input)
          error = input["error"] or return
          error.is_a?(Hash) ? Wrun::Failures.rebuild({ "passed" => [], "backtrace" => [], "object" => nil }.merge(error)) : error
        end

        # The very resource where this guest declared it, else what is known of it.
        def resource_of(input)
          told = input["resource"] or return
          found = Wrun::Resources.stand_for(told["id"], Chef.run_context) if told["id"]
          found || RunStatus::Ran.new(told["type"]&.to_sym, told["name"], nil, nil, told["cookbook"], told["recipe"])
        end
      end
    end
  end

  # Handlers may be added at any time; before the turn goes away the host hears of the phases that they want.
  Wrun::Turns.before { Cookbook::Handlers.listen }
end
