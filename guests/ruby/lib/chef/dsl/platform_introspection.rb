# frozen_string_literal: true

# Methods that select values by platform or test the platform.

class Chef
  module DSL
    module PlatformIntrospection
      include ChefUtils

      # `{ platform(s) => { version(s) or constraint => value, 'default' => value }, 'default' => value }`
      class PlatformDependentValue
        def initialize(values)
          @values = {}
          values.each { |platforms, value| set(platforms, value) }
        end

        # Returns the value for the exact version. Otherwise tries the version constraints, the platform's default and the
        # general default, in this order.
        def value_for_node(node)
          platform = node[:platform].to_s
          version = node[:platform_version].to_s
          by_version = @values[platform].is_a?(Hash) && platform != "default" ? @values[platform] : {}
          return by_version[version] if by_version.key?(version)

          matching(platform, by_version, version) || (by_version.key?("default") ? by_version["default"] : @values["default"])
        end

        private

        def matching(platform, by_version, version)
          node_version = Version::Platform.new(version)
          found = by_version.keys.select { |constraint| matches?(constraint, node_version) }
          if found.size > 1
            raise "Multiple matches detected for #{platform} with values #{@values}. The matches are: #{found}"
          end

          by_version[found.first] unless found.empty?
        rescue Exceptions::InvalidCookbookVersion, Exceptions::InvalidPlatformVersion
          nil
        end

        def matches?(constraint, version)
          VersionConstraint::Platform.new(constraint).include?(version)
        rescue Exceptions::InvalidVersionConstraint
          false
        end

        def set(platforms, value)
          return @values["default"] = value if platforms.to_s == "default"

          unless value.is_a?(Hash)
            raise ArgumentError, "platform dependent values must be specified in the format :platform => {:version => value} " \
                                 "you gave a value #{value.inspect} for platform(s) #{platforms}"
          end

          by_version = value.each_with_object({}) { |(keys, one), all| Array(keys).each { |key| all[key.to_s] = one } }
          Array(platforms).each { |platform| @values[platform.to_s] = by_version }
        end
      end

      # `{ family or families => value, 'default' => value }`
      class PlatformFamilyDependentValue
        def initialize(values)
          @values = values.each_with_object({}) do |(families, one), all|
            Array(families).each { |family| all[family.to_s] = one }
          end
        end

        def value_for_node(node)
          family = node[:platform_family].to_s
          @values.key?(family) ? @values[family] : @values["default"]
        end
      end

      def value_for_platform(values) = PlatformDependentValue.new(values).value_for_node(node)
      def value_for_platform_family(values) = PlatformFamilyDependentValue.new(values).value_for_node(node)
      def platform?(*platforms) = platforms.flatten.any? { |platform| platform.to_s == node[:platform] }
      def platform_family?(*families) = families.flatten.any? { |family| family.to_s == node[:platform_family] }
      def older_than_win_2012_or_8?(_node = nil) = false
    end
  end
end
