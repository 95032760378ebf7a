# frozen_string_literal: true

# Sends tasks to the host that run actions of resources.

module Wrun
  module Resources
    class << self
      # Sends a task. As in Chef, the message of a failure names the resources that it has passed through, because cookbooks
      # rescue and log it.
      def errand(*said)
        Turns.converse(*said)
      rescue StandardError => error
        raise with_places(error)
      end

      private

      def with_places(error)
        type, places, hint = Failures.describe(error).values_at(:class, :passed, :hint)
        return error if places.empty?

        words = places.reverse.map { |place| "#{place} had an error: #{type}: " }.join
        told = error.exception("#{words}#{error.message}").tap { |it| it.set_backtrace(error.backtrace) }
        Hints.attach(told, hint)
      end
    end
  end
end
