# frozen_string_literal: true

# Writes a declaration as JSON text. Ruby's JSON generator takes twice as long, and a recipe consists mainly of declarations.
# The text of a repeated name comes from a cache.

require "json"

module Wrun
  module Resources
    module Text
      SPECIAL = /["\\\x00-\x1f]/

      # Cached names of types, properties, actions, cookbooks, recipes and files. Their number is limited by the cookbooks'
      # code.
      @names = {}

      class << self
        def name(word) = @names[word] ||= JSON.generate(word.to_s).freeze

        # Returns the JSON text of a value.
        def of(value)
          case value
          when String then SPECIAL.match?(value) ? JSON.generate(value) : "\"#{value}\""
          when Array then "[#{value.map { |one| of(one) }.join(",")}]"
          when Integer, true, false then value.to_s
          when nil then "null"
          else JSON.generate(value)
          end
        end

        def names(words) = "[#{words.map { |word| name(word) }.join(",")}]"

        # `[action, party, timing, subscribes]`.
        def notification(wish)
          action, party, timing, subscribes = wish
          "[#{name(action)},#{of(party)},#{name(timing)},#{subscribes}]"
        end
      end
    end
  end
end
