# frozen_string_literal: true

# Converts values of properties for the host: JSON, or bytes for a string that is not valid text.

require_relative "text"

module Wrun
  module Resources
    module Values
      class << self
        # Converts a value to the types of JSON. Other Ruby objects become their text.
        def json(value)
          case value
          when String then text(value)
          when Integer, true, false, nil then value
          when Symbol then value.name
          when Hash then object(value)
          when Array, Set then value.map { |one| json(one) }
          when Float then value.finite? ? value : value.to_s
          else value.respond_to?(:to_hash) ? json(value.to_hash) : text(value.to_s)
          end
        end

        # Converts the result of a closure to JSON values or bytes.
        def evaluated(value)
          return Content.new(value.b) if value.is_a?(String) && !text?(value)

          value.is_a?(Content) ? value : json(value)
        end

        def text?(string)
          string.encoding == Encoding::UTF_8 || string.encoding == Encoding::US_ASCII ? string.valid_encoding? : string.ascii_only?
        end

        private

        # Ruby's methods that walk through a hash take ten times as long as those of a list.
        def object(hash)
          return hash.to_h { |key, one| [key.to_s, json(one)] } unless hash.instance_of?(Hash)

          hash.keys.each_with_object({}) { |key, all| all[key.to_s] = json(hash[key]) }
        end

        def text(string)
          return string if text?(string)
          return string.encode(Encoding::UTF_8) unless string.encoding == Encoding::BINARY

          string.dup.force_encoding(Encoding::UTF_8).scrub
        rescue EncodingError
          string.b.force_encoding(Encoding::UTF_8).scrub
        end
      end

      # The bytes that one call through the bridge sends along.
      class Tail
        # Returns a property's value as JSON text: the contract's pair of kind and value.
        def property(value)
          value.is_a?(String) ? text(value) : "[\"plain\",#{Text.of(Values.json(value))}]"
        end

        # Does the same for a string. A text that JSON would escape, such as one of several lines, goes as bytes, because Ruby's
        # JSON generator takes longer than all the rest of a declaration.
        def text(value)
          return "[\"text\",\"#{value}\"]" if value.ascii_only? && !Bridge::SPECIAL.match?(value)

          at = append(value)
          "[\"#{Values.text?(value) ? "text" : "bytes"}\",[#{at},#{value.bytesize}]]"
        end

        # Calls a function whose arguments are JSON texts.
        def call(function, *arguments)
          Bridge.call_text(function, "[#{arguments.join(",")}]", @bytes)
        end

        private

        # Appends a string's bytes, and returns their place.
        def append(value)
          @bytes ||= "".b
          at = @bytes.bytesize
          @bytes.append_as_bytes(value)
          at
        end
      end
    end
  end
end
