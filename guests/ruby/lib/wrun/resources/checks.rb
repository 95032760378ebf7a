# frozen_string_literal: true

# Checks values of properties, with Chef's error messages. The checks are in a separate module, because a constant in a
# resource class would hide a cookbook's constant of the same name.

module Wrun
  module Resources
    # Each method is one check. Its arguments are the object with the value, the value's name, the value, the check's argument
    # and the author's own message or nil. A failed check raises an error.
    module Checks
      NAMES = %i[is equal_to kind_of regex callbacks respond_to cannot_be required].freeze

      # Stands in a message for the value of a sensitive property or resource. The host writes the same.
      SUPPRESSED = "*sensitive value suppressed*"

      class << self
        # Raises an error for an unknown option of a property.
        def unknown(_scope, _name, _value, check, _message)
          raise ArgumentError, "Validation map has unknown check: #{check}"
        end

        def is(scope, name, value, allowed, message)
          return if !allowed.is_a?(Array) && !allowed.is_a?(Proc) && !allowed.is_a?(Chef::Property) && allowed === value

          allowed = allowed.is_a?(Array) ? allowed : [allowed]
          errors = []
          return if allowed.any? { |one| one_of?(scope, name, value, one, allowed.size == 1, errors) }

          words = allowed.map(&:inspect).join(", ")
          refuse_value(scope, name, message, value.inspect, errors) do |shown|
            "Property #{name} must be one of: #{words}!  You passed #{shown}."
          end
        end

        def equal_to(scope, name, value, allowed, message)
          return if value.nil?

          allowed = Array(allowed)
          return if allowed.include?(value)

          words = allowed.map(&:inspect).join(", ")
          refuse_value(scope, name, message, value.inspect) do |shown|
            "Option #{name} must be equal to one of: #{words}!  You passed #{shown}."
          end
        end

        def kind_of(scope, name, value, allowed, message)
          return if value.nil?

          allowed = Array(allowed)
          return if allowed.any? { |one| value.is_a?(one) }

          refuse_value(scope, name, message, value.inspect) do |shown|
            "Option #{name} must be a kind of #{allowed}!  You passed #{shown}."
          end
        end

        def regex(scope, name, value, patterns, message)
          return if value.nil? || (patterns.is_a?(Regexp) && patterns.match?(value.to_s))
          return if Array(patterns).flatten.any? { |one| one.match?(value.to_s) }

          refuse_value(scope, name, message, value) do |shown|
            "Property #{name}'s value #{shown} does not match regular expression #{patterns.inspect}"
          end
        end

        def callbacks(scope, name, value, checks, message)
          raise ArgumentError, "Callback list must be a hash!" unless checks.is_a?(Hash) || checks.is_a?(Array)
          return if value.nil?

          checks.each do |text, check|
            next if check.call(value)

            refuse_value(scope, name, message, value) { |shown| "Option #{name}'s value #{shown} #{text}!" }
          end
        end

        def respond_to(_scope, name, value, methods, message)
          return if value.nil?

          Array(methods).each do |method|
            refuse(message, "Option #{name} must have a #{method} method!") unless value.respond_to?(method)
          end
        end

        def cannot_be(_scope, name, value, predicates, message)
          return if value.nil?

          Array(predicates).each do |predicate|
            question = :"#{predicate}?"
            refuse(message, "Option #{name} cannot be #{predicates}") if value.respond_to?(question) && value.send(question)
          end
        end

        def required(_scope, name, value, wanted, message)
          refuse(message, "Required argument #{name.inspect} is missing!") if wanted && value.nil?
        end

        # Returns true if the result of these checks depends only on the value, so that it need not be checked again. Blocks of
        # cookbooks may depend on anything.
        def repeatable?(checks, message)
          message.nil? && !checks.empty? && checks.all? do |kind, told|
            case kind
            when :is, :kind_of then Array(told).all? { |one| one.nil? || true.equal?(one) || false.equal?(one) || plain_class?(one) }
            when :regex then Array(told).flatten.all?(Regexp)
            when :callbacks then told.is_a?(Array) && told.all? { |_, check| Coercions::CHECKS.value?(check) }
            else false
            end
          end
        end

        # The same refusal without the value, of a resource whose block says that it is sensitive: it may say so only after
        # the value that is refused. Other refusals stay as they are.
        def without_value(refusal, block) = says_sensitive?(block) ? hidden(refusal) : refusal

        # The same refusal without the value. Other refusals stay as they are.
        def hidden(refusal)
          text = refusal.instance_variable_get(:@wrun_without_value)
          text ? refusal.exception(text) : refusal
        end

        private

        # Returns true for a class or module without a comparison of its own.
        def plain_class?(one) = one.is_a?(Module) && one.method(:===).owner.equal?(Module)

        # Refuses a value. The block makes the sentence around what is shown of it. `errors`: refusals of alternatives.
        def refuse_value(scope, name, message, shown, errors = [])
          hidden = message || (yield(SUPPRESSED) + list(errors.map { |error| error.instance_variable_get(:@wrun_without_value) || error }))
          text = message || (secret?(scope, name) ? hidden : yield(shown) + list(errors))
          refusal = Chef::Exceptions::ValidationFailed.new(text)
          refusal.instance_variable_set(:@wrun_without_value, hidden)
          raise refusal
        end

        def list(errors) = errors.empty? ? "" : " Errors:\n#{errors.map { |error| "- #{error}" }.join("\n")}"

        # Whether a resource, or its property of this name, is sensitive.
        def secret?(scope, name)
          return false if scope.nil? || name.to_s == "sensitive"
          return true if scope.respond_to?(:sensitive) && scope.sensitive

          type = scope.class
          type.respond_to?(:properties) && type.properties[name.to_sym]&.sensitive? ? true : false
        end

        # Whether a block calls `sensitive`.
        def says_sensitive?(block)
          code = RubyVM::InstructionSequence.of(block)
          !code.nil? && code.disasm.match?(/mid:sensitive=?[,>]/)
        end

        def refuse(message, otherwise) = raise(Chef::Exceptions::ValidationFailed, message || otherwise)

        def one_of?(scope, name, value, one, only, errors)
          case one
          when Proc
            raise Chef::Exceptions::CannotValidateStaticallyError, "is: proc { } must be evaluated once for each resource" unless scope

            scope.instance_exec(value, &one)
          when Chef::Property then fits?(scope, name, value, one, only, errors)
          else one === value
          end
        end

        def fits?(scope, name, value, property, only, errors)
          property.check(scope, name, value)
          true
        rescue Chef::Exceptions::ValidationFailed => error
          raise if only

          errors << error
          false
        end
      end
    end
  end
end
