# frozen_string_literal: true

# Merges nested hashes in Chef's two ways: with united arrays or with replaced arrays.

class Chef
  module Mixin
    module DeepMerge
      extend self

      class InvalidParameter < StandardError; end

      # Merges two hashes. The second wins.
      def merge(first, second) = deep_merge(mash(second), mash(first))

      # Merges copies of both values. `source` wins.
      def deep_merge(source, dest) = deep_merge!(copy(source), copy(dest))

      def deep_merge!(source, dest)
        if source.is_a?(Hash) && dest.is_a?(Hash)
          source.each { |key, value| dest[key] = dest.key?(key) ? deep_merge!(value, dest[key]) : value }
          dest
        elsif source.is_a?(Array) && dest.is_a?(Array) then dest | source
        else source
        end
      end

      # Merges hashes and replaces all other values, including arrays.
      def hash_only_merge(onto, with) = hash_only_merge!(copy(onto), copy(with))

      def hash_only_merge!(onto, with)
        return with unless onto.is_a?(Hash) && with.is_a?(Hash)

        with.each { |key, value| onto[key] = onto.key?(key) ? hash_only_merge(onto[key], value) : value }
        onto
      end

      def safe_dup(thing) = copy(thing)

      private

      def copy(thing)
        thing.is_a?(Module) ? thing : thing.dup
      rescue TypeError
        thing
      end

      def mash(hash) = hash.is_a?(ChefUtils::Mash) ? hash : ChefUtils::Mash.new(hash)
    end
  end
end
