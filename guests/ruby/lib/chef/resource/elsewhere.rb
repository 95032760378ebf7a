# frozen_string_literal: true

# Chef's types that nothing here carries out: those of other platforms, and of programs that few machines have. Cookbooks
# for several platforms write them down, so each is a type of its own, with the action that Chef takes where none is named.
# Read last: what has become a type in the meantime stays as it is.

require_relative "foreign"

class Chef
  class Resource
    module Elsewhere
      DEFAULT_ACTIONS = {
        install: %i[
          apk_package bff_package cab_package chocolatey_installer chocolatey_package dmg_package freebsd_package habitat_install
          habitat_package homebrew_cask homebrew_package ips_package macos_pkg macports_package msu_package openbsd_package
          osx_profile pacman_package paludis_package portage_package powershell_package rhsm_errata rhsm_errata_level
          selinux_install smartos_package snap_package solaris_package windows_feature windows_feature_dism
          windows_feature_powershell windows_font windows_package zypper_package
        ],
        add: %i[
          chef_client_cron chef_client_scheduled_task chef_client_systemd_timer chef_client_trusted_certificate
          chocolatey_source ifconfig inspec_input inspec_waiver inspec_waiver_file_entry route selinux_permissive
          windows_defender_exclusion windows_path windows_user_privilege
        ],
        create: %i[
          chef_client_config chef_vault_secret habitat_user_toml launchd mdadm openssl_rsa_key openssl_x509 registry_key
          selinux_module windows_auto_run windows_certificate windows_dfs_folder windows_dfs_namespace windows_dns_record
          windows_dns_zone windows_env windows_firewall_rule windows_printer windows_printer_port windows_share
          windows_shortcut windows_task zypper_repository
        ],
        enable: %i[chef_client_launchd chocolatey_feature windows_defender windows_firewall_profile rhsm_repo],
        set: %i[
          chocolatey_config plist selinux_boolean windows_audit_policy windows_pagefile windows_security_policy
          windows_update_settings
        ],
        manage: %i[selinux_fcontext selinux_login selinux_port selinux_user],
        run: %i[batch dsc_resource dsc_script habitat_sup powershell_script],
        configure: %i[windows_dfs_server windows_uac],
        join: %i[windows_ad_join windows_workgroup],
        load: %i[habitat_service],
        apply: %i[habitat_config sysctl_param],
        allow: %i[cron_manage],
        tap: %i[homebrew_tap],
        periodic: %i[homebrew_update],
        write: %i[macos_userdefaults],
        register: %i[powershell_package_source rhsm_register],
        attach: %i[rhsm_subscription],
        configure_startup: %i[windows_service],
        nothing: %i[macosx_service selinux_state],
      }.freeze

      # They may be declared without a name.
      NAMELESS = %i[habitat_install homebrew_update].freeze

      # Other names of the same types.
      ALIASES = {
        mac_os_x_userdefaults: :macos_userdefaults, osx_config_profile: :osx_profile, zypper_repo: :zypper_repository,
        env: :windows_env
      }.freeze

      class << self
        def make
          DEFAULT_ACTIONS.each { |action, names| names.each { |name| make_one(name, action) } }
          NAMELESS.each { |name| Chef.resource_handler_map.get(nil, name).property(:name, String, default: "") }
          ALIASES.each { |name, other| provide(name, Chef.resource_handler_map.get(nil, other)) }
        end

        private

        def make_one(name, action)
          type = Chef.resource_handler_map.get(nil, name) || new_type(name)
          type.default_action(action) if type < Foreign
        end

        def new_type(name)
          type = Class.new(Foreign)
          Resource.const_set(name.to_s.split("_").map(&:capitalize).join, type)
          provide(name, type)
          type
        end

        def provide(name, type) = Chef.resource_handler_map.get(nil, name) || type.provides(name)
      end

      make
    end
  end
end
