# frozen_string_literal: true

# Types that nothing here carries out, most of them because only another platform has what they manage. Cookbooks for several
# platforms name such types, so one may be written down; it is refused when it is to act.

class Chef
  class Resource
    # A type of this platform for which nobody acts, neither the host nor Ruby. It may be declared, found and notified, as what
    # a cookbook is made for need not be what runs it here. An action fails and says why.
    module Refusing
      # What the class says.
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

      # Which properties it has nobody knows here.
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
