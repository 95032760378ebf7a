# frozen_string_literal: true

# Ohai's name. The host gathers the facts; there are no plugins to run here.

module Ohai
  VERSION = Chef::Cookbook::Metadata::OHAI_VERSION

  # What cookbooks look up there are the node's automatic attributes.
  class System
    attr_reader :data

    def initialize(*)
      @data = ChefUtils::Mash.new(Chef::Node.instance.automatic.to_hash)
    end

    def all_plugins(*) = self
    def load_plugins = self
    def run_plugins(*) = self
    def [](key) = @data[key]
    def attributes_print(key) = JSON.pretty_generate(@data[key])
    def to_json(*options) = @data.to_json(*options)
  end

  class Exception < StandardError; end

  # What cookbooks set there has nobody who reads it.
  Config = ChefUtils::Mash.new(
    "plugin_path" => ["/etc/chef/ohai/plugins"], "plugin" => {}, "disabled_plugins" => [], "optional_plugins" => [],
    "optional_attributes" => [], "hints_path" => ["/etc/chef/ohai/hints"], "critical_plugins" => []
  )

  def self.config = Config
end
