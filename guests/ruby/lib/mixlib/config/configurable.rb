# frozen_string_literal: true

module Mixlib
  module Config
    # A setting: its default, and a block that changes what it is set to.
    class Configurable
      attr_reader :symbol, :default_value, :default_block

      def initialize(symbol)
        @symbol = symbol
      end

      def defaults_to(value = nil, &block)
        @has_default = true
        @default_value = value
        @default_block = block if block
        self
      end

      def writes_value(&block)
        @writer = block
        self
      end

      def has_default? = !!@has_default
      alias has_default has_default?
      def default_block? = !default_block.nil?
      def writes_value? = !@writer.nil?
      def default = default_block ? default_block.call : default_value
      def is_default?(values) = !values.key?(symbol) || values[symbol] == default_value

      # Returns the value. A default that is read becomes the value, so that code may change it in place.
      def get(values)
        return values[symbol] if values.key?(symbol)

        default_block ? default_block.call : values[symbol] = default_value.dup
      end

      def set(values, value) = values[symbol] = @writer ? @writer.call(value) : value
    end
  end
end
