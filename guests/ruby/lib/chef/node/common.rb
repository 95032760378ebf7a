# frozen_string_literal: true

# Methods with paths into attributes, for hashes of attributes.

class Chef
  class Node
    module CommonAPI
      class << self
        # Returns true if a path exists below a hash or an array. `asking` treats the call as a read, which raises an error
        # for values that the policy may not read.
        def found?(container, path, asking: false)
          path.inject(container) do |at, key|
            concealed = at.ask(key) if asking && at.is_a?(Watched)
            next concealed if concealed
            return false unless at.is_a?(Hash) ? at.key?(key) : at.is_a?(Array) && key.is_a?(Integer) && at.size > key

            at[key]
          end
          true
        end

        def follow(container, path) = path.inject(container) { |at, key| at[key] }
      end

      def exist?(*path) = CommonAPI.found?(self, path)
      def read(*path) = CommonAPI.found?(self, path, asking: true) ? CommonAPI.follow(self, path) : nil
      def dig(*path) = read(*path)

      def read!(*path)
        raise Exceptions::NoSuchAttribute, path.join(".") unless CommonAPI.found?(self, path, asking: true)

        CommonAPI.follow(self, path)
      end

      # Writes a value. Replaces each value on the path that cannot hold members.
      def write(*path)
        value = block_given? ? yield : path.pop
        *outer, last = path
        container = outer.each_with_index.inject(self) do |at, (key, index)|
          at[key] = {} unless valid_container?(at[key], path[index + 1])
          at[key]
        end
        container[last] = value
      end

      # Writes a value. Raises an error if a value on the path cannot hold members.
      def write!(*path)
        value = block_given? ? yield : path.pop
        *outer, last = path
        container = outer.inject(self) do |at, key|
          raise Exceptions::AttributeTypeMismatch unless valid_container?(at, key)

          at[key]
        end
        raise Exceptions::AttributeTypeMismatch unless valid_container?(container, last)

        container[last] = value
      end

      def unlink(*path, last)
        container = path.empty? ? self : read(*path)
        container.delete(last) if container.is_a?(Hash) || container.is_a?(Array)
      end

      def unlink!(*path)
        raise Exceptions::NoSuchAttribute unless exist?(*path)

        unlink(*path)
      end

      private

      def valid_container?(at, key) = at.is_a?(Hash) || (at.is_a?(Array) && key.is_a?(Integer))
    end
  end
end
