# frozen_string_literal: true

# Reads a gem's specification, which `gem build` writes into the gem: YAML with RubyGems' own classes. The text is untrusted,
# so this reader creates no objects of those classes, only plain hashes, lists and texts.

require "yaml"

module Wrun
  module Gems
    class Specification
      # The maximum depth of nesting in a specification.
      DEEPEST = 50
      private_constant :DEEPEST

      # Raised if a text is not a gem's specification.
      class Unreadable < StandardError; end

      attr_reader :name, :version, :require_paths, :dependencies

      # The reason why the sandbox cannot run the gem, or nil.
      attr_reader :trouble

      # Reads the specification text of a released gem.
      def self.of_text(text)
        root = Psych.parse(text)&.root
        data = root && plain(root, {}, 0)
        raise Unreadable, "it says nothing of itself" unless data.is_a?(Hash)

        new(data)
      rescue Psych::SyntaxError, ArgumentError => error
        raise Unreadable, error.message
      end

      # Derives the specification of an unpacked gem from its folder. The files tell neither the gem's dependencies nor its
      # Ruby version.
      def self.of_folder(folder, files)
        name, version = folder.match(/\A(.+?)-(\d[0-9A-Za-z.]*)\z/)&.captures
        raise Unreadable, "its name is not NAME-VERSION" unless name

        built = files.find { |file| file.end_with?("extconf.rb", ".so", ".bundle") }
        new("name" => name, "version" => version, "extensions" => [built].compact, "unpacked" => true)
      end

      def self.plain(node, anchors, depth)
        raise Unreadable, "it is nested too deeply" if depth > DEEPEST

        value =
          case node
          when Psych::Nodes::Mapping
            node.children.each_slice(2).to_h { |key, one| [plain(key, anchors, depth + 1), plain(one, anchors, depth + 1)] }
          when Psych::Nodes::Sequence then node.children.map { |one| plain(one, anchors, depth + 1) }
          when Psych::Nodes::Alias then anchors[node.anchor]
          else node.value
          end
        anchors[node.anchor] = value if node.respond_to?(:anchor) && node.anchor && !node.is_a?(Psych::Nodes::Alias)
        value
      end
      private_class_method :plain

      def initialize(data)
        @data = data
        @name = text("name") or raise Unreadable, "it has no name"
        @version = version_in(data["version"])
        @require_paths = list("require_paths").grep(String)
        @require_paths = ["lib"] if @require_paths.empty?
        @dependencies = list("dependencies").filter_map { |one| dependency(one) }
        @trouble = find_trouble
      end

      # Returns true for an unpacked gem, whose dependencies are unknown.
      def unpacked? = @data["unpacked"] == true

      private

      def find_trouble
        platform = text("platform") || "ruby"
        return "is built for #{platform}, and the sandbox calls no foreign libraries" unless platform == "ruby"
        return "has native extensions, and the sandbox calls no foreign libraries" unless list("extensions").empty?

        wanted = requirement_in(@data["required_ruby_version"])
        "wants Ruby #{wanted}, and the sandbox has #{RUBY_VERSION}" unless wanted.satisfied_by?(Gem.ruby_version)
      end

      def text(key) = @data[key].is_a?(String) ? @data[key].delete_prefix(":") : nil
      def list(key) = @data[key].is_a?(Array) ? @data[key] : []

      # Parses a version, which is a text or an object with the key `version`.
      def version_in(value)
        value = value["version"] if value.is_a?(Hash)
        Gem::Version.new(value.to_s)
      end

      def requirement_in(value)
        pairs = value.is_a?(Hash) ? value["requirements"] : nil
        return Gem::Requirement.default unless pairs.is_a?(Array)

        Gem::Requirement.new(pairs.grep(Array).map { |sign, version| "#{sign} #{version_in(version)}" })
      end

      # Returns the name and the requirement of a runtime dependency, or nil for a development dependency.
      def dependency(one)
        return unless one.is_a?(Hash) && one["name"].is_a?(String) && one["type"].to_s.delete_prefix(":") != "development"

        [one["name"], requirement_in(one["requirement"] || one["version_requirements"])]
      end
    end
  end
end
