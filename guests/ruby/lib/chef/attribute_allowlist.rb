# frozen_string_literal: true

# Implements `Chef::AttributeAllowlist`, which picks parts of a hash by their paths.

class Chef
  class AttributeAllowlist
    class << self
      # Returns a new hash with the parts that an allowlist names: `"a/b"`, or an array of keys, which may have slashes.
      def filter(data, allowlist = nil)
        return data if allowlist.nil?

        allowlist.each_with_object({}) { |item, picked| pick(data, picked, item) }
      end

      private

      def pick(data, picked, item)
        *folders, last = to_array(item)
        folders.each do |key|
          return missing(item) unless data.key?(key)

          data = data[key]
          picked = (picked[key] ||= {})
        end
        data.key?(last) ? picked[last] = data[last] : missing(item)
      end

      def missing(item) = Log.warn("Could not find allowlist attribute #{item}.")
      def to_array(item) = item.is_a?(Array) ? item : item.split("/").then { |keys| keys.first == "" ? keys.drop(1) : keys }
    end
  end
end
