# frozen_string_literal: true

# Default values of `Chef::Config` as in Chef's local mode, without a server and without keys.

class Chef
  class Config
    # A group of settings, such as `Chef::Config.ohai` or `Chef::Config[:chef_zero][:port]`.
    class Context < ChefUtils::Mash
      def method_missing(name, *values)
        return self[name.name.delete_suffix("=")] = values.first if name.end_with?("=")
        return self[name.name.delete_suffix("?")] ? true : false if name.end_with?("?")

        values.empty? ? self[name] : self[name] = values.first
      end

      def respond_to_missing?(name, all = false) = name.end_with?("=") || key?(name) || super
      def save(_include_defaults = false) = to_hash
      def configure = yield(self)
    end

    SERVER = "chefzero://localhost:1"
    NAMES = /^[^-+~:,\t\r\n\f\0]+[^:,\t\r\n\f\0]*$/

    private_constant :SERVER, :NAMES

    # Paths.
    PLACES = {
      cache_path: "/var/chef", file_cache_path: "/var/chef/cache", file_backup_path: "/var/chef/backup",
      checksum_path: "/var/chef/checksums", chef_repo_path: "/var/chef", cookbook_path: ["/var/chef/cache/cookbooks"],
      cookbook_artifact_path: "/var/chef/cookbook_artifacts", data_bag_path: "/var/chef/data_bags",
      environment_path: "/var/chef/environments", node_path: "/var/chef/nodes", role_path: "/var/chef/roles",
      policy_path: "/var/chef/policies", policy_group_path: "/var/chef/policy_groups", client_path: "/var/chef/clients",
      user_path: "/var/chef/users", lockfile: "/var/chef/cache/chef-client-running.pid", config_file: "/etc/chef/client.rb",
      config_dir: "/etc/chef/", etc_chef_dir: "/etc/chef", var_chef_dir: "/var/chef", var_root_dir: "/var",
      client_d_dir: "/etc/chef/client.d", solo_d_dir: "/etc/chef/solo.d", config_d_dir: "/etc/chef/config.d",
      trusted_certs_dir: "/etc/chef/trusted_certs", chef_guid_path: "/etc/chef/chef_guid",
      cache_options: { path: "/etc/chef/syntaxcache" }, syntax_check_cache_path: "/etc/chef/syntaxcache",
      ohai_segment_plugin_path: "/etc/chef/ohai/cookbook_plugins", script_path: [], pid_file: nil, user_home: "/root",
      unix_bootstrap_file_cache_path: "/var/chef/cache", unix_bootstrap_file_backup_path: "/var/chef/backup"
    }.freeze

    # The server and the connection to it.
    SERVERS = {
      chef_server_url: SERVER, chef_server_root: SERVER, client_key: nil, client_key_contents: nil, validation_key: nil,
      validation_key_contents: nil, validation_client_name: "chef-validator", encrypted_data_bag_secret: nil,
      local_mode: true, solo: false, solo_legacy_mode: false, listen: false, local_key_generation: true, chef_guid: nil,
      authentication_protocol_version: "1.1", verify_api_cert: true, ssl_verify_mode: :verify_peer, ssl_ca_file: nil,
      ssl_ca_path: nil, ssl_client_cert: nil, ssl_client_key: nil, fips: false, http_proxy: nil, http_proxy_user: nil,
      http_proxy_pass: nil, https_proxy: nil, https_proxy_user: nil, https_proxy_pass: nil, ftp_proxy: nil,
      ftp_proxy_user: nil, ftp_proxy_pass: nil, no_proxy: nil, rest_timeout: 300, http_retry_count: 5, http_retry_delay: 5,
      http_disable_auth_on_redirect: true, client_registration_retries: 5, ssh_agent_signing: false,
      migrate_key_to_keystore: false, auth_key_registry_type: nil, follow_client_key_symlink: false, api_client_name: nil,
      api_client_key: nil, rubygems_url: nil, rubygems_cache_enabled: false, clear_gem_sources: nil, recipe_url: nil,
      enable_reporting: true, enable_reporting_url_fatals: false, cookbook_sync_threads: 10, repo_mode: "everything"
    }.freeze

    # The run and its output.
    RUNS = {
      log_level: :info, log_location: nil, color: false, formatter: "null", formatters: [], force_formatter: false,
      force_logger: false, verbose_logging: true, always_dump_stacktrace: false, stream_execute_output: false,
      show_download_progress: false, download_progress_interval: 10, diff_disabled: false, diff_filesize_threshold: 10_000_000,
      diff_output_threshold: 1_000_000, why_run: false, interval: nil, splay: nil, once: nil, daemonize: nil, client_fork: nil,
      ez: false, json_attribs: nil, minimal_ohai: false, named_run_list: nil, deployment_group: nil, profile: nil,
      policy_document_native_api: true, policy_persist_run_list: false, umask: 0o022, user: nil, group: nil,
      enforce_path_sanity: false, enforce_default_paths: false, file_staging_uses_destdir: :auto, file_atomic_update: true,
      enable_selinux_file_permission_fixup: true, no_lazy_load: true, run_lock_timeout: nil, yum_timeout: 120,
      zypper_check_gpg: true, data_bag_decrypt_minimum_version: 0, data_bag_encrypt_version: 3,
      treat_deprecation_warnings_as_errors: false, silence_deprecation_warnings: [], disable_event_loggers: false,
      resource_unified_mode_default: true, count_log_resource_updates: false, internal_locale: "C.UTF-8",
      ruby_encoding: Encoding::UTF_8, user_valid_regex: [NAMES].freeze, group_valid_regex: [NAMES].freeze,
      **%i[automatic default normal override].to_h { |level| [:"allowed_#{level}_attributes", nil] },
      **%i[automatic default normal override].to_h { |level| [:"blocked_#{level}_attributes", nil] }
    }.freeze

    DEFAULTS = { **PLACES, **SERVERS, **RUNS }.freeze

    # Groups of settings. Each policy gets new objects, so that its changes stay its own.
    CONTEXTS = {
      ohai: lambda {
        { plugin_path: ["/etc/chef/ohai/plugins"], plugin: {}, disabled_plugins: [], optional_plugins: [],
          optional_attributes: [], hints_path: ["/etc/chef/ohai/hints"], critical_plugins: [], run_all_plugins: false,
          shellout_timeout: 30, log_level: :auto, log_location: nil }
      },
      chef_zero: -> { { enabled: true, host: "localhost", port: 8889.upto(9999), single_org: "chef", osc_compat: false } },
      target_mode: -> { { enabled: false, protocol: "ssh" } },
      windows_service: -> { { watchdog_timeout: 7200 } },
      data_collector: lambda {
        { server_url: nil, token: nil, mode: :both, raise_on_failure: false, organization: "chef_solo", output_locations: nil }
      },
      knife: -> { { hints: {} } },
      chefdk: -> { {} },
      chefcli: -> { {} }
    }.freeze

    private_constant :PLACES, :SERVERS, :RUNS
  end
end
