# frozen_string_literal: true

# The node: its attributes by level and merged, and its data in this run. The host keeps the attributes. Ruby caches the values
# that it has read until other code may have changed them.

require_relative "node/absent"
require_relative "node/values"
require_relative "node/common"
require_relative "node/immutable"
require_relative "node/vivid"
require_relative "node/watched"
require_relative "node/concealed"
require_relative "node/cache"
require_relative "node/attribute_methods"
require_relative "node/kept_run_list"

class Chef
  class Node
    include Mixin::FromFile
    include DSL::IncludeAttribute
    include Node::AttributeMethods

    # Data of the node from the phase `load`: its run lists and its environment.
    class << self
      attr_accessor :written_run_list, :kept_run_list, :environment_name

      # The node of this run.
      def instance = @instance ||= allocate

      # Returns another node object, which is never saved.
      def new(*, **) = Saved.new({})

      def build(name)
        new.tap do |node|
          node.name(name)
          node.chef_environment(Config[:environment]) if Config[:environment]
        end
      end
    end

    def name(_ = nil) = @name ||= Wrun::Bridge.call("node.name")
    alias node_name name

    def chef_environment(_ = nil) = Node.environment_name || self["chef_environment"] || "_default"
    alias environment chef_environment
    def policy_name(_ = nil) = self["policy_name"]
    def policy_group(_ = nil) = self["policy_group"]
    def policy_revision = self["policy_revision"]

    # Returns a hash for cookbook code. Ruby discards it after the policy.
    def run_state = @run_state ||= {}
    attr_writer :run_state
    attr_accessor :recipe_list

    def run_context = Chef.run_context
    def logger = Chef::Log
    def node = self

    def run_list(*items)
      written = Node.written_run_list || Wrun::Bridge.call("node.recipes").map { |it| "recipe[#{it}]" }
      @run_list ||= RunList.new(written).extend(KeptRunList)
      items.empty? ? @run_list : @run_list.reset!(*items)
    end

    # Returns the run list that the node keeps, even if this run uses another one.
    def primary_runlist = Node.kept_run_list ? @primary_runlist ||= RunList.new(Node.kept_run_list) : run_list

    # A cookbook's value does not change the run, because the run list is expanded before cookbooks are read.
    def override_runlist(*items)
      @override_runlist ||= Node.kept_run_list ? RunList.new(Node.written_run_list) : RunList.new
      items.empty? ? @override_runlist : self.override_runlist = items
    end

    def override_runlist=(items)
      @override_runlist_set = true
      override_runlist.reset!(*items)
    end

    def override_runlist_set? = @override_runlist_set || !override_runlist.empty?
    def run_list?(item) = run_list.any? { |one| one == item }
    def roles = self["roles"]
    def role?(name) = Array(self["roles"]).include?(name)
    def recipe?(name) = run_list.include?(name) || Array(self["recipes"]).include?(name)
    def in_run_list?(name) = recipe?(name)

    # What a file of attributes (`-j`) may have besides attributes. The run has begun: it keeps its run list.
    NO_ATTRIBUTES = %w[run_list recipes chef_environment policy_name policy_group].freeze
    private_constant :NO_ATTRIBUTES

    # Merges attributes into the `normal` level, as `-j` does.
    def consume_attributes(attributes)
      attributes = attributes.to_h.transform_keys(&:to_s).except(*NO_ATTRIBUTES)
      attributes.each do |name, value|
        present = normal[name]
        both = present.is_a?(Hash) && value.is_a?(Hash)
        normal[name] = both ? Mixin::DeepMerge.merge(present.to_h, value) : value
      end
      tags
    end

    def tags
      normal["tags"] = Array(normal.key?("tags") ? normal["tags"] : nil) unless normal.read("tags").is_a?(Array)
      normal["tags"]
    end

    def tag(*names)
      names.each { |name| tags.push(name.to_s) unless tags.include?(name.to_s) }
      tags
    end

    def untag(*names)
      names.each { |name| tags.delete(name.to_s) }
      tags
    end

    def tagged?(*names) = names.all? { |name| tags.include?(name) }

    # Removes the attributes that cookbooks have set so far. Attributes from roles and environments stay.
    def reset_defaults_and_overrides
      default.clear
      override.clear
    end

    # Saves nothing, because the host saves the node after its policy has succeeded.
    def save
      Chef::Log.debug("node.save: the node is saved when its policy has succeeded")
      self
    end


    def to_hash
      roles = run_list.role_names
      recipes = run_list.recipe_names
      hash = attributes.to_hash.merge("chef_type" => "node", "name" => name, "chef_environment" => chef_environment)
      hash["recipe"] = recipes unless recipes.empty?
      hash["role"] = roles unless roles.empty?
      hash.merge("run_list" => run_list.for_json)
    end

    def to_h = attributes.to_h

    def for_json
      {
        "name" => name, "chef_environment" => chef_environment, "json_class" => "Chef::Node",
        "automatic" => automatic.to_hash, "normal" => normal.to_hash, "chef_type" => "node",
        "default" => combined_default.to_hash, "override" => combined_override.to_hash,
        "run_list" => run_list.for_json
      }
    end

    def to_json(*options) = JSONCompat.to_json(Values.plain(for_json), *options)
    def display_hash = for_json.except("json_class", "chef_type")
    def ==(other) = other.is_a?(Node) && name == other.name
    alias eql? ==
    def hash = name.hash
    def <=>(other) = name <=> other.name
    def to_s = "node[#{name}]"
    def inspect = "<Chef::Node name:#{name}>"

    # Forwards all other methods of hashes to the merged attributes.
    def method_missing(name, ...)
      return attributes.public_send(name, ...) if ImmutableMash.public_method_defined?(name)

      # A bare word in an attributes file is a method that the attributes do not have, as in Chef.
      error = NoMethodError.new("undefined method '#{name}' for an instance of Chef::Node::Attribute", name, receiver: self)
      raise Wrun::Hints.attach(error, AttributeMethods::REMOVED[name])
    end

    def respond_to_missing?(name, include_private = false) = ImmutableMash.public_method_defined?(name) || super
  end
end
