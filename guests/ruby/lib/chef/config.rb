# frozen_string_literal: true

# Implements `Chef::Config`, the client's configuration, for cookbooks. Cookbooks may set keys. A set key changes later reads,
# the handlers and the log level, but never the host's settings.

require_relative "config/defaults"

class Chef
  class Config
    @values = {}
    @file_cache = DEFAULTS[:file_cache_path]
    @defaults = DEFAULTS

    OF_THE_NODE = %i[node_name environment policy_name policy_group].freeze
    LISTS = %i[start_handlers report_handlers exception_handlers event_handlers].freeze

    class << self
      # Chef's folder for downloads. Each policy has its own folder.
      attr_reader :file_cache

      # Sets the folder and the default paths below it.
      def file_cache=(folder)
        @file_cache = folder
        @defaults = DEFAULTS.merge(
          file_cache_path: folder, cookbook_path: ["#{folder}/cookbooks"], lockfile: "#{folder}/chef-client-running.pid",
          unix_bootstrap_file_cache_path: folder
        )
      end

      # Returns a value. An unknown key is read from the group `ohai`, because older cookbooks omit the group's name.
      def [](key)
        key = key.to_sym
        return @values[key] if @values.key?(key)
        return @values[key] = [] if LISTS.include?(key)
        return @values[key] = Context.new(CONTEXTS[key].call) if CONTEXTS.key?(key)

        case key
        when :node_name then Node.instance.name
        when :environment then Node.environment_name unless Node.environment_name == "_default"
        when :policy_name then Node.instance.policy_name
        when :policy_group then Node.instance.policy_group
        else @defaults.fetch(key) { self[:ohai][key] }
        end
      end

      def []=(key, value)
        Log.level = value if key.to_sym == :log_level
        @values[key.to_sym] = value
      end

      def key?(key)
        key = key.to_sym
        [@values, DEFAULTS, CONTEXTS].any? { |values| values.key?(key) } || (LISTS + OF_THE_NODE).include?(key)
      end
      alias has_key? key?
      def fetch(key, *rest, &block) = key?(key) ? self[key] : {}.fetch(key, *rest, &block)
      def delete(key) = @values.delete(key.to_sym)
      def to_hash = @defaults.merge(CONTEXTS.keys.to_h { |key| [key, self[key]] }, @values)
      alias save to_hash
      def keys = to_hash.keys
      def merge!(values) = values.each { |key, value| self[key] = value }.then { self }
      def reset = @values.clear
      def wrun_written = @values.dup
      def configure = yield(self)
      def from_file(_) = nil
      def inspect = "Chef::Config"

      # Methods for Chef's folders. They ignore `windows`.
      def etc_chef_dir(windows: false) = self[:etc_chef_dir] # rubocop:disable Lint/UnusedMethodArgument
      def var_chef_dir(windows: false) = self[:var_chef_dir] # rubocop:disable Lint/UnusedMethodArgument
      def platform_specific_path(path, **) = path
      def target_mode? = self[:target_mode].enabled?

      # `Chef::Config.file_cache_path`, `Chef::Config.log_level :debug`.
      def method_missing(name, *values)
        return self[name.to_s.delete_suffix("=")] = values.first if name.end_with?("=")

        values.empty? ? self[name] : self[name] = values.first
      end

      def respond_to_missing?(name, _ = false) = name.end_with?("=") || key?(name)
    end
  end
end
