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

  Log = Chef::Log

  # Chef's own configuration, of which Ohai's is the group `ohai`. No plugin is run that would read it.
  Config = Chef::Config

  def self.config = Config.ohai
end
