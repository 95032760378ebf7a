# frozen_string_literal: true

# Reads a cookbook's metadata from `metadata.rb` or `metadata.json`.

class Chef
  class Exceptions
    { CookbookChefVersionMismatch => "Chef Infra Client", CookbookOhaiVersionMismatch => "ohai" }.each do |type, product|
      type.define_method(:initialize) do |running, cookbook, version, *constraints|
        wanted = constraints.map { |it| it.requirement.as_list.to_s }.join(", ")
        super("Cookbook '#{cookbook}' version '#{version}' depends on #{product} version #{wanted}, " \
              "but the running #{product} version is #{running}")
      end
    end
  end

  module Cookbook
    class Metadata
      include Mixin::FromFile

      # The fields with plain values, and the classes of their values.
      FIELDS = {
        name: [String], description: [String], long_description: [String], maintainer: [String],
        maintainer_email: [String], license: [String], source_url: [String], issues_url: [String],
        privacy: [TrueClass, FalseClass], eager_load_libraries: [Array, String, TrueClass, FalseClass]
      }.freeze

      # The methods that declare version constraints, and the attributes that store them by name.
      CONSTRAINTS = { supports: :platforms, depends: :dependencies, provides: :providing }.freeze

      OHAI_VERSION = "18.2.5"

      attr_reader :platforms, :dependencies, :providing, :recipes, :chef_versions, :ohai_versions, :gems

      def initialize
        @values = {
          name: nil, description: "", long_description: "", license: "All rights reserved", maintainer: "",
          maintainer_email: "", source_url: "", issues_url: "", privacy: false, eager_load_libraries: true
        }
        @platforms = ChefUtils::Mash.new
        @dependencies = ChefUtils::Mash.new
        @providing = ChefUtils::Mash.new
        @recipes = ChefUtils::Mash.new
        @version = Chef::Version.new("0.0.0")
        @chef_versions = []
        @ohai_versions = []
        @gems = []
      end

      FIELDS.each do |field, kinds|
        define_method(field) do |value = nil|
          return @values[field] if value.nil?
          unless kinds.any? { |kind| value.is_a?(kind) }
            raise Exceptions::ValidationFailed, "Option #{field} must be a kind of #{kinds}!  You passed #{value.inspect}."
          end

          @values[field] = value
        end
      end

      def version(text = nil)
        @version = Chef::Version.new(text) if text
        @version.to_s
      end

      def supports(platform, *versions) = constrain(:supports, platform, versions)
      def provides(cookbook, *versions) = constrain(:provides, cookbook, versions)

      def depends(cookbook, *versions)
        if cookbook == name
          raise "Cookbook depends on itself in cookbook #{name}, please remove the this unnecessary self-dependency"
        end

        constrain(:depends, cookbook, versions)
      end

      def chef_version(*versions)
        @chef_versions << Gem::Dependency.new("chef", *versions) unless versions.empty?
        @chef_versions
      end

      def ohai_version(*versions)
        @ohai_versions << Gem::Dependency.new("ohai", *versions) unless versions.empty?
        @ohai_versions
      end

      def gem(*arguments)
        @gems << arguments unless arguments.empty?
        @gems
      end

      def recipe(name, description) = @recipes[name] = description
      def valid? = errors.empty?
      def errors = name.nil? ? ["The `name' attribute is required in cookbook metadata"] : []

      def to_h
        @values.slice(:name, :description, :long_description, :maintainer, :maintainer_email, :license).merge(
          platforms: @platforms, dependencies: @dependencies, providing: @providing, recipes: @recipes, version: version,
          source_url: source_url, issues_url: issues_url, privacy: privacy,
          chef_versions: requirements(@chef_versions), ohai_versions: requirements(@ohai_versions), gems: @gems,
          eager_load_libraries: eager_load_libraries
        ).transform_keys(&:name)
      end
      alias to_hash to_h
      def to_json(*options) = JSONCompat.to_json(to_h, *options)

      def from_hash(data)
        FIELDS.each_key { |field| @values[field] = data[field.name] if data.key?(field.name) }
        @platforms = ChefUtils::Mash.new(data["platforms"] || {})
        @dependencies = single_constraints(data["dependencies"] || {})
        @providing = ChefUtils::Mash.new(data["providing"] || {})
        @recipes = ChefUtils::Mash.new(data["recipes"] || {})
        version(data["version"]) if data["version"]
        @chef_versions = dependencies_on("chef", data["chef_versions"])
        @ohai_versions = dependencies_on("ohai", data["ohai_versions"])
        @gems = data["gems"] || []
        self
      end

      def from_json(text) = from_hash(JSONCompat.from_json(text))
      def self.from_hash(data) = new.from_hash(data)
      def self.from_json(text) = new.from_json(text)

      # Raises an error if this cookbook excludes this version of Chef.
      def validate_chef_version!
        return if matches?("chef", Chef::VERSION, @chef_versions)

        raise Exceptions::CookbookChefVersionMismatch.new(Chef::VERSION, name, version, *@chef_versions)
      end

      def validate_ohai_version!
        return if matches?("ohai", OHAI_VERSION, @ohai_versions)

        raise Exceptions::CookbookOhaiVersionMismatch.new(OHAI_VERSION, name, version, *@ohai_versions)
      end

      # Ignores unknown words of older or newer metadata.
      def method_missing(method, *_arguments, &block)
        return super if block

        Chef::Log.trace("ignoring method #{method} on cookbook with name #{name}")
      end

      def respond_to_missing?(*) = false

      private

      def constrain(caller_name, subject, versions)
        constraint = parse_constraint(caller_name, subject, one_of(caller_name, subject, versions))
        public_send(CONSTRAINTS.fetch(caller_name))[subject] = constraint.to_s
      end

      def one_of(caller_name, subject, versions)
        return versions.first || VersionConstraint::DEFAULT_CONSTRAINT if versions.size < 2

        raise Exceptions::ObsoleteDependencySyntax,
              "The dependency specification syntax you are using is no longer valid. You may not\n" \
              "specify more than one version constraint for a particular cookbook.\n" \
              "Consult https://docs.chef.io/config_rb_metadata/ for the updated syntax.\n\n" \
              "Called by: #{caller_name} '#{subject}', #{versions.map(&:inspect).join(", ")}\nCalled from:\n"
      end

      def parse_constraint(caller_name, subject, text)
        VersionConstraint::Platform.new(text)
      rescue Exceptions::InvalidVersionConstraint
        raise Exceptions::InvalidVersionConstraint,
              "The version constraint syntax you are using is not valid. If you recently\n" \
              "upgraded from Chef Infra releases before 0.10, be aware that you no may\n" \
              "longer use \"<<\" and \">>\" for 'less than' and 'greater than'; use '<' and\n" \
              "'>' instead. Consult https://docs.chef.io/config_rb_metadata/ for more\ninformation.\n\n" \
              "Called by: #{caller_name} '#{subject}', '#{text}'\nCalled from:\n"
      end

      # Old metadata may have several constraints for one cookbook. Then the default constraint (`>= 0.0.0`) replaces them.
      def single_constraints(data)
        data.each_with_object(ChefUtils::Mash.new) do |(cookbook, constraints), all|
          constraints = Array(constraints)
          all[cookbook] = constraints.one? ? constraints.first : VersionConstraint::DEFAULT_CONSTRAINT
        end
      end

      def requirements(dependencies)
        dependencies.map { |it| it.requirement.requirements.map { |sign, version| "#{sign} #{version}" }.sort }
      end

      def dependencies_on(name, lists) = Array(lists).map { |list| Gem::Dependency.new(name, *list) }

      def matches?(name, version, dependencies)
        dependencies.empty? || dependencies.any? { |it| it.match?(name, Gem::Version.new(version.to_s)) }
      end
    end

    # Finds and evaluates a cookbook's metadata.
    module MetadataReader
      # Returns the metadata of a cookbook, by the name of its folder.
      def self.read(folder)
        metadata = Metadata.new
        if Wrun::Sources.file?(folder, "metadata.json") then metadata.from_json(Wrun::Sources.text(folder, "metadata.json"))
        elsif Wrun::Sources.file?(folder, "metadata.rb") then metadata.from_file(Wrun::Sources.path(folder, "metadata.rb"))
        else raise Exceptions::MetadataNotFound.new(Wrun::Sources.place(folder), folder)
        end
        return metadata if metadata.valid?

        raise Exceptions::MetadataNotValid,
              "Cookbook loaded at path [#{Wrun::Sources.place(folder)}] has invalid metadata: #{metadata.errors.join("; ")}"
      end
    end
  end
end
