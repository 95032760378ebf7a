# frozen_string_literal: true

# Implements `Chef::JSONCompat` with Ruby's JSON library.

require "json"

module JSON
  # Writes empty arrays and objects over several lines, as the json library of Chef's Ruby does. JSON texts contain no line
  # breaks, so brackets at the end of a line are never part of a text.
  module EmptyOnLines
    def pretty_generate(value, options = nil)
      text = super
      return text if options.respond_to?(:key?) && %i[object_nl array_nl].any? { |key| options.key?(key) }

      text.gsub(/^([ \t]*)(.*)(?:(\{\})|\[\])(,?)$/) { "#{$1}#{$2}#{$3 ? "{\n#{$1}}" : "[\n\n#{$1}]"}#{$4}" }
    end
  end

  singleton_class.prepend(EmptyOnLines)
end

class Chef
  class Exceptions
    class JSON
      class EncodeError < RuntimeError; end unless const_defined?(:EncodeError, false)
      class ParseError < RuntimeError; end unless const_defined?(:ParseError, false)
    end
  end

  class JSONCompat
    class << self
      # Parses a text or an IO. Returns nil for empty text.
      def parse(source, options = {})
        source = source.read if source.respond_to?(:read)
        raise Exceptions::JSON::ParseError, "input must be a string or IO" unless source.is_a?(String)
        return if source.empty?

        ::JSON.parse(source, max_nesting: false, symbolize_names: options[:symbolize_keys] || options[:symbolize_names] || false)
      rescue ::JSON::ParserError => error
        raise Exceptions::JSON::ParseError, error.message
      end

      def from_json(source, options = {})
        value = parse(source, options)
        return value if value.is_a?(Hash) || value.is_a?(Array)

        raise Exceptions::JSON::ParseError, "Top level JSON object must be a Hash or Array. (actual: #{value.class})"
      end

      def to_json(value, _options = nil) = ::JSON.generate(value)

      # Writes an empty line into empty objects too, as Chef does.
      def to_json_pretty(value, _options = nil) = ::JSON.pretty_generate(value).gsub(/\{\n( *\})/, "{\n\n\\1")
    end
  end
end
