# frozen_string_literal: true

# Converts attribute values between Ruby and the host, which stores them as JSON. A value without a JSON form (a lazy value, a
# proc, a class, a symbol) stays in Ruby. The host stores a number for it. Ruby also keeps keys that are neither strings nor
# symbols.

class Chef
  class Node
    module Values
      # Marks a Ruby object in JSON: `{"\0guest": number}`.
      MARK = "\0guest"

      @objects = {}
      @numbers = {}.compare_by_identity
      @keys = {}

      class << self
        # Converts a Ruby value to JSON values. `path` is the path to which it will be written.
        def to_json_value(value, path)
          case value
          when nil, true, false, Integer then value
          when String then text(value)
          when Float then value.finite? ? value : { MARK => number_of(value) }
          when Hash then object(value, path)
          when Array then value.each_with_index.map { |one, index| to_json_value(one, path + [index.to_s]) }
          else { MARK => number_of(value) }
          end
        end

        # Converts JSON values to read-only objects of the merged view.
        def immutable(json, path)
          case json
          when String then json.frozen? ? json : json.freeze
          when Hash
            return @objects[json[MARK]] if json.size == 1 && json.key?(MARK)

            ImmutableMash.of(json, path)
          when Array then ImmutableArray.of(json, path)
          else json
          end
        end

        # Converts JSON values to writable objects of one level.
        def vivid(json, level, path)
          case json
          when Hash
            return @objects[json[MARK]] if json.size == 1 && json.key?(MARK)

            VividMash.at(level, path).take_over(json)
          when Array then AttrArray.at(level, path).take_over(json)
          else json
          end
        end

        # Returns the key that the cookbook wrote, for the string that the host stores.
        def key(string, path) = @keys.empty? ? string : @keys.fetch(path + [string], string)

        # Stores a key that is neither a string nor a symbol. The host has only its text.
        def keep_key(step, key)
          @keys[step] = key unless key.is_a?(String) || key.is_a?(Symbol)
        end

        # Converts a value to plain values on all levels, for use after the run. Lazy values are evaluated, and other objects
        # become text.
        def plain(value)
          value = value.call while value.is_a?(DelayedEvaluator)
          case value
          when nil, true, false, Integer, String then value
          when Float then value.finite? ? value : value.to_s
          when Hash then value.each_with_object({}) { |(key, one), all| all[key.to_s] = plain(one) }
          when Array, Set then value.map { |one| plain(one) }
          else value.to_s
          end
        end

        private

        def object(hash, path)
          hash.each_with_object({}) do |(key, one), json|
            step = path + [key.to_s]
            keep_key(step, key)
            json[step.last] = to_json_value(one, step)
          end
        end

        def text(string)
          return string if string.encoding == Encoding::UTF_8 && string.valid_encoding?

          string = string.encode(Encoding::UTF_8) unless string.encoding == Encoding::BINARY
          string = string.dup.force_encoding(Encoding::UTF_8)
          string.valid_encoding? ? string : string.scrub
        rescue EncodingError
          string.dup.force_encoding(Encoding::UTF_8).scrub
        end

        # Returns an object's number. The same object keeps its number, so that equal markers mean equal values. At the end of
        # the policy, the host requests the plain value.
        def number_of(object)
          @numbers[object] ||= Wrun::Turns.keep(0, -> { plain(object) }).tap { |number| @objects[number] = object }
        end
      end
    end
  end
end
