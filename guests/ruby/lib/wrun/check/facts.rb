# frozen_string_literal: true

# What was found in a file, in the order in which it stands there.

module Wrun
  module Check
    class Facts
      # So many things one file may ask for.
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

      # The contract's texts are UTF-8.
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
