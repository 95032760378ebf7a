# frozen_string_literal: true

# Collects the facts of a file, in the order of its text.

module Wrun
  module Check
    class Facts
      # The maximum number of facts of one file.
      MOST = 5_000

      def initialize
        @all = []
      end

      def add(fact, line, **words)
        return if @all.size > MOST

        @all << (@all.size == MOST ? { fact: :too_much, line: line } : { fact: fact, line: line, **clean(words.compact) })
      end

      def to_a = @all

      private

      # Replaces invalid bytes, because texts of the contract must be UTF-8.
      def clean(value)
        case value
        when String then value.encode(Encoding::UTF_8, invalid: :replace, undef: :replace).scrub
        when Array then value.map { |one| clean(one) }
        when Hash then value.to_h { |key, one| [key.is_a?(String) ? clean(key) : key, clean(one)] }
        else value
        end
      end
    end
  end
end
