# frozen_string_literal: true

# Finds the literal values that a type of the library refuses, with the checks of a run.

module Wrun
  module Check
    module Refusals
      # Errors with which a property refuses a value, with a sentence that names the property.
      TELLING = [Chef::Exceptions::ValidationFailed, Chef::Exceptions::InvalidRemoteFileURI].freeze

      # Errors with which a check refuses a value, such as Ruby's own `Integer`.
      OTHERS = [ArgumentError, TypeError, RangeError].freeze

      class << self
        # Returns the sentence of a run that refuses a value. Returns nil if one of the types takes it: a name such as
        # `package` has several, one for each platform.
        def of(types, property, value)
          return if value.nil?

          refusals = types.map { |type| refusal(type, property, value) }
          refusals.first if refusals.all?
        end

        private

        def refusal(type, property, value)
          return if type.properties[property].nil?

          type.new("name").public_send(property, copy(value))
          nil
        rescue *TELLING => error
          error.message
        rescue *OTHERS => error
          "`#{property}` does not take #{value.inspect}: #{error.message}"
        rescue StandardError
          # The error may come of the resource that is made up here.
          nil
        end

        # A property may change what it is given.
        def copy(value) = Marshal.load(Marshal.dump(value))
      end
    end
  end
end
