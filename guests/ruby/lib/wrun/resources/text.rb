# frozen_string_literal: true

# A declaration as JSON text. JSON's own generator takes twice as long for it, and declarations are what a recipe consists
# of: names that come again and again are written as they were written before.

require "json"

module Wrun
  module Resources
    module Text
      SPECIAL = /["\\\x00-\x1f]/

      # Names of types, properties, actions, cookbooks, recipes and files: as many as cookbooks have.
      @names = {}

      class << self
        def name(word) = @names[word] ||= JSON.generate(word.to_s).freeze

        # Any value that JSON has.
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
