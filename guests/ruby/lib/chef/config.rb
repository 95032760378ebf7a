# frozen_string_literal: true

# `Chef::Config`: what cookbooks read of the client's configuration. They may set keys; it changes what they read, and the
# handlers and log level that it names, nothing of the host.

class Chef
  class Config
    @values = {}

    DEFAULTS = {
      file_cache_path: "/var/chef/cache", file_backup_path: "/var/chef/backup", cache_path: "/var/chef",
      config_file: "/etc/chef/client.rb", config_dir: "/etc/chef/", etc_chef_dir: "/etc/chef", var_chef_dir: "/var/chef",
      cookbook_path: ["/var/chef/cache/cookbooks"], client_key: "/etc/chef/client.pem",
      validation_key: "/etc/chef/validation.pem", encrypted_data_bag_secret: nil, trusted_certs_dir: "/etc/chef/trusted_certs",
      chef_server_url: "https://localhost:443", solo: false, solo_legacy_mode: false, local_mode: true, why_run: false,
      log_level: :info, log_location: nil, color: false, interval: nil, splay: nil, ssl_verify_mode: :verify_peer,
      http_proxy: nil, https_proxy: nil, no_proxy: nil, umask: 0o022, user: nil, group: nil,
      file_staging_uses_destdir: :auto, rest_timeout: 300, yum_timeout: 120, windows_service: {},
      data_bag_decrypt_minimum_version: 0, data_bag_encrypt_version: 3, target_mode: nil, fips: false, chef_guid: nil,
      ohai: {}, treat_deprecation_warnings_as_errors: false, silence_deprecation_warnings: [],
      show_download_progress: false,
      diff_disabled: false, enable_selinux_file_permission_fixup: true, no_lazy_load: true, run_lock_timeout: nil,
      internal_locale: "C.UTF-8", rubygems_url: nil, clear_gem_sources: nil, ssl_ca_file: nil,
      ssl_ca_path: nil,
      repo_mode: "everything", node_path: "/var/chef/nodes", role_path: "/var/chef/roles",
      data_bag_path: "/var/chef/data_bags",
      environment_path: "/var/chef/environments", knife: {}, download_progress_interval: 10, ez: false,
      policy_document_native_api: true, client_registration_retries: 5, http_retry_count: 5, http_retry_delay: 5,
      file_atomic_update: true, verbose_logging: true, stream_execute_output: false, resource_unified_mode_default: true,
      ohai_segment_plugin_path: "/var/chef/ohai/cookbook_plugins", always_dump_stacktrace: false,
      count_log_resource_updates: false,
      group_valid_regex: /^[^-+~:,\t\r\n\f\0]+[^:,\t\r\n\f\0]*$/,
      user_valid_regex: /^[^-+~:,\t\r\n\f\0]+[^:,\t\r\n\f\0]*$/
    }.freeze

    OF_THE_NODE = %i[node_name environment policy_name policy_group].freeze
    LISTS = %i[start_handlers report_handlers exception_handlers event_handlers].freeze

    class << self
      def [](key)
        key = key.to_sym
        return @values[key] if @values.key?(key)
        return @values[key] = [] if LISTS.include?(key)

        case key
        when :node_name then Node.instance.name
        when :environment then Node.environment_name unless Node.environment_name == "_default"
        when :policy_name then Node.instance.policy_name
        when :policy_group then Node.instance.policy_group
        else DEFAULTS[key]
        end
      end

      def []=(key, value)
        Log.level = value if key.to_sym == :log_level
        @values[key.to_sym] = value
      end

      def key?(key) = [@values, DEFAULTS].any? { |values| values.key?(key.to_sym) } || (LISTS + OF_THE_NODE).include?(key.to_sym)
      alias has_key? key?
      def fetch(key, *rest, &block) = key?(key) ? self[key] : {}.fetch(key, *rest, &block)
      def delete(key) = @values.delete(key.to_sym)
      def to_hash = DEFAULTS.merge(@values)
      alias save to_hash
      def keys = to_hash.keys
      def merge!(values) = values.each { |key, value| self[key] = value }.then { self }
      def reset = @values.clear
      def configure = yield(self)
      def from_file(_) = nil
      def inspect = "Chef::Config"

      # Folders as Chef names them.
      def etc_chef_dir(windows: false) = self[:etc_chef_dir] # rubocop:disable Lint/UnusedMethodArgument
      def var_chef_dir(windows: false) = self[:var_chef_dir] # rubocop:disable Lint/UnusedMethodArgument
      def platform_specific_path(path) = path

      # `Chef::Config.file_cache_path`, `Chef::Config.log_level :debug`.
      def method_missing(name, *values)
        return self[name.to_s.delete_suffix("=")] = values.first if name.end_with?("=")

        values.empty? ? self[name] : self[name] = values.first
      end

      def respond_to_missing?(name, _ = false) = name.end_with?("=") || key?(name)
    end
  end
end
