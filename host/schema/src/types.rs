//! The built-in resource types, one file each (variants of one type share a file).
//!
//! Names, actions, properties and defaults follow Chef 18.9. One table, [`ALL`], holds them. Each type says who carries it out: a
//! provider of the host, other resources that the host declares, the guest, the Ruby library, or nobody. A cookbook in another
//! language than Ruby cannot declare the last two; it is refused by name. Types of other platforms are listed by name alone.

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
pub mod securable;
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

use crate::resource::{ImplementedBy, ResourceType};
pub(crate) use securable::{ACCOUNT_NAMES, SECURABLE};

/// All types that are described, in alphabetical order. [`ResourceType::implemented_by`] says who carries each out.
pub static ALL: [&ResourceType; 70] = [
    &alternatives::ALTERNATIVES,
    &apt_package::APT_PACKAGE,
    &apt_preference::APT_PREFERENCE,
    &apt_repository::APT_REPOSITORY,
    &apt_update::APT_UPDATE,
    &archive_file::ARCHIVE_FILE,
    &script::BASH,
    &chef_sleep::BREAKPOINT,
    &build_essential::BUILD_ESSENTIAL,
    &gem_package::CHEF_GEM,
    &chef_handler::CHEF_HANDLER,
    &chef_sleep::CHEF_SLEEP,
    &cookbook_file::COOKBOOK_FILE,
    &cron::CRON,
    &cron_access::CRON_ACCESS,
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
    &kernel_module::KERNEL_MODULE,
    &script::KSH,
    &link::LINK,
    &user::LINUX_USER,
    &locale::LOCALE,
    &log::LOG,
    &mount::MOUNT,
    &notify_group::NOTIFY_GROUP,
    &ohai::OHAI,
    &ohai::OHAI_HINT,
    &openssl::DHPARAM,
    &openssl::EC_PRIVATE_KEY,
    &openssl::EC_PUBLIC_KEY,
    &openssl::RSA_PRIVATE_KEY,
    &openssl::RSA_PUBLIC_KEY,
    &openssl::X509_CERTIFICATE,
    &openssl::X509_CRL,
    &openssl::X509_REQUEST,
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
    &ssh_known_hosts_entry::SSH_KNOWN_HOSTS_ENTRY,
    &subversion::SUBVERSION,
    &sudo::SUDO,
    &swap_file::SWAP_FILE,
    &sysctl::SYSCTL,
    &systemd_unit::SYSTEMD_UNIT,
    &template::TEMPLATE,
    &timezone::TIMEZONE,
    &user::USER,
    &user_ulimit::USER_ULIMIT,
    &guest_block::WHYRUN_SAFE_RUBY_BLOCK,
    &rpm_packages::YUM_PACKAGE,
    &yum_repository::YUM_REPOSITORY,
];

/// The types that a policy may declare in every language.
pub fn builtin() -> impl Iterator<Item = &'static ResourceType> {
    ALL.into_iter().filter(|resource| resource.implemented_by.is_for_every_language())
}

/// The types that the Ruby library carries out, for cookbooks in Ruby only.
pub fn ruby_only() -> impl Iterator<Item = &'static ResourceType> {
    ALL.into_iter().filter(|resource| resource.implemented_by == ImplementedBy::RubyLibrary)
}

/// The types that nobody carries out. A cookbook in Ruby may declare them, and an action of theirs fails.
pub fn without_provider() -> impl Iterator<Item = &'static ResourceType> {
    ALL.into_iter().filter(|resource| resource.implemented_by == ImplementedBy::Nobody)
}

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
