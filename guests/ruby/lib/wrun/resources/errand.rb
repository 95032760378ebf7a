# frozen_string_literal: true

# Errands that make resources act.

module Wrun
  module Resources
    class << self
      # Sends an errand. A failure says, as Chef's do, which resources it has come through: cookbooks that rescue it log it.
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
