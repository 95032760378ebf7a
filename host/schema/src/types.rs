//! The built-in resource types, one file each (variants of one type share a file).
//!
//! Names, actions, properties and defaults follow Chef 18.9. [`BUILTIN`] holds the types that something carries out: a provider of
//! the host, other resources that the host declares ([`COMPOSITE`]), or the guest itself. [`RUBY_ONLY`] holds those that the Ruby library carries out: a cookbook in another language
//! cannot declare one. [`WITHOUT_PROVIDER`] holds those that are described already and have no provider yet; a declaration of one
//! is refused by name. A new provider moves its type's line from one table to another. Types of other platforms are listed by
//! name alone.

pub mod alternatives;
pub mod apt_package;
pub mod apt_preference;
pub mod apt_repository;
pub mod apt_update;
pub mod archive_file;
pub mod build_essential;
pub mod chef_handler;
pub mod chef_sleep;
pub mod cookbook_file;
pub mod cron;
pub mod cron_access;
pub mod directory;
pub mod dpkg_package;
pub mod execute;
pub mod file;
pub mod gem_package;
pub mod git;
pub mod group;
pub mod guest_block;
pub mod hostname;
pub mod http_request;
pub mod kernel_module;
pub mod link;
pub mod locale;
pub mod log;
pub mod mount;
pub mod notify_group;
pub mod ohai;
pub mod openssl;
pub mod package;
pub mod reboot;
pub mod remote_directory;
pub mod remote_file;
pub mod rpm_packages;
pub mod script;
mod securable;
pub mod service;
pub mod ssh_known_hosts_entry;
pub mod subversion;
pub mod sudo;
pub mod swap_file;
pub mod sysctl;
pub mod systemd_unit;
pub mod template;
pub mod timezone;
pub mod user;
pub mod user_ulimit;
pub mod yum_repository;

use crate::resource::ResourceType;
pub(crate) use securable::{ACCOUNT_NAMES, SECURABLE};

/// Types whose actions the host makes of other resources. The Ruby library carries them out by itself.
pub static COMPOSITE: [&str; 6] = ["apt_preference", "hostname", "sudo", "sysctl", "timezone", "user_ulimit"];

/// Types that something carries out.
pub static BUILTIN: [&ResourceType; 46] = [
    &apt_package::APT_PACKAGE,
    &apt_preference::APT_PREFERENCE,
    &archive_file::ARCHIVE_FILE,
    &script::BASH,
    &gem_package::CHEF_GEM,
    &cookbook_file::COOKBOOK_FILE,
    &cron::CRON,
    &cron::CRON_D,
    &script::CSH,
    &directory::DIRECTORY,
    &rpm_packages::DNF_PACKAGE,
    &dpkg_package::DPKG_PACKAGE,
    &execute::EXECUTE,
    &file::FILE,
    &gem_package::GEM_PACKAGE,
    &git::GIT,
    &group::GROUP,
    &guest_block::GUEST_BLOCK,
    &hostname::HOSTNAME,
    &http_request::HTTP_REQUEST,
    &script::KSH,
    &link::LINK,
    &user::LINUX_USER,
    &log::LOG,
    &mount::MOUNT,
    &notify_group::NOTIFY_GROUP,
    &ohai::OHAI,
    &package::PACKAGE,
    &script::PERL,
    &script::PYTHON,
    &reboot::REBOOT,
    &remote_directory::REMOTE_DIRECTORY,
    &remote_file::REMOTE_FILE,
    &rpm_packages::RPM_PACKAGE,
    &script::RUBY,
    &guest_block::RUBY_BLOCK,
    &script::SCRIPT,
    &service::SERVICE,
    &sudo::SUDO,
    &sysctl::SYSCTL,
    &systemd_unit::SYSTEMD_UNIT,
    &template::TEMPLATE,
    &timezone::TIMEZONE,
    &user::USER,
    &user_ulimit::USER_ULIMIT,
    &rpm_packages::YUM_PACKAGE,
];

/// Types that the Ruby library carries out, for cookbooks in Ruby only.
pub static RUBY_ONLY: [&ResourceType; 23] = [
    &alternatives::ALTERNATIVES,
    &apt_repository::APT_REPOSITORY,
    &apt_update::APT_UPDATE,
    &chef_sleep::BREAKPOINT,
    &build_essential::BUILD_ESSENTIAL,
    &chef_handler::CHEF_HANDLER,
    &chef_sleep::CHEF_SLEEP,
    &cron_access::CRON_ACCESS,
    &kernel_module::KERNEL_MODULE,
    &locale::LOCALE,
    &ohai::OHAI_HINT,
    &openssl::DHPARAM,
    &openssl::EC_PRIVATE_KEY,
    &openssl::EC_PUBLIC_KEY,
    &openssl::RSA_PRIVATE_KEY,
    &openssl::RSA_PUBLIC_KEY,
    &openssl::X509_CERTIFICATE,
    &openssl::X509_CRL,
    &openssl::X509_REQUEST,
    &ssh_known_hosts_entry::SSH_KNOWN_HOSTS_ENTRY,
    &swap_file::SWAP_FILE,
    &guest_block::WHYRUN_SAFE_RUBY_BLOCK,
    &yum_repository::YUM_REPOSITORY,
];

/// Types that are described and have no provider yet.
pub static WITHOUT_PROVIDER: [&ResourceType; 1] = [&subversion::SUBVERSION];

/// Types of Chef that manage what only another platform has, with that platform: they are refused by name.
pub static OTHER_PLATFORMS: [(&str, &[&str]); 3] = [
    (
        "Windows",
        &[
            "batch",
            "cab_package",
            "chocolatey_config",
            "chocolatey_feature",
            "chocolatey_installer",
            "chocolatey_package",
            "chocolatey_source",
            "dsc_resource",
            "dsc_script",
            "msu_package",
            "powershell_package",
            "powershell_package_source",
            "powershell_script",
            "registry_key",
            "windows_ad_join",
            "windows_audit_policy",
            "windows_auto_run",
            "windows_certificate",
            "windows_defender",
            "windows_defender_exclusion",
            "windows_dfs_folder",
            "windows_dfs_namespace",
            "windows_dfs_server",
            "windows_dns_record",
            "windows_dns_zone",
            "windows_env",
            "windows_feature",
            "windows_feature_dism",
            "windows_feature_powershell",
            "windows_firewall_profile",
            "windows_firewall_rule",
            "windows_font",
            "windows_package",
            "windows_pagefile",
            "windows_path",
            "windows_printer",
            "windows_printer_port",
            "windows_security_policy",
            "windows_service",
            "windows_share",
            "windows_shortcut",
            "windows_task",
            "windows_uac",
            "windows_update_settings",
            "windows_user_privilege",
            "windows_workgroup",
        ],
    ),
    (
        "macOS",
        &[
            "dmg_package",
            "homebrew_cask",
            "homebrew_package",
            "homebrew_tap",
            "homebrew_update",
            "launchd",
            "macos_pkg",
            "macos_userdefaults",
            "macosx_service",
            "macports_package",
            "osx_profile",
            "plist",
        ],
    ),
    (
        "another Unix",
        &["bff_package", "freebsd_package", "ips_package", "openbsd_package", "smartos_package", "solaris_package"],
    ),
];
