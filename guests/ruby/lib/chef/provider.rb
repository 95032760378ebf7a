# frozen_string_literal: true

# Runs actions in Ruby: the base of custom resources' actions and of older providers.

require_relative "dsl/recipe"
require_relative "mixin/why_run"
require_relative "provider/converging"
require_relative "provider/class_level"

class Chef
  class Provider
    include DSL::Recipe
    include Mixin::WhyRun
    include Converging
    extend DSL::Universal
    extend ClassLevel

    attr_accessor :new_resource, :current_resource, :after_resource, :run_context, :action

    # The context that the host opened for the action's children.
    attr_writer :wrun_child

    def initialize(new_resource, run_context)
      @new_resource = new_resource
      @run_context = run_context
      self.class.include_resource_dsl_module(new_resource) if self.class.include_resource_dsl?
    end

    def logger = Chef::Log
    def node = run_context&.node
    def resource_collection = run_context&.resource_collection
    def cookbook_name = new_resource.cookbook_name
    def recipe_name = new_resource.recipe_name
    def events = run_context.events
    def property_is_set?(name) = new_resource.property_is_set?(name)
    def whyrun_mode? = Chef::Config[:why_run]
    def whyrun_supported? = true
    def check_resource_semantics! = nil
    def define_resource_requirements = nil
    def cleanup_after_converge = nil
    def action_nothing = true

    # Documentation of an action, without effect: `description "Sets up the site"`.
    def description(text = NOT_PASSED) = text.equal?(NOT_PASSED) ? @description : @description = text
    def introduced(text = NOT_PASSED) = text.equal?(NOT_PASSED) ? @introduced : @introduced = text

    def load_current_resource = raise(Exceptions::Override, "You must override load_current_resource in #{self}")

    def load_after_resource
      @after_resource = @new_resource
    end

    # Runs all steps of an action, in Chef's order. The host has already evaluated the guards.
    def run_action(action = nil)
      @action = action.to_sym if action
      refuse_undefined_action
      check_resource_semantics!
      require_properties
      load_current_resource
      observe
      define_resource_requirements
      process_resource_requirements
      unless whyrun_mode? && requirements.action_blocked?(@action)
        @wrun_own = @wrun_child if self.class.wrun_compiles?(@action)
        send(:"action_#{@action}")
      end
      # For actions that the host started, the host does this after the child resources have converged.
      new_resource.updated_by_last_action(true) if @converged && @wrun_child.nil?
      cleanup_after_converge
    end

    def process_resource_requirements
      requirements.run(:all_actions) unless @action == :nothing
      requirements.run(@action)
    end

    def requirements = @requirements ||= ResourceRequirements.new(@new_resource, run_context, @action)
    def resource_updated? = @converged || @new_resource.updated_by_last_action?

    private

    # Its class says that it has the action, and does not define it. The line that asked for it is at fault as much as the class.
    def refuse_undefined_action
      wanted = :"action_#{@action}"
      return if respond_to?(wanted, true)

      refused = NoMethodError.new("undefined method '#{wanted}' for an instance of #{self.class}", wanted, receiver: self)
      asked = new_resource.respond_to?(:wrun_asked_at) ? new_resource.wrun_asked_at : nil
      refused.set_backtrace([asked].compact)
      raise Wrun::Hints.attach(refused, defined_actions)
    end

    # What the class defines instead, with its file.
    def defined_actions
      type = new_resource.resource_name
      own = (methods + private_methods).filter_map { |name| name[/\Aaction_(\w+)\z/, 1] }.uniq - ["nothing"]
      near = Wrun::Hints.nearest(@action.name, own)
      path = new_resource.class.instance_variable_get(:@wrun_file)
      place = path && Wrun::Sources.split(path)&.join("/")
      ["`#{type}` does not define the action `#{@action}`", (" (#{place})" if place),
       "; it defines: #{own.sort.join(", ")}", (": did you mean `#{near}`?" if near)].join
    end

    def require_properties
      new_resource.class.properties.each_value { |property| property.get(new_resource) if property.required?([action]) }
    end

    def observe
      return unless new_resource.wrun_id && new_resource.class.method_defined?(:load_current_value!)

      Wrun::Bridge.call("resources.observed", new_resource.wrun_id, Wrun::Resources::Acting.state_of(current_resource))
    end
  end
end

require_relative "provider/lwrp_base"
