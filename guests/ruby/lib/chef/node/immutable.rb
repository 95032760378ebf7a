# frozen_string_literal: true

# Implements the read-only arrays and hashes of the merged view.

class Chef
  class Node
    # Refuses the methods that would change their receiver.
    module Immutable
      HASH = %i[
        []= clear collect! compact! default= default_proc= delete delete_if except! filter! keep_if map! merge! rehash
        reject! replace select! shift store transform_keys! transform_values! unlink unlink! update write write!
        deep_merge! compare_by_identity
      ].freeze

      ARRAY = %i[
        << []= append clear collect! compact! concat default= default_proc= delete delete_at delete_if fill filter!
        flatten! insert keep_if map! merge! pop prepend push reject! replace reverse! rotate! select! shift shuffle!
        slice! sort! sort_by! store unshift uniq! update
      ].freeze

      def self.refuse(type, names)
        names.each do |name|
          type.define_method(name) { |*, **, &_| raise Exceptions::ImmutableAttributeModification }
        end
      end
    end

    class ImmutableArray < Array
      # Creates an array from JSON values.
      def self.of(json, path)
        array = allocate
        json.each_with_index { |one, index| array.send(:take, Values.immutable(one, path + [index.to_s])) }
        array
      end

      alias take <<
      private :take

      def initialize(source = [])
        super()
        source.each { |one| take(Values.immutable(one, [])) }
      end

      def [](*)
        found = super
        found = found.call while found.is_a?(DelayedEvaluator)
        found
      end

      def dup = Array.new(map { |one| Immutable.copy(one) })

      # Returns a copy as plain Ruby objects on all levels.
      def to_a = Array.new(map { |one| Immutable.thaw(one) })
      alias to_array to_a
      def to_yaml(*options) = to_a.to_yaml(*options)

      Immutable.refuse(self, Immutable::ARRAY)
    end

    class ImmutableMash < ChefUtils::Mash
      include CommonAPI

      # Creates a hash from JSON values, whose keys are strings already.
      def self.of(json, path)
        json.each_with_object(allocate.wrun_stand_at(path)) do |(key, value), mash|
          mash.regular_writer(Values.key(key, path), Values.immutable(value, path + [key]))
        end
      end

      def initialize(source = {})
        super()
        source.each { |key, value| regular_writer(convert_key(key), Values.immutable(value, [])) }
      end

      def [](key)
        found = regular_reader(key)
        return wrun_note_absent(key) if found.nil?

        found = found.call while found.is_a?(DelayedEvaluator)
        found
      end

      # Where the hash stands among the node's attributes.
      def wrun_stand_at(path)
        @path = path
        self
      end

      # Remembers that a key was read which has no value. Copies stand nowhere, and are left alone.
      def wrun_note_absent(*keys)
        Absent.note(@path + keys) if @path && Node.kept?(self, @path)
      end

      alias attribute? key?
      def dup = each_with_object(ChefUtils::Mash.new) { |(key, value), mash| mash[key] = Immutable.copy(value) }

      # Returns a copy as plain Ruby objects on all levels.
      def to_h = each_with_object({}) { |(key, value), hash| hash[key] = Immutable.thaw(value) }

      def to_hash = to_h
      def to_yaml(*options) = to_h.to_yaml(*options)
      def symbolize_keys = to_h.transform_keys(&:to_sym)
      def internal_set(*) = raise(Exceptions::ImmutableAttributeModification)

      Immutable.refuse(self, Immutable::HASH)
    end

    module Immutable
      class << self
        # Returns a copy. The code may change its top level.
        def copy(value)
          case value
          when Module, Proc then value
          else value.dup
          end
        end

        # Returns a copy. The code may change all its levels.
        def thaw(value)
          case value
          when ImmutableMash then value.to_h
          when ImmutableArray then value.to_a
          else copy(value)
          end
        end
      end
    end
  end
end
