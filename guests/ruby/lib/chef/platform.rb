# frozen_string_literal: true

# Implements the methods by which older cookbooks test the platform and set the classes for it. Newer cookbooks use `provides`
# (`handler_maps.rb`).

require_relative "node_map"

class Chef
  class Platform
    # Sets the order of the classes for a name, for all platforms or for one.
    class PriorityMap
      include Singleton

      def initialize
        @set = NodeMap.new("priority")
      end

      def priority(name, classes, **filters, &block)
        classes = Array(classes)
        @set.set(name.to_sym, classes, **filters, &block)
        handlers.prefer(name.to_sym, classes, **filters, &block)
        classes
      end
      alias set_priority_array priority

      def get_priority_array(node, name) = @set.get(node, name.to_sym)
      def list(node, name) = @set.list(node, name.to_sym)
    end

    class ProviderPriorityMap < PriorityMap
      def handlers = Chef.provider_handler_map
    end

    class ResourcePriorityMap < PriorityMap
      def handlers = Chef.resource_handler_map
    end

    class << self
      def find_platform_and_version(node) = [node["platform"], node["platform_version"]]
      def windows? = false
      def windows_server_2003? = false
      def supports_dsc?(_) = false
      def supports_powershell_execution_bypass?(_) = false
      def windows_nano_server? = false
      def supports_msi? = false

      # Sets the provider class of a resource type, for all platforms or for one. Cookbooks for Chef 11 use it.
      def set(resource:, provider:, platform: nil, version: nil)
        filters = { platform: platform && platform != :default ? platform.to_s : nil, platform_version: version }.compact
        Chef.provider_handler_map.set(resource.to_sym, provider, **filters)
      end
    end
  end

  class << self
    def provider_priority_map = Platform::ProviderPriorityMap.instance
    def resource_priority_map = Platform::ResourcePriorityMap.instance
    def get_provider_priority_array(name) = provider_priority_map.get_priority_array(node, name)&.dup
    def get_resource_priority_array(name) = resource_priority_map.get_priority_array(node, name)&.dup
    def set_provider_priority_array(name, classes, **, &) = provider_priority_map.priority(name, classes, **, &).dup
    def set_resource_priority_array(name, classes, **, &) = resource_priority_map.priority(name, classes, **, &).dup
  end
end
