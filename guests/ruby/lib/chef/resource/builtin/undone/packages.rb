# frozen_string_literal: true

# Package managers of other distributions. They may be declared; to act for them wrun has nothing.

Chef::Resource::Undone.fill do
  type :snap_package, %i[install upgrade remove purge], package: true do
    property :channel, String, equal_to: ["edge", "beta", "candidate", "stable"], default: "stable", desired_state: false
  end

  type :zypper_package, %i[install upgrade remove purge lock unlock], package: true do
    property :gpg_check, [true, false]
    property :allow_downgrade, [true, false], default: true, desired_state: false
    property :global_options, [String, Array]
  end

  type :zypper_repository, %i[create remove add refresh], aliases: %i[zypper_repo] do
    property :repo_name, String, name_property: true
    property :description, String
    property :type, String, default: "NONE"
    property :enabled, [true, false], default: true
    property :autorefresh, [true, false], default: true
    property :gpgcheck, [true, false], default: true
    property :gpgkey, [String, Array], default: []
    property :baseurl, String
    property :mirrorlist, String
    property :path, String
    property :priority, Integer, default: 99
    property :keeppackages, [true, false], default: false
    property :mode, [String, Integer], default: "0644"
    property :refresh_cache, [true, false], default: true
    property :source, String
    property :cookbook, String, desired_state: false
    property :gpgautoimportkeys, [true, false], default: true
  end

  type :pacman_package, %i[install upgrade remove purge], package: true do
  end

  type :portage_package, %i[install upgrade remove purge], package: true do
    property :version, String
    property :timeout, [String, Integer], default: 3600, desired_state: false
  end

  type :paludis_package, %i[install remove upgrade], package: true do
    property :version, String
    property :timeout, [String, Integer], default: 3600, desired_state: false
  end
end
