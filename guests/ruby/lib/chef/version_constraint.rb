# frozen_string_literal: true

# Implements versions of cookbooks and platforms, and version constraints.

class Chef
  # A version of two or three numbers.
  class Version
    include Comparable

    attr_reader :major, :minor, :patch

    def initialize(text = "")
      @major, @minor, @patch = parse(text.to_s)
    end

    def <=>(other)
      return unless other.respond_to?(:major) && other.respond_to?(:minor) && other.respond_to?(:patch)

      [major, minor, patch] <=> [other.major, other.minor, other.patch]
    end

    def to_s = "#{major}.#{minor}.#{patch}"
    alias inspect to_s
    def hash = to_s.hash
    def eql?(other) = other.is_a?(Version) && self == other

    private

    def parse(text)
      found = text.match(/\A(\d+)\.(\d+)(?:\.(\d+))?\z/)
      raise Exceptions::InvalidCookbookVersion, "'#{text}' does not match 'x.y.z' or 'x.y'" unless found

      found.captures.map(&:to_i)
    end

    # A platform's version of one to three numbers, or in FreeBSD's form `9.1-RELEASE-p3`.
    class Platform < Version
      private

      def parse(text)
        if (found = text.match(/\A(\d+)(?:\.(\d+)(?:\.(\d+))?)?\z/)) then found.captures.map(&:to_i)
        elsif (found = text.match(/\A(\d+).(\d+)-[a-z]+\d?(?:-p(\d+))?\z/i)) then found.captures.map(&:to_i)
        else raise Exceptions::InvalidPlatformVersion, "'#{text}' does not match 'x.y.z', 'x.y' or 'x'"
        end
      end
    end
  end

  # A version constraint: `>= 1.2`, `~> 1.0`, `= 1.2.3`, or a bare version.
  class VersionConstraint
    DEFAULT_CONSTRAINT = ">= 0.0.0"
    PATTERN = /\A(<=|>=|<|>|=|~>) *([0-9].*)\z/
    VERSION_CLASS = Version

    attr_reader :op, :version

    def initialize(specification = DEFAULT_CONSTRAINT)
      case specification
      when nil then parse(DEFAULT_CONSTRAINT)
      when String then parse(specification)
      when Array then parse_list(specification)
      else
        invalid("VersionConstraint should be created from a String. You gave: #{specification.inspect}")
      end
    end

    def include?(version)
      version = version.version if version.respond_to?(:version)
      version = self.class::VERSION_CLASS.new(version.to_s)
      case @op
      when "=" then version == @version
      when "~>" then pessimistic?(version)
      else version.public_send(@op, @version)
      end
    end

    def to_s = "#{@op} #{@raw_version}"
    def inspect = "(#{self})"
    def eql?(other) = other.instance_of?(self.class) && op == other.op && version == other.version
    alias == eql?
    def hash = to_s.hash

    private

    def pessimistic?(version)
      return false unless version.major == @version.major
      return version.minor >= @version.minor if @raw_version.count(".") < 2

      version.minor == @version.minor && version.patch >= @version.patch
    end

    def parse_list(list)
      return parse(list.first || DEFAULT_CONSTRAINT) if list.size < 2

      invalid("only one version constraint operation is supported, but you gave #{list.size} ['#{list.join(", ")}']")
    end

    def parse(text)
      found = PATTERN.match(text)
      @op, @raw_version = found ? found.captures : ["=", text]
      invalid("'#{text}'") unless found || text.match?(/\A[0-9][^ ]*\z/)

      @version = self.class::VERSION_CLASS.new(@raw_version)
    end

    def invalid(message) = raise(Exceptions::InvalidVersionConstraint, message)

    # A constraint on a platform's version.
    class Platform < VersionConstraint
      VERSION_CLASS = Version::Platform
    end
  end
end
