# frozen_string_literal: true

# Notes the properties and actions of a cookbook's own resource types. The fact `open` means that a type may have others,
# which the text does not show. The host compares `new_resource.name` and the blocks of such resources with these names.

module Wrun
  module Check
    class Walk
      # Words that declare a property.
      PROPERTY = %i[property attribute].freeze

      # Options of a property that say which values fit in another way than by their class.
      ANY_VALUE = %w[coerce is].freeze

      # Values that stand for their classes.
      KINDS = { TRUE: "TrueClass", FALSE: "FalseClass", NIL: "NilClass" }.freeze

      # Words that may add properties and actions which the check cannot see.
      OPENING_WORDS = %i[class_eval class_exec instance_eval module_eval instance_exec send public_send eval extend].freeze

      private

      # Notes a call in the body of a resource class.
      def note_shape(node, name, arguments)
        given = elements(arguments) || []
        case name
        when *PROPERTY
          note_members(node, given.first, kinds(given.drop(1)), requirement(given.drop(1)))
          note_types(given.drop(1))
        when :deprecated_property_alias
          note_members(node, given.first)
          add(:fills, node)
        when :use then note_partial(node, given.first)
        when :action, :actions, :allowed_actions, :default_action then note_actions(node, given)
        when :define_method then add(:open, node) unless given.first && texts(given.first, @variables)
        else note_opening(node, name)
        end
      end

      def note_members(node, title, kinds = nil, required = nil)
        names = title && texts(title, @variables)
        names ? names.each { |one| add(:member, node, name: one, kinds: kinds, required: required) } : add(:open, node)
      end

      # The classes of a property's values, as `property :port, Integer` says. Nil where any value may fit: `coerce` makes it so.
      def kinds(given)
        *types, last = given
        return kind_names(given) unless last && last.type == :HASH

        options = pairs(last)&.to_h { |key, value| [key && literal(key)&.first, value] }
        return if options.nil? || options.keys.intersect?(ANY_VALUE)

        kind_names([*types, options["kind_of"]].compact)
      end

      def kind_names(types)
        names = types.flat_map { |one| array?(one) ? elements(one) : [one] }.map { |one| kind_name(one) }
        names if names.any? && names.all?
      end

      def kind_name(node)
        return KINDS[node.type] unless node.type == :CONST

        name = node.children[0].name
        name if Known::TYPES.include?(name)
      end

      # Notes the partial of a `use`, a file of the same folder. Chef's own partials (`core::..`) make the type open.
      def note_partial(node, title)
        names = title && texts(title, @variables)
        return add(:open, node) if names.nil? || names.any? { |one| one.start_with?("core::") }

        names.each { |one| add(:takes_in, node, name: partial_of(one)) }
      end

      # Returns the file of `use 'shared'` and `use 'partial/_shared'`, in the folder of the resource's own.
      def partial_of(name)
        file = "_#{::File.basename(name, ".rb").delete_prefix("_")}.rb"
        folder = ::File.dirname(name)
        folder == "." ? file : "#{folder}/#{file}"
      end

      # Notes the actions if each name is a literal. Otherwise the type is open.
      def note_actions(node, given)
        names = given.flat_map { |one| array?(one) ? elements(one) : [one] }.map { |one| texts(one, @variables) }
        names.all? ? names.flatten.each { |one| add(:action, node, name: one) } : add(:open, node)
      end

      def note_opening(node, name)
        return unless @context == :resource_class && %i[FCALL VCALL].include?(node.type)

        add(:open, node) if OPENING_WORDS.include?(name) || !Known.word_of_class?(name)
      end

      # Notes a misspelt type, as in `property :size, Strng`: a constant that neither Ruby nor Chef defines.
      def note_types(given)
        given.flat_map { |one| array?(one) ? elements(one) : [one] }.each do |one|
          next unless node?(one) && one.type == :CONST && !Object.const_defined?(one.children[0])

          name = one.children[0].name
          add(:constant, one, name: name, near: Hints.nearest(name, Known::TYPES))
        end
      end

      # Notes a read such as `new_resource.size`, for the type that this file defines.
      def note_asked(node, receiver, name)
        return unless @file.path.start_with?("resources/") && node?(receiver) && receiver.type == :VCALL
        return unless receiver.children[0] == :new_resource && !Known.common?(name)

        add(:asked, node, name: name.name)
      end
    end
  end
end
