# frozen_string_literal: true

# Finds resources that are declared without a property that their type requires, where the text shows all that the block does.
# The library's own types are judged here. The host judges those of cookbooks, with the words of the block.

module Wrun
  module Check
    class Walk
      # Words that set no property of the resource around them.
      HARMLESS_WORDS = %i[
        action compile_time data_bag data_bag_item format ignore_failure include? lazy node not_if notifies notifies_before notifies_delayed
        notifies_immediately only_if platform? platform_family? raise retries retry_delay search sensitive shell_out shell_out!
        subscribes umask Array Float Integer String
      ].freeze

      # Methods of any object that may call a method by its name, or run code as the resource.
      DYNAMIC_WORDS = %i[
        __send__ class_eval class_exec eval instance_eval instance_exec instance_variable_set method public_method public_send send
      ].freeze

      # Nodes in a block that may set a property in a way that its words do not show.
      DYNAMIC_NODES = %i[SELF YIELD SUPER ZSUPER IASGN].freeze

      # Methods of a type that may set its properties by themselves.
      FILLING = %i[after_created initialize method_missing].freeze

      # Words that look a declared resource up, which then gets properties elsewhere.
      LOOKING_UP = %i[edit_resource edit_resource! find_resource find_resource! resources].freeze

      private

      # Returns the words without a receiver that a block uses, but for harmless ones. Returns nil if the text does not show all
      # that the block may set.
      def words_of_block(block)
        return [] if block.nil?

        _, parameters, body = block.children
        return if parameters && parameters.children.any? { |one| one && one != 0 }

        words = []
        words.uniq if shown?(body, words)
      end

      # Collects the words of code. Returns false if the code may do something that its text does not show.
      def shown?(node, words)
        return true unless node?(node)
        return false if DYNAMIC_NODES.include?(node.type)
        # A resource's block gets the resource as `it`.
        return false if %i[LVAR DVAR].include?(node.type) && node.children[0] == :it
        return false if %i[CALL QCALL OPCALL].include?(node.type) && DYNAMIC_WORDS.include?(node.children[1])

        words << node.children[0].name if %i[FCALL VCALL].include?(node.type) && !HARMLESS_WORDS.include?(node.children[0])
        children(node).all? { |child| shown?(child, words) }
      end

      # Returns the words of a resource's block if the declaration shows everything that is set.
      def words_of_declaration(arguments, block)
        return unless @context == :recipe && !(arguments && arguments.type == :BLOCK_PASS)

        words_of_block(block) if elements(arguments)&.size.to_i <= 1
      end

      # Notes the code of a type that may set its properties by itself.
      def note_filling(node, name)
        add(:fills, node) if FILLING.include?(name) && @file.path.start_with?("resources/")
      end

      # Notes a look-up of a resource, with its type if that is a literal.
      def note_look_up(node, receiver, name, arguments)
        by_collection = name == :resource_collection
        return unless by_collection || (LOOKING_UP.include?(name) && (receiver.nil? || self?(receiver) || context_of_run?(receiver)))

        found = by_collection ? nil : elements(arguments)&.first&.then { |first| texts(first, @variables) }
        add(:looked_up, node, types: found&.map { |one| one[/\A[^\[]*/] })
      end

      # The actions for which a property is required, as its options say: `true`, a list, or nil.
      def requirement(given)
        return if @conditional || given.last&.type != :HASH

        options = pairs(given.last)&.to_h { |key, value| [key && literal(key)&.first, value] }
        return if options.nil? || options.keys.intersect?(%w[default name_property name_attribute])

        case options["required"]&.type
        when :TRUE then []
        when :LIST then literal(options["required"])&.first&.then { |found| found if found.any? && found.all?(String) }
        end
      end
    end

    module Known
      class << self
        # Returns the properties without which a run of the library's type fails. `words` are those of the resource's block.
        def missing_properties(type, properties, words)
          types = Chef.resource_handler_map.list(nil, type.to_sym)
          return if words.nil? || types.empty? || types.any? { |one| one <= Chef::Resource::Foreign }
          return unless words.all? { |word| types.all? { |one| one.properties.key?(word.to_sym) } }

          given = properties.map { |property| property[:name] }
          actions = actions_of(types, properties) or return
          types.map { |one| required(one, actions) - given }.inject(:&)
        end

        private

        # Returns the actions of a resource, or nil if they are unknown or do nothing.
        def actions_of(types, properties)
          asked = properties.select { |property| property[:name] == "action" }
          actions = asked.empty? ? Array(types.first.default_action).map(&:to_s) : asked.first[:values]
          actions if asked.size < 2 && actions&.any? && !actions.include?("nothing")
        end

        def required(type, actions)
          type.properties.values.select do |property|
            actions.all? { |action| property.required?([action.to_sym]) } && !property.has_default? && !property.name_property?
          end.map { |property| property.name.to_s } - ["name"]
        end
      end
    end
  end
end
