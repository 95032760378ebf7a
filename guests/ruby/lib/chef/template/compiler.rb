# frozen_string_literal: true

# Turns a template into Ruby code. Chef's templates follow Erubis instead of Ruby's ERB. A line with only a statement produces
# no output, not even a line break, for all endings of its tags. `-%>` after other text has no effect.

class Chef
  class Template
    class Compiler
      TAG = /<%(=+|-|\#|%)?(.*?)([-=])?%>([ \t]*\r?\n)?/m

      ESCAPES = { "&" => "&amp;", "<" => "&lt;", ">" => "&gt;", '"' => "&quot;" }.freeze

      # The number of templates that are kept as code, and the longest of them in bytes.
      KEPT = 200
      KEPT_BYTES = 64 << 10
      private_constant :KEPT, :KEPT_BYTES

      @kept = {}

      # Returns the proc that renders a template. Templates that several resources use are compiled once, because compiling takes
      # most of the time of a rendering.
      def self.body(template, path)
        text, body = @kept[path]
        return body if text == template

        body = TOPLEVEL_BINDING.eval(wrapped(template), path, 1)
        @kept.clear if @kept.size >= KEPT
        @kept[path] = [template, body] if template.bytesize <= KEPT_BYTES
        body
      end

      def self.escape(text) = text.to_s.gsub(/[&<>"]/, ESCAPES)

      # Returns Ruby code for a proc that returns the text. The caller evaluates it at the top level, so that the library's
      # constants do not hide those of the template.
      def self.wrapped(template) = "proc { #{new(template).ruby} }"

      def initialize(template)
        @template = template
        @ruby = +"_buf = +''; "
        @line_begins = true
      end

      # Returns Ruby code that evaluates to the text. Its lines have the same numbers as the template's.
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

      # Removes the blanks between the start of the line and the tag from the text, and returns them. Returns nil if the line
      # has other characters before the tag.
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
