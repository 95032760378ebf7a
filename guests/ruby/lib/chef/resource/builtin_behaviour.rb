# frozen_string_literal: true

# Adds to built-in types the Ruby methods that go beyond their properties.

require_relative "../provider/blocks"
require_relative "../provider/of_host"
require_relative "../provider/package_caches"

class Chef
  class Resource
    # Stores the list of `package %w(a b)` unchanged in `package_name`, in addition to the resource's name.
    class Package
      def initialize(name, *rest)
        package_name(name) unless name.is_a?(String) || name.nil?
        super
      end
    end

    # Adds the properties in which Chef's provider stores the service's present state.
    class Service
      property :enabled, [TrueClass, FalseClass]
      property :running, [TrueClass, FalseClass]
      property :masked, [TrueClass, FalseClass]
    end

    class File
      attr_accessor :final_checksum
    end

    # Adds `to_ini`, which returns the content as text of the unit file.
    class SystemdUnit
      def to_ini
        return content.to_s unless content.is_a?(Hash)

        content.map { |section, options| "[#{section}]\n#{wrun_lines(options)}" }.join("\n")
      end

      private

      def wrun_lines(options) = options.flat_map { |name, value| [value].flatten.map { |one| "#{name}=#{one}\n" } }.join
    end

    # Accepts and ignores Windows access rights, because cookbooks for several platforms set them.
    module AccessRights
      def rights(*) = nil
      def deny_rights(*) = nil
      def inherits(*) = nil
    end
    File.include(AccessRights)
    Directory.include(AccessRights)

    # Accepts several addresses, as in `source "a", "b"`. The first one that works is used.
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

    # Adds the names that properties had in the cookbook where the type was first defined.
    class ArchiveFile
      alias extract_options options
      alias extract_to destination
    end

    # Guard commands of `execute` run with the resource's own user, group, directory, environment and umask.
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

    # A script has code for an interpreter instead of a command. Its guard commands run in the default shell, as guards of most
    # other types do.
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

    # Adds the methods that Chef's `link` shares with `file`.
    class Link
      def path = target_file

      def mode(given = nil)
        set_or_return(:mode, given, callbacks: { "not in valid numeric range" => Wrun::Resources::Coercions.check(:mode_in_range) })
      end
    end

    # Ruby renders the template's text after the guards have passed.
    class Template
      def initialize(name, run_context = nil)
        super
        @source = "#{::File.basename(@name.to_s)}.erb"
      end

      # The property is built once. `set_or_return` builds one in each call, which costs more than its checks.
      SOURCE = Mixin::ParamsValidate::SetOrReturnProperty.new(name: :source, kind_of: [String, Array])
      private_constant :SOURCE

      def source(given = nil) = SOURCE.call(self, given)

      include Chef::Template::HelperMethods if defined?(Chef::Template::HelperMethods)

      # Properties that only the rendering uses. Ruby does not send them to the host.
      WRUN_UNSAID = %i[variables local helper helpers helper_modules inline_helper_blocks inline_helper_modules].freeze

      @wrun_host_names -= WRUN_UNSAID

      def wrun_more_properties(context)
        resource = self
        [["content", ["rendered", Wrun::Turns.keep(context, -> { Chef::Template::Rendering.content(resource) })]]]
      end
    end

    # Holds the block of Ruby code that `ruby_block` runs.
    class RubyBlock
      def block(&block)
        @block = block if block
        @block
      end
    end

    # Holds a block as `ruby_block` does. This block also runs in a dry run.
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

# The platform decides the type that a name means.
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
