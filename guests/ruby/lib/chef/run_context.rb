# frozen_string_literal: true

# Implements run contexts, in which resources are declared, found and notified. A policy has a root context and one context
# for the child resources of each action.

require_relative "resource_collection"

class Chef
  class RunContext
    attr_reader :node, :cookbook_collection, :definitions, :resource_collection, :parent_run_context, :wrun_id, :reboot_info
    attr_accessor :events, :rest, :rest_clean, :runner, :action_collection, :default_secret_service, :default_secret_config

    def initialize(node = nil, cookbook_collection = nil, events = nil, _logger = nil)
      @node = node
      @cookbook_collection = cookbook_collection
      @events = events
      @definitions = {}
      @reboot_info = {}
      @default_secret_config = {}
      @wrun_id = 0
      @resource_collection = ResourceCollection.new(self)
    end

    attr_writer :node, :cookbook_collection, :resource_collection

    def logger = Chef::Log

    # Return the notifications that a resource's `notifies` declared.
    def before_notifications(resource) = resource.before_notifications
    def immediate_notifications(resource) = resource.immediate_notifications
    def delayed_notifications(resource) = resource.delayed_notifications
    def unified_mode = resource_collection.unified_mode
    def root_run_context = parent_run_context ? parent_run_context.root_run_context : self
    def inspect = "#<#{self.class} #{wrun_id}>"

    # Creates a context outside of any action, for libraries that build their own resources.
    def create_child = ChildRunContext.new(self, wrun_id, false)

    def request_reboot(info)
      @reboot_info = info
    end

    def cancel_reboot = @reboot_info = {}
    def reboot_requested? = !reboot_info.empty?
  end

  # The context of one action's child resources.
  class RunContext::ChildRunContext < RunContext # rubocop:disable Style/ClassAndModuleChildren -- it stands below the class that it is in
    # Values that all contexts of a policy share.
    SHARED = %i[
      node cookbook_collection definitions events rest rest_clean runner action_collection reboot_info request_reboot
      cancel_reboot reboot_requested? default_secret_service default_secret_config
    ].freeze

    def initialize(parent, id, unified) # rubocop:disable Lint/MissingSuper -- the rest is the parent's
      @parent_run_context = parent
      @wrun_id = id
      @resource_collection = ResourceCollection.new(self)
      @resource_collection.unified_mode = unified
    end

    SHARED.each { |name| define_method(name) { |*given| parent_run_context.public_send(name, *given) } }

    # Forwards other methods, such as those about loaded recipes, to the root context.
    def method_missing(name, ...)
      parent_run_context.respond_to?(name) ? parent_run_context.public_send(name, ...) : super
    end

    def respond_to_missing?(name, all = false) = parent_run_context.respond_to?(name, all)
  end

  ChildRunContext = RunContext::ChildRunContext

  # Runs the resources of a context that a cookbook created itself (`create_child`).
  class Runner
    attr_reader :run_context

    def initialize(run_context)
      @run_context = run_context
    end

    def converge
      run_context.resource_collection.to_a.each do |resource|
        Array(resource.action).each { |action| resource.run_action(action) }
        # Removes the resource from the host's collection, so that the host does not run it again.
        Wrun::Bridge.call("resources.retract", resource.wrun_id)
      end
      true
    end
  end
end
