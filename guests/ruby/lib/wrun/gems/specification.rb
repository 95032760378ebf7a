# frozen_string_literal: true

# What a gem says of itself, as `gem build` writes it into the gem: YAML of RubyGems' own classes. It is a stranger's text,
# so no class of it is ever made: it is read as plain hashes, lists and texts.

require "yaml"

module Wrun
  module Gems
    class Specification
      # How deep a specification may be nested.
      DEEPEST = 50
      private_constant :DEEPEST

      # Raised where a text is no gem's specification.
      class Unreadable < StandardError; end

      attr_reader :name, :version, :require_paths, :dependencies

      # Why the sandbox cannot have it; nil where it can.
      attr_reader :trouble

      # Of a gem as it was released.
      def self.of_text(text)
        root = Psych.parse(text)&.root
        data = root && plain(root, {}, 0)
        raise Unreadable, "it says nothing of itself" unless data.is_a?(Hash)

        new(data)
      rescue Psych::SyntaxError, ArgumentError => error
        raise Unreadable, error.message
      end

      # Of a gem whose files lie in a folder, which say less: neither what else the gem needs nor for which Ruby it is.
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

      # Whether its files lie in a folder, so that nobody knows what it needs.
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

      # A version stands there as itself or as an object that has it.
      def version_in(value)
        value = value["version"] if value.is_a?(Hash)
        Gem::Version.new(value.to_s)
      end

      def requirement_in(value)
        pairs = value.is_a?(Hash) ? value["requirements"] : nil
        return Gem::Requirement.default unless pairs.is_a?(Array)

        Gem::Requirement.new(pairs.grep(Array).map { |sign, version| "#{sign} #{version_in(version)}" })
      end

      # What it needs while it runs.
      def dependency(one)
        return unless one.is_a?(Hash) && one["name"].is_a?(String) && one["type"].to_s.delete_prefix(":") != "development"

        [one["name"], requirement_in(one["requirement"] || one["version_requirements"])]
      end
    end
  end
end
