# frozen_string_literal: true

# The conversation with the host: one loop that serves the whole policy, and each errand in the middle of it.

require_relative "bridge"
require_relative "failures"

module Wrun
  # File content that need not be text, as a closure's value.
  Content = Struct.new(:bytes)

  module Turns
    # Closures by their numbers, and the numbers that each context keeps.
    @closures = []
    @of_context = Hash.new { |all, context| all[context] = [] }
    @handlers = {}

    class << self
      # Says who answers `run`, `act` and `inspect`. The block gets what the contract sends, without number.
      def on(request, &handler) = @handlers[request] = handler

      # Keeps a closure while its context lasts, and returns its number.
      def keep(context, closure)
        number = @closures.size
        @closures << closure
        @of_context[context] << number
        number
      end

      # The whole of `serve`.
      def serve
        converse("ready")
      rescue Exception => error # rubocop:disable Lint/RescueException
        # Nothing may leave into the adapter, which could only die of it.
        warn("wrun: #{error.full_message(highlight: false)}")
      end

      # Says something and answers requests until the host is done with it. Raises what became of an errand.
      def converse(*said)
        told = Bridge.call("turns.next", *said)
        while true # rubocop:disable Style/InfiniteLoop -- `loop` would swallow a StopIteration
          if told[0] == "done"
            raise Failures.rebuild(told[1]) if told[1]

            return
          end
          told = give(told[1], *answer(told))
        end
      end

      private

      # Hands an answer over.
      def give(number, word, value = nil)
        case value
        when nil then Bridge.call("turns.next", word, number)
        when Content
          Bridge.call_with(value.bytes, "turns.next", "content", number, [0, value.bytes.bytesize])
        when Value
          begin
            Bridge.call("turns.next", word, number, value.it)
          rescue JSON::GeneratorError => error
            give(number, "failed", Failures.describe(error))
          end
        else
          Bridge.call("turns.next", word, number, value)
        end
      end

      # A closure's value, which may be nil.
      Value = Struct.new(:it)
      private_constant :Value

      # Nothing leaves this method but by its return: neither an exception nor a `throw` may unwind the host's frames.
      def answer(told)
        answered = nil
        answered = perform(told)
      rescue Exception => error # rubocop:disable Lint/RescueException
        answered = ["failed", Failures.describe(error)]
      ensure
        return answered || ["failed", Failures.describe(RuntimeError.new("a `throw` left the block of a resource"))] # rubocop:disable Lint/EnsureReturn
      end

      def perform(told)
        case told[0]
        when "evaluate"
          closure = @closures[told[2]] or raise ArgumentError, "closure #{told[2]} is forgotten"
          value = told[3].nil? ? closure.call : closure.call(told[3])
          value.is_a?(Content) ? ["content", value] : ["value", Value.new(value)]
        when "inspect" then ["value", Value.new(@handlers["inspect"].call(told[2]))]
        when "forget"
          @of_context.delete(told[2])&.each { |number| @closures[number] = nil }
          ["finished"]
        else
          @handlers.fetch(told[0]).call(*told[2..])
          ["finished"]
        end
      end
    end
  end
end
