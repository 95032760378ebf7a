# frozen_string_literal: true

# Writes a declaration as JSON text. Ruby's JSON generator takes twice as long, and a recipe consists mainly of declarations.
# The text of a repeated name comes from a cache.

require "json"

module Wrun
  module Resources
    module Text
      # Cached names of types, properties, actions, cookbooks, recipes and files. Their number is limited by the cookbooks'
      # code.
      @names = {}

      class << self
        def name(word) = @names[word] ||= JSON.generate(word.to_s).freeze

        # Returns the JSON text of any string.
        def string(value) = Bridge.plain(value) || of(Values.json(value))

        # Returns the JSON text of a value.
        def of(value)
          case value
          when String then Bridge::SPECIAL.match?(value) ? JSON.generate(value) : "\"#{value}\""
          when Array then "[#{value.map { |one| of(one) }.join(",")}]"
          when Hash then value.instance_of?(Hash) ? object(value) : JSON.generate(value)
          else Bridge.plain(value) || JSON.generate(value)
          end
        end

        def names(words) = words.size == 1 ? "[#{name(words[0])}]" : "[#{words.map { |word| name(word) }.join(",")}]"

        # `[action, party, timing, subscribes]`.
        def notification(wish)
          action, party, timing, subscribes = wish
          "[#{name(action)},#{of(party)},#{name(timing)},#{subscribes}]"
        end

        private

        def object(hash)
          "{#{hash.keys.map { |key| "#{string(key.is_a?(Symbol) ? key.name : key.to_s)}:#{of(hash[key])}" }.join(",")}}"
        end
      end
    end
  end
end
