# frozen_string_literal: true

# Defines resource types that wrun cannot run, mostly types for other platforms. Cookbooks for several platforms declare such
# resources, so a declaration is valid. Only an action raises an error.

class Chef
  class Resource
    # A type of this platform that neither the host nor Ruby implements. A cookbook may declare, find and notify such a
    # resource. An action raises an error that explains why.
    module Refusing
      # The methods of the class.
      module OfClass
        def wrun_guest? = true
      end

      def self.included(type) = type.extend(OfClass)

      def provider_for_action(_action)
        raise Exceptions::ProviderNotFound,
              "Cannot find a provider for #{self}: wrun cannot act for resources of the type `#{resource_name}`"
      end
    end

    # A type of another platform.
    class Foreign < Resource
      class << self
        attr_accessor :platform_name

        def wrun_guest? = true
      end

      # Accepts every property, because the properties of such a type are unknown.
      def method_missing(name, *given)
        return super if given.size > 1 || name.end_with?("?", "!")

        slot = :"@#{name.to_s.delete_suffix("=")}"
        return instance_variable_get(slot) if given.empty?

        instance_variable_set(slot, given.first)
      end

      def respond_to_missing?(_name, _all = false) = false

      def action(given = nil)
        @allowed_actions |= Array(given).map(&:to_sym)
        super
      end

      def provider_for_action(_action)
        raise Exceptions::ProviderNotFound,
              "Cannot find a provider for #{self}: the resource type `#{resource_name}` is for #{self.class.platform_name} only"
      end
    end
  end
end
