# frozen_string_literal: true

# Talks to the host: one loop serves the whole policy, and an inner loop serves each task.

require_relative "bridge"
require_relative "failures"

module Wrun
  # File content that need not be text, as a closure's value.
  Content = Struct.new(:bytes)

  module Turns
    # The value of an answer. It may be nil. A handler of `run` returns a `Value` if the request expects a value.
    Value = Struct.new(:it)

    # Closures by their numbers, and the numbers that each context keeps.
    @closures = []
    @of_context = Hash.new { |all, context| all[context] = [] }
    @handlers = {}
    @before = []
    @passed = 0

    class << self
      # Returns how often the turn has come back. Values that were cached earlier may be outdated.
      attr_reader :passed

      # Adds a block to call right before this guest gives up the turn.
      def before(&block) = @before << block

      # Registers the handler for a request: `run`, `act`, `inspect` or `forget`. The block gets the request's data without its
      # number.
      def on(request, &handler) = @handlers[request] = handler

      # Keeps a closure while its context lasts, and returns its number.
      def keep(context, closure)
        number = @closures.size
        @closures << closure
        @of_context[context] << number
        number
      end

      # Implements the function `serve` of the contract.
      def serve
        converse("ready")
      rescue Exception => error # rubocop:disable Lint/RescueException
        # An exception must not reach the adapter, because it would end the guest.
        Bridge.call("output.log", "error", Failures.text_of(error))
      end

      # Sends a message and answers requests until the host sends `done`. Raises the exception of a task that failed.
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

      # Sends an answer and gives up the turn.
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

      # Always returns an answer. An exception or a `throw` must not unwind the frames of the host.
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
