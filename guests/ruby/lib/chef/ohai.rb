# frozen_string_literal: true

# Defines the names of Ohai. The host gathers the facts, and Ruby runs no plugins.

module Ohai
  VERSION = Chef::Cookbook::Metadata::OHAI_VERSION

  # Gives access to the node's automatic attributes.
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

  Log = Chef::Log

  # Chef's configuration. Ohai's settings are its group `ohai`, which no plugin reads here.
  Config = Chef::Config

  def self.config = Config.ohai
end
