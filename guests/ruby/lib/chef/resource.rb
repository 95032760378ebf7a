# frozen_string_literal: true

# A resource: recipes declare it, and cookbooks' resource classes inherit from it. It stores the values from the cookbook. The
# host decides when and how to run its actions (`wrun/resources/standing.rb`).

require_relative "exceptions"
require_relative "mixin/properties"
require_relative "dsl/universal"
require_relative "dsl/declare_resource"
require_relative "../wrun/resources/standing"
require_relative "resource/class_level"
require_relative "resource/actions_of_class"

class Chef
  class Resource
    include DSL::DeclareResource
    include DSL::Universal
    include Mixin::Properties
    include Wrun::Resources::Standing
    extend DSL::Universal
    extend ClassLevel
    extend ActionsOfClass
    extend Wrun::Resources::Kind

    property :name, String, coerce: proc { |name| name.is_a?(Array) ? name.join(", ") : name.to_s },
                            desired_state: false, required: true
    property :retries, Integer, default: 0, desired_state: false
    property :retry_delay, Integer, default: 2, desired_state: false
    property :sensitive, [TrueClass, FalseClass], default: false, desired_state: false
    property :compile_time, [TrueClass, FalseClass], default: false, desired_state: false
    property :umask, [String, Integer], desired_state: false
    property :ignore_failure, [true, false, :quiet, "quiet"], default: false, desired_state: false

    WRUN_PLAIN_NAME = properties[:name]
    private_constant :WRUN_PLAIN_NAME

    attr_accessor :params, :run_context, :cookbook_name, :recipe_name, :enclosing_provider, :declared_type
    attr_writer :source_line, :allowed_actions
    attr_accessor :executed_by_runner

    def initialize(name, run_context = nil)
      wrun_take_name(name) unless name.nil?
      @run_context = run_context
      @allowed_actions = self.class.allowed_actions.dup
      @action = self.class.default_action
      @not_if = []
      @only_if = []
    end

    def initialize_copy(other)
      super
      wrun_forget
    end

    def node = run_context&.node
    def events = run_context.events
    def logger = Chef::Log
    def elapsed_time = 0
    def resource_initializing = @wrun_initializing
    attr_reader :default_guard_interpreter

    def default_guard_interpreter = @default_guard_interpreter || :default

    def resource_initializing=(value)
      @wrun_initializing = value
    end

    # Returns the actions, or sets them. Only allowed actions are valid.
    def action(given = nil)
      return @action unless given

      given = Array(given).map(&:to_sym)
      given.each { |one| check_action(one) }
      @action = given
      wrun_amend(actions: given.map(&:name)) if @wrun_id
      given
    end
    alias action= action

    def allowed_actions(value = NOT_PASSED)
      @allowed_actions = value unless NOT_PASSED.equal?(value)
      @allowed_actions
    end

    # Queues an action for the end of the resource's context.
    def delayed_action(given)
      Array(given).map(&:to_sym).each do |one|
        check_action(one)
        @wrun_id ? wrun_amend(delayed: one.name) : (@wrun_delayed ||= []) << one.name
      end
    end

    # Runs one action at once, with guards and without notifications.
    def run_action(action, _timing = nil, _notifier = nil)
      raise ArgumentError, "nil is not a valid action for resource #{self}" if action.nil?

      wrun_run_action(action.to_sym)
    end

    def updated_by_last_action(updated)
      @updated ||= updated
      @updated_by_last_action = updated
      wrun_mark(updated)
    end

    def updated_by_last_action? = wrun_status ? wrun_status[1] : !!@updated_by_last_action
    def updated = wrun_status ? wrun_status[0] : !!@updated
    alias updated? updated

    def resource_name = @resource_name || self.class.resource_name
    def after_created = nil
    def suppress_up_to_date_messages? = false
    def current_value_does_not_exist! = raise(Exceptions::CurrentValueDoesNotExist)

    # Returns the present state, a resource filled by `load_current_value`.
    def current_value
      provider = provider_for_action(Array(action).first)
      provider.load_current_resource
      provider.current_resource
    end

    def provider(given = nil)
      given = provider_named(given) if given.is_a?(String) || given.is_a?(Symbol)
      return @provider if given.nil?
      raise Exceptions::ValidationFailed, "Option provider must be a kind of [Class]!  You passed #{given.inspect}." unless given.is_a?(Class)

      @provider = given
    end
    alias provider= provider

    def provider_for_action(action)
      provider = ProviderResolver.new(node, self, action).resolve.new(self, run_context)
      provider.action = action
      provider
    end

    def action_description(action) = provider_for_action(action).class.action_description(action)

    def identity
      properties = self.class.identity_properties
      found = properties.to_h { |property| [property.name, send(property.name)] }
      properties.size == 1 ? found.values.first : found
    end

    def state_for_resource_reporter
      self.class.state_properties.each_with_object({}) do |property, state|
        next unless property.set?(self)

        state[property.name] = property.sensitive? ? "*sensitive value suppressed*" : send(property.name)
      end
    end

    # Copies all values of another resource except its source line, actions and guards.
    def load_from(other)
      kept = %i[@source_line @action @not_if @only_if]
      other.instance_variables.each do |slot|
        next if kept.include?(slot) || slot.start_with?("@wrun_")

        instance_variable_set(slot, other.instance_variable_get(slot))
      end
    end

    def cookbook_version
      run_context.cookbook_collection[cookbook_name] if cookbook_name && cookbook_name != "@recipe_files"
    end

    # Returns the place of the declaration, `FILE:LINE:in ..`.
    def source_line = @source_line&.to_s
    def wrun_source_line = @source_line
    def source_line_file = wrun_frame? ? @source_line.path : source_line && source_line[/(.*):(\d+):?.*$/, 1]
    def source_line_number = wrun_frame? ? @source_line.lineno.to_s : source_line && source_line[/(.*):(\d+):?.*$/, 2]

    def defined_at
      if cookbook_name && recipe_name && source_line
        "#{cookbook_name}::#{recipe_name} line #{source_line_number}"
      elsif source_line
        "#{source_line_file} line #{source_line_number}"
      else
        "dynamically defined"
      end
    end

    def custom_exception_message(error) = "#{self} (#{defined_at}) had an error: #{error.class.name}: #{error.message}"
    def declared_key = declared_type ? "#{declared_type}[#{@name}]" : to_s
    def to_s = "#{resource_name}[#{name}]"

    # Forwards unknown methods to the provider whose action declared this resource, so that its helpers work inside the block.
    def method_missing(name, *arguments, &block)
      if enclosing_provider&.respond_to?(name)
        enclosing_provider.send(name, *arguments, &block)
      else
        raise NoMethodError.new("undefined method `#{name}' for #{self.class}", name, arguments, receiver: self)
      end
    end

    def respond_to_missing?(_name, _private = false) = false

    private

    # Returns true if the place is a stack frame and not a text.
    def wrun_frame? = @source_line.is_a?(Thread::Backtrace::Location)

    # Does the same as `name(given)`, but faster for a plain name. Every new resource calls it.
    def wrun_take_name(given)
      return name(given) unless self.class.properties[:name].equal?(WRUN_PLAIN_NAME)

      @name = given.is_a?(String) || given.is_a?(DelayedEvaluator) ? given : WRUN_PLAIN_NAME.coerce(self, given)
    end

    def check_action(action)
      allowed = allowed_actions
      return if allowed.include?(action)

      words = allowed.map(&:inspect).join(", ")
      refused = Exceptions::ValidationFailed.new("Option action must be equal to one of: #{words}!  You passed #{action.inspect}.")
      raise Wrun::Hints.suggest(refused, action, allowed)
    end

    def provider_named(name)
      self.class.resource_for_node(name, node).new("name", run_context).provider_for_action(:nothing).class
    end
  end
end

require_relative "resource/conditional"
require_relative "resource/guards"
require_relative "resource/notifying"
require_relative "resource/shown"
require_relative "resource/action_class"
require_relative "resource/host_actions"
require_relative "resource/lwrp_base"
