# frozen_string_literal: true

# Keeps the literal default values of attributes and properties, from earlier files and from this one. The check uses them as
# the values of `node['a']['b']` and `new_resource.port`.

module Wrun
  module Check
    class Defaults
      include Literals

      # The maximum number of values of one attribute or property. Conditions can give it several.
      MOST = 20

      def initialize(attributes, properties)
        @attributes = attributes || {}
        @properties = properties || {}
      end

      # Returns the possible values of `node['a']['b']` or `new_resource.c`. Returns nil if they are unknown or the expression
      # has another form.
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

      # Notes a default value, for the host and for later lines of this file.
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

      # Returns the values if all are texts, integers or lists of texts, and nil otherwise. Names consist only of these.
      def plain(values)
        values if values&.all? { |one| one.is_a?(String) || one.is_a?(Integer) || (one.is_a?(Array) && one.all?(String)) }
      end
    end
  end
end
