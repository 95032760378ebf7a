# frozen_string_literal: true

class Chef
  class Resource
    # Names for which Chef's own class takes precedence over a cookbook's class without a block. Chef took these types over
    # from cookbooks, and declares its newer class with a block that is always true.
    BEFORE_COOKBOOKS = %i[
      alternatives apt_preference apt_repository apt_update build_essential chef_handler dmg_package homebrew_cask
      homebrew_tap homebrew_update mac_os_x_userdefaults macos_pkg macos_userdefaults ohai_hint openssl_dhparam
      openssl_rsa_key openssl_rsa_private_key openssl_rsa_public_key openssl_x509 registry_key rhsm_errata
      rhsm_errata_level rhsm_register rhsm_repo rhsm_subscription sudo swap_file sysctl sysctl_param systemd_unit
      windows_auto_run windows_feature windows_feature_dism windows_feature_powershell windows_font windows_package
      windows_pagefile windows_path windows_printer windows_printer_port windows_service windows_shortcut windows_task
      yum_repository zypper_repo zypper_repository
    ].freeze
  end
end
