# frozen_string_literal: true

# Start, report and exception handlers: objects of the policy that receive the outcome of the run.

class Chef
  class Handler
    # Maps each phase of the host to the setting that lists its handlers.
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

    # Returns one record for each action that ran, including actions of nested resources.
    def all_resources = @run_status.wrun_ran.reject { |it| it.status == "unprocessed" }

    {
      updated_resources: "updated", failed_resources: "failed", skipped_resources: "skipped",
      up_to_date_resources: "up-to-date", unprocessed_resources: "unprocessed"
    }.each do |name, status|
      define_method(name) { @run_status.wrun_ran.select { |it| it.status == status } }
    end

    def action_collection = nil
    def data = @run_status.to_hash

    # Does the handler's work. Subclasses override it.
    def report; end

    def run_report_unsafe(run_status)
      @run_status = run_status
      report
    end

    def run_report_safely(run_status)
      run_report_unsafe(run_status)
    rescue Exception => error # rubocop:disable Lint/RescueException -- what a handler raises is shown, no more
      Cookbook::Handlers.failures << error
      Log.debug("Report handler #{self.class.name} raised #{error.inspect}")
    ensure
      @run_status = nil
    end
  end

  # Gives handlers the outcome of the run.
  class RunStatus
    # A record of one action, with the methods that handlers call on a resource.
    Ran = Struct.new(:resource_name, :name, :action, :status, :cookbook_name, :recipe_name) do
      def declared_type = resource_name
      def declared_key = "#{resource_name}[#{name}]"
      def updated? = status == "updated"
      def updated = updated?
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

    # Returns an empty backtrace for an exception of the host, which comes from no Ruby code.
    def backtrace = exception && (exception.backtrace || [])
    def formatted_exception = exception && "#{exception.class.name}: #{exception.message}"
    def node = Node.instance
    def run_context = Chef.run_context
    def events = EventDispatch::DISPATCHER

    # The resources that recipes declared, each once.
    def all_resources = run_context.resource_collection.all_resources
    def updated_resources = all_resources.select(&:updated)

    # Returns a record with the outcome of each action, in order.
    def wrun_ran
      @wrun_ran ||= Array(@data["resources"]).map do |it|
        Ran.new(it["type"]&.to_sym, it["name"], it["action"]&.to_sym, it["status"], it["cookbook"], it["recipe"])
      end
    end

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
    # Calls handlers in the phases that the host announces.
    module Handlers
      class << self
        # Returns the exceptions that handlers raised in the current phase.
        def failures = @failures ||= []

        def run(phase, input)
          if phase == "event" then tell(input)
          elsif Handler::LISTS.key?(phase) then call_all(phase, RunStatus.new(input))
          end
        end

        # Subscribes to the phases that have handlers by now.
        def listen
          @asked ||= []
          wanted = Handler::LISTS.select { |_, list| Array(Config[list]).any? }.keys - @asked
          return if wanted.empty?

          Wrun::Bridge.call("output.listen", wanted)
          @asked.concat(wanted)
        end

        private

        # Calls all handlers of a phase, even after one has failed. The host shows the failure.
        def call_all(phase, status)
          failures.clear
          Array(Config[Handler::LISTS.fetch(phase)]).each do |handler|
            Handler.resolve_handler_instance(handler).run_report_safely(status)
          end
          raise failures.first if failures.any?
        end

        def tell(input)
          name = input.fetch("name").to_sym
          EventDispatch::DISPATCHER.tell(name, *arguments(name, input)) if EventDispatch::TOLD.include?(name)
        end

        # Returns the arguments that Chef passes to a handler of this event.
        def arguments(name, input)
          case name
          when :recipe_file_loaded then [path_of(input["recipe"]), as_listed(input["recipe"])]
          when :converge_start then [Chef.run_context]
          when :run_started then [RunStatus.new(input)]
          when :run_completed then [Node.instance, RunStatus.new(input)]
          when :run_failed then RunStatus.new(input).then { |status| [status.exception, status] }
          when :converge_failed then [error_of(input)]
          when :resource_action_start then resource_and_action(input).push(*notified_by(input))
          when :resource_skipped then resource_and_action(input).push(conditional_of(input))
          when :resource_completed then [resource_of(input)]
          when :resource_failed_retriable then resource_and_action(input).push(input["left"], error_of(input))
          when /\Aresource_/ then resource_and_action(input).push(error_of(input))
          else []
          end
        end

        def resource_and_action(input) = [resource_of(input), input["action"]&.to_sym]

        # Returns the path of a recipe's file in Ruby, YAML or JSON.
        def path_of(recipe)
          cookbook, name = Cookbook.parse_recipe_name(recipe)
          Chef.run_context.cookbook_collection[cookbook]&.recipe_path(name)
        end

        # Returns a recipe's name as the run list has it, usually without `::default`.
        def as_listed(recipe)
          short = recipe.delete_suffix("::default")
          Node.instance.run_list.any? { |item| item.to_s == "recipe[#{recipe}]" } ? recipe : short
        end

        # Returns the timing of the notification that started the action, and its sender. The sender can be nil, since a delayed
        # notification may have several senders.
        def notified_by(input)
          notified = input["notified"] or return
          sender = notified["by"] && known_by(notified["by"], resource_of(input))
          [notified["timing"]&.to_sym, sender]
        end

        def known_by(key, near)
          (near.respond_to?(:run_context) && near.run_context || Chef.run_context).resource_collection.find(key)
        rescue Exceptions::ResourceNotFound
          nil
        end

        # Returns the guard that skipped a resource. `action :nothing` has no guard, so the method returns the reason as text.
        def conditional_of(input)
          text = input["conditional"]
          resource = resource_of(input)
          guards = resource.respond_to?(:only_if) ? resource.only_if + resource.not_if : []
          guards.find { |guard| guard.to_text == text } || Resource::ConditionalText.new(text)
        end

        def error_of(input)
          error = input["error"] or return
          error.is_a?(Hash) ? Wrun::Failures.rebuild({ "passed" => [], "backtrace" => [], "object" => nil }.merge(error)) : error
        end

        # Returns the Ruby resource of an event. If Ruby cannot resolve its type, returns a record with its type and name.
        def resource_of(input)
          told = input["resource"] or return
          found = Wrun::Resources.stand_for(told["id"], Chef.run_context) if told["id"]
          found || RunStatus::Ran.new(told["type"]&.to_sym, told["name"], nil, nil, told["cookbook"], told["recipe"])
        end
      end
    end
  end

  # A cookbook may add handlers at any time. Before each turn of the host, Ruby subscribes to their phases.
  Wrun::Turns.before { Cookbook::Handlers.listen }
end
