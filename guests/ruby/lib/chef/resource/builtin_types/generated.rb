# frozen_string_literal: true

# The built-in resource types.
#
# @generated from the host's schema by `cargo xtask builders`; do not edit.

Wrun::Resources::Builtin.fill do
  type :alternatives, by: :children, actions: %i[install set remove auto refresh], default: :install do
    property :link_name, String, name_property: true, identity: true, desired_state: false
    property :link, String
    property :path, String
    property :priority, [String, Integer], coerce: coercion(:leading_integer)
  end

  type :apt_package, by: :host, actions: %i[install upgrade remove purge reconfig lock unlock], default: :install do
    property :package_name, [String, Array], name_property: true, identity: true
    property :version, [String, Array]
    property :options, [String, Array], coerce: coercion(:shell_words)
    property :source, String, desired_state: false
    property :timeout, [String, Integer], desired_state: false
    property :environment, Hash, default: {}, desired_state: false
    property :default_release, String, desired_state: false
    property :overwrite_config_files, [TrueClass, FalseClass], default: false
    property :response_file, String, desired_state: false
    property :response_file_variables, Hash, default: {}, desired_state: false
    property :anchor_package_regex, [TrueClass, FalseClass], default: false
  end

  type :apt_preference, by: :children, actions: %i[add remove], default: :add do
    property :package_name, String, regex: /^([a-z]|[A-Z]|[0-9]|_|-|\.|\*|\+)+$/, name_property: true, identity: true, desired_state: false, validation_message: "The provided package name is not valid. Package names can only contain alphanumeric characters as well as _, -, +, or *!"
    property :glob, String
    property :pin, String, required: %i[add]
    property :pin_priority, [String, Integer], required: %i[add]
  end

  type :apt_repository, by: :children, actions: %i[add remove], default: :add do
    property :repo_name, String, regex: /^[^\/]+$/, name_property: true, identity: true, desired_state: false, validation_message: "repo_name property cannot contain a forward slash '/'"
    property :uri, String
    property :distribution, [String, nil, FalseClass]
    property :components, Array, default: []
    property :arch, [String, nil, FalseClass]
    property :trusted, [TrueClass, FalseClass], default: false
    property :deb_src, [TrueClass, FalseClass], default: false
    property :keyserver, [String, nil, FalseClass], default: "keyserver.ubuntu.com"
    property :key, [String, Array, nil, FalseClass], coerce: coercion(:wrapped_unless_false), default: []
    property :key_proxy, [String, nil, FalseClass]
    property :signed_by, [String, true, false, nil], default: true
    property :cookbook, [String, nil, FalseClass], desired_state: false
    property :cache_rebuild, [TrueClass, FalseClass], default: true, desired_state: false
    property :options, [String, Array], coerce: coercion(:wrapped), default: []
  end

  type :apt_update, by: :children, actions: %i[periodic update], default: :periodic do
    property :frequency, Integer, default: 86400
  end

  type :archive_file, by: :host, actions: %i[extract], default: :extract, aliases: %i[libarchive_file] do
    property :path, String, coerce: coercion(:expanded_path), name_property: true, identity: true, desired_state: false
    property :destination, String, required: true
    property :owner, String
    property :group, String
    property :mode, [String, Integer], callbacks: checks(mode_in_range: "not in valid numeric range"), default: "755"
    property :options, [Array, Symbol], default: [:time]
    property :overwrite, [TrueClass, FalseClass, :auto], default: false
    property :strip_components, Integer, default: 0
  end

  type :bash, by: :host, actions: %i[run], default: :run do
    property :creates, String
    property :cwd, String
    property :environment, Hash
    also :env, :environment
    property :user, [String, Integer]
    property :group, [String, Integer]
    property :login, [TrueClass, FalseClass], default: false
    property :live_stream, [TrueClass, FalseClass], default: false
    property :default_env, [TrueClass, FalseClass], default: false, desired_state: false
    property :input, String
    property :returns, [Integer, Array], default: 0
    property :timeout, [Integer, String, Float], default: 3600, desired_state: false
    property :domain, String
    property :password, String, sensitive: true
    property :elevated, [TrueClass, FalseClass], default: false
    property :code, String, required: true
    property :interpreter, String, default: "bash"
    property :flags, String
  end

  type :breakpoint, by: :guest, actions: %i[break], default: :break do
  end

  type :build_essential, by: :children, actions: %i[install upgrade], default: :install do
    property :raise_if_unsupported, [TrueClass, FalseClass], default: false, desired_state: false
  end

  type :chef_client_config, by: :nobody, actions: %i[create remove], default: :create do
    property :config_directory, String, default: "/etc/chef"
    property :user, String
    property :group, String
    property :node_name, [String, NilClass]
    property :chef_server_url, String, required: true
    property :ssl_verify_mode, [Symbol, String], equal_to: [:verify_none, :verify_peer], coerce: coercion(:symbol_with_colon)
    property :formatters, Array, default: []
    property :event_loggers, Array, default: []
    property :log_level, Symbol, equal_to: [:auto, :trace, :debug, :info, :warn, :fatal]
    property :log_location, [String, Symbol]
    property :http_proxy, String
    property :https_proxy, String
    property :ftp_proxy, String
    property :no_proxy, [String, Array], default: []
    property :ohai_disabled_plugins, Array, default: []
    property :ohai_optional_plugins, Array, default: []
    property :policy_persist_run_list, [TrueClass, FalseClass], default: false
    property :minimal_ohai, [TrueClass, FalseClass], default: false
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

  type :chef_client_cron, by: :nobody, actions: %i[add remove], default: :add do
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
    property :accept_chef_license, [TrueClass, FalseClass], default: false
    property :config_directory, String, default: "/etc/chef"
    property :log_directory, String
    property :log_file_name, String, default: "client.log"
    property :append_log_file, [TrueClass, FalseClass], default: true
    property :chef_binary_path, String, default: "/opt/chef/bin/chef-client"
    property :daemon_options, Array, default: []
    property :environment, Hash, default: {}
    property :nice, [Integer, String]
  end

  type :chef_client_systemd_timer, by: :nobody, actions: %i[add remove], default: :add do
    property :job_name, String, default: "chef-client"
    property :description, String, default: "Chef Infra Client periodic execution"
    property :user, String, default: "root"
    property :delay_after_boot, String, default: "1min"
    property :interval, String, default: "30min"
    property :splay, String, default: "5min"
    property :accept_chef_license, [TrueClass, FalseClass], default: false
    property :run_on_battery, [TrueClass, FalseClass], default: true
    property :config_directory, String, default: "/etc/chef"
    property :chef_binary_path, String, default: "/opt/chef/bin/chef-client"
    property :daemon_options, Array, default: []
    property :environment, Hash, default: {}
    property :cpu_quota, [Integer, String]
    property :service_umask, [Integer, String]
  end

  type :chef_client_trusted_certificate, by: :nobody, actions: %i[add remove], default: :add do
    property :cert_name, String, name_property: true, desired_state: false
    property :certificate, String, required: %i[add]
  end

  type :chef_gem, by: :host, actions: %i[install upgrade remove purge], default: :install do
    property :timeout, [String, Integer], desired_state: false
    property :environment, Hash, default: {}, desired_state: false
    property :package_name, String, name_property: true, identity: true
    property :version, String
    property :source, [String, Array]
    property :clear_sources, [TrueClass, FalseClass, nil], desired_state: false
    property :gem_binary, String, desired_state: false
    property :include_default_source, [TrueClass, FalseClass, nil], default: nil
    property :options, [String, Hash, Array, nil], desired_state: false
  end

  type :chef_handler, by: :guest, actions: %i[enable disable], default: :enable do
    property :class_name, String, name_property: true, identity: true, desired_state: false
    property :source, String
    property :arguments, [Array, Hash], default: []
    property :type, Hash, default: {"report"=>true, "exception"=>true}
  end

  type :chef_sleep, by: :host, actions: %i[sleep], default: :sleep do
    property :seconds, [String, Integer], coerce: coercion(:integer), name_property: true, identity: true, desired_state: false
  end

  type :chef_vault_secret, by: :nobody, actions: %i[create create_if_missing delete], default: :create do
    property :id, String, name_property: true, desired_state: false
    property :data_bag, String, required: true, desired_state: false
    property :admins, [String, Array], required: true, desired_state: false
    property :clients, [String, Array], desired_state: false
    property :search, String, default: "*:*", desired_state: false
    property :raw_data, Hash, default: {}
    property :environment, [String, NilClass], desired_state: false
  end

  type :cookbook_file, by: :host, actions: %i[create delete touch create_if_missing], default: :create do
    property :owner, [String, Integer], regex: [/^[^-+~:,\t\r\n\f\0]+[^:,\t\r\n\f\0]*$/]
    also :user, :owner
    property :group, [String, Integer], regex: [/^[^-+~:,\t\r\n\f\0]+[^:,\t\r\n\f\0]*$/]
    property :mode, callbacks: checks(mode_in_range: "not in valid numeric range")
    property :path, String, name_property: true, identity: true, desired_state: false
    property :atomic_update, [TrueClass, FalseClass], desired_state: false
    property :backup, [Integer, FalseClass], default: 5, desired_state: false
    property :checksum, [String, nil], regex: /^\h{64}$/, coerce: coercion(:lower_case)
    property :force_unlink, [TrueClass, FalseClass], default: false, desired_state: false
    property :manage_symlink_source, [TrueClass, FalseClass], desired_state: false
    collects :verify
    property :diff, [String, nil], desired_state: false
    property :source, [String, Array], default: lazy { ::File.basename(name) }
    property :cookbook, String, desired_state: false
  end

  type :cron, by: :host, actions: %i[create delete], default: :create do
    property :minute, [Integer, String], callbacks: checks(cron_minute: "should be a valid minute spec"), default: "*"
    property :hour, [Integer, String], callbacks: checks(cron_hour: "should be a valid hour spec"), default: "*"
    property :day, [Integer, String], callbacks: checks(cron_day: "should be a valid day spec"), default: "*"
    property :month, [Integer, String], callbacks: checks(cron_month: "should be a valid month spec"), default: "*"
    property :weekday, [Integer, String, Symbol], callbacks: checks(cron_weekday: "should be a valid weekday spec"), coerce: coercion(:cron_weekday), default: "*"
    property :user, String, default: "root"
    property :shell, String
    property :path, String
    property :home, String
    property :mailto, String
    property :environment, Hash, default: {}
    property :time_out, Hash, coerce: coercion(:timeout), default: {}
    property :command, String, required: %i[create]
    property :time, Symbol, equal_to: [:reboot, :yearly, :annually, :monthly, :weekly, :daily, :midnight, :hourly]
  end

  type :cron_access, by: :children, actions: %i[allow deny], default: :allow, aliases: %i[cron_manage] do
    property :user, String, name_property: true, identity: true, desired_state: false
  end

  type :cron_d, by: :host, actions: %i[create create_if_missing delete], default: :create do
    property :minute, [Integer, String], callbacks: checks(cron_minute: "should be a valid minute spec"), default: "*"
    property :hour, [Integer, String], callbacks: checks(cron_hour: "should be a valid hour spec"), default: "*"
    property :day, [Integer, String], callbacks: checks(cron_day: "should be a valid day spec"), default: "*"
    property :month, [Integer, String], callbacks: checks(cron_month: "should be a valid month spec"), default: "*"
    property :weekday, [Integer, String, Symbol], callbacks: checks(cron_weekday: "should be a valid weekday spec"), coerce: coercion(:cron_weekday), default: "*"
    property :user, String, default: "root"
    property :shell, String
    property :path, String
    property :home, String
    property :mailto, String
    property :environment, Hash, default: {}
    property :time_out, Hash, coerce: coercion(:timeout), default: {}
    property :cron_name, String, name_property: true, identity: true, desired_state: false
    property :predefined_value, String, equal_to: ["@reboot", "@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"]
    property :command, String, required: %i[create create_if_missing]
    property :comment, String
    property :mode, [String, Integer], callbacks: checks(mode_in_range: "not in valid numeric range"), default: "0600"
    property :random_delay, Integer
  end

  type :csh, by: :host, actions: %i[run], default: :run do
    property :creates, String
    property :cwd, String
    property :environment, Hash
    also :env, :environment
    property :user, [String, Integer]
    property :group, [String, Integer]
    property :login, [TrueClass, FalseClass], default: false
    property :live_stream, [TrueClass, FalseClass], default: false
    property :default_env, [TrueClass, FalseClass], default: false, desired_state: false
    property :input, String
    property :returns, [Integer, Array], default: 0
    property :timeout, [Integer, String, Float], default: 3600, desired_state: false
    property :domain, String
    property :password, String, sensitive: true
    property :elevated, [TrueClass, FalseClass], default: false
    property :code, String, required: true
    property :interpreter, String, default: "csh"
    property :flags, String
  end

  type :directory, by: :host, actions: %i[create delete], default: :create do
    property :owner, [String, Integer], regex: [/^[^-+~:,\t\r\n\f\0]+[^:,\t\r\n\f\0]*$/]
    also :user, :owner
    property :group, [String, Integer], regex: [/^[^-+~:,\t\r\n\f\0]+[^:,\t\r\n\f\0]*$/]
    property :mode, callbacks: checks(mode_in_range: "not in valid numeric range")
    property :path, String, name_property: true, identity: true, desired_state: false
    property :recursive, [TrueClass, FalseClass], default: false
  end

  type :dnf_package, by: :host, actions: %i[install upgrade remove purge reconfig lock unlock flush_cache], default: :install do
    property :package_name, [String, Array], name_property: true, identity: true
    property :version, [String, Array]
    property :options, [String, Array], coerce: coercion(:shell_words)
    property :source, String, desired_state: false
    property :timeout, [String, Integer], desired_state: false
    property :environment, Hash, default: {}, desired_state: false
    property :arch, [String, Array], coerce: coercion(:flattened)
    property :flush_cache, Hash, coerce: coercion(:before_and_after), default: {"before"=>false, "after"=>false}
    property :allow_downgrade, [TrueClass, FalseClass], default: true, desired_state: false
  end

  type :dpkg_package, by: :host, actions: %i[install upgrade remove purge reconfig lock unlock], default: :install do
    property :package_name, [String, Array], name_property: true, identity: true
    property :version, [String, Array]
    property :options, [String, Array], coerce: coercion(:shell_words)
    property :timeout, [String, Integer], desired_state: false
    property :environment, Hash, default: {}, desired_state: false
    property :source, [String, Array, nil]
    property :response_file, String, desired_state: false
    property :response_file_variables, Hash, default: {}, desired_state: false
    property :allow_downgrade, [TrueClass, FalseClass], default: true, desired_state: false
  end

  type :execute, by: :host, actions: %i[run], default: :run do
    property :creates, String
    property :cwd, String
    property :environment, Hash
    also :env, :environment
    property :user, [String, Integer]
    property :group, [String, Integer]
    property :login, [TrueClass, FalseClass], default: false
    property :live_stream, [TrueClass, FalseClass], default: false
    property :default_env, [TrueClass, FalseClass], default: false, desired_state: false
    property :input, String
    property :returns, [Integer, Array], default: 0
    property :timeout, [Integer, String, Float], default: 3600, desired_state: false
    property :domain, String
    property :password, String, sensitive: true
    property :elevated, [TrueClass, FalseClass], default: false
    property :command, [String, Array], name_property: true, identity: true, desired_state: false
  end

  type :file, by: :host, actions: %i[create delete touch create_if_missing], default: :create do
    property :owner, [String, Integer], regex: [/^[^-+~:,\t\r\n\f\0]+[^:,\t\r\n\f\0]*$/]
    also :user, :owner
    property :group, [String, Integer], regex: [/^[^-+~:,\t\r\n\f\0]+[^:,\t\r\n\f\0]*$/]
    property :mode, callbacks: checks(mode_in_range: "not in valid numeric range")
    property :path, String, name_property: true, identity: true, desired_state: false
    property :atomic_update, [TrueClass, FalseClass], desired_state: false
    property :backup, [Integer, FalseClass], default: 5, desired_state: false
    property :checksum, [String, nil], regex: /^\h{64}$/, coerce: coercion(:lower_case)
    property :force_unlink, [TrueClass, FalseClass], default: false, desired_state: false
    property :manage_symlink_source, [TrueClass, FalseClass], desired_state: false
    collects :verify
    property :diff, [String, nil], desired_state: false
    property :content, [String, nil], desired_state: false
  end

  type :gem_package, by: :host, actions: %i[install upgrade remove purge], default: :install do
    property :timeout, [String, Integer], desired_state: false
    property :environment, Hash, default: {}, desired_state: false
    property :package_name, String, name_property: true, identity: true
    property :version, String
    property :source, [String, Array]
    property :clear_sources, [TrueClass, FalseClass, nil], desired_state: false
    property :gem_binary, String, desired_state: false
    property :include_default_source, [TrueClass, FalseClass, nil], default: nil
    property :options, [String, Hash, Array, nil], desired_state: false
  end

  type :git, by: :host, actions: %i[sync checkout export diff log], default: :sync do
    property :destination, String, name_property: true, identity: true, desired_state: false
    property :user, [String, Integer]
    property :group, [String, Integer]
    property :timeout, Integer, desired_state: false
    property :environment, [Hash, nil]
    also :env, :environment
    property :repository, String
    also :repo, :repository
    property :revision, String, default: "HEAD"
    also :branch, :revision
    also :reference, :revision
    property :remote, String, default: "origin"
    property :additional_remotes, Hash, default: {}
    property :depth, Integer
    property :enable_submodules, [TrueClass, FalseClass], default: false
    property :enable_checkout, [TrueClass, FalseClass], default: true
    property :checkout_branch, String
    property :ssh_wrapper, String, desired_state: false
  end

  type :group, by: :host, actions: %i[create remove modify manage], default: :create do
    property :group_name, String, name_property: true, identity: true, desired_state: false
    property :gid, [String, Integer]
    property :members, [String, Array], coerce: coercion(:comma_list), default: []
    also :users, :members
    property :excluded_members, [String, Array], coerce: coercion(:comma_list), default: []
    property :append, [TrueClass, FalseClass], default: false
    property :system, [TrueClass, FalseClass], default: false
    property :non_unique, [TrueClass, FalseClass], default: false
    property :comment, String
  end

  type :habitat_config, by: :nobody, actions: %i[apply], default: :apply do
    property :config, Hash, required: true
    property :service_group, String, name_property: true, desired_state: false
    property :remote_sup, String, default: "127.0.0.1:9632", desired_state: false
    property :remote_sup_http, String, default: "127.0.0.1:9631", desired_state: false
    property :gateway_auth_token, String, desired_state: false
    property :user, String, desired_state: false
  end

  type :habitat_install, by: :nobody, actions: %i[install], default: :install do
    property :name, String, default: "install habitat"
    property :install_url, String, default: "https://raw.githubusercontent.com/habitat-sh/habitat/main/components/hab/install.sh"
    property :bldr_url, String
    property :create_user, [TrueClass, FalseClass], default: true
    property :tmp_dir, String
    property :license, String, equal_to: "accept"
    property :hab_version, String
  end

  type :habitat_package, by: :nobody, actions: %i[install upgrade remove purge], default: :install do
    property :package_name, [String, Array], name_property: true, identity: true, desired_state: false
    property :version, [String, Array]
    property :source, String, desired_state: false
    property :timeout, [String, Integer], desired_state: false
    property :bldr_url, String, default: "https://bldr.habitat.sh"
    property :channel, String, default: "stable"
    property :auth_token, String
    property :binlink, [TrueClass, FalseClass, :force], default: false
    property :options, String
    property :keep_latest, String
    property :exclude, String
    property :no_deps, [TrueClass, FalseClass], default: false
  end

  type :habitat_service, by: :nobody, actions: %i[load unload start stop restart reload], default: :load do
    property :service_name, String, name_property: true, desired_state: false
    property :loaded, [TrueClass, FalseClass], default: false
    property :running, [TrueClass, FalseClass], default: false
    property :strategy, [Symbol, String], equal_to: [:none, :"at-once", :rolling], coerce: coercion(:symbol), default: :none
    property :topology, [Symbol, String], equal_to: [:standalone, :leader], coerce: coercion(:symbol), default: :standalone
    property :bldr_url, String, default: "https://bldr.habitat.sh/"
    property :channel, [Symbol, String], default: :stable
    property :bind, [String, Array], default: []
    property :binding_mode, [Symbol, String], equal_to: [:strict, :relaxed], coerce: coercion(:symbol), default: :strict
    property :service_group, String, default: "default"
    property :shutdown_timeout, Integer, default: 8
    property :health_check_interval, Integer, default: 30
    property :remote_sup, String, default: "127.0.0.1:9632", desired_state: false
    property :remote_sup_http, String, default: "127.0.0.1:9631", desired_state: false
    property :gateway_auth_token, String, desired_state: false
    property :update_condition, [Symbol, String], equal_to: [:latest, :"track-channel"], coerce: coercion(:symbol), default: :latest
  end

  type :habitat_sup, by: :nobody, actions: %i[run], default: :run do
    property :bldr_url, String
    property :permanent_peer, [TrueClass, FalseClass], default: false
    property :listen_ctl, String
    property :listen_gossip, String
    property :listen_http, String
    property :org, String, default: "default"
    property :peer, [String, Array]
    property :ring, String
    property :hab_channel, String
    property :auto_update, [TrueClass, FalseClass], default: false
    property :auth_token, String
    property :gateway_auth_token, String
    property :update_condition, String
    property :limit_no_files, String
    property :license, String, equal_to: "accept"
    property :health_check_interval, [String, Integer]
    property :event_stream_application, String
    property :event_stream_environment, String
    property :event_stream_site, String
    property :event_stream_url, String
    property :event_stream_token, String
    property :event_stream_cert, String
    property :sup_version, String
    property :launcher_version, String
    property :service_version, String
    property :keep_latest, String
    property :toml_config, [TrueClass, FalseClass], default: false
  end

  type :habitat_user_toml, by: :nobody, actions: %i[create delete], default: :create do
    property :config, Hash, required: true
    property :service_name, String, name_property: true, desired_state: false
  end

  type :hostname, by: :children, actions: %i[set], default: :set do
    property :hostname, String, name_property: true, identity: true, desired_state: false
    property :fqdn, String
    property :ipaddress, String
    property :aliases, [Array, nil], default: nil
    property :windows_reboot, [TrueClass, FalseClass], default: true
    property :domain_user, String
    property :domain_password, String, sensitive: true
  end

  type :http_request, by: :host, actions: %i[get patch put post delete head options], default: :get do
    property :url, String, identity: true
    property :headers, Hash, default: {}
    property :message, name_property: true
  end

  type :ifconfig, by: :nobody, actions: %i[add delete enable disable], default: :add do
    property :target, String, name_property: true, desired_state: false
    property :hwaddr, String
    property :mask, String
    property :family, String, default: "inet"
    property :inet_addr, String
    property :bcast, String
    property :mtu, String
    property :metric, String
    property :device, String, identity: true
    property :onboot, String
    property :network, String
    property :bootproto, String
    property :onparent, String
    property :ethtool_opts, String
    property :bonding_opts, String
    property :master, String
    property :slave, String
    property :vlan, String
    property :gateway, String
    property :bridge, String
  end

  type :inspec_input, by: :nobody, actions: %i[add], default: :add do
    property :input, [Hash, String], name_property: true, desired_state: false
    property :source, [Hash, String]
  end

  type :inspec_waiver, by: :nobody, actions: %i[add], default: :add do
    property :control, String, name_property: true, desired_state: false
    property :expiration, String
    property :run_test, [TrueClass, FalseClass]
    property :justification, String
    property :source, [Hash, String]
  end

  type :inspec_waiver_file_entry, by: :nobody, actions: %i[add remove], default: :add do
    property :control, String, name_property: true, desired_state: false
    property :file_path, String, default: "/etc/chef/inspec_waivers.yml", required: true
    property :expiration, String
    property :run_test, [TrueClass, FalseClass]
    property :justification, String
    property :backup, [FalseClass, Integer], default: false
  end

  type :kernel_module, by: :children, actions: %i[install uninstall blacklist disable enable load unload], default: :install do
    property :modname, String, name_property: true, identity: true, desired_state: false
    property :options, Array
    property :load_dir, String, default: "/etc/modules-load.d"
    property :unload_dir, String, default: "/etc/modprobe.d"
  end

  type :ksh, by: :host, actions: %i[run], default: :run do
    property :creates, String
    property :cwd, String
    property :environment, Hash
    also :env, :environment
    property :user, [String, Integer]
    property :group, [String, Integer]
    property :login, [TrueClass, FalseClass], default: false
    property :live_stream, [TrueClass, FalseClass], default: false
    property :default_env, [TrueClass, FalseClass], default: false, desired_state: false
    property :input, String
    property :returns, [Integer, Array], default: 0
    property :timeout, [Integer, String, Float], default: 3600, desired_state: false
    property :domain, String
    property :password, String, sensitive: true
    property :elevated, [TrueClass, FalseClass], default: false
    property :code, String, required: true
    property :interpreter, String, default: "ksh"
    property :flags, String
  end

  type :link, by: :host, actions: %i[create delete], default: :create do
    property :target_file, String, name_property: true, identity: true, desired_state: false
    property :to, String
    property :link_type, [String, Symbol], equal_to: [:symbolic, :hard], coerce: coercion(:symbol), default: :symbolic
    property :owner, [String, Integer], regex: [/^[^-+~:,\t\r\n\f\0]+[^:,\t\r\n\f\0]*$/]
    also :user, :owner
    property :group, [String, Integer], regex: [/^[^-+~:,\t\r\n\f\0]+[^:,\t\r\n\f\0]*$/]
  end

  type :linux_user, by: :host, actions: %i[create remove modify manage lock unlock], default: :create do
    property :username, String, name_property: true, identity: true, desired_state: false
    property :comment, String
    property :uid, [String, Integer, NilClass]
    property :gid, [String, Integer, NilClass]
    also :group, :gid
    property :home, String
    property :shell, String
    property :password, String, sensitive: true, desired_state: false
    property :salt, String, desired_state: false
    property :non_unique, [TrueClass, FalseClass], default: false, desired_state: false
    property :manage_home, [TrueClass, FalseClass], default: false, desired_state: false
    property :force, [TrueClass, FalseClass], default: false, desired_state: false
    property :system, [TrueClass, FalseClass], default: false
    property :expire_date, [String, NilClass], desired_state: false
    property :inactive, [String, Integer, NilClass], desired_state: false
  end

  type :locale, by: :children, actions: %i[update], default: :update do
    property :lang, String, regex: /\A\S+/, validation_message: "The provided lang is not valid. It should be a non-empty string without any leading whitespace."
    property :lc_env, Hash, default: {}
  end

  type :log, by: :host, actions: %i[write], default: :write do
    property :message, String, name_property: true, identity: true, desired_state: false
    property :level, Symbol, equal_to: [:debug, :info, :warn, :error, :fatal], default: :info
  end

  type :mdadm, by: :nobody, actions: %i[create assemble stop], default: :create do
    property :chunk, Integer, default: 16
    property :devices, Array, default: []
    property :exists, [TrueClass, FalseClass], default: false
    property :level, Integer, default: 1
    property :metadata, String, default: "0.90"
    property :bitmap, String
    property :raid_device, String, name_property: true, desired_state: false
    property :layout, String
  end

  type :mount, by: :host, actions: %i[mount umount unmount remount enable disable], default: :mount do
    property :mount_point, String, coerce: coercion(:no_trailing_slash), name_property: true, identity: true, desired_state: false
    property :device, String
    property :device_type, [String, Symbol], equal_to: [:device, :label, :uuid], coerce: coercion(:symbol), default: :device
    property :fstype, [String, nil], default: "auto"
    property :options, [Array, String, nil], coerce: coercion(:mount_options), default: ["defaults"]
    property :dump, [Integer, FalseClass], default: 0
    property :pass, [Integer, FalseClass], default: 2
    property :fsck_device, String, default: "-"
    property :supports, [Array, Hash], coerce: coercion(:flags), default: {"remount"=>false}
    property :enabled, [TrueClass, FalseClass], default: false
    property :username, String
    property :password, String, sensitive: true
    property :domain, String
  end

  type :notify_group, by: :host, actions: %i[run], default: :nothing do
  end

  type :ohai, by: :host, actions: %i[reload], default: :reload do
    property :plugin, String
  end

  type :ohai_hint, by: :children, actions: %i[create delete], default: :create do
    property :hint_name, String, name_property: true, identity: true, desired_state: false
    property :content, Hash
  end

  type :openssl_dhparam, by: :children, actions: %i[create], default: :create do
    property :path, String, name_property: true, identity: true, desired_state: false
    property :owner, [String, Integer]
    property :group, [String, Integer]
    property :mode, [Integer, String], callbacks: checks(mode_in_range: "not in valid numeric range"), default: "0640"
    property :key_length, Integer, equal_to: [1024, 2048, 4096, 8192], default: 2048, validation_message: "key_length must be 1024, 2048, 4096, or 8192."
    property :generator, Integer, equal_to: [2, 5], default: 2, validation_message: "generator must be either 2 or 5."
  end

  type :openssl_ec_private_key, by: :children, actions: %i[create], default: :create do
    property :path, String, name_property: true, identity: true, desired_state: false
    property :owner, [String, Integer]
    property :group, [String, Integer]
    property :mode, [Integer, String], callbacks: checks(mode_in_range: "not in valid numeric range"), default: "0600"
    property :key_curve, String, equal_to: ["secp384r1", "secp521r1", "prime256v1", "secp224r1", "secp256k1"], default: "prime256v1"
    property :key_pass, String, sensitive: true
    property :key_cipher, String, callbacks: checks(cipher_name: "key_cipher must be a cipher known to openssl. Run `openssl list-cipher-algorithms` to see available options."), default: "des3"
    property :force, [TrueClass, FalseClass], default: false, desired_state: false
  end

  type :openssl_ec_public_key, by: :children, actions: %i[create], default: :create do
    property :path, String, name_property: true, identity: true, desired_state: false
    property :owner, [String, Integer]
    property :group, [String, Integer]
    property :mode, [Integer, String], callbacks: checks(mode_in_range: "not in valid numeric range"), default: "0640"
    property :private_key_path, String
    property :private_key_content, String, sensitive: true
    property :private_key_pass, String, sensitive: true
  end

  type :openssl_rsa_private_key, by: :children, actions: %i[create], default: :create, aliases: %i[openssl_rsa_key] do
    property :path, String, name_property: true, identity: true, desired_state: false
    property :owner, [String, Integer]
    property :group, [String, Integer]
    property :mode, [Integer, String], callbacks: checks(mode_in_range: "not in valid numeric range"), default: "0600"
    property :key_length, Integer, equal_to: [1024, 2048, 4096, 8192], default: 2048, validation_message: "key_length (bits) must be 1024, 2048, 4096, or 8192!"
    property :key_pass, String, sensitive: true
    property :key_cipher, String, callbacks: checks(cipher_name: "key_cipher must be a cipher known to openssl. Run `openssl list-cipher-algorithms` to see available options."), default: "des3"
    property :force, [TrueClass, FalseClass], default: false, desired_state: false
  end

  type :openssl_rsa_public_key, by: :children, actions: %i[create], default: :create do
    property :path, String, name_property: true, identity: true, desired_state: false
    property :owner, [String, Integer]
    property :group, [String, Integer]
    property :mode, [Integer, String], callbacks: checks(mode_in_range: "not in valid numeric range"), default: "0640"
    property :private_key_path, String
    property :private_key_content, String, sensitive: true
    property :private_key_pass, String, sensitive: true
  end

  type :openssl_x509_certificate, by: :children, actions: %i[create], default: :create, aliases: %i[openssl_x509] do
    property :path, String, name_property: true, identity: true, desired_state: false
    property :owner, [String, Integer]
    property :group, [String, Integer]
    property :mode, [Integer, String], callbacks: checks(mode_in_range: "not in valid numeric range")
    property :country, String
    property :state, String
    property :city, String
    property :org, String
    property :org_unit, String
    property :common_name, String
    property :email, String
    property :expire, Integer, default: 365
    property :renew_before_expiry, Integer
    property :extensions, Hash, default: {}
    property :subject_alt_name, Array, default: []
    property :key_file, String
    property :key_pass, String, sensitive: true
    property :key_type, String, equal_to: ["rsa", "ec"], default: "rsa"
    property :key_length, Integer, equal_to: [1024, 2048, 4096, 8192], default: 2048
    property :key_curve, String, equal_to: ["secp384r1", "secp521r1", "prime256v1"], default: "prime256v1"
    property :csr_file, String
    property :ca_cert_file, String
    property :ca_key_file, String
    property :ca_key_pass, String, sensitive: true
  end

  type :openssl_x509_crl, by: :children, actions: %i[create], default: :create do
    property :path, String, name_property: true, identity: true, desired_state: false
    property :owner, [String, Integer]
    property :group, [String, Integer]
    property :mode, [Integer, String], callbacks: checks(mode_in_range: "not in valid numeric range")
    property :serial_to_revoke, [Integer, String]
    property :revocation_reason, Integer, default: 0
    property :expire, Integer, default: 8
    property :renewal_threshold, Integer, default: 1
    property :ca_cert_file, String, required: true
    property :ca_key_file, String, required: true
    property :ca_key_pass, String, sensitive: true
  end

  type :openssl_x509_request, by: :children, actions: %i[create], default: :create do
    property :path, String, name_property: true, identity: true, desired_state: false
    property :owner, [String, Integer]
    property :group, [String, Integer]
    property :mode, [Integer, String], callbacks: checks(mode_in_range: "not in valid numeric range")
    property :country, String
    property :state, String
    property :city, String
    property :org, String
    property :org_unit, String
    property :email, String
    property :common_name, String, required: true
    property :key_file, String
    property :key_pass, String, sensitive: true
    property :key_type, String, equal_to: ["rsa", "ec"], default: "ec"
    property :key_length, Integer, equal_to: [1024, 2048, 4096, 8192], default: 2048
    property :key_curve, String, equal_to: ["secp384r1", "secp521r1", "prime256v1"], default: "prime256v1"
  end

  type :package, by: :host, actions: %i[install upgrade remove purge reconfig lock unlock], default: :install do
    property :package_name, [String, Array], name_property: true, identity: true
    property :version, [String, Array]
    property :options, [String, Array], coerce: coercion(:shell_words)
    property :source, String, desired_state: false
    property :timeout, [String, Integer], desired_state: false
    property :environment, Hash, default: {}, desired_state: false
    property :default_release, String, desired_state: false
    property :overwrite_config_files, [TrueClass, FalseClass], default: false
    property :response_file, String, desired_state: false
    property :response_file_variables, Hash, default: {}, desired_state: false
    property :anchor_package_regex, [TrueClass, FalseClass], default: false
  end

  type :pacman_package, by: :nobody, actions: %i[install upgrade remove purge], default: :install do
    property :package_name, [String, Array], name_property: true, identity: true, desired_state: false
    property :version, [String, Array]
    property :options, [String, Array]
    property :source, String, desired_state: false
    property :timeout, [String, Integer], desired_state: false
  end

  type :paludis_package, by: :nobody, actions: %i[install remove upgrade], default: :install do
    property :package_name, [String, Array], name_property: true, identity: true, desired_state: false
    property :options, [String, Array]
    property :source, String, desired_state: false
    property :version, String
    property :timeout, [String, Integer], default: 3600, desired_state: false
  end

  type :perl, by: :host, actions: %i[run], default: :run do
    property :creates, String
    property :cwd, String
    property :environment, Hash
    also :env, :environment
    property :user, [String, Integer]
    property :group, [String, Integer]
    property :login, [TrueClass, FalseClass], default: false
    property :live_stream, [TrueClass, FalseClass], default: false
    property :default_env, [TrueClass, FalseClass], default: false, desired_state: false
    property :input, String
    property :returns, [Integer, Array], default: 0
    property :timeout, [Integer, String, Float], default: 3600, desired_state: false
    property :domain, String
    property :password, String, sensitive: true
    property :elevated, [TrueClass, FalseClass], default: false
    property :code, String, required: true
    property :interpreter, String, default: "perl"
    property :flags, String
  end

  type :portage_package, by: :nobody, actions: %i[install upgrade remove purge], default: :install do
    property :package_name, [String, Array], name_property: true, identity: true, desired_state: false
    property :options, [String, Array]
    property :source, String, desired_state: false
    property :version, String
    property :timeout, [String, Integer], default: 3600, desired_state: false
  end

  type :python, by: :host, actions: %i[run], default: :run do
    property :creates, String
    property :cwd, String
    property :environment, Hash
    also :env, :environment
    property :user, [String, Integer]
    property :group, [String, Integer]
    property :login, [TrueClass, FalseClass], default: false
    property :live_stream, [TrueClass, FalseClass], default: false
    property :default_env, [TrueClass, FalseClass], default: false, desired_state: false
    property :input, String
    property :returns, [Integer, Array], default: 0
    property :timeout, [Integer, String, Float], default: 3600, desired_state: false
    property :domain, String
    property :password, String, sensitive: true
    property :elevated, [TrueClass, FalseClass], default: false
    property :code, String, required: true
    property :interpreter, String, default: "python"
    property :flags, String
  end

  type :reboot, by: :host, actions: %i[request_reboot reboot_now cancel], default: :nothing do
    property :reason, String, default: "Reboot by Chef Infra Client"
    property :delay_mins, Integer, default: 0
  end

  type :remote_directory, by: :host, actions: %i[create delete create_if_missing], default: :create do
    property :owner, [String, Integer], regex: [/^[^-+~:,\t\r\n\f\0]+[^:,\t\r\n\f\0]*$/]
    also :user, :owner
    property :group, [String, Integer], regex: [/^[^-+~:,\t\r\n\f\0]+[^:,\t\r\n\f\0]*$/]
    property :mode, callbacks: checks(mode_in_range: "not in valid numeric range")
    property :path, String, name_property: true, identity: true, desired_state: false
    property :source, String, default: lazy { ::File.basename(path) }, desired_state: false
    property :cookbook, String, desired_state: false
    property :recursive, [TrueClass, FalseClass], default: true, desired_state: false
    property :purge, [TrueClass, FalseClass], default: false, desired_state: false
    property :overwrite, [TrueClass, FalseClass], default: true, desired_state: false
    property :files_backup, [Integer, FalseClass], default: 5, desired_state: false
    property :files_owner, [String, Integer], regex: [/^[^-+~:,\t\r\n\f\0]+[^:,\t\r\n\f\0]*$/]
    property :files_group, [String, Integer], regex: [/^[^-+~:,\t\r\n\f\0]+[^:,\t\r\n\f\0]*$/]
    property :files_mode, [String, Integer, nil], regex: /^\d{3,4}$/, callbacks: checks(mode_in_range: "not in valid numeric range"), default: "0644"
  end

  type :remote_file, by: :host, actions: %i[create delete touch create_if_missing], default: :create do
    property :owner, [String, Integer], regex: [/^[^-+~:,\t\r\n\f\0]+[^:,\t\r\n\f\0]*$/]
    also :user, :owner
    property :group, [String, Integer], regex: [/^[^-+~:,\t\r\n\f\0]+[^:,\t\r\n\f\0]*$/]
    property :mode, callbacks: checks(mode_in_range: "not in valid numeric range")
    property :path, String, name_property: true, identity: true, desired_state: false
    property :atomic_update, [TrueClass, FalseClass], desired_state: false
    property :backup, [Integer, FalseClass], default: 5, desired_state: false
    property :force_unlink, [TrueClass, FalseClass], default: false, desired_state: false
    property :manage_symlink_source, [TrueClass, FalseClass], desired_state: false
    collects :verify
    property :diff, [String, nil], desired_state: false
    property :source, [String, Array], coerce: coercion(:flattened)
    property :checksum, String
    property :headers, Hash, default: {}
    property :use_etag, [TrueClass, FalseClass], default: true
    also :use_etags, :use_etag
    property :use_last_modified, [TrueClass, FalseClass], default: true
    property :use_conditional_get, [TrueClass, FalseClass]
    property :ftp_active_mode, [TrueClass, FalseClass], default: false
    property :show_progress, [TrueClass, FalseClass], default: false
    property :ssl_verify_mode, Symbol, equal_to: [:verify_none, :verify_peer]
    property :remote_user, String
    property :remote_domain, String
    property :remote_password, String, sensitive: true
    property :authentication, Symbol, equal_to: [:remote, :local], default: :remote
    property :http_options, Hash, default: {}
  end

  type :rhsm_errata, by: :nobody, actions: %i[install], default: :install do
    property :errata_id, String, name_property: true, desired_state: false
  end

  type :rhsm_errata_level, by: :nobody, actions: %i[install], default: :install do
    property :errata_level, String, equal_to: ["critical", "moderate", "important", "low"], name_property: true, desired_state: false
  end

  type :rhsm_register, by: :nobody, actions: %i[register unregister], default: :register do
    property :activation_key, [String, Array]
    property :satellite_host, String
    property :organization, String
    property :environment, String
    property :username, String
    property :password, String
    property :system_name, String
    property :auto_attach, [TrueClass, FalseClass], default: false
    property :install_katello_agent, [TrueClass, FalseClass], default: true
    property :force, [TrueClass, FalseClass], default: false, desired_state: false
    property :https_for_ca_consumer, [TrueClass, FalseClass], default: false, desired_state: false
    property :server_url, String
    property :base_url, String
    property :service_level, String
    property :release, [Float, String]
  end

  type :rhsm_repo, by: :nobody, actions: %i[enable disable], default: :enable do
    property :repo_name, String, name_property: true, desired_state: false
  end

  type :rhsm_subscription, by: :nobody, actions: %i[attach remove], default: :attach do
    property :pool_id, String, name_property: true, desired_state: false
  end

  type :route, by: :nobody, actions: %i[add delete], default: :add do
    property :target, String, name_property: true, desired_state: false
    property :comment, [String, nil]
    property :metric, [Integer, nil]
    property :netmask, [String, nil]
    property :gateway, [String, nil]
    property :device, [String, nil], desired_state: false
    property :route_type, [Symbol, String], equal_to: [:host, :net], coerce: coercion(:symbol), default: :host, desired_state: false
  end

  type :rpm_package, by: :host, actions: %i[install upgrade remove], default: :install do
    property :options, [String, Array], coerce: coercion(:shell_words)
    property :source, String, desired_state: false
    property :timeout, [String, Integer], desired_state: false
    property :environment, Hash, default: {}, desired_state: false
    property :package_name, String, name_property: true, identity: true
    property :version, String
    property :allow_downgrade, [TrueClass, FalseClass], default: true, desired_state: false
  end

  type :ruby, by: :host, actions: %i[run], default: :run do
    property :creates, String
    property :cwd, String
    property :environment, Hash
    also :env, :environment
    property :user, [String, Integer]
    property :group, [String, Integer]
    property :login, [TrueClass, FalseClass], default: false
    property :live_stream, [TrueClass, FalseClass], default: false
    property :default_env, [TrueClass, FalseClass], default: false, desired_state: false
    property :input, String
    property :returns, [Integer, Array], default: 0
    property :timeout, [Integer, String, Float], default: 3600, desired_state: false
    property :domain, String
    property :password, String, sensitive: true
    property :elevated, [TrueClass, FalseClass], default: false
    property :code, String, required: true
    property :interpreter, String, default: "ruby"
    property :flags, String
  end

  type :ruby_block, by: :guest, actions: %i[run create], default: :run do
    property :block_name, String, name_property: true, identity: true, desired_state: false
  end

  type :script, by: :host, actions: %i[run], default: :run do
    property :creates, String
    property :cwd, String
    property :environment, Hash
    also :env, :environment
    property :user, [String, Integer]
    property :group, [String, Integer]
    property :login, [TrueClass, FalseClass], default: false
    property :live_stream, [TrueClass, FalseClass], default: false
    property :default_env, [TrueClass, FalseClass], default: false, desired_state: false
    property :input, String
    property :returns, [Integer, Array], default: 0
    property :timeout, [Integer, String, Float], default: 3600, desired_state: false
    property :domain, String
    property :password, String, sensitive: true
    property :elevated, [TrueClass, FalseClass], default: false
    property :code, String, required: true
    property :interpreter, String
    property :flags, String
  end

  type :selinux_boolean, by: :nobody, actions: %i[set], default: :set do
    property :boolean, String, name_property: true, desired_state: false
    property :value, [Integer, String, TrueClass, FalseClass], required: true
    property :persistent, [TrueClass, FalseClass], default: true, desired_state: false
  end

  type :selinux_fcontext, by: :nobody, actions: %i[manage addormodify add modify delete], default: :manage do
    property :file_spec, String, name_property: true, desired_state: false
    property :secontext, String, required: %i[add modify manage]
    property :file_type, String, equal_to: ["a", "f", "d", "c", "b", "s", "l", "p"], default: "a"
  end

  type :selinux_install, by: :nobody, actions: %i[install upgrade remove], default: :install do
    property :packages, [String, Array]
  end

  type :selinux_login, by: :nobody, actions: %i[manage add modify delete], default: :manage do
    property :login, String, name_property: true, desired_state: false
    property :user, String
    property :range, String
  end

  type :selinux_module, by: :nobody, actions: %i[create delete install remove], default: :create do
    property :module_name, String, name_property: true, desired_state: false
    property :source, String
    property :content, String
    property :cookbook, String, desired_state: false
    property :base_dir, String, default: "/etc/selinux/local"
  end

  type :selinux_permissive, by: :nobody, actions: %i[add delete], default: :add do
    property :context, String, name_property: true, desired_state: false
  end

  type :selinux_port, by: :nobody, actions: %i[manage addormodify add modify delete], default: :manage do
    property :port, [Integer, String], name_property: true, desired_state: false
    property :protocol, String, equal_to: ["tcp", "udp"], required: %i[manage add modify]
    property :secontext, String, required: %i[manage add modify]
  end

  type :selinux_state, by: :nobody, actions: %i[enforcing permissive disabled], default: :nothing do
    property :config_file, String, default: "/etc/selinux/config"
    property :persistent, [TrueClass, FalseClass], default: true
    property :policy, String, equal_to: ["default", "minimum", "mls", "src", "strict", "targeted"]
    property :automatic_reboot, [TrueClass, FalseClass, Symbol], default: false
  end

  type :selinux_user, by: :nobody, actions: %i[manage add modify delete], default: :manage do
    property :user, String, name_property: true, desired_state: false
    property :level, String
    property :range, String
    property :roles, Array
  end

  type :service, by: :host, actions: %i[enable disable start stop restart reload mask unmask], default: :nothing do
    property :service_name, String, name_property: true, identity: true, desired_state: false
    property :supports, Hash, coerce: coercion(:flags), default: {"restart"=>nil, "reload"=>nil, "status"=>nil}
    property :pattern, String, default: lazy { service_name }, desired_state: false
    property :start_command, [String, nil, FalseClass], desired_state: false
    property :stop_command, [String, nil, FalseClass], desired_state: false
    property :status_command, [String, nil, FalseClass], desired_state: false
    property :restart_command, [String, nil, FalseClass], desired_state: false
    property :reload_command, [String, nil, FalseClass], desired_state: false
    property :init_command, String, desired_state: false
    property :options, [Array, String], coerce: coercion(:shell_words)
    property :priority, [Integer, String, Hash]
    property :parameters, Hash
    property :run_levels, Array
    property :timeout, Integer, default: 900, desired_state: false
    property :user, String
  end

  type :snap_package, by: :nobody, actions: %i[install upgrade remove purge], default: :install do
    property :package_name, [String, Array], name_property: true, identity: true, desired_state: false
    property :version, [String, Array]
    property :options, [String, Array]
    property :source, String, desired_state: false
    property :timeout, [String, Integer], desired_state: false
    property :channel, String, equal_to: ["edge", "beta", "candidate", "stable"], default: "stable", desired_state: false
  end

  type :ssh_known_hosts_entry, by: :children, actions: %i[create flush], default: :create do
    property :host, String, name_property: true, identity: true, desired_state: false
    property :key, String
    property :key_type, String, default: "rsa"
    property :port, Integer, default: 22
    property :timeout, Integer, default: 30, desired_state: false
    property :mode, String, callbacks: checks(mode_in_range: "not in valid numeric range"), default: "0644"
    property :owner, [String, Integer], default: "root"
    property :group, [String, Integer]
    property :hash_entries, [TrueClass, FalseClass], default: false
    property :file_location, String, default: "/etc/ssh/ssh_known_hosts"
  end

  type :subversion, by: :nobody, actions: %i[sync checkout export diff log force_export], default: :sync do
    property :destination, String, name_property: true, identity: true, desired_state: false
    property :user, [String, Integer]
    property :group, [String, Integer]
    property :timeout, Integer, desired_state: false
    property :environment, [Hash, nil]
    also :env, :environment
    property :repository, String
    property :revision, String, default: "HEAD"
    property :svn_arguments, [String, nil, FalseClass], coerce: coercion(:false_to_nil)
    property :svn_info_args, [String, nil, FalseClass], coerce: coercion(:false_to_nil)
    property :svn_binary, String
    property :svn_username, String
    property :svn_password, String, sensitive: true, desired_state: false
  end

  type :sudo, by: :children, actions: %i[create install remove delete], default: :create do
    property :filename, String, coerce: coercion(:sudoers_file_name), name_property: true, identity: true, desired_state: false
    property :users, [String, Array], coerce: coercion(:comma_list), default: []
    also :user, :users
    property :groups, [String, Array], coerce: coercion(:sudo_groups), default: []
    also :group, :groups
    property :commands, Array, default: ["ALL"]
    property :host, String, default: "ALL"
    property :runas, String, default: "ALL"
    property :nopasswd, [TrueClass, FalseClass], default: false
    property :noexec, [TrueClass, FalseClass], default: false
    property :setenv, [TrueClass, FalseClass], default: false
    property :env_keep_add, Array, default: []
    property :env_keep_subtract, Array, default: []
    property :defaults, Array, default: []
    property :command_aliases, Array, default: []
    property :template, String
    property :variables, [Hash, nil], default: nil
    property :config_prefix, String
    property :visudo_binary, String, default: "/usr/sbin/visudo"
    property :visudo_path, String, deprecated: "use visudo_binary"
  end

  type :swap_file, by: :children, actions: %i[create remove], default: :create do
    property :path, String, name_property: true, identity: true, desired_state: false
    property :size, Integer
    property :persist, [TrueClass, FalseClass], default: false
    property :timeout, Integer, default: 600, desired_state: false
    property :swappiness, Integer
  end

  type :sysctl, by: :children, actions: %i[apply remove], default: :apply, aliases: %i[sysctl_param] do
    property :key, String, name_property: true, identity: true, desired_state: false
    property :value, [Array, String, Integer, Float], coerce: coercion(:joined_by_blanks), required: %i[apply]
    property :ignore_error, [TrueClass, FalseClass], default: false, desired_state: false
    property :comment, [Array, String], default: [], desired_state: false
    property :conf_dir, String, default: "/etc/sysctl.d"
  end

  type :systemd_unit, by: :host, actions: %i[create delete preset revert enable disable reenable mask unmask start stop restart reload try_restart reload_or_restart reload_or_try_restart], default: :nothing do
    property :unit_name, String, name_property: true, identity: true, desired_state: false
    property :user, String, desired_state: false
    property :content, [String, Hash]
    property :triggers_reload, [TrueClass, FalseClass], default: true, desired_state: false
    property :verify, [TrueClass, FalseClass], default: true, desired_state: false
  end

  type :template, by: :host, actions: %i[create delete touch create_if_missing], default: :create do
    property :owner, [String, Integer], regex: [/^[^-+~:,\t\r\n\f\0]+[^:,\t\r\n\f\0]*$/]
    also :user, :owner
    property :group, [String, Integer], regex: [/^[^-+~:,\t\r\n\f\0]+[^:,\t\r\n\f\0]*$/]
    property :mode, callbacks: checks(mode_in_range: "not in valid numeric range")
    property :path, String, name_property: true, identity: true, desired_state: false
    property :atomic_update, [TrueClass, FalseClass], desired_state: false
    property :backup, [Integer, FalseClass], default: 5, desired_state: false
    property :checksum, [String, nil], regex: /^\h{64}$/, coerce: coercion(:lower_case)
    property :force_unlink, [TrueClass, FalseClass], default: false, desired_state: false
    property :manage_symlink_source, [TrueClass, FalseClass], desired_state: false
    collects :verify
    property :diff, [String, nil], desired_state: false
    property :source, [String, Array]
    property :cookbook, String, desired_state: false
    property :local, [TrueClass, FalseClass], default: false, desired_state: false
    property :variables, Hash, default: {}
  end

  type :timezone, by: :children, actions: %i[set], default: :set do
    property :timezone, String, name_property: true, identity: true, desired_state: false
  end

  type :user, by: :host, actions: %i[create remove modify manage lock unlock], default: :create do
    property :username, String, name_property: true, identity: true, desired_state: false
    property :comment, String
    property :uid, [String, Integer, NilClass]
    property :gid, [String, Integer, NilClass]
    also :group, :gid
    property :home, String
    property :shell, String
    property :password, String, sensitive: true, desired_state: false
    property :salt, String, desired_state: false
    property :non_unique, [TrueClass, FalseClass], default: false, desired_state: false
    property :manage_home, [TrueClass, FalseClass], default: false, desired_state: false
    property :force, [TrueClass, FalseClass], default: false, desired_state: false
    property :system, [TrueClass, FalseClass], default: false
    property :expire_date, [String, NilClass], desired_state: false
    property :inactive, [String, Integer, NilClass], desired_state: false
  end

  type :user_ulimit, by: :children, actions: %i[create delete], default: :create do
    property :username, String, name_property: true, identity: true, desired_state: false
    property :filename, String, coerce: coercion(:conf_file_name)
    property :as_limit, [String, Integer]
    property :as_soft_limit, [String, Integer]
    property :as_hard_limit, [String, Integer]
    property :filehandle_limit, [String, Integer]
    property :filehandle_soft_limit, [String, Integer]
    property :filehandle_hard_limit, [String, Integer]
    property :process_limit, [String, Integer]
    property :process_soft_limit, [String, Integer]
    property :process_hard_limit, [String, Integer]
    property :locks_limit, [String, Integer]
    property :memory_limit, [String, Integer]
    property :maxlogins_limit, [String, Integer]
    property :maxlogins_soft_limit, [String, Integer]
    property :maxlogins_hard_limit, [String, Integer]
    property :msgqueue_limit, [String, Integer]
    property :msgqueue_soft_limit, [String, Integer]
    property :msgqueue_hard_limit, [String, Integer]
    property :core_limit, [String, Integer]
    property :core_soft_limit, [String, Integer]
    property :core_hard_limit, [String, Integer]
    property :cpu_limit, [String, Integer]
    property :cpu_soft_limit, [String, Integer]
    property :cpu_hard_limit, [String, Integer]
    property :sigpending_limit, [String, Integer]
    property :sigpending_soft_limit, [String, Integer]
    property :sigpending_hard_limit, [String, Integer]
    property :stack_limit, [String, Integer]
    property :stack_soft_limit, [String, Integer]
    property :stack_hard_limit, [String, Integer]
    property :rss_limit, [String, Integer]
    property :rss_soft_limit, [String, Integer]
    property :rss_hard_limit, [String, Integer]
    property :rtprio_limit, [String, Integer]
    property :rtprio_soft_limit, [String, Integer]
    property :rtprio_hard_limit, [String, Integer]
    property :virt_limit, [String, Integer]
  end

  type :whyrun_safe_ruby_block, by: :guest, actions: %i[run create], default: :run do
    property :block_name, String, name_property: true, identity: true, desired_state: false
  end

  type :yum_package, by: :host, actions: %i[install upgrade remove purge lock unlock], default: :install do
    property :package_name, [String, Array], name_property: true, identity: true
    property :version, [String, Array]
    property :options, [String, Array], coerce: coercion(:shell_words)
    property :source, String, desired_state: false
    property :timeout, [String, Integer], desired_state: false
    property :environment, Hash, default: {}, desired_state: false
    property :arch, [String, Array], coerce: coercion(:flattened)
    property :flush_cache, Hash, coerce: coercion(:before_and_after), default: {"before"=>false, "after"=>false}
    property :allow_downgrade, [TrueClass, FalseClass], default: true, desired_state: false
    property :yum_binary, String
  end

  type :yum_repository, by: :children, actions: %i[create remove makecache add delete], default: :create do
    property :repositoryid, String, regex: /^[^\/]+$/, name_property: true, identity: true, desired_state: false, validation_message: "repositoryid property cannot contain a forward slash '/'"
    property :reposdir, String, default: "/etc/yum.repos.d/"
    property :baseurl, [String, Array]
    also :url, :baseurl
    property :metalink, String
    property :mirrorlist, String
    property :mirrorlist_expire, String, regex: [/^\d+$/, /^\d+[mhd]$/], validation_message: "The mirrorlist_expire property must be a numeric value for time in seconds, the string 'never', or a numeric value appended with with `d`, `h`, or `m`!"
    property :mirror_expire, String, regex: [/^\d+$/, /^\d+[mhd]$/], validation_message: "The mirror_expire property must be a numeric value for time in seconds, the string 'never', or a numeric value appended with with `d`, `h`, or `m`!"
    also :mirrorexpire, :mirror_expire
    property :metadata_expire, String, regex: [/^\d+$/, /^\d+[mhd]$/, /never/], validation_message: "The metadata_expire property must be a numeric value for time in seconds, the string 'never', or a numeric value appended with with `d`, `h`, or `m`!"
    property :description, String, default: "Yum Repository"
    property :enabled, [TrueClass, FalseClass], default: true
    property :enablegroups, [TrueClass, FalseClass]
    property :exclude, String
    property :includepkgs, String
    property :failovermethod, String, equal_to: ["priority", "roundrobin"]
    property :fastestmirror_enabled, [TrueClass, FalseClass]
    property :gpgcheck, [TrueClass, FalseClass], default: true
    property :repo_gpgcheck, [TrueClass, FalseClass]
    property :gpgkey, [String, Array]
    also :keyurl, :gpgkey
    property :http_caching, String, equal_to: ["packages", "all", "none"]
    property :include_config, String
    property :keepalive, [TrueClass, FalseClass]
    property :make_cache, [TrueClass, FalseClass], default: true
    property :makecache_fast, [TrueClass, FalseClass], default: false
    property :clean_metadata, [TrueClass, FalseClass], default: true
    property :clean_headers, [TrueClass, FalseClass], default: false, deprecated: "it does nothing any more"
    property :max_retries, [String, Integer]
    property :cost, String, regex: /^\d+$/, validation_message: "The cost property must be a numeric value!"
    property :priority, String, regex: /^(\d?[1-9]|[0-9][0-9])$/, validation_message: "The priority property must be a numeric value from 1-99!"
    property :mode, [String, Integer], callbacks: checks(mode_in_range: "not in valid numeric range"), default: "0644"
    property :options, Hash
    property :username, String
    property :password, String, sensitive: true
    property :proxy, String
    property :proxy_username, String
    property :proxy_password, String, sensitive: true
    property :report_instanceid, [TrueClass, FalseClass]
    property :skip_if_unavailable, [TrueClass, FalseClass]
    property :source, String
    property :sslverify, [TrueClass, FalseClass]
    property :sslcacert, String
    property :sslclientcert, String
    property :sslclientkey, String
    property :throttle, [String, Integer]
    property :timeout, String, regex: /^\d+$/, validation_message: "The timeout property must be a numeric value!"
  end

  type :zypper_package, by: :nobody, actions: %i[install upgrade remove purge lock unlock], default: :install do
    property :package_name, [String, Array], name_property: true, identity: true, desired_state: false
    property :version, [String, Array]
    property :options, [String, Array]
    property :source, String, desired_state: false
    property :timeout, [String, Integer], desired_state: false
    property :gpg_check, [TrueClass, FalseClass]
    property :allow_downgrade, [TrueClass, FalseClass], default: true, desired_state: false
    property :global_options, [String, Array]
  end

  type :zypper_repository, by: :nobody, actions: %i[create remove add refresh], default: :create, aliases: %i[zypper_repo] do
    property :repo_name, String, name_property: true, desired_state: false
    property :description, String
    property :type, String, default: "NONE"
    property :enabled, [TrueClass, FalseClass], default: true
    property :autorefresh, [TrueClass, FalseClass], default: true
    property :gpgcheck, [TrueClass, FalseClass], default: true
    property :gpgkey, [String, Array], default: []
    property :baseurl, String
    property :mirrorlist, String
    property :path, String
    property :priority, Integer, default: 99
    property :keeppackages, [TrueClass, FalseClass], default: false
    property :mode, [String, Integer], default: "0644"
    property :refresh_cache, [TrueClass, FalseClass], default: true
    property :source, String
    property :cookbook, String, desired_state: false
    property :gpgautoimportkeys, [TrueClass, FalseClass], default: true
  end

  foreign "Windows", {
    batch: :run,
    cab_package: :install,
    chef_client_scheduled_task: :add,
    chocolatey_config: :set,
    chocolatey_feature: :enable,
    chocolatey_installer: :install,
    chocolatey_package: :install,
    chocolatey_source: :add,
    dsc_resource: :run,
    dsc_script: :run,
    msu_package: :install,
    powershell_package: :install,
    powershell_package_source: :register,
    powershell_script: :run,
    registry_key: :create,
    windows_ad_join: :join,
    windows_audit_policy: :set,
    windows_auto_run: :create,
    windows_certificate: :create,
    windows_defender: :enable,
    windows_defender_exclusion: :add,
    windows_dfs_folder: :create,
    windows_dfs_namespace: :create,
    windows_dfs_server: :configure,
    windows_dns_record: :create,
    windows_dns_zone: :create,
    windows_env: :create,
    windows_feature: :install,
    windows_feature_dism: :install,
    windows_feature_powershell: :install,
    windows_firewall_profile: :enable,
    windows_firewall_rule: :create,
    windows_font: :install,
    windows_package: :install,
    windows_pagefile: :set,
    windows_path: :add,
    windows_printer: :create,
    windows_printer_port: :create,
    windows_security_policy: :set,
    windows_service: :configure_startup,
    windows_share: :create,
    windows_shortcut: :create,
    windows_task: :create,
    windows_uac: :configure,
    windows_update_settings: :set,
    windows_user_privilege: :add,
    windows_workgroup: :join,
  }, aliases: { env: :windows_env }
  foreign "macOS", {
    chef_client_launchd: :enable,
    dmg_package: :install,
    homebrew_cask: :install,
    homebrew_package: :install,
    homebrew_tap: :tap,
    homebrew_update: :periodic,
    launchd: :create,
    macos_pkg: :install,
    macos_userdefaults: :write,
    macosx_service: :nothing,
    macports_package: :install,
    osx_profile: :install,
    plist: :set,
  }, aliases: { mac_os_x_userdefaults: :macos_userdefaults, osx_config_profile: :osx_profile }
  foreign "another Unix", {
    bff_package: :install,
    freebsd_package: :install,
    ips_package: :install,
    openbsd_package: :install,
    smartos_package: :install,
    solaris_package: :install,
  }
  foreign "Alpine Linux", {
    apk_package: :install,
  }
end
