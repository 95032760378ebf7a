//! The built-in resource types, one file each (variants of one type share a file).
//!
//! Names, actions, properties and defaults follow Chef 18.9. [`BUILTIN`] holds the types that something carries out: a provider of
//! the host or the guest itself. [`WITHOUT_PROVIDER`] holds those that are described already and have no provider yet; a
//! declaration of one is refused by name. Who adds a provider moves the line from the one table to the other.

pub mod apt_package;
pub mod cookbook_file;
pub mod cron;
pub mod directory;
pub mod dpkg_package;
pub mod execute;
pub mod file;
pub mod group;
pub mod guest_block;
pub mod link;
pub mod log;
pub mod notify_group;
pub mod package;
pub mod remote_directory;
pub mod remote_file;
pub mod script;
mod securable;
pub mod service;
pub mod template;
pub mod user;

use crate::resource::ResourceType;

/// Types that something carries out.
pub static BUILTIN: [&ResourceType; 21] = [
    &apt_package::APT_PACKAGE,
    &script::BASH,
    &cookbook_file::COOKBOOK_FILE,
    &cron::CRON_D,
    &directory::DIRECTORY,
    &dpkg_package::DPKG_PACKAGE,
    &execute::EXECUTE,
    &file::FILE,
    &group::GROUP,
    &guest_block::GUEST_BLOCK,
    &link::LINK,
    &log::LOG,
    &notify_group::NOTIFY_GROUP,
    &package::PACKAGE,
    &remote_directory::REMOTE_DIRECTORY,
    &remote_file::REMOTE_FILE,
    &guest_block::RUBY_BLOCK,
    &script::SCRIPT,
    &service::SERVICE,
    &template::TEMPLATE,
    &user::USER,
];

/// Types that are described and have no provider yet.
pub static WITHOUT_PROVIDER: [&ResourceType; 7] = [
    &cron::CRON,
    &script::CSH,
    &script::KSH,
    &script::PERL,
    &script::PYTHON,
    &script::RUBY,
    &guest_block::WHYRUN_SAFE_RUBY_BLOCK,
];
