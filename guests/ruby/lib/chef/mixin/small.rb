# frozen_string_literal: true

# Implements the small mixins of Chef, which cookbooks include into their own classes.

require "digest"
require_relative "params_validate"

class Chef
  module Mixin
    module Checksum
      # Returns the SHA-256 of a file's content in hexadecimal digits.
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
        text = text.to_s.sub(/^#{namespace}(::)?/, "") if namespace
        text.to_s.gsub(/[A-Z]/) { |letter| "_#{letter}" }.downcase.sub(/^_/, "")
      end

      def normalize_snake_case_name(text)
        name = text.to_s.gsub(/[^A-Za-z0-9_]/, "_")
        name.match?(/\A[0-9]/) ? "_#{name}" : name
      end

      def snake_case_basename(text) = convert_to_snake_case(text).split("::").last.sub(/^_/, "")
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
      # Returns true if a text is a URL rather than a path.
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

    # Adds the properties owner, group and mode to a cookbook's resource class.
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

    # Passes modules that are included later on to the classes that have already included this module.
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
    include Singleton

    def self.checksum_for_file(path) = instance.checksum_for_file(path)
    def self.generate_md5_checksum_for_file(path) = instance.generate_md5_checksum_for_file(path)

    def checksum_for_file(path) = generate_checksum(path)

    # Returns the SHA-256 of a file or of a StringIO.
    def generate_checksum(file)
      Digest::SHA256.hexdigest(file.is_a?(StringIO) ? file.read : File.binread(file))
    end

    def generate_md5_checksum_for_file(path) = Digest::MD5.hexdigest(File.binread(path))
    def generate_md5_checksum(input) = Digest::MD5.hexdigest(input.read)
  end

  # Implements Chef's file cache, in the folder `file_cache_path`.
  class FileCache
    class << self
      include Mixin::ParamsValidate

      def list = find("**/*")

      # Returns the names of the files that match a pattern.
      def find(pattern)
        start = "#{Config[:file_cache_path]}/"
        Dir[start + pattern].select { |path| File.file?(path) }.map { |path| path.delete_prefix(start) }
      end

      def load(path, read = true)
        texts(path: path)
        place = path_of(path)
        raise Exceptions::FileNotFound, "Cannot find #{place} for #{path}!" unless File.exist?(place)

        read ? File.read(place) : place
      end

      def move_to(file, path)
        texts(file: file, path: path)
        raise "Cannot move #{file} to #{path}!" unless File.exist?(file) && File.writable?(file)

        FileUtils.mv(file, made_path_of(path))
      end

      def has_key?(path)
        texts(path: path)
        File.exist?(path_of(path))
      end
      alias key? has_key?

      def create_cache_path(path, create_if_missing = true)
        place = path_of(path)
        FileUtils.mkdir_p(place) if create_if_missing
        place
      end

      # Writes a file. The permissions apply only to a new file.
      def store(path, contents, permissions = 0o640)
        texts(path: path, contents: contents)
        File.open(made_path_of(path), "w", permissions) { |file| file.write(contents) }
        true
      end

      def delete(path)
        texts(path: path)
        place = path_of(path)
        File.unlink(place) if File.exist?(place)
        true
      end

      private

      def texts(**values) = validate(values, values.transform_values { { kind_of: String } })
      def path_of(path) = File.expand_path(File.join(Config[:file_cache_path], path))
      def made_path_of(path) = path_of(path).tap { |place| FileUtils.mkdir_p(File.dirname(place)) }
    end
  end
end
