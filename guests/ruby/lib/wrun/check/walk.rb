# frozen_string_literal: true

# Walks through a file's syntax tree. It tracks the kind of code: a recipe, the block of a resource, the class of a custom
# resource or plain Ruby. The same word has a different meaning in each.

module Wrun
  module Check
    class Walk
      include Literals

      # Methods whose block continues the class body.
      LOOPS = %i[each each_pair each_with_index times].freeze

      # Words whose block is a condition.
      GUARDS = %i[only_if not_if].freeze

      def initialize(file, context)
        @file = file
        @context = context
        @variables = { DEFAULTS => file.defaults }
        @platform = Platforms.of_file(file.path)
        @optional = false
        # The classes and modules in which the constants of the code may lie.
        @around = []
        # True in code whose nil is expected, such as a condition.
        @asking = false
        # True in code that a run may not reach.
        @conditional = nil
        # Numbers of the inner calls of an attribute's read or write that has already been noted.
        @keys_read = {}
        @levels_read = {}
      end

      def read
        text = @context == :template ? Chef::Template::Compiler.new(@file.text.dup).ruby : @file.text
        root = parse(text)
        prepare(root)
        visit(root)
      end

      private

      # Compiles the text first, to get the same error messages as a run. Nothing is evaluated.
      def parse(text)
        before = $VERBOSE
        $VERBOSE = nil
        RubyVM::InstructionSequence.compile(text, @file.path, @file.path, 1)
        RubyVM::AbstractSyntaxTree.parse(text)
      rescue SyntaxError => error
        raise unless @context == :template

        raise Chef::Template::Syntax.told(error, @file.path, @file.text)
      ensure
        $VERBOSE = before
      end

      def add(fact, node, **words)
        line = node.is_a?(Integer) ? node : node.first_lineno
        around = { platform: @platform, families: @families, optional: @optional || nil, conditional: @conditional }
        @file.add(fact, line, **around, **words)
      end

      def within(**state)
        before = state.to_h { |name, _| [name, instance_variable_get(:"@#{name}")] }
        state.each { |name, value| instance_variable_set(:"@#{name}", value) }
        yield
      ensure
        before.each { |name, value| instance_variable_set(:"@#{name}", value) }
      end

      # Visits a branch of a condition on the platform. Of nested conditions, the outer platform counts, but the inner list of
      # families, because it is more precise.
      def on_platform(platform, families, node)
        within(platform: @platform || platform, families: families || @families, conditional: true) { visit(node) }
      end

      def visit(node)
        return unless node?(node)

        case node.type
        when :BLOCK then visit_statements(node)
        when :IF, :UNLESS then visit_condition(node)
        when :CASE, :CASE2 then visit_case(node)
        when :FCALL, :VCALL, :CALL, :QCALL, :OPCALL then visit_call(node, nil)
        when :ITER then visit_call(node.children[0], node.children[1])
        when :DEFN, :DEFS then visit_method(node)
        when :CLASS, :MODULE then visit_class(node)
        when :LASGN, :DASGN then visit_assignment(node)
        when :RESCUE then visit_rescue(node)
        when :AND, :OR, :WHILE, :UNTIL, :CASE3 then visit_choice(node)
        when :DEFINED then nil
        else visit_other(node)
        end
      end

      def visit_children(node) = children(node).each { |child| visit(child) }

      def visit_other(node)
        case node.type
        when :XSTR then add(:command, node, values: [text_of(node)], via: "`")
        when :DXSTR
          add(:command, node, via: "`")
          visit_children(node)
        when :ATTRASGN, :OP_ASGN1, :OP_ASGN2 then visit_write(node)
        when :CONST, :COLON2, :COLON3 then visit_constant(node)
        when :IVAR, :IASGN then visit_variable(node)
        when :STR then visit_text(node)
        when :CDECL
          add(:defined, node, name: [@scope, node.children[0]].compact.join("::")) if node.children[0].is_a?(Symbol)
          visit_children(node)
        when :ALIAS then literal(node.children[0])&.first&.then { |name| add(:method, node, name: name.to_s) }
        when :DSTR
          visit_text(node) if text_of(node).match?(%r{\Ahttps?://[^/]+/})
          visit_children(node)
        else visit_children(node)
        end
      end

      # Visits statements in order. Those after `return unless windows?` are for Windows.
      def visit_statements(node)
        within(platform: @platform, conditional: @conditional) do
          children(node).each do |statement|
            visit(statement)
            next unless may_leave?(statement)

            @conditional = true
            @platform ||= left_by(statement)
          end
        end
      end

      def may_leave?(statement)
        %i[IF UNLESS].include?(statement.type) && statement.children.drop(1).any? { |branch| leaves?(branch) }
      end

      def left_by(statement)
        condition, branch, other = statement.children
        return unless other.nil? && leaves?(branch)

        statement.type == :IF ? Platforms.if_false(condition) : Platforms.if_true(condition)
      end

      def leaves?(branch)
        node?(branch) && (branch.type == :RETURN || (branch.type == :FCALL && %i[raise fail].include?(branch.children[0])))
      end

      def visit_condition(node)
        condition, branch, other = node.children
        branch, other = other, branch if node.type == :UNLESS
        within(asking: true) { visit(condition) }
        within(optional: @optional || asks_whether_defined?(condition)) do
          on_platform(Platforms.if_true(condition), Platforms.families(condition), branch)
        end
        on_platform(Platforms.if_false(condition), nil, other)
      end

      # Visits what decides by a value: the operands of `||` but for the last one, the condition of a loop, the subject of `in`.
      def visit_choice(node)
        all = children(node)
        deciding = %i[AND OR].include?(node.type) ? all[0...-1] : all.first(1)
        within(asking: true) { deciding.each { |one| visit(one) } }
        within(conditional: true) { (all - deciding).each { |one| visit(one) } }
      end

      def asks_whether_defined?(condition)
        return false unless node?(condition)

        condition.type == :DEFINED || (condition.type == :CALL && condition.children[1] == :const_defined?) ||
          (condition.type == :AND && condition.children.any? { |one| asks_whether_defined?(one) })
      end

      def visit_case(node)
        subject, branch = node.type == :CASE ? node.children : [nil, node.children[0]]
        within(asking: true) { visit(subject) }
        linux = false
        while node?(branch) && branch.type == :WHEN
          values, body, branch = branch.children
          linux ||= Platforms.linux?(values)
          platform = subject ? Platforms.when(values) : Platforms.if_true(elements(values || branch)&.first)
          families = subject ? Platforms.families_of(values) : Platforms.families(elements(values || branch)&.first)
          visit(values)
          on_platform(platform, families, body)
        end
        on_platform(linux ? "other than Linux" : nil, nil, branch)
      end

      def visit_rescue(node)
        body, *rest = node.children
        within(optional: true, asking: true) { visit(body) }
        within(conditional: true) { rest.each { |one| visit(one) } }
      end

      def visit_assignment(node)
        name, value = node.children
        visit(value)
        found = values(value, @variables)
        @variables[name] = @variables.key?(name) ? @variables[name]&.then { |before| found && (before | found) } : found
      end

      def visit_method(node)
        name, scope = node.type == :DEFN ? node.children : node.children[1..]
        add(:method, node, name: name.to_s)
        note_filling(node, name)
        inside = %i[helpers provider_class recipe].include?(@context) || name.start_with?("action_") ? :recipe : :code
        platform = @platform || Platforms.of_name(name.name)
        within(context: inside, variables: @variables.slice(DEFAULTS), platform: platform, conditional: true) { visit_children(scope) }
      end

      # Returns receiver, name and arguments of any form of call.
      def parts(node) = %i[FCALL VCALL].include?(node.type) ? [nil, node.children[0], node.children[1]] : node.children

      def visit_call(node, block)
        return visit_children(node) && visit(block) unless %i[FCALL VCALL CALL QCALL OPCALL].include?(node.type)

        receiver, name, arguments = parts(node)
        note_look_up(node, receiver, name, arguments)
        return if declared?(node, receiver, name, arguments, block)

        visit_word(node, receiver, name, arguments, block)
        visit_code(node, receiver, name, arguments, block)
        within(asking: @asking || asks?(node, name)) { [receiver, arguments].each { |one| visit(one) } }
        visit_block(receiver, name, arguments, block) if block
      end

      def visit_block(receiver, name, arguments, block)
        names = block.children[0]
        variables = @variables.dup
        names.first(1).each { |one| variables[one] = texts_of_each(receiver) } if name == :each && names.any?
        state = { context: context_in_block(receiver, name, arguments), variables: variables }
        state[:asking] = @asking || GUARDS.include?(name)
        # Of other blocks than those of a loop over a literal list nobody knows whether they run.
        state[:conditional] = @conditional || !(LOOPS.include?(name) && array?(receiver)) || nil
        within(**state) { visit_children(block) }
      end

      # Returns the values of `one` in `%w(a b).each do |one|`.
      def texts_of_each(receiver)
        array?(receiver) ? values(receiver, @variables)&.first : nil
      end

      def context_in_block(receiver, name, arguments)
        case @context
        when :recipe then %i[lazy only_if not_if event_handler].include?(name) ? :code : :recipe
        when :resource then receiver ? :resource : :code
        when :resource_class, :helpers, :provider_class then context_in_class(name)
        when :code
          return :recipe if %i[action define].include?(name) && receiver.nil? && texts(elements(arguments)&.first, {})

          :code
        else @context
        end
      end

      def context_in_class(name)
        case name
        when :action then :recipe
        when :action_class, :declare_action_class then :helpers
        else @context == :resource_class && !LOOPS.include?(name) ? :code : @context
        end
      end
    end
  end
end
