# frozen_string_literal: true

# Turns a template into Ruby. Chef's templates follow Erubis and not the ERB of Ruby's library: a line that holds nothing but
# a statement vanishes with its line break, whatever its tags end in, and `-%>` behind other text changes nothing.

class Chef
  class Template
    class Compiler
      TAG = /<%(=+|-|\#|%)?(.*?)([-=])?%>([ \t]*\r?\n)?/m

      ESCAPES = { "&" => "&amp;", "<" => "&lt;", ">" => "&gt;", '"' => "&quot;" }.freeze

      def self.escape(text) = text.to_s.gsub(/[&<>"]/, ESCAPES)

      # Ruby code of a block that has the text as its value. Seen from the top, so that no constant of ours stands in a
      # template's way.
      def self.wrapped(template) = "proc { #{new(template).ruby} }"

      def initialize(template)
        @template = template
        @ruby = +"_buf = +''; "
        @line_begins = true
      end

      # Ruby code whose value is the text. Line numbers are those of the template.
      def ruby
        position = 0
        @template.scan(TAG) do |sign, code, tail, space_after|
          found = Regexp.last_match
          text = @template[position...found.begin(0)]
          position = found.end(0)
          indent = take_indent(text) unless sign&.start_with?("=")
          @line_begins = !space_after.nil?
          add_text(text)
          add_tag(sign, code, tail, indent, space_after)
        end
        add_text(@template[position..])
        @ruby << "\n_buf\n"
      end

      private

      # Blanks between the line's begin and the tag, taken off the text; nil if there is more than blanks.
      def take_indent(text)
        blanks = text[/[ \t]*\z/]
        before = text[0...text.size - blanks.size]
        return unless before.end_with?("\n") || (before.empty? && @line_begins)

        text.replace(before)
        blanks
      end

      def add_tag(sign, code, tail, indent, space_after)
        case sign
        when nil, "-" then add_statement(code, indent, space_after)
        when "#" then add_statement("\n" * (code.count("\n") + (space_after ? 1 : 0)), indent, space_after, comment: true)
        when "%" then add_text("#{indent}<%#{code}#{tail}%>#{space_after}")
        else
          add_expression(code, sign)
          add_text(space_after) unless tail
        end
      end

      def add_statement(code, indent, space_after, comment: false)
        return add_code(comment ? code : "#{indent}#{code}#{space_after}") if indent && space_after

        add_text(indent)
        add_code(code)
        add_text(space_after)
      end

      def add_code(code)
        @ruby << code
        @ruby << ";" unless code.end_with?("\n")
      end

      def add_expression(code, sign)
        @ruby << (sign == "==" ? " _buf << ::Chef::Template::Compiler.escape(#{code});" : " _buf << (#{code}).to_s;")
      end

      def add_text(text)
        return if text.nil? || text.empty?

        @ruby << " _buf << '" << text.gsub(/['\\]/) { |sign| "\\#{sign}" } << "';"
      end
    end
  end
end
