# frozen_string_literal: true

# A fact that is an object and that the policy may not see. Its members can be asked for, so that a denial names the member
# that a cookbook wants and not all that lies beside it. Whatever else is done with it raises.

class Chef
  class Node
    class Concealed < ImmutableMash
      # What is found where Ruby's own code looks into the object without asking it.
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
          # Where the operator wants no error it is nothing.
          nil
        end
      end

      def self.at(view, path)
        mash = allocate
        mash.regular_writer("(hidden)", Member.new(view, path))
        mash.extend(Watched).watch(view, path)
      end

      # Reads the whole of it, which is refused.
      def demand = ask_for_all

      private

      # Members are asked for one by one.
      def regular_key?(_name) = false

      def method_missing(...)
        ask_for_all
        super
      end

      def respond_to_missing?(*) = false
    end
  end
end
