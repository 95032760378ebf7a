# frozen_string_literal: true

# The smaller of Chef's mixins, which cookbooks include into classes of their own.

require "digest"

class Chef
  module Mixin
    module Checksum
      # The SHA-256 of a file's content.
      def checksum(path) = Digest::SHA256.hexdigest(File.binread(path))
      def short_cksum(checksum) = checksum.nil? ? "none" : checksum.slice(0, 6)

      def checksum_match?(expected, actual)
        return false if expected.nil? || actual.nil?

        expected.casecmp?(actual) || (expected.size < 64 && actual.downcase.start_with?(expected.downcase))
      end
    end

    module ConvertToClassName
      extend self

      def convert_to_class_name(text)
        name = text.to_s.gsub(/[^A-Za-z0-9_]/, "_").sub(/\A_+/, "")
        name.gsub(/(?:\A|_)(.)/) { $1.upcase }
      end

      def convert_to_snake_case(text, namespace = nil)
        text = text.to_s.sub(/\A#{namespace}(::)?/, "") if namespace
        text = text.to_s.gsub("::", "/").gsub(/([A-Z\d]+)([A-Z][a-z])/, '\1_\2')
        text.gsub(/([a-z\d])([A-Z])/, '\1_\2').tr("-", "_").downcase
      end

      def normalize_snake_case_name(text)
        name = text.to_s.gsub(/[^A-Za-z0-9_]/, "_")
        name.match?(/\A[0-9]/) ? "_#{name}" : name
      end

      def snake_case_basename(text) = convert_to_snake_case(text).split("::").last.tr("/", "_")
      def constantize(name) = name.split("::").reject(&:empty?).inject(Object) { |scope, part| scope.const_get(part) }

      def filename_to_qualified_string(base, filename)
        file = File.basename(filename, ".rb")
        normalize_snake_case_name(file == "default" ? base.to_s : "#{base}_#{file}")
      end
    end

    module XMLEscape
      extend self

      def xml_escape(text) = text.to_s.gsub("&", "&amp;").gsub("<", "&lt;").gsub(">", "&gt;")
    end

    module Which
      include ChefUtils::DSL::Which
    end

    module DefaultPaths
      include ChefUtils::DSL::DefaultPaths

      def enforce_default_paths(env = ENV) = env["PATH"] = default_paths(env)
    end
    PathSanity = DefaultPaths

    module Uris
      # Whether a text is an address and not a path.
      def uri_scheme?(source) = source.to_s.match?(%r{\A\w[\w+.-]+://})
      def as_uri(source) = URI.parse(source)
    end

    module CreatePath
      def create_path(path)
        FileUtils.mkdir_p(path.is_a?(Array) ? File.join(path) : path)
        path
      end
    end

    module GetSourceFromPackage; end
    module ChefUtilsWiring; end
    module PowershellExec; end
    module WindowsEnvHelper; end
    module WindowsArchitectureHelper; end

    module PowershellOut
      def powershell_out(*) = raise(Exceptions::UnsupportedPlatform, "powershell")
      alias powershell_out! powershell_out
    end

    module Deprecation; end

    # Owner, group and permissions for a type of a cookbook's own.
    module Securable
      def self.included(type)
        super
        return unless type.respond_to?(:property)

        type.property :owner, [String, Integer]
        type.property :group, [String, Integer]
        type.property :mode, [String, Integer]
        type.class_exec { alias_method :user, :owner }
      end
    end

    module UserContext
      def with_user_context(*) = yield
    end

    # Lets a module that others have included already take in more modules.
    module LazyModuleInclude
      def included(type)
        super
        descendants.push(type)
      end

      def include(*modules)
        super
        descendants.each { |type| type.include(*modules) }
        self
      end

      def descendants = @descendants ||= []
    end
  end

  class Digester
    def self.checksum_for_file(path) = Digest::SHA256.hexdigest(File.binread(path))
    def self.generate_checksum_for_file(path) = checksum_for_file(path)
    def self.validate_checksum(path) = checksum_for_file(path)
    def self.generate_md5_checksum_for_file(path) = Digest::MD5.hexdigest(File.binread(path))
    def self.generate_checksum(input) = Digest::SHA256.hexdigest(input.read)
    def self.generate_md5_checksum(input) = Digest::MD5.hexdigest(input.read)
    def self.instance = self
  end

  # Chef's own loader of files and folders: cookbooks only ask where things are.
  class FileCache
    class << self
      def path_of(name) = File.join(Config[:file_cache_path], name)
      def list = find("**/*")

      # The names of files that fit a pattern.
      def find(pattern)
        start = "#{Config[:file_cache_path]}/"
        Dir[start + pattern].select { |path| File.file?(path) }.map { |path| path.delete_prefix(start) }
      end

      def load(name, read = true)
        path = path_of(name)
        raise Exceptions::FileNotFound, "Cannot find #{path} for #{name}!" unless File.exist?(path)

        read ? File.read(path) : path
      end

      def move_to(path, name)
        FileUtils.mkdir_p(File.dirname(path_of(name)))
        FileUtils.mv(path, path_of(name))
      end

      def has_key?(name) = File.exist?(path_of(name))
      alias key? has_key?

      def create_cache_path(name, create_if_missing = true)
        path = path_of(name)
        FileUtils.mkdir_p(path) if create_if_missing
        path
      end

      def store(name, text, permissions = 0o640)
        FileUtils.mkdir_p(File.dirname(path_of(name)))
        File.write(path_of(name), text)
        File.chmod(permissions, path_of(name))
        true
      end

      def delete(name) = File.exist?(path_of(name)) && File.delete(path_of(name))
    end
  end

  class Platform
    class << self
      def find_platform_and_version(node) = [node["platform"], node["platform_version"]]
      def windows? = false
      def windows_server_2003? = false
      def supports_dsc?(_) = false
      def supports_powershell_execution_bypass?(_) = false
      def windows_nano_server? = false
      def supports_msi? = false
    end
  end
end
