# frozen_string_literal: true

# Implements the parts of RubyGems that programs need without installing gems: versions, requirements and the list of gems.

module Gem
  VERSION = "4.0.0"

  class LoadError < ::LoadError
    attr_accessor :name, :requirement
  end

  class MissingSpecError < Gem::LoadError
    def initialize(name, requirement, _extra = nil)
      @name = name
      @requirement = requirement
      super("Could not find '#{name}' (#{requirement}) among #{Specification.all.size} total gem(s)")
    end
  end

  class MissingSpecVersionError < MissingSpecError; end
  class ConflictError < Gem::LoadError; end
  class InstallError < StandardError; end

  # A gem that travels with the policy.
  class Specification
    attr_reader :name, :version

    class << self
      include Enumerable

      def all = Wrun::Machine::Gems.all.map { |gem| new(gem.name, gem.version) }
      def each(&) = all.each(&)
      def stubs = all
      def find_all_by_name(name, *wanted) = all.select { |one| one.name == name && Requirement.create(wanted).satisfied_by?(one.version) }

      def find_by_name(name, *wanted)
        find_all_by_name(name, *wanted).first || raise(MissingSpecError.new(name, Requirement.create(wanted)))
      end
    end

    def initialize(name, version)
      @name = name
      @version = Version.new(version)
    end

    def gem_dir = "#{Wrun::Machine::Gems::PLACE}/#{@name}-#{@version}"
    def full_gem_path = gem_dir
    def full_name = "#{@name}-#{@version}"
  end

  # A dependency on a gem, with a version requirement.
  class Dependency
    attr_reader :name, :requirement, :type

    def initialize(name, *wanted)
      @type = wanted.last.is_a?(Symbol) ? wanted.pop : :runtime
      @name = name
      @requirement = Requirement.create(wanted)
    end

    def match?(name, version, _prereleases = false) = @name == name && @requirement.satisfied_by?(Version.new(version))
    def matching_specs(*) = Specification.find_all_by_name(@name, @requirement)
    def to_spec = matching_specs.first
    def to_s = "#{@name} (#{@requirement})"
  end

  # The platform of gems with native code.
  class Platform
    RUBY = "ruby"
    CURRENT = "current"

    def self.local = new
    def os = "linux"
    def to_s = RUBY
  end

  class << self
    def loaded_specs = Specification.all.to_h { |one| [one.name, one] }
    def ruby_version = Version.new(RUBY_VERSION)
    def win_platform? = false
    def clear_paths = nil
    def path = [Wrun::Machine::Gems::PLACE]
    def dir = Wrun::Machine::Gems::PLACE
    def default_dir = dir
    def bindir(*) = "/usr/local/bin"
    def ruby = "/usr/local/bin/ruby"
    def try_activate(name) = Specification.find_all_by_name(name).any?
  end
end

require "rubygems/deprecate"
require "rubygems/version"
require "rubygems/requirement"

module Kernel
  private

  # Returns true if the gem is available. Its files can be required without activation.
  def gem(name, *wanted)
    Gem::Specification.find_by_name(name, *wanted)
    true
  end
end
