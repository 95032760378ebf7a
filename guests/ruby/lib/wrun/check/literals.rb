# frozen_string_literal: true

# What can be read from a piece of a program as it stands: names, literals, and variables that hold literals.

module Wrun
  module Check
    module Literals
      Node = RubyVM::AbstractSyntaxTree::Node

      # Among the variables: what attributes and properties stand for.
      DEFAULTS = :"@defaults"

      # So many values one expression may stand for.
      MOST = 100

      module_function

      def node?(thing) = thing.is_a?(Node)

      # The pieces that are programs themselves.
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

      # Whether the elements can be told at all.
      def array?(node) = node?(node) && %i[LIST ZLIST].include?(node.type)

      # The text that stands at a node's begin; bytes that are no UTF-8 are nobody's name here.
      def text_of(node) = node.children[0].to_s.encode(Encoding::UTF_8, invalid: :replace, undef: :replace).scrub

      # The value of a literal, as `[value]`, or nil: texts, symbols, numbers, truths, and arrays and hashes of such.
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

      def array(node)
        values = elements(node).map { |one| literal(one) }
        [values.map(&:first)] if values.all?
      end

      def hash(node)
        pairs = pairs(node)&.map { |key, value| [literal(key), literal(value)] }
        [pairs.to_h { |key, value| [key.first.to_s, value.first] }] if pairs&.all? { |pair| pair.all? }
      end

      # Keys and values of a hash as it is written; nil where another hash is poured in.
      def pairs(node)
        return [] if node.children[0].nil?

        pairs = node.children[0].children[0...-1].each_slice(2).to_a
        pairs if pairs.all? { |key, _| key }
      end

      # The texts that an expression may stand for, or nil where they are not known.
      def texts(node, variables)
        found = values(node, variables)
        found if found&.all?(String)
      end

      # The values that an expression may stand for, or nil: literals, variables, choices between such.
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

      # An array of which each element stands for one value.
      def spread(node, variables)
        each = elements(node).map { |one| values(one, variables) }
        [each.map(&:first)] if each.all? { |values| values&.size == 1 }
      end

      # `"a#{b}c"` where b is known.
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

      # `'x'.freeze`, `:x.to_s`, `<<~X.strip`.
      def called(node, variables)
        receiver, name, arguments = node.children
        return unless arguments.nil? && %i[freeze to_s to_sym dup strip chomp].include?(name)

        values(receiver, variables)&.map { |one| %i[strip chomp].include?(name) && one.is_a?(String) ? one.public_send(name) : one }
      end

      # `A::B` as a text; nil where it begins with something else than a name.
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
