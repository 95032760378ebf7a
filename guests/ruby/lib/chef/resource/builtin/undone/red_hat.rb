# frozen_string_literal: true

# Red Hat's subscriptions. They may be declared; to act for them wrun has nothing.

Chef::Resource::Undone.fill do
  type :rhsm_errata, %i[install] do
    property :errata_id, String, name_property: true
  end

  type :rhsm_errata_level, %i[install] do
    property :errata_level, String, name_property: true, equal_to: ["critical", "moderate", "important", "low"]
  end

  type :rhsm_register, %i[register unregister] do
    property :activation_key, [String, Array]
    property :satellite_host, String
    property :organization, String
    property :environment, String
    property :username, String
    property :password, String
    property :system_name, String
    property :auto_attach, [true, false], default: false
    property :install_katello_agent, [true, false], default: true
    property :force, [true, false], default: false, desired_state: false
    property :https_for_ca_consumer, [true, false], default: false, desired_state: false
    property :server_url, String
    property :base_url, String
    property :service_level, String
    property :release, [Float, String]
  end

  type :rhsm_repo, %i[enable disable] do
    property :repo_name, String, name_property: true
  end

  type :rhsm_subscription, %i[attach remove] do
    property :pool_id, String, name_property: true
  end
end
