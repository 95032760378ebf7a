# frozen_string_literal: true

# Reads values from source code without running it: names, literals, and variables with literal values.

module Wrun
  module Check
    module Literals
      Node = RubyVM::AbstractSyntaxTree::Node

      # The key, among the variables, of the known values of attributes and properties.
      DEFAULTS = :"@defaults"

      # The most values that one expression may have.
      MOST = 100

      module_function

      def node?(thing) = thing.is_a?(Node)

      # Returns the children of a node that are nodes themselves.
      def children(node) = node.children.grep(Node)

      # The elements of a list of arguments or of an array; nil where their number is not known.
      def elements(list)
        return [] if list.nil?
        return list.children[0...-1] if list.type == :LIST

        case list.type
        when :BLOCK_PASS then elements(list.children[0])
        when :ZLIST then []
        end
      end

      # Returns true if the node is a list with known elements.
      def array?(node) = node?(node) && %i[LIST ZLIST].include?(node.type)

      # Returns the text in a node's first child. Bytes that are invalid in UTF-8 are replaced.
      def text_of(node) = Facts.text(node.children[0].to_s)

      # Returns the value of a literal as `[value]`, or nil for other code. Literals are strings, symbols, numbers, booleans, nil,
      # and arrays and hashes of literals.
      def literal(node)
        return [nil] if node.nil?

        case node.type
        when :STR, :SYM then [text_of(node)]
        when :LIT, :INTEGER, :FLOAT then [node.children[0]]
        when :TRUE then [true]
        when :FALSE then [false]
        when :NIL then [nil]
        when :LIST, :ZLIST then array(node)
        when :HASH then hash(node)
        end
      end

      # Returns the value of a literal as `literal` does, with symbols and keys as the code has them.
      def exact(node)
        case node&.type
        when :SYM then [node.children[0]]
        when :LIST, :ZLIST
          all = elements(node).map { |one| exact(one) }
          [all.map(&:first)] if all.all?
        when :HASH
          pairs = pairs(node)&.map { |pair| pair.map { |one| exact(one) } }
          [pairs.to_h { |key, value| [key.first, value.first] }] if pairs&.all? { |pair| pair.all? }
        else literal(node)
        end
      end

      def array(node)
        values = elements(node).map { |one| literal(one) }
        [values.map(&:first)] if values.all?
      end

      def hash(node)
        pairs = pairs(node)&.map { |key, value| [literal(key), literal(value)] }
        [pairs.to_h { |key, value| [key.first.to_s, value.first] }] if pairs&.all? { |pair| pair.all? }
      end

      # Returns the keys and values of a hash literal, or nil if it includes another hash with `**`.
      def pairs(node)
        return [] if node.children[0].nil?

        pairs = node.children[0].children[0...-1].each_slice(2).to_a
        pairs if pairs.all? { |key, _| key }
      end

      # Returns the strings that an expression may evaluate to, or nil if they are unknown.
      def texts(node, variables)
        found = values(node, variables)
        found if found&.all?(String)
      end

      # Returns the values that an expression may evaluate to, or nil. Known are literals, variables, and choices between them.
      def values(node, variables)
        return unless node?(node)

        case node.type
        when :LVAR, :DVAR then variables[node.children[0]]
        when :IF, :UNLESS then choice(node.children[1..2], variables)
        when :OR then choice(node.children, variables)
        when :LIST then spread(node, variables)
        when :DSTR then composed(node, variables)
        when :BLOCK then node.children.size == 1 ? values(node.children[0], variables) : nil
        when :CALL then variables[DEFAULTS]&.values(node) || called(node, variables)
        else literal(node)&.then { |found| found.first.nil? ? nil : found }
        end
      end

      def choice(branches, variables)
        values = branches.compact.map { |branch| values(branch, variables) }
        values.flatten(1).first(MOST) if values.any? && values.all?
      end

      # Returns the array if each of its elements has exactly one possible value.
      def spread(node, variables)
        each = elements(node).map { |one| values(one, variables) }
        [each.map(&:first)] if each.all? { |values| values&.size == 1 }
      end

      # Returns the strings that `"a#{b}c"` may evaluate to, if the values of `b` are known.
      def composed(node, variables)
        rest = node.children.drop(1)
        rest = rest.flat_map { |part| node?(part) && part.type == :LIST ? elements(part) : [part] }.compact
        rest.inject([text_of(node)]) do |texts, part|
          part = part.children[0] if part.type == :EVSTR
          more = values(part, variables) or return nil
          return nil if texts.size * more.size > MOST || !more.all? { |one| one.is_a?(String) || one.is_a?(Integer) }

          texts.product(more).map(&:join)
        end
      end

      # Returns the values of simple calls on known values: `'x'.freeze`, `:x.to_s`, `<<~X.strip`.
      def called(node, variables)
        receiver, name, arguments = node.children
        return unless arguments.nil? && %i[freeze to_s to_sym dup strip chomp].include?(name)

        values(receiver, variables)&.map { |one| %i[strip chomp].include?(name) && one.is_a?(String) ? one.public_send(name) : one }
      end

      # Returns a constant such as `A::B` as a string. Returns nil if it begins with another expression than a name.
      def constant(node)
        case node&.type
        when :CONST, :COLON3 then node.children[0].to_s
        when :COLON2
          scope, name = node.children
          return name.to_s if scope.nil?

          above = constant(scope)
          above && "#{above}::#{name}"
        end
      end
    end
  end
end
