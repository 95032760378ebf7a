# frozen_string_literal: true

# Defines the version of Chef that this library implements, and the class of version strings.

module ChefUtils
  # A version that supports comparison with strings and requirements: `node['platform_version'] =~ '>= 10'`.
  class VersionString < String
    def initialize(version)
      super(version || "")
      @parsed = Gem::Version.create(self)
    rescue ArgumentError
      @parsed = nil
    end

    def parsed_version = @parsed

    def <=>(other)
      theirs = other.is_a?(VersionString) ? other.parsed_version : Gem::Version.create(other.to_s)
      @parsed && theirs ? @parsed <=> theirs : super
    rescue ArgumentError
      super
    end

    %i[== < > <= >=].each { |name| define_method(name) { |other| compare(name, other) } }

    def =~(other)
      return super if other.is_a?(Regexp)

      requirement = other.is_a?(Gem::Requirement) ? other : Gem::Requirement.create(other)
      requirement.satisfied_by?(@parsed)
    end

    def satisfies?(*constraints) = Gem::Requirement.new(*constraints).satisfied_by?(@parsed)

    private

    def compare(name, other)
      case other
      when nil then name == :== ? false : raise(ArgumentError, "comparison of #{self.class} with nil failed")
      else (order = self <=> other) ? order.public_send(name, 0) : false
      end
    end
  end
end

class Chef
  VersionString = ChefUtils::VersionString
  CHEF_ROOT = "/wrun"
  VERSION = VersionString.new("18.11.21")
end
