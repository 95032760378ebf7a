# frozen_string_literal: true

# Finds the attributes that code reads and writes, by the literal keys of their paths.

module Wrun
  module Check
    class Walk
      LEVELS = %i[
        default normal override force_default force_override automatic default_unless normal_unless override_unless
      ].freeze

      # Methods that write a value below a path in their arguments.
      WRITING = %i[default! normal! override! force_default! force_override! write write!].freeze

      # Methods that ask for the value of a path in their arguments, and expect that there may be none.
      ASKING = %i[
        read dig exist? attribute? key? has_key? include? member? fetch read! debug_value values_at slice rm rm_default
        rm_normal rm_override delete
      ].freeze

      # Methods whose receiver and arguments may well be nil, besides those that end with `?`.
      EXPECTING_NIL = %i[! == != === =~ !~ <=> to_s to_a to_h to_i to_f compact inspect class Array String then tap].freeze

      # Values that are not hashes.
      SCALARS = %i[STR DSTR INTEGER FLOAT LIT SYM DSYM TRUE FALSE NIL LIST ZLIST].freeze

      private

      # Records the attribute that `node['a']['b']` reads, up to the first key that is not literal.
      def visit_read(node)
        return if @keys_read.delete(node.node_id)

        root, calls = chain(node)
        return unless calls && node_object?(root)

        first, *rest = calls.map { |call| texts(elements(call.children[2])&.first, {}) }
        below = rest.take_while { |keys| keys&.size == 1 }.map(&:first)
        first&.each { |key| add(:attribute, node, name: key, below: below, asked: @asking || nil) }
        # The walk visits the inner calls later and must skip them then.
        calls[0...-1].each { |call| @keys_read[call.node_id] = true }
      end

      # Returns what a chain such as `node['a']['b']` begins with, and its calls of `[]` from left to right.
      def chain(node)
        calls = []
        while node?(node) && node.type == :CALL && node.children[1] == :[]
          calls.unshift(node)
          node = node.children[0]
        end
        [node, calls] if node?(node) && calls.any?
      end

      def node_object?(receiver)
        node?(receiver) && ((receiver.type == :VCALL && receiver.children[0] == :node) ||
          (receiver.type == :CALL && receiver.children[1] == :node))
      end

      # Returns the keys of calls of `[]`, up to the first one that is not literal.
      def literal_keys(calls)
        keys = calls.map { |call| literal_key(elements(call.children[2])&.first) }
        keys.take_while { |key| !key.nil? }
      end

      def literal_key(node)
        key = node && literal(node)&.first
        key if key.is_a?(String)
      end

      # Records that code may write anything below `default['a']`, which it takes in another way than to assign to it.
      def visit_level(node)
        return if @levels_read.delete(node.node_id)

        root, calls = chain(node)
        return unless calls && level?(root)

        # The walk visits these later and must skip them then.
        [root, *calls[0...-1]].each { |one| @levels_read[one.node_id] = true }
        add(:written, node, path: literal_keys(calls), open: true)
      end

      # Visits a call that may read or write attributes in another way than by `[]`.
      def visit_other_use(node, receiver, name, given)
        if level?(node) then open_level(node)
        elsif WRITING.include?(name) then note_written_path(node, receiver, name, given)
        elsif ASKING.include?(name) then note_asked_path(node, receiver, given)
        end
      end

      # The level itself is used, as in `node.default.merge!(values)`.
      def open_level(node)
        add(:written, node, path: [], open: true) unless @levels_read.delete(node.node_id)
      end

      # `node.default!('a', 'b', 1)`, `node.write(:default, 'a', 'b', 1)`.
      def note_written_path(node, receiver, name, given)
        return unless node_object?(receiver) || (receiver.nil? && @context == :attributes)

        given = given.drop(1) if name.start_with?("write")
        keys = given.map { |one| literal_key(one) }.take_while { |key| !key.nil? }
        add(:written, node, path: keys, open: true)
      end

      # `node.read('a', 'b')`, `node['a'].key?('b')`.
      def note_asked_path(node, receiver, given)
        root, calls = chain(receiver)
        return unless node_object?(root || receiver)

        keys = calls ? literal_keys(calls) : []
        return if calls && keys.size < calls.size

        keys += given.map { |one| literal_key(one) }.take_while { |key| !key.nil? }
        add(:asked_attribute, node, path: keys) if keys.any?
      end

      # Returns true for a call that is expected to meet nil, of its receiver or of its arguments. In a template, each expression
      # gets a `to_s` by itself.
      def asks?(node, name)
        return false if name == :to_s && @context == :template

        node.type == :QCALL || name.end_with?("?") || EXPECTING_NIL.include?(name)
      end

      # Records the attribute that `default['a']['b'] = value` writes, and its possible values.
      def visit_write(node)
        receiver, last, value = written(node)
        root, calls = chain(receiver)
        root ||= receiver
        if last && level?(root)
          keys = (calls || []).map { |call| elements(call.children[2])&.first } + [last]
          write_attribute(node, keys, value)
          [root, *calls].each { |one| @levels_read[one.node_id] = true }
        end
        visit_children(node)
      end

      def written(node)
        receiver, operator, arguments, value = node.children
        case node.type
        when :ATTRASGN then operator == :[]= ? [receiver, *elements(arguments)] : [receiver]
        when :OP_ASGN1 then [receiver, elements(arguments)&.first, value]
        else [receiver]
        end
      end

      def level?(receiver)
        return false unless node?(receiver) && %i[VCALL CALL].include?(receiver.type)

        above, name = receiver.type == :VCALL ? [nil, receiver.children[0]] : receiver.children
        LEVELS.include?(name) && (above.nil? ? @context == :attributes : node_object_itself?(above))
      end

      def node_object_itself?(above) = above.type == :VCALL && above.children[0] == :node

      def write_attribute(node, keys, value)
        path = keys.map { |key| key && literal(key)&.first }
        known = path.take_while { |key| key.is_a?(String) }
        if known.size < path.size then add(:written, node, path: known, open: true)
        else note_written(node, known, value)
        end
        note_attribute(node, path, value) if path.all?(String) && @context == :attributes
      end

      # Notes the path that an assignment sets, and the keys of a literal hash with those of the hashes in it.
      def note_written(node, path, value)
        inner = node?(value) && value.type == :HASH ? pairs(value)&.map { |key, one| [literal_key(key), one] } : nil
        if inner.nil? || inner.empty? || inner.any? { |key, _| key.nil? }
          is_open = !(node?(value) && SCALARS.include?(value.type))
          return add(:written, node, path: path, open: is_open || nil)
        end

        scalars, others = inner.partition { |_, one| node?(one) && SCALARS.include?(one.type) }
        add(:written, node, path: path, keys: scalars.map(&:first))
        others.each { |key, one| note_written(node, path + [key], one) }
      end
    end
  end
end
