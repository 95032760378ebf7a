//! Capabilities, which operators can grant, and denials.

use crate::signs::literal_pattern;
use std::fmt;
use text::{toml_key, toml_string};

/// A kind of right. Each is one list in a policy's table, with a corresponding `deny_` list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Capability {
    /// Paths that may be created, changed and removed.
    Paths,
    /// Paths of files that root or the system runs or trusts, which may be created, changed and removed.
    PrivilegedPaths,
    /// Paths that may be read.
    ReadPaths,
    /// Paths of files that may get set-user-id or set-group-id bits.
    SetId,
    /// Packages that may be installed, upgraded and removed.
    Packages,
    /// Options for package tools.
    PackageOptions,
    /// Environment variables for package tools, as `NAME=value` or with wildcards.
    PackageEnvironment,
    /// Package files that may be installed.
    PackageSources,
    /// Services that may be started, stopped and enabled.
    Services,
    /// Users that may be created, changed and removed.
    Users,
    /// Groups that may be created, changed and removed.
    Groups,
    /// Users whose jobs `cron` and `cron_d` may write.
    CronUsers,
    /// Mounts, as `DEVICE on MOUNT_POINT type TYPE (OPTIONS)`.
    Mounts,
    /// Kernel modules that may be configured.
    KernelModules,
    /// Commands that may be run, with user, directory and variables.
    Commands,
    /// Servers that the policy may connect to.
    DownloadHosts,
    /// Attributes that may be written, in addition to those below the names of the policy's own cookbooks.
    WriteAttributes,
    /// Attributes of earlier policies that may be read.
    ReadAttributes,
    /// Automatic attributes that may be read.
    Facts,
    /// Data bags, or items as `bag/item`.
    DataBags,
    /// Search indexes that may be used, such as `node`.
    Search,
    /// Roles that may be read as data.
    Roles,
    /// Chef environments that may be read as data.
    Environments,
    /// Environment variables of the host that may be read.
    Environment,
    /// The present time, of the wall clock.
    Clock,
    /// Random numbers from the operating system.
    Random,
    /// Starting the node again.
    Reboot,
}

impl Capability {
    /// All capabilities that are flags, such as `clock = true`.
    pub(crate) const FLAGS: [Self; 3] = [Self::Clock, Self::Random, Self::Reboot];

    /// All capabilities that are lists of names or patterns.
    pub(crate) const LISTS: [Self; 23] = [
        Self::Paths,
        Self::PrivilegedPaths,
        Self::ReadPaths,
        Self::SetId,
        Self::Packages,
        Self::PackageOptions,
        Self::PackageEnvironment,
        Self::PackageSources,
        Self::Services,
        Self::Users,
        Self::Groups,
        Self::CronUsers,
        Self::Mounts,
        Self::KernelModules,
        Self::DownloadHosts,
        Self::WriteAttributes,
        Self::ReadAttributes,
        Self::Facts,
        Self::DataBags,
        Self::Search,
        Self::Roles,
        Self::Environments,
        Self::Environment,
    ];

    /// Tells whether its entries are patterns of resolved paths.
    pub fn is_path(self) -> bool {
        matches!(self, Self::Paths | Self::PrivilegedPaths | Self::ReadPaths | Self::SetId | Self::PackageSources)
    }

    /// Tells whether a key of the operator's file is that of a capability. `deny_` lists and limits are not.
    pub(crate) fn is_key(key: &str) -> bool {
        Self::LISTS.into_iter().chain(Self::FLAGS).chain([Self::Commands]).any(|capability| capability.key() == key)
    }

