# frozen_string_literal: true

# The conversation with the host: one loop that serves the whole policy, and each errand in the middle of it.

require_relative "bridge"
require_relative "failures"

module Wrun
  # File content that need not be text, as a closure's value.
  Content = Struct.new(:bytes)

  module Turns
    # A value to answer with, which may be nil. A handler of `run` returns one where its phase has an answer.
    Value = Struct.new(:it)

    # Closures by their numbers, and the numbers that each context keeps.
    @closures = []
    @of_context = Hash.new { |all, context| all[context] = [] }
    @handlers = {}
    @before = []
    @passed = 0

    class << self
      # How often the turn has come back: what is remembered from before may be old then.
      attr_reader :passed

      # Blocks to call right before the turn goes away.
      def before(&block) = @before << block

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
        Bridge.call("output.log", "error", Failures.text_of(error))
      end

      # Says something and answers requests until the host is done with it. Raises what became of an errand.
      def converse(*said)
        told = give_turn { Bridge.call("turns.next", *said) }
        while true # rubocop:disable Style/InfiniteLoop -- `loop` would swallow a StopIteration
          if told[0] == "done"
            raise Failures.rebuild(told[1]) if told[1]

            return
          end
          told = give(told[1], *answer(told))
        end
      end

      private

      def give_turn
        @before.each(&:call)
        yield
      ensure
        @passed += 1
      end

      # Hands an answer over.
      def give(...) = give_turn { say_answer(...) }

      def say_answer(number, word, value = nil)
        case value
        when nil then Bridge.call("turns.next", word, number)
        when Content
          Bridge.call_with(value.bytes, "turns.next", "content", number, [0, value.bytes.bytesize])
        when Value
          begin
            Bridge.call("turns.next", word, number, value.it)
          rescue JSON::GeneratorError => error
            say_answer(number, "failed", Failures.describe(error))
          end
        else
          Bridge.call("turns.next", word, number, value)
        end
      end

      # Nothing leaves this method but by its return: neither an exception nor a `throw` may unwind the host's frames.
      def answer(told)
        answered = nil
        answered = perform(told)
      rescue Exception => error # rubocop:disable Lint/RescueException
        answered = ["failed", Failures.describe(error)]
      ensure
        return answered || ["failed", Failures.describe(RuntimeError.new("a `throw` left the block of a resource"))] # rubocop:disable Lint/EnsureReturn
      end

      def handle(told)
        handler = @handlers[told[0]] or raise NotImplementedError, "nobody answers the request #{told[0]}"
        handler.call(*told[2..])
      end

      def perform(told)
        case told[0]
        when "evaluate"
          closure = @closures[told[2]] or raise ArgumentError, "closure #{told[2]} is forgotten"
          value = told[3].nil? ? closure.call : closure.call(told[3])
          value.is_a?(Content) ? ["content", value] : ["value", Value.new(value)]
        when "inspect" then ["value", Value.new(handle(told))]
        when "forget"
          @of_context.delete(told[2])&.each { |number| @closures[number] = nil }
          ["finished"]
        when "run"
          value = handle(told)
          value.is_a?(Value) ? ["value", value] : ["finished"]
        else
          handle(told)
          ["finished"]
        end
      end
    end
  end
end
