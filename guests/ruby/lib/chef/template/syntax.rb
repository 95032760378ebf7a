# frozen_string_literal: true

# Reports syntax errors of a template by the template's lines. Ruby's parser quotes the generated code, which no author knows,
# and may count more lines than the template has.

class Chef
  class Template
    module Syntax
      # Matches a line with an error in the parser's message.
      QUOTED = /\A> *(\d+) \|/

      # Matches the parser's text about the line before.
      SAID = /\A *\| *\^~* (.+)/

      # Matches the parser's guess about the rest of the code, which tells nothing about the template.
      GUESS = /, (?:assuming it is closing|ignoring it).*\z/

      # The maximum number of reported errors. Each error causes others.
      MOST = 3

      class << self
        # Returns the syntax error of a template's code, or nil if the code is valid.
        def error(code, path, template)
          RubyVM::InstructionSequence.compile(code, path, path, 1)
          nil
        rescue SyntaxError => error
          told(error, path, template)
        end

        # Converts the parser's error to one with the template's lines.
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

        # Returns the errors as pairs of line and text, without duplicates.
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
