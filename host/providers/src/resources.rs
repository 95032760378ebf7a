//! The built-in resource types, one file each, and the table that finds them.

use crate::plan::Provider;

mod execute;
mod log;
mod notify_group;
mod script;

// File family.
mod cookbook_file;
mod cookbook_source;
mod directory;
mod file;
mod file_content;
mod link;
mod remote_directory;
mod remote_file;
mod template;

// System family.
mod account;
mod asked;
mod cron_d;
mod group;
pub(crate) mod package;
pub(crate) mod service;
mod user;

/// The provider of a type; none: there is no such built-in type.
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
        "log" => &log::Log,
        "notify_group" => &notify_group::NotifyGroup,
        "package" | "apt_package" => &package::AptPackage,
        "dpkg_package" => &package::DpkgPackage,
        "user" | "linux_user" => &user::User,
        "group" => &group::Group,
        "service" => &service::Service,
        "cron_d" => &cron_d::CronD,
        #[cfg(test)]
        "test" => &crate::tests::Scripted,
        _ => return None,
    })
}
