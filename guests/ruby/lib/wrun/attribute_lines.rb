# frozen_string_literal: true

# Finds the line of each attribute in an environment's Ruby file: `{"default_attributes" => {KEY => [LINE, {KEY => ..}]}}`.
# The result contains only attributes with literal keys.

module Wrun
  module AttributeLines
    WORDS = %i[default_attributes override_attributes].freeze

    class << self
      def of(source)
        before = $VERBOSE
        $VERBOSE = nil
        found = {}
        visit(RubyVM::AbstractSyntaxTree.parse(source), found)
        found
      rescue StandardError, SyntaxError
        # The lines only help to explain values, so an error here must not fail the run.
        {}
      ensure
        $VERBOSE = before
      end

      private

      # If a word occurs twice, the last call counts, as for the values.
      def visit(node, found)
        return unless Check::Literals.node?(node)

        word, arguments = node.children if node.type == :FCALL
        if WORDS.include?(word) && Check::Literals.node?(arguments)
          hash = Check::Literals.elements(arguments)&.first
          found[word.to_s] = lines(hash) if hash?(hash)
        end
        Check::Literals.children(node).each { |child| visit(child, found) }
      end

      def hash?(node) = Check::Literals.node?(node) && node.type == :HASH

      def lines(hash)
        pairs = Check::Literals.pairs(hash) || []
        known = pairs.filter_map do |key, value|
          text = Check::Literals.literal(key)
          [text.first.to_s, [key.first_lineno, hash?(value) ? lines(value) : {}]] if text
        end
        known.to_h
      end
    end
  end
end
