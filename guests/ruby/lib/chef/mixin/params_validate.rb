# frozen_string_literal: true

# Implements `validate` and `set_or_return`, which resources used before Chef had properties.

require_relative "../constants"
require_relative "../delayed_evaluator"
require_relative "../exceptions"
require_relative "../../wrun/resources/checks"

class Chef
  module Mixin
    module ParamsValidate
      # `validate({mode: 1}, {mode: {kind_of: String}})`: checks, fills in defaults, returns the values.
      def validate(values, map)
        raise ArgumentError, "Options must be a hash" unless values.is_a?(Hash)
        raise ArgumentError, "Validation Map must be a hash" unless map.is_a?(Hash)

        map.each { |name, checks| ParamsValidate.validate_one(is_a?(Module) ? nil : self, values, name, checks) }
        values
      end
      module_function :validate
      public :validate

      # Sets or returns an attribute, in the way of resources without properties.
      def set_or_return(name, value, checks)
        SetOrReturnProperty.new(name: name, **checks).call(self, value)
      end

      def lazy(&) = DelayedEvaluator.new(&)

      class << self
        def validate_one(scope, values, name, checks)
          raise ArgumentError, "Validation map keys must be symbols or strings!" unless name.is_a?(Symbol) || name.is_a?(String)

          key = [name.to_s, name.to_sym].find { |one| values.key?(one) } || name
          case checks
          when true then Wrun::Resources::Checks.required(scope, name, values[key], true, nil)
          when Hash
            checks.each { |check, told| run_check(scope, values, key, name, check, told, checks[:validation_message]) }
          end
        end

        private

        def run_check(scope, values, key, name, check, told, message)
          case check
          when *Wrun::Resources::Checks::NAMES then Wrun::Resources::Checks.public_send(check, scope, name, values[key], told, message)
          when :default then values[key] = told if values[key].nil?
          when :coerce then values[key] = scope.instance_exec(values[key], &told) if values.key?(key)
          when :name_property, :name_attribute then values[key] = scope.name if told && values[key].nil?
          when :validation_message then nil
          else raise ArgumentError, "Validation map has unknown check: #{check}"
          end
        end
      end
    end
  end
end
