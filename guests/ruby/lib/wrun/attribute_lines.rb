# frozen_string_literal: true

# The lines of an environment's attributes as its file writes them: `{"default_attributes" => {KEY => [LINE, {KEY => ..}]}}`.
# What is not written as a literal has no line.

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
        # They only explain.
        {}
      ensure
        $VERBOSE = before
      end

      private

      # The last call counts, as it does for the values.
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
