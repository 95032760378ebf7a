# frozen_string_literal: true

# Finds the expression that was nil. If `node['a']['b']['c']` fails with "undefined method '[]' for nil", it is the part
# before the failed call.
#
# Ruby identifies the failed call by a node number from its compiler. The syntax tree that Ruby offers here comes from the
# older compiler, which uses other numbers. Both compile the same calls in the same order. So the call's position among the
# calls of that name on its line identifies it. If the two compilers disagree, Ruby gives no hint.

module Wrun
  module Receivers
    # Calls with a receiver.
    CALLS = %i[CALL OPCALL QCALL ATTRASGN].freeze

    # The most characters of an expression in a hint. A longer one is cut.
    LONGEST = 100

    class << self
      # Returns a hint such as "`node['a']` is nil (COOKBOOK/FILE:LINE)", or nil if the expression is unknown.
      def hint(error)
        return unless error.is_a?(NoMethodError) && error.receiver.nil?

        frame = error.backtrace_locations&.first
        place = frame && Sources.split(frame.path)
        return unless place

        text = expression(frame, error.name, code(*place))
        text = nil if text == "nil"
        said = "`#{text}` is nil (#{place.join("/")}:#{frame.lineno})" if text
        [said, presence(Chef::Node::Absent.explain(text, [*place, frame.lineno]))].compact.join("; ").then { |hint| presence(hint) }
      end

      # The attributes without a value that a line read whose error is about nil, as a TypeError is. Nil if it read none.
      def of_line(error)
        frame = error.backtrace_locations&.find { |one| Sources.split(one.path) }
        presence(Chef::Node::Absent.explain(nil, [*Sources.split(frame.path), frame.lineno])) if frame
      end

      private

      def presence(text) = text.empty? ? nil : text

      # Returns the source text of a file as Ruby compiled it.
      def code(cookbook, file)
        text = Sources.text(cookbook, file)
        file.start_with?("templates/") ? Chef::Template::Compiler.wrapped(text) : text
      end

      def expression(frame, name, text)
        number = RubyVM::AbstractSyntaxTree.node_id_for_backtrace_location(frame)
        compiler = RubyVM::InstructionSequence
        made = calls(compiler.compile_prism(text).to_a, name, frame.lineno)
        seen = calls(compiler.compile_parsey(text).to_a, name, frame.lineno)
        at = made.index(number)
        return unless at && made.size == seen.size

        node = find(RubyVM::AbstractSyntaxTree.parse(text), seen[at], name)
        node && shortened(slice(text, node.children.first))
      end

      # Returns the node numbers of all calls of a name on a line, in order, including calls in blocks.
      def calls(code, name, line, found = [])
        numbers = code[4][:node_ids]
        here = nil
        at = -1
        code[13].each do |entry|
          next here = entry if entry.is_a?(Integer)
          next unless entry.is_a?(Array)

          at += 1
          entry.each { |part| calls(part, name, line, found) if part.is_a?(Array) && part[0] == code[0] }
          found << numbers[at] if here == line && entry.any? { |part| part.is_a?(Hash) && part[:mid] == name }
        end
        found
      end

      def find(node, number, name)
        return unless node.is_a?(RubyVM::AbstractSyntaxTree::Node)
        return node if node.node_id == number && CALLS.include?(node.type) && node.children[1] == name

        node.children.each { |child| find(child, number, name)&.then { |found| return found } }
        nil
      end

      # The text of a part of the tree. Columns count bytes.
      def slice(text, node)
        return unless node.is_a?(RubyVM::AbstractSyntaxTree::Node)

        lines = text.b.lines[(node.first_lineno - 1)..(node.last_lineno - 1)]
        lines[-1] = lines[-1][0...node.last_column]
        lines[0] = lines[0][node.first_column..]
        lines.join.force_encoding(Encoding::UTF_8).scrub
      end

      def shortened(text)
        line = text&.gsub(/\s+/, " ")
        line && line.size > LONGEST ? "#{line[0, LONGEST]}.." : line
      end
    end
  end
end
