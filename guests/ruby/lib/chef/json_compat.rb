# frozen_string_literal: true

# JSON under Chef's name.

require "json"

class Chef
  class Exceptions
    class JSON
      class EncodeError < RuntimeError; end unless const_defined?(:EncodeError, false)
      class ParseError < RuntimeError; end unless const_defined?(:ParseError, false)
    end
  end

  class JSONCompat
    class << self
      def parse(source, options = {})
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
      def to_json_pretty(value, _options = nil) = ::JSON.pretty_generate(value)
    end
  end
end
