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

        @all << (@all.size == MOST ? { fact: :too_much, line: line } : { fact: fact, line: line, **words.compact })
      end

      def to_a = @all
    end
  end
end
