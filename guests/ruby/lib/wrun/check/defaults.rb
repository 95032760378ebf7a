# frozen_string_literal: true

# Values that attributes and properties have where nobody sets others: literal defaults, of files that were read before and
# of this one. `node['a']['b']` and `new_resource.port` stand for them.

module Wrun
  module Check
    class Defaults
      include Literals

      # So many values one of them may have, by conditions.
      MOST = 20

      def initialize(attributes, properties)
        @attributes = attributes || {}
        @properties = properties || {}
      end

      # What `node['a']['b']` or `new_resource.c` may be; nil if that is not known, or if the expression is another.
      def values(node)
        receiver, name, arguments = node.children
        return of_attribute(node) if name == :[]
        return unless arguments.nil? && node?(receiver) && receiver.type == :VCALL && receiver.children[0] == :new_resource

        @properties[name.name]
      end

      def attribute(path, values) = merge(@attributes, path.join("\0"), values)
      def property(name, values) = merge(@properties, name, values)

      private

      def merge(table, key, values)
        table[key] = (Array(table[key]) | values).first(MOST)
      end

      def of_attribute(node)
        path = []
        while node.type == :CALL && node.children[1] == :[]
          keys = elements(node.children[2])
          key = literal(keys.first)&.first if keys&.size == 1
          return unless key.is_a?(String) && node?(node.children[0])

          path.unshift(key)
          node = node.children[0]
        end
        @attributes[path.join("\0")] if node.type == :VCALL && node.children[0] == :node
      end
    end

    class Walk
      private

      # A default as the host keeps it, and as this file's later lines see it.
      def note_attribute(node, path, value)
        return if value.nil? || !path.all?(String)

        if node?(value) && value.type == :HASH
          (pairs(value) || []).each { |key, inner| note_attribute(node, path + [literal(key)&.first], inner) }
          return
        end
        values = plain(values(value, @variables)) or return
        @variables[DEFAULTS].attribute(path, values) unless @platform
        add(:default, node, path: path, values: values)
      end

      # `property :port, Integer, default: 80`.
      def note_property(node, arguments)
        name, *rest = elements(arguments)
        name = name && literal(name)&.first
        hash = rest.last if rest.any? && rest.last.type == :HASH
        _, value = hash && pairs(hash)&.find { |key, _| literal(key)&.first == "default" }
        values = value && plain(values(value, @variables)) or return
        return unless name.is_a?(String)

        @variables[DEFAULTS].property(name, values)
        add(:property, node, name: name, values: values)
      end

      # Texts, numbers, and lists of texts: what names of things are made of.
      def plain(values)
        values if values&.all? { |one| one.is_a?(String) || one.is_a?(Integer) || (one.is_a?(Array) && one.all?(String)) }
      end
    end
  end
end
