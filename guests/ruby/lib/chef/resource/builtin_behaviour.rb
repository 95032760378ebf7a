# frozen_string_literal: true

# What built-in types do in Ruby beyond their properties.

require_relative "../provider/blocks"
require_relative "../provider/of_host"

class Chef
  class Resource
    # `package %w(a b)`: the names as they are, beside the resource's name.
    class Package
      def initialize(name, *rest)
        @package_name = name if name.is_a?(Array)
        super
      end
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

      def source(*given) = given.empty? ? wrun_source : wrun_source(given.size == 1 ? given.first : given.flatten)
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
    end

    # Its text is made here, after the guards.
    class Template
      include Chef::Template::HelperMethods if defined?(Chef::Template::HelperMethods)

      # What only the text needs stays here.
      WRUN_UNSAID = %i[variables local helper helpers helper_modules inline_helper_blocks inline_helper_modules].freeze

      @wrun_host_names -= WRUN_UNSAID

      def wrun_more_properties(context)
        resource = self
        [["content", ["lazy", Wrun::Turns.keep(context, -> { Wrun::Content.new(Chef::Template::Rendering.for(resource)) })]]]
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
    # `user` on Linux.
    class LinuxUser < User
      provides :linux_user
      provides :user, os: "linux"
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