    /// Returns its key in the operator's file.
    pub fn key(self) -> &'static str {
        match self {
            Self::Paths => "paths",
            Self::PrivilegedPaths => "privileged_paths",
            Self::ReadPaths => "read_paths",
            Self::SetId => "setuid",
            Self::Packages => "packages",
            Self::PackageOptions => "package_options",
            Self::PackageEnvironment => "package_environment",
            Self::PackageSources => "package_sources",
            Self::Services => "services",
            Self::Users => "users",
            Self::Groups => "groups",
            Self::CronUsers => "cron_users",
            Self::Mounts => "mounts",
            Self::KernelModules => "kernel_modules",
            Self::Commands => "commands",
            Self::DownloadHosts => "download_hosts",
            Self::WriteAttributes => "write_attributes",
            Self::ReadAttributes => "read_attributes",
            Self::Facts => "facts",
            Self::DataBags => "data_bags",
            Self::Search => "search",
            Self::Roles => "roles",
            Self::Environments => "environments",
            Self::Environment => "environment",
            Self::Clock => "clock",
            Self::Random => "random",
            Self::Reboot => "reboot",
        }
    }

    /// Returns the words between "may not" and the asked thing.
    pub(crate) fn deed(self) -> &'static str {
        match self {
            Self::Paths | Self::PrivilegedPaths => "manage path",
            Self::ReadPaths => "read path",
            Self::SetId => "set a set-id bit on",
            Self::Packages => "manage package",
            Self::PackageOptions => "use package option",
            Self::PackageEnvironment => "give package tools the variable",
            Self::PackageSources => "install package file",
            Self::Services => "manage service",
            Self::Users => "manage user",
            Self::Groups => "manage group",
            Self::CronUsers => "schedule commands as user",
            Self::Mounts => "mount",
            Self::KernelModules => "configure kernel module",
            Self::Commands => "run command",
            Self::DownloadHosts => "speak to",
            Self::WriteAttributes => "write attribute",
            Self::ReadAttributes => "read attribute",
            Self::Facts => "read fact",
            Self::DataBags => "read data bag",
            Self::Search => "search index",
            Self::Roles => "read role",
            Self::Environments => "read environment",
            Self::Environment => "read environment variable",
            Self::Clock => "read the",
            Self::Random => "draw numbers from",
            Self::Reboot => "restart",
        }
    }

    /// Returns the thing that a denial of a flag names, or `None` if the capability is not a flag.
    pub(crate) fn subject(self) -> Option<&'static str> {
        match self {
            Self::Clock => Some("clock"),
            Self::Random => Some("the system's generator"),
            Self::Reboot => Some("the node"),
            _ => None,
        }
    }
}

/// A failed check: the asked thing, the policy, and the entry that would allow it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Denied {
    /// The policy that asked, by its name.
    pub policy: String,
    /// The kind of right that is missing.
    pub capability: Capability,
    /// The asked thing, as the guest named it or resolved. Guest text: escape before showing.
    pub asked: String,
    /// The entry of the policy's table that would allow it, as TOML. `None` if no entry would: the thing cannot be granted, or
    /// a rule that refuses it would still win.
    pub value: Option<String>,
    /// The reason why a rule that seems to match does not.
    pub reason: Option<String>,
}

impl Denied {
    /// Returns the line of the policy's table that would allow it; empty if no line would.
    pub fn line(&self) -> String {
        self.value.as_ref().map(|value| line(self.capability.key(), value)).unwrap_or_default()
    }

    /// Returns the advice in one line. The end of the run lists all denials together.
    pub fn hint(&self) -> String {
        let table = table_name(&self.policy);
        match &self.value {
            Some(value) => format!("to allow it: {} in {table}", line(self.capability.key(), value)),
            None => format!("no new line in {table} of the grants would allow it"),
        }
    }
}

impl fmt::Display for Denied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "policy `{}` may not {} `{}`", self.policy, self.capability.deed(), self.asked)?;
        self.reason.iter().try_for_each(|reason| write!(f, ": {reason}"))
    }
}

impl std::error::Error for Denied {}

/// Returns the head of a policy's table: `[policy.web]`.
pub fn table_name(policy: &str) -> String {
    format!("[policy.{}]", toml_key(policy))
}

/// Formats a line of a policy's table with one entry.
pub(crate) fn line(key: &str, value: &str) -> String {
    if matches!(value, "true" | "false") { format!("{key} = {value}") } else { format!("{key} = [{value}]") }
}

/// Returns the TOML entry for exactly this text. Characters that would be wildcards are escaped.
pub(crate) fn literal_entry(text: &str) -> String {
    // A run checks thousands of paths, and most have no special character.
    if is_plain(text) { quoted(text) } else { toml_string(&literal_pattern(text)) }
}

/// Tells whether a text has no special character of patterns or TOML.
pub(crate) fn is_plain(text: &str) -> bool {
    let is_plain = |byte: u8| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\' | b'*' | b'?' | b'[');
    text.bytes().all(is_plain)
}

/// Returns the TOML string of a [plain](is_plain) text.
pub(crate) fn quoted(text: &str) -> String {
    ["\"", text, "\""].concat()
}
