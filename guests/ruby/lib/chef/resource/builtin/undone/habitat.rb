# frozen_string_literal: true

# Habitat's packages and services. They may be declared; to act for them wrun has nothing.

Chef::Resource::Undone.fill do
  type :habitat_config, %i[apply] do
    property :config, Hash, required: true
    property :service_group, String, name_property: true, desired_state: false
    property :remote_sup, String, default: "127.0.0.1:9632", desired_state: false
    property :remote_sup_http, String, default: "127.0.0.1:9631", desired_state: false
    property :gateway_auth_token, String, desired_state: false
    property :user, String, desired_state: false
  end

  type :habitat_install, %i[install] do
    property :name, String, default: "install habitat"
    property :install_url, String, default: "https://raw.githubusercontent.com/habitat-sh/habitat/main/components/hab/install.sh"
    property :bldr_url, String
    property :create_user, [true, false], default: true
    property :tmp_dir, String
    property :license, String, equal_to: ["accept"]
    property :hab_version, String
  end

  type :habitat_package, %i[install upgrade remove purge], package: true do
    property :bldr_url, String, default: "https://bldr.habitat.sh"
    property :channel, String, default: "stable"
    property :auth_token, String
    property :binlink, [true, false, :force], default: false
    property :options, String
    property :keep_latest, String
    property :exclude, String
    property :no_deps, [true, false], default: false
  end

  type :habitat_service, %i[load unload start stop restart reload] do
    property :service_name, String, name_property: true
    property :loaded, [true, false], default: false
    property :running, [true, false], default: false
    property :strategy, [Symbol, String], coerce: proc { |given| given.to_s.to_sym }, equal_to: [:none, :"at-once", :rolling], default: :none
    property :topology, [Symbol, String], coerce: proc { |given| given.to_s.to_sym }, equal_to: [:standalone, :leader], default: :standalone
    property :bldr_url, String, default: "https://bldr.habitat.sh/"
    property :channel, [Symbol, String], default: :stable
    property :bind, [String, Array], default: []
    property :binding_mode, [Symbol, String], coerce: proc { |given| given.to_s.to_sym }, equal_to: [:strict, :relaxed], default: :strict
    property :service_group, String, default: "default"
    property :shutdown_timeout, Integer, default: 8
    property :health_check_interval, Integer, default: 30
    property :remote_sup, String, default: "127.0.0.1:9632", desired_state: false
    property :remote_sup_http, String, default: "127.0.0.1:9631", desired_state: false
    property :gateway_auth_token, String, desired_state: false
    property :update_condition, [Symbol, String], coerce: proc { |given| given.to_s.to_sym }, equal_to: [:latest, :"track-channel"], default: :latest
  end

  type :habitat_sup, %i[run] do
    property :bldr_url, String
    property :permanent_peer, [true, false], default: false
    property :listen_ctl, String
    property :listen_gossip, String
    property :listen_http, String
    property :org, String, default: "default"
    property :peer, [String, Array]
    property :ring, String
    property :hab_channel, String
    property :auto_update, [true, false], default: false
    property :auth_token, String
    property :gateway_auth_token, String
    property :update_condition, String
    property :limit_no_files, String
    property :license, String, equal_to: ["accept"]
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
    property :toml_config, [true, false], default: false
  end

  type :habitat_user_toml, %i[create delete] do
    property :config, Hash, required: true
    property :service_name, String, name_property: true, desired_state: false
  end
end
