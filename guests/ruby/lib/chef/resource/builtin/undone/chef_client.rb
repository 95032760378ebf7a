# frozen_string_literal: true

# Chef's own client, the secrets of its vault, its tests. They may be declared; to act for them wrun has nothing.

Chef::Resource::Undone.fill do
  type :chef_client_config, %i[create remove] do
    property :config_directory, String, default: "/etc/chef"
    property :user, String
    property :group, String
    property :node_name, [String, NilClass]
    property :chef_server_url, String, required: true
    property :ssl_verify_mode, [Symbol, String], equal_to: %i[verify_none verify_peer], coerce: proc { |mode| mode.to_s.delete_prefix(":").to_sym }
    property :formatters, Array, default: []
    property :event_loggers, Array, default: []
    property :log_level, Symbol, equal_to: %i[auto trace debug info warn fatal]
    property :log_location, [String, Symbol]
    property :http_proxy, String
    property :https_proxy, String
    property :ftp_proxy, String
    property :no_proxy, [String, Array], default: []
    property :ohai_disabled_plugins, Array, default: []
    property :ohai_optional_plugins, Array, default: []
    property :policy_persist_run_list, [true, false], default: false
    property :minimal_ohai, [true, false], default: false
    property :start_handlers, Array, default: []
    property :report_handlers, Array, default: []
    property :rubygems_url, [String, Array]
    property :exception_handlers, Array, default: []
    property :chef_license, String, equal_to: ["accept", "accept-no-persist", "accept-silent"]
    property :policy_name, String
    property :policy_group, String
    property :named_run_list, String
    property :pid_file, String
    property :file_cache_path, String
    property :file_backup_path, String
    property :file_staging_uses_destdir, String
    property :additional_config, String
    property :data_collector_server_url, String
    property :data_collector_token, String
  end

  type :chef_client_cron, %i[add remove] do
    property :job_name, String, default: "chef-client"
    property :comment, String
    property :user, String, default: "root"
    property :minute, [Integer, String], default: "0,30"
    property :hour, [Integer, String], default: "*"
    property :day, [Integer, String], default: "*"
    property :month, [Integer, String], default: "*"
    property :weekday, [Integer, String], default: "*"
    property :splay, [Integer, String], default: 300
    property :mailto, String
    property :accept_chef_license, [true, false], default: false
    property :config_directory, String, default: "/etc/chef"
    property :log_directory, String
    property :log_file_name, String, default: "client.log"
    property :append_log_file, [true, false], default: true
    property :chef_binary_path, String, default: "/opt/chef/bin/chef-client"
    property :daemon_options, Array, default: []
    property :environment, Hash, default: {}
    property :nice, [Integer, String]
  end

  type :chef_client_systemd_timer, %i[add remove] do
    property :job_name, String, default: "chef-client"
    property :description, String, default: "Chef Infra Client periodic execution"
    property :user, String, default: "root"
    property :delay_after_boot, String, default: "1min"
    property :interval, String, default: "30min"
    property :splay, String, default: "5min"
    property :accept_chef_license, [true, false], default: false
    property :run_on_battery, [true, false], default: true
    property :config_directory, String, default: "/etc/chef"
    property :chef_binary_path, String, default: "/opt/chef/bin/chef-client"
    property :daemon_options, Array, default: []
    property :environment, Hash, default: {}
    property :cpu_quota, [Integer, String]
    property :service_umask, [Integer, String]
  end

  type :chef_client_trusted_certificate, %i[add remove] do
    property :cert_name, String, name_property: true
    property :certificate, String, required: %i[add]
  end

  type :chef_vault_secret, %i[create create_if_missing delete] do
    property :id, String, name_property: true
    property :data_bag, String, required: true, desired_state: false
    property :admins, [String, Array], required: true, desired_state: false
    property :clients, [String, Array], desired_state: false
    property :search, String, default: "*:*", desired_state: false
    property :raw_data, Hash, default: {}
    property :environment, [String, NilClass], desired_state: false
  end

  type :inspec_input, %i[add] do
    property :input, [Hash, String], name_property: true
    property :source, [Hash, String]
  end

  type :inspec_waiver, %i[add] do
    property :control, String, name_property: true
    property :expiration, String
    property :run_test, [true, false]
    property :justification, String
    property :source, [Hash, String]
  end

  type :inspec_waiver_file_entry, %i[add remove] do
    property :control, String, name_property: true
    property :file_path, String, required: true, default: "/etc/chef/inspec_waivers.yml"
    property :expiration, String
    property :run_test, [true, false]
    property :justification, String
    property :backup, [false, Integer], default: false
  end
end
