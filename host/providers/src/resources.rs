//! The built-in resource types, one file each, and the table that finds them.

use crate::plan::Provider;

pub(crate) mod chef_sleep;
pub(crate) mod execute;
mod log;
mod notify_group;
mod script;

// File family.
mod cookbook_file;
pub(crate) mod cookbook_source;
pub(crate) mod directory;
mod file;
pub(crate) mod file_content;
pub(crate) mod link;
pub(crate) mod remote_directory;
mod remote_file;
mod template;

// System family.
mod account;
pub(crate) mod archive_file;
pub(crate) mod asked;
pub(crate) mod cron;
mod cron_d;
mod cron_fields;
pub(crate) mod git;
pub(crate) mod group;
pub(crate) mod http_request;
pub(crate) mod mount;
pub(crate) mod nested;
pub(crate) mod ohai;
pub(crate) mod own_part;
pub(crate) mod package;
pub(crate) mod reboot;
pub(crate) mod service;
pub(crate) mod systemd_unit;
pub(crate) mod user;

pub(crate) use file_content::{Access, Account};

/// Returns the provider of a type, or `None` if the type does not have one.
pub(crate) fn provider(kind: &str) -> Option<&'static dyn Provider> {
    Some(match kind {
        "file" => &file::File,
        "directory" => &directory::Directory,
        "cookbook_file" => &cookbook_file::CookbookFile,
        "template" => &template::Template,
        "link" => &link::Link,
        "remote_directory" => &remote_directory::RemoteDirectory,
        "remote_file" => &remote_file::RemoteFile,
        "execute" => &execute::Execute,
        "script" | "bash" | "csh" | "ksh" | "perl" | "python" | "ruby" => &script::Script,
        "chef_sleep" => &chef_sleep::ChefSleep,
        "log" => &log::Log,
        "notify_group" => &notify_group::NotifyGroup,
        "package" => &package::Package,
        "apt_package" => &package::AptPackage,
        "dpkg_package" => &package::DpkgPackage,
        "rpm_package" => &package::RpmPackage,
        "dnf_package" => &package::DnfPackage { program: "dnf" },
        "yum_package" => &package::DnfPackage { program: "yum" },
        "gem_package" | "chef_gem" => &package::Gem,
        "user" | "linux_user" => &user::User,
        "group" => &group::Group,
        "service" => &service::Service,
        "archive_file" => &archive_file::ArchiveFile,
        "cron" => &cron::Cron,
        "cron_d" => &cron_d::CronD,
        "git" => &git::Git,
        "http_request" => &http_request::Request,
        "mount" => &mount::Mount,
        "ohai" => &ohai::Ohai,
        "reboot" => &reboot::RebootResource,
        "systemd_unit" => &systemd_unit::SystemdUnit,
        #[cfg(test)]
        "test" => &crate::tests::Scripted,
        _ => return None,
    })
}
