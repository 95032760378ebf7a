# frozen_string_literal: true

# Finds the resource class for a name in recipes, and the provider class for a resource's actions. The filters of `provides`
# select a class by the node.

require_relative "node_map"

class Chef
  @resource_handler_map = NodeMap.new("resource")
  @provider_handler_map = NodeMap.new("provider")
  @wrun_types_version = 0

  class << self
    attr_reader :resource_handler_map, :provider_handler_map

    # Increases whenever a name may have a new class, or a class new actions. Caches compare it.
    attr_accessor :wrun_types_version
  end

  # Finds the class for a name in recipes.
  class ResourceResolver
    def self.resolve(name, node: nil) = Chef.resource_handler_map.get(node, name.to_sym)
    def self.list(name, node: nil) = Chef.resource_handler_map.list(node, name.to_sym)
    def self.includes_handler?(name, type) = list(name).include?(type)

    attr_reader :node, :resource_name

    def initialize(node, name)
      @node = node
      @resource_name = name.to_sym
    end

    def resolve = list.first
    def list = Chef.resource_handler_map.list(node, resource_name)
    def provided_by?(type) = list.include?(type)
  end

  # Finds the provider class that runs a resource's action.
  class ProviderResolver
    def initialize(node, resource, action)
      @node = node
      @resource = resource
      @action = action
    end

    def resolve
      found = @resource.provider || (@resource.class.action_class if @resource.class.custom_resource?) || by_name
      return found if found

      raise Exceptions::ProviderNotFound, "Cannot find a provider for #{@resource}" if @node.nil?

      raise Exceptions::ProviderNotFound,
            "Cannot find a provider for #{@resource} on #{@node["platform"]} version #{@node["platform_version"]}"
    end

    def enabled_handlers = Chef.provider_handler_map.list(@node, @resource.resource_name)
    def provided_by?(type) = enabled_handlers.include?(type)

    private

    def by_name
      enabled = enabled_handlers
      enabled.find { |one| one.supports?(@resource, @action) } || enabled.first
    end
  end
end
