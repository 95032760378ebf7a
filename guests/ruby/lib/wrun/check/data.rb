# frozen_string_literal: true

# Checks files that contain data: metadata, and recipes in YAML and JSON.

module Wrun
  module Check
    module Data
      module_function

      # Evaluates the metadata, as before every run. The code has no grants.
      def metadata(file)
        return if file.path == "metadata.rb" && Sources.file?(file.folder, "metadata.json")

        said = Chef::Cookbook::MetadataReader.read(file.folder)
        platforms = said.platforms.keys.map(&:to_s)
        file.add(:metadata, 1, name: said.name.to_s, version: said.version, platforms: platforms)
        said.gems.each { |gem| file.add(:gem, line(file, gem.first), name: gem.first.to_s, why: Known.gem(gem.first.to_s)) }
        said.dependencies.each do |name, constraint|
          file.add(:depends, line(file, name), name: name.to_s, constraint: constraint.to_s)
        end
        %w[chef ohai].each { |product| check_version(file, said, product) }
        words(file) if file.path == "metadata.rb"
        platforms.each { |name| platform(file, name) }
      end

      # Notes a platform that nobody knows, and that is nearly the name of another.
      def platform(file, name)
        near = Hints.nearest(name, Platforms::KNOWN) unless Platforms::KNOWN.include?(name)
        file.add(:unknown_platform, line(file, name), name: name, near: near) if near
      end

      # Notes words in metadata.rb that Chef does not know and ignores.
      def words(file)
        root = RubyVM::AbstractSyntaxTree.parse(file.text)
        statements = root.children[2]
        statements = statements&.type == :BLOCK ? Literals.children(statements) : [statements].compact
        statements.select { |one| one.type == :FCALL }.each do |one|
          name = one.children[0]
          next if Known::METADATA.include?(name) || Object.private_method_defined?(name)

          file.add(:metadata_word, one.first_lineno, name: name.name, near: Hints.nearest(name.name, Known::METADATA.map(&:name)))
        end
      end

      def check_version(file, said, product)
        said.public_send(:"validate_#{product}_version!")
      rescue Chef::Exceptions::CookbookChefVersionMismatch, Chef::Exceptions::CookbookOhaiVersionMismatch => error
        file.add(:error, line(file, "#{product}_version"), class: error.class.name, message: error.message)
      end

      # Returns the number of the first line that contains the name, or 1.
      def line(file, name)
        (file.text.scrub.lines.index { |line| line.match?(/(?<![\w-])#{Regexp.escape(name.to_s)}(?![\w-])/) } || 0) + 1
      end

      def recipe(file)
        read = file.path.end_with?(".json") ? Chef::JSONCompat.from_json(file.text) : YAML.safe_load(file.text, permitted_classes: [Date])
        resources, included = %w[resources include_recipes].map { |key| read.is_a?(Hash) ? read[key] : nil }
        unless [resources, included].any?(Array)
          raise ArgumentError, "a recipe that is data holds a list of `resources` or of `include_recipes`"
        end

        Array(resources).grep(Hash).each { |resource| declare(file, resource) }
        Array(included).grep(String).each { |name| file.add(:recipe, line(file, name), values: [name], literal: true) }
      end

      def declare(file, resource)
        name = resource["name"]
        properties = resource.except("type", "name").map do |property, value|
          next { name: "action", line: 1, values: actions(file, value) } if property == "action"

          { name: property.to_s, line: 1, values: [value], exact: [value] }
        end
        names = name.is_a?(String) ? [name] : nil
        type = resource["type"].to_s
        Known.judge(type, properties)
        shown = { words: [], missing: Known.missing_properties(type, properties, []) }
        file.add(:resource, line(file, name || type), type: type, names: names, properties: properties, sure: true, **shown,
                 **Known.of_type(type))
      end

      # Returns the actions that are texts, and notes the others.
      def actions(file, value)
        texts, others = Array(value).partition { |one| one.is_a?(String) }
        others.each { |one| file.add(:refused, line(file, "action"), **References.no_action(one)) }
        texts
      end
    end
  end
end
