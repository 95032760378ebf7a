# frozen_string_literal: true

# Finds the resources that recipes and actions declare: type, names, and the literal values in the block.

module Wrun
  module Check
    class Walk
      # Methods that declare a resource and take its type as their first argument.
      BY_CODE = %i[declare_resource build_resource find_resource find_resource! edit_resource edit_resource!].freeze

      # Words in a resource's block that are not properties.
      COMMON = %i[only_if not_if notifies subscribes notifies_immediately notifies_delayed action lazy].freeze

      # The code of a recipe, and of the blocks in it.
      CONTEXTS_OF_RECIPES = %i[recipe resource code].freeze

      # Types whose `verify` is a command.
      VERIFIED = %w[cookbook_file file remote_file template].freeze

      private

      # Records a resource declaration. Returns false if the call does not declare a resource.
      def declared?(node, receiver, name, arguments, block)
        return false if receiver && !(self?(receiver) || context_of_run?(receiver))
        return declared_by_code?(node, name, arguments, block) if BY_CODE.include?(name)
        return false unless receiver.nil? && type_here?(name, arguments, block)

        declare(node, name.to_s, elements(arguments)&.first, block, words_of_declaration(arguments, block))
        visit(arguments)
        true
      end

      def self?(node) = node.type == :SELF
      def context_of_run?(node) = node.type == :VCALL && node.children[0] == :run_context

      # Returns true if a word is a resource type here. In a recipe, an unknown word with a name or a block must be a type. In
      # other code, a type needs both.
      def type_here?(name, arguments, block)
        case @context
        when :recipe
          return true if Known.type?(name)

          !Known.word?(name) && !POWERSHELL.include?(name) && name.match?(/\A[a-z]\w*\z/) && (block ? true : named?(arguments))
        when :code then Known.type?(name) && block && elements(arguments)&.size == 1
        else false
        end
      end

      # Returns true if the only argument is a string, as a resource's name is.
      def named?(arguments)
        given = elements(arguments)
        given&.size == 1 && %i[STR DSTR].include?(given.first.type)
      end

      def declared_by_code?(node, name, arguments, block)
        type, title, *rest = elements(arguments)
        types = type && texts(type, @variables)
        return false if types.nil? || (name.start_with?("find") && block.nil?)

        types.each { |one| declare(node, one, title, block, among: types) }
        ([title] + rest).each { |one| visit(one) }
        true
      end

      # `words`: those of the block, or nil if something else may set properties. `among`: the types that may be meant.
      def declare(node, type, title, block, words = nil, among: [type])
        properties = []
        platform, families, conditional = @platform, @families, @conditional
        if block
          # A guard may show that the resource is for another system.
          verified = VERIFIED.include?(type)
          within(context: :resource, type: type, properties: properties, verified: verified, guarded: nil, guard_families: nil,
                 has_guard: nil, conditional: nil, variables: @variables.dup) do
            visit_children(block)
            platform ||= @guarded
            families = @guard_families || families
            conditional ||= @has_guard
          end
        end
        Known.judge(type, properties, among: among)
        missing = Known.missing_properties(type, properties, words)
        if title&.type == :STR && !title.children[0].valid_encoding?
          add(:error, node, class: "EncodingError", message: "the name of a resource is not UTF-8")
        end
        names = title.nil? ? nil : names(title)
        facts = { type: type, names: names, nameless: title.nil? || nil, properties: properties, sure: @context == :recipe || nil,
                  conditional: conditional, words: words, missing: missing }
        known = Known.of_type(type)
        known = { near: Known.near_word(type.to_sym, :recipe) } if known.empty?
        within(platform: platform, families: families) { add(:resource, node, **facts, **known) }
      end

      # Returns the possible names of a resource, or nil if they are unknown. An array is the name of one resource.
      def names(title)
        found = values(title, @variables)
        found if found&.all? { |one| one.is_a?(String) || (one.is_a?(Array) && one.all?(String)) }
      end

      # Visits a method call in a resource's block or in a resource class.
      def visit_word(node, receiver, name, arguments, block)
        case @context
        when :resource then visit_property(node, receiver, name, arguments, block)
        when :resource_class, :code, :provider_class then visit_class_word(node, receiver, name, arguments, block)
        else note_asked(node, receiver, name)
        end
        note_unknown(node, receiver, name)
        note_unknown_to_node(node, receiver, name)
      end

      # A word without a receiver, in a recipe or an attributes file, that nobody here knows: `nodee['a']`.
      def note_unknown(node, receiver, name)
        # With arguments it is a property, where there are properties.
        may_have_arguments = %i[recipe attributes].include?(@context)
        return unless node.type == :VCALL || (may_have_arguments && node.type == :FCALL)
        return if receiver || @scope || known_here?(name)
        return if @context == :attributes && Chef::Node::AttributeMethods::REMOVED.key?(name)

        add(:word, node, name: name.name, near: Known.near_word(name, @context))
      end

      # A method that nodes do not have: `node.set['a'] = 1` and `node.platform`, which Chef removed. In an attributes file, the
      # node itself has the words without a receiver. In a library, `node` may be anything.
      def note_unknown_to_node(node, receiver, name)
        return if @optional || @file.path.start_with?("libraries/")

        removed = Chef::Node::AttributeMethods::REMOVED[name]
        of_node = node?(receiver) && node_object?(receiver) && receiver.type == :VCALL
        return unless of_node || (removed && receiver.nil? && @context == :attributes)
        return if Known.word_of_node?(name)

        add(:node_word, node, name: name.name, removed: removed, near: Known.near_word(name, :attributes))
      end

      def known_here?(name)
        return Known.word_of_attributes?(name) if @context == :attributes
        return true unless @file.path.start_with?("recipes/") && CONTEXTS_OF_RECIPES.include?(@context)

        Known.type?(name) || Known.word?(name) || POWERSHELL.include?(name) || Known.common?(name) ||
          (@type && Known.word_of_type?(@type, name)) || false
      end

      # A literal of a kind that can be told from others.
      def fixed?(node)
        value = literal(node)&.first
        [String, Integer, Float, TrueClass, FalseClass, Array, Hash].any? { |kind| kind === value }
      end

      def visit_property(node, receiver, name, arguments, block)
        note_asked(node, receiver, name)
        return if receiver && !self?(receiver)

        given = elements(arguments)
        is_guard = GUARDS.include?(name)
        if (is_guard || (name == :verify && @verified)) && command?(given)
          add(:command, node, values: texts(given.first, @variables), via: name.to_s)
        end
        if is_guard
          @has_guard = true
          @guarded ||= guard_platform(name, block)
          @guard_families ||= guard_families(block) if name == :only_if
        elsif given&.size.to_i.positive? && !COMMON.include?(name) && !(Known.word?(name) && !Known.type?(name) && helper?(name))
          note_value(node, name, given)
        elsif name == :variables && @type == "template"
          # `variables[:port] = 80` adds to them.
          @properties << { name: "variables", line: node.first_lineno }
        end
        visit_reference(node, name, given)
      end

      # Notes a property with its values. `exact` is the literal as Ruby has it, and does not leave this walk.
      def note_value(node, name, given)
        found = given.size == 1 ? values(given[0], @variables) : nil
        property = { name: name.name, line: node.first_lineno, values: found, conditional: @conditional }
        property.update(fixed: fixed?(given[0]), exact: exact(given[0])) if given.size == 1
        property[:keys] = keys(given[0]) if name == :variables && given.size == 1
        @properties << property
      end

      # Returns the literal keys of a hash, or nil if there may be others.
      def keys(node)
        pairs = node.type == :HASH ? pairs(node) : nil
        found = pairs&.map { |key, _| literal(key)&.first }
        found if found&.all?(String)
      end

      # Returns true for a method of every object or resource, which tells nothing about this resource.
      def helper?(name) = Object.private_method_defined?(name) || Chef::Resource.method_defined?(name)

      def command?(given) = given && !given.empty? && %i[STR DSTR].include?(given.first.type)

      def guard_platform(name, block)
        body = block&.children&.last
        return unless node?(body)

        name == :only_if ? Platforms.if_true(body) : Platforms.if_false(body)
      end

      def guard_families(block)
        body = block&.children&.last
        Platforms.families(body) if node?(body)
      end
    end
  end
end
