# frozen_string_literal: true

# Represents a hidden object of facts or of the operator's attributes. A cookbook may ask for its members, so that a denial names only the requested member.
# Every other use raises an error.

class Chef
  class Node
    class Concealed < ImmutableMash
      # The only member of the object, for Ruby's own code that bypasses the methods of the object.
      class Member < BasicObject
        def initialize(view, path)
          @view = view
          @path = path
        end

        %i[== != ! equal? instance_eval instance_exec].each do |name|
          define_method(name) { |*| refuse }
        end

        private

        def method_missing(*) = refuse
        def respond_to_missing?(*) = true

        def refuse
          Node.read(@view, @path, ::Wrun::Sources.origin)
          # Returns nil if the operator has turned the error off.
          nil
        end
      end

      def self.at(view, path)
        mash = allocate
        mash.regular_writer("(hidden)", Member.new(view, path))
        mash.extend(Watched).watch(view, path)
      end

      # Reads the whole object, which the host refuses.
      def demand = ask_for_all

      private

      # Returns false, so that each member is requested from the host.
      def regular_key?(_name) = false

      def method_missing(...)
        ask_for_all
        super
      end

      def respond_to_missing?(*) = false
    end

    # The same in a level that the cookbook may write to. The host decides about each write.
    class ConcealedLevel < VividMash
      def self.at(level, path)
        mash = super
        mash.regular_writer("(hidden)", Concealed::Member.new(level, path))
        mash.extend(Watched).watch(level, path)
      end

      # Reads the whole object, which the host refuses.
      def demand = ask_for_all

      private

      # Only what the cookbook wrote here is a member.
      def regular_key?(name) = name != "(hidden)" && super

      # The level that is cached does not contain this object, so it is read again.
      def note_change = Node.forget_all
    end
  end
end
