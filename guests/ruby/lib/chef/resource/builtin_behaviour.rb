# frozen_string_literal: true

# What built-in types do in Ruby beyond their properties.

require_relative "../provider/blocks"
require_relative "../provider/of_host"
require_relative "../provider/package_caches"

class Chef
  class Resource
    # `package %w(a b)`: the names as they are, beside the resource's name.
    class Package
      def initialize(name, *rest)
        package_name(name) unless name.is_a?(String) || name.nil?
        super
      end
    end

    # What Chef's provider finds, in its own resource.
    class Service
      property :enabled, [TrueClass, FalseClass]
      property :running, [TrueClass, FalseClass]
      property :masked, [TrueClass, FalseClass]
    end

    class File
      attr_accessor :final_checksum
    end

    # Its content as the file has it.
    class SystemdUnit
      def to_ini
        return content.to_s unless content.is_a?(Hash)

        content.map { |section, options| "[#{section}]\n#{wrun_lines(options)}" }.join("\n")
      end

      private

      def wrun_lines(options) = options.flat_map { |name, value| [value].flatten.map { |one| "#{name}=#{one}\n" } }.join
    end

    # Windows' access rights: cookbooks for several platforms set them, and nothing here has them.
    module AccessRights
      def rights(*) = nil
      def deny_rights(*) = nil
      def inherits(*) = nil
    end
    File.include(AccessRights)
    Directory.include(AccessRights)

    # `source "a", "b"`: the first that can be had.
    class RemoteFile
      alias wrun_source source

      def source(*given)
        return wrun_source if given.empty?

        lazies = given.grep(DelayedEvaluator)
        return wrun_source(wrun_addresses(given.flatten)) if lazies.empty?
        return wrun_source(lazies.first) if given.size == 1

        raise Exceptions::InvalidRemoteFileURI, "Only 1 source argument allowed when using a lazy evaluator"
      end

      private

      def wrun_addresses(all)
        raise ArgumentError, "#{resource_name} has an empty source" if all.empty?

        wrong = all.index { |one| !one.is_a?(String) || !one.match?(/\A(?:[a-z][a-z0-9+.-]*:|\\\\)/i) }
        return all unless wrong

        raise Exceptions::InvalidRemoteFileURI,
              "#{all[wrong].inspect} is not a valid `source` parameter for #{resource_name}. `source` must be an absolute URI or " \
              "an array of URIs."
      end
    end

    # Its properties as the cookbook called them from which the type came.
    class ArchiveFile
      alias extract_options options
      alias extract_to destination
    end

    # Guards of commands run as the command does.
    class Execute
      class << self
        def set_guard_inherited_attributes(*names) # rubocop:disable Naming/AccessorMethodName -- Chef's name
          @guard_inherited_attributes = names
        end

        def guard_inherited_attributes(*)
          above = superclass.respond_to?(:guard_inherited_attributes) ? superclass.guard_inherited_attributes : []
          above + (@guard_inherited_attributes || [])
        end
      end
      set_guard_inherited_attributes(:cwd, :environment, :group, :user, :umask)

      attr_accessor :is_guard_interpreter

      def initialize(name, run_context = nil)
        super
        @default_guard_interpreter = :execute
      end

      def after_created
        if password || domain
          raise Exceptions::UnsupportedPlatform, "Values for `domain` and `password` are only supported on the Windows platform"
        end
        raise Exceptions::UnsupportedPlatform, "Value for `elevated` is only supported on the Windows platform" if elevated
      end
    end

    # Code for an interpreter, which is no command. Its guards are a shell's, and run where others' guards do.
    class Script
      def initialize(name, run_context = nil)
        super
        @default_guard_interpreter = :default
      end

      def command(given = nil)
        return super() if given.nil?

        raise Exceptions::Script, "Do not use the command property on a #{resource_name} resource, use the 'code' property instead."
      end
    end

    # As a file, as far as Chef has it so.
    class Link
      def path = target_file

      def mode(given = nil)
        set_or_return(:mode, given, callbacks: { "not in valid numeric range" => Wrun::Resources::Coercions.check(:mode_in_range) })
      end
    end

    # Its text is made here, after the guards.
    class Template
      def initialize(name, run_context = nil)
        super
        @source = "#{::File.basename(@name.to_s)}.erb"
      end

      def source(given = nil) = set_or_return(:source, given, kind_of: [String, Array])

      include Chef::Template::HelperMethods if defined?(Chef::Template::HelperMethods)

      # What only the text needs stays here.
      WRUN_UNSAID = %i[variables local helper helpers helper_modules inline_helper_blocks inline_helper_modules].freeze

      @wrun_host_names -= WRUN_UNSAID

      def wrun_more_properties(context)
        resource = self
        [["content", ["rendered", Wrun::Turns.keep(context, -> { Chef::Template::Rendering.content(resource) })]]]
      end
    end

    # Blocks of Ruby, which nobody else could run.
    class RubyBlock
      def block(&block)
        @block = block if block
        @block
      end
    end

    # As `ruby_block`, in a dry run too.
    class WhyrunSafeRubyBlock
      def block(&block)
        @block = block if block
        @block
      end
    end
  end
end

class Chef
  class Resource
    class User
      # `user` on Linux.
      class LinuxUser < User
        provides :linux_user
        provides :user, os: "linux"
      end
    end
  end
end

# These may be declared without a name.
[Chef::Resource::AptUpdate, Chef::Resource::BuildEssential].each { |type| type.property(:name, String, default: "") }

# Which of several types a name means depends on the platform.
{
  package: [
    [:AptPackage, { platform_family: "debian" }],
    [:DnfPackage, { platform_family: %w[fedora amazon] }],
    [:DnfPackage, { platform_family: "rhel", platform_version: ">= 8" }],
    [:YumPackage, { platform_family: "rhel", platform_version: "< 8" }],
    [:YumPackage, { platform: "amazon", platform_version: "< 2023" }],
  ],
}.each do |name, types|
  types.each { |constant, filters| Chef::Resource.const_get(constant).provides(name, **filters) }
end
