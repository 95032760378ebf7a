# frozen_string_literal: true

# A template's syntax errors, told by the lines of the template. Ruby's parser quotes the code that the template was made
# into, which nobody has written, and may count more lines than the template has.

class Chef
  class Template
    module Syntax
      # A line of the code that has an error, in the parser's message.
      QUOTED = /\A> *(\d+) \|/

      # What the parser says of the line before.
      SAID = /\A *\| *\^~* (.+)/

      # What the parser makes of the rest of the code, which says nothing about the template.
      GUESS = /, (?:assuming it is closing|ignoring it).*\z/

      # The most errors that are told: each makes others.
      MOST = 3

      class << self
        # The syntax error of a template's code, or nil if the code can be read.
        def error(code, path, template)
          RubyVM::InstructionSequence.compile(code, path, path, 1)
          nil
        rescue SyntaxError => error
          told(error, path, template)
        end

        # The parser's error in the words of the template, raised at its line.
        def told(error, path, template)
          found = faults(error.message, [template.lines.size, 1].max)
          first = found.first&.first || 1
          words = found.first(MOST).map { |line, text| line == first ? text : "line #{line}: #{text}" }
          words << "the code of a tag cannot be read" if words.empty?
          SyntaxError.new("syntax error: #{words.join("; ")}").tap do |new|
            new.set_backtrace(["#{path}:#{first}", *error.backtrace])
          end
        end

        private

        # Pairs of line and text, each once.
        def faults(message, last)
          line = nil
          message.lines(chomp: true).filter_map do |one|
            line = [one[QUOTED, 1].to_i, last].min if one.match?(QUOTED)
            said = one[SAID, 1]
            [line, said.sub(GUESS, "")] if said && line
          end.uniq
        end
      end
    end
  end
end
