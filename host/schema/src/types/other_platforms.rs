//! Chef's types for things that only another platform has. Their names and default actions are known, but not their
//! properties.

/// A type of another platform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForeignType {
    /// Its name in recipes.
    pub name: &'static str,
    /// Other names under which recipes may declare it.
    pub aliases: &'static [&'static str],
    /// The action of a declaration that names none.
    pub default_action: &'static str,
}

const fn foreign(name: &'static str, default_action: &'static str) -> ForeignType {
    ForeignType { name, aliases: &[], default_action }
}

const fn also_called(aliases: &'static [&'static str], foreign: ForeignType) -> ForeignType {
    ForeignType { aliases, ..foreign }
}

/// The types of other platforms, by the name of the platform.
pub static OTHER_PLATFORMS: [(&str, &[ForeignType]); 4] = [
    (
        "Windows",
        &[
            foreign("batch", "run"),
            foreign("cab_package", "install"),
            foreign("chef_client_scheduled_task", "add"),
            foreign("chocolatey_config", "set"),
            foreign("chocolatey_feature", "enable"),
            foreign("chocolatey_installer", "install"),
            foreign("chocolatey_package", "install"),
            foreign("chocolatey_source", "add"),
            foreign("dsc_resource", "run"),
            foreign("dsc_script", "run"),
            foreign("msu_package", "install"),
            foreign("powershell_package", "install"),
            foreign("powershell_package_source", "register"),
            foreign("powershell_script", "run"),
            foreign("registry_key", "create"),
            foreign("windows_ad_join", "join"),
            foreign("windows_audit_policy", "set"),
            foreign("windows_auto_run", "create"),
            foreign("windows_certificate", "create"),
            foreign("windows_defender", "enable"),
            foreign("windows_defender_exclusion", "add"),
            foreign("windows_dfs_folder", "create"),
            foreign("windows_dfs_namespace", "create"),
            foreign("windows_dfs_server", "configure"),
            foreign("windows_dns_record", "create"),
            foreign("windows_dns_zone", "create"),
            also_called(&["env"], foreign("windows_env", "create")),
            foreign("windows_feature", "install"),
            foreign("windows_feature_dism", "install"),
            foreign("windows_feature_powershell", "install"),
            foreign("windows_firewall_profile", "enable"),
            foreign("windows_firewall_rule", "create"),
            foreign("windows_font", "install"),
            foreign("windows_package", "install"),
            foreign("windows_pagefile", "set"),
            foreign("windows_path", "add"),
            foreign("windows_printer", "create"),
            foreign("windows_printer_port", "create"),
            foreign("windows_security_policy", "set"),
            foreign("windows_service", "configure_startup"),
            foreign("windows_share", "create"),
            foreign("windows_shortcut", "create"),
            foreign("windows_task", "create"),
            foreign("windows_uac", "configure"),
            foreign("windows_update_settings", "set"),
            foreign("windows_user_privilege", "add"),
            foreign("windows_workgroup", "join"),
        ],
    ),
    (
        "macOS",
        &[
            foreign("chef_client_launchd", "enable"),
            foreign("dmg_package", "install"),
            foreign("homebrew_cask", "install"),
            foreign("homebrew_package", "install"),
            foreign("homebrew_tap", "tap"),
            foreign("homebrew_update", "periodic"),
            foreign("launchd", "create"),
            foreign("macos_pkg", "install"),
            also_called(&["mac_os_x_userdefaults"], foreign("macos_userdefaults", "write")),
            foreign("macosx_service", "nothing"),
            foreign("macports_package", "install"),
            also_called(&["osx_config_profile"], foreign("osx_profile", "install")),
            foreign("plist", "set"),
        ],
    ),
    (
        "another Unix",
        &[
            foreign("bff_package", "install"),
            foreign("freebsd_package", "install"),
            foreign("ips_package", "install"),
            foreign("openbsd_package", "install"),
            foreign("smartos_package", "install"),
            foreign("solaris_package", "install"),
        ],
    ),
    ("Alpine Linux", &[foreign("apk_package", "install")]),
];
