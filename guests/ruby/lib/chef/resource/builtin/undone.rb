# frozen_string_literal: true

# Types for which nobody acts: neither the host nor Ruby. They may be declared, found and notified, as what a cookbook is
# made for need not be what runs it here; when one is to act, that fails and says why.

class Chef
  class Resource
    class Undone < Resource
      # Properties of packages, by the names that all package managers share.
      PACKAGE = proc do
        property :package_name, [String, Array], name_property: true, identity: true
        property :version, [String, Array]
        property :options, [String, Array]
        property :source, String, desired_state: false
        property :timeout, [String, Integer], desired_state: false
      end

      class << self
        def fill(&) = instance_eval(&)

        private

        def type(name, actions, default: actions.first, aliases: [], package: false, &properties)
          constant = name.to_s.split("_").map(&:capitalize).join
          return if Resource.const_defined?(constant, false)

          made = Class.new(self) { include Refusing }
          Resource.const_set(constant, made)
          made.allowed_actions = [:nothing] + actions
          made.default_action(default)
          made.class_exec(&PACKAGE) if package
          made.class_exec(&properties)
          [name, *aliases].each { |one| made.provides(one) }
        end
      end
    end
  end
end

%w[chef_client devices habitat packages red_hat security].each { |name| require_relative "undone/#{name}" }
