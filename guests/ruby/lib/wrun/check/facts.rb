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

      # Replaces what is not UTF-8 in a text. An encoding that Ruby cannot convert keeps its ASCII characters.
      def self.text(text)
        text.encode(Encoding::UTF_8, invalid: :replace, undef: :replace).scrub
      rescue EncodingError
        text.dup.force_encoding(Encoding::UTF_8).scrub
      end

      private

      # Makes a value that JSON can hold, with texts in UTF-8. Of ranges, patterns and other objects it keeps the text.
      def clean(value)
        case value
        when nil, true, false, Integer then value
        when Float then value.finite? ? value : value.to_s
        when Array then value.map { |one| clean(one) }
        when Hash then value.to_h { |key, one| [key.is_a?(Symbol) ? key : Facts.text(key.to_s), clean(one)] }
        else Facts.text(value.to_s)
        end
      end
    end
  end
end
