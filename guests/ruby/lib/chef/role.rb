# frozen_string_literal: true

# Implements roles and environments, from their Ruby files and from the host's data.

class Chef
  # The common methods of roles and environments: texts and attributes, each with one method to set and read.
  module AttributeBearer
    def self.included(type)
      type.extend(ClassMethods)
      type.include(Mixin::FromFile)
    end

    module ClassMethods
      # Returns all roles or environments by name, with `inflate` as objects.
      def list(inflate = false)
        index = name.split("::").last.downcase
        found = Data.found { Wrun::Bridge.call("data.search", index, "*:*") }
        found.to_h { |it| [it["name"], inflate ? from_hash(it) : "#{index}s/#{it["name"]}"] }
      end

      # Evaluates the text of a Ruby file.
      def from_source(name, path, source)
        new.tap do |it|
          it.name(name)
          it.instance_eval(source, path, 1)
        end
      end
    end

    def name(text = nil) = word(:name, text, /^[\-[:alnum:]_]+$/)
    def description(text = nil) = word(:description, text)
    def default_attributes(hash = nil) = attributes(:default, hash)
    def override_attributes(hash = nil) = attributes(:override, hash)
    def to_hash = to_data
    def to_h = to_data
    def to_json(*options) = JSONCompat.to_json(to_data, *options)
    def [](key) = to_data[key.to_s]

    private

    def words = @words ||= { description: "" }

    def word(field, text, pattern = nil)
      return words[field] if text.nil?

      unless text.is_a?(String)
        raise Exceptions::ValidationFailed, "Option #{field} must be a kind of String!  You passed #{text.inspect}."
      end
      if pattern && !text.match?(pattern)
        raise Exceptions::ValidationFailed, "Property #{field}'s value #{text} does not match regular expression #{pattern.inspect}"
      end

      words[field] = text
    end

    def attributes(level, hash)
      @levels ||= { default: {}, override: {} }
      return @levels[level] if hash.nil?
      unless hash.is_a?(Hash)
        raise Exceptions::ValidationFailed, "Option #{level}_attributes must be a kind of Hash!  You passed #{hash.inspect}."
      end

      @levels[level] = hash
    end
  end

  class Role
    include AttributeBearer

    def self.from_hash(data)
      new.tap do |role|
        role.name(data["name"])
        role.description(data["description"]) if data["description"]
        role.default_attributes(data["default_attributes"] || {})
        role.override_attributes(data["override_attributes"] || {})
        role.env_run_lists((data["env_run_lists"] || {}).merge("_default" => data["run_list"] || []))
      end
    end

    def self.load(name) = from_hash(Data.found { Wrun::Bridge.call("data.role", name) })

    def run_list(*items)
      return run_list_for("_default") if items.empty?

      lists["_default"] = RunList.new(*items)
    end
    alias recipes run_list

    def run_list_for(environment) = lists[environment] || lists["_default"]
    def active_run_list_for(environment) = lists.key?(environment) ? environment : "_default"

    def env_run_lists(by_environment = nil)
      return lists if by_environment.nil?
      unless by_environment.key?("_default")
        raise Exceptions::InvalidEnvironmentRunListSpecification,
              "_default key is required in env_run_lists.\n(env_run_lists: #{by_environment.inspect})"
      end

      lists.clear
      by_environment.each { |environment, items| lists[environment] = RunList.new(*items) }
      lists
    end

    def to_data
      others = lists.reject { |environment, _| environment == "_default" }
      {
        "name" => name, "description" => description, "json_class" => "Chef::Role", "chef_type" => "role",
        "default_attributes" => Node::Values.plain(default_attributes),
        "override_attributes" => Node::Values.plain(override_attributes),
        "run_list" => run_list.for_json, "env_run_lists" => others.transform_values(&:for_json)
      }
    end

    def to_s = "role[#{name}]"

    private

    def lists = @lists ||= { "_default" => RunList.new }
  end

  class Environment
    include AttributeBearer

    def self.from_hash(data)
      new.tap do |environment|
        environment.name(data["name"])
        environment.description(data["description"]) if data["description"]
        environment.cookbook_versions(data["cookbook_versions"] || {})
        environment.default_attributes(data["default_attributes"] || {})
        environment.override_attributes(data["override_attributes"] || {})
      end
    end

    def self.load(name) = from_hash(Data.found { Wrun::Bridge.call("data.environment", name) })

    def cookbook_versions(versions = nil)
      return @cookbook_versions ||= {} if versions.nil?

      check("cookbook_versions", versions, "a valid set of cookbook version requirements", versions.each_value)
      @cookbook_versions = versions
    end

    def cookbook(name, version)
      check("version", version, "a valid version requirement", [version])
      cookbook_versions[name] = version
    end

    def to_data
      {
        "name" => name, "description" => description, "cookbook_versions" => cookbook_versions,
        "json_class" => "Chef::Environment", "chef_type" => "environment",
        "default_attributes" => Node::Values.plain(default_attributes),
        "override_attributes" => Node::Values.plain(override_attributes)
      }
    end

    def to_s = name

    private

    def check(option, value, wanted, constraints)
      constraints.each { |constraint| VersionConstraint.new(constraint) }
    rescue ArgumentError
      raise Exceptions::ValidationFailed, "Option #{option}'s value #{value} should be #{wanted}!"
    end
  end
end
