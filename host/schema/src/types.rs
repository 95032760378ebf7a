//! The built-in resource types, one file each (variants of one type share a file).
//!
//! Names, actions, properties and defaults follow Chef 18.9. The table [`ALL`] contains them. Each type names its
//! implementation: a provider of the host, other resources that the host declares, the guest, the Ruby library, or nobody.
//! Only cookbooks in Ruby can declare the types of the Ruby library; in other cookbooks they are refused by name. The table
//! [`OTHER_PLATFORMS`] has the types of other platforms, whose properties are unknown. Types without an implementation may be
//! declared, but their actions fail.

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
pub mod other_platforms;
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
pub mod without_provider;
pub mod yum_repository;

use crate::resource::{ImplementedBy, ResourceType};
pub use other_platforms::{ForeignType, OTHER_PLATFORMS};
pub(crate) use securable::{ACCOUNT_NAMES, SECURABLE};

/// All types with a specification, in alphabetical order. [`ResourceType::implemented_by`] names the implementation of each.
pub static ALL: [&ResourceType; 107] = [
    &alternatives::ALTERNATIVES,
    &apt_package::APT_PACKAGE,
    &apt_preference::APT_PREFERENCE,
    &apt_repository::APT_REPOSITORY,
    &apt_update::APT_UPDATE,
    &archive_file::ARCHIVE_FILE,
    &script::BASH,
    &chef_sleep::BREAKPOINT,
    &build_essential::BUILD_ESSENTIAL,
    &without_provider::chef_client::CHEF_CLIENT_CONFIG,
    &without_provider::chef_client::CHEF_CLIENT_CRON,
    &without_provider::chef_client::CHEF_CLIENT_SYSTEMD_TIMER,
    &without_provider::chef_client::CHEF_CLIENT_TRUSTED_CERTIFICATE,
    &gem_package::CHEF_GEM,
    &chef_handler::CHEF_HANDLER,
    &chef_sleep::CHEF_SLEEP,
    &without_provider::chef_client::CHEF_VAULT_SECRET,
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
    &without_provider::habitat::HABITAT_CONFIG,
    &without_provider::habitat::HABITAT_INSTALL,
    &without_provider::habitat::HABITAT_PACKAGE,
    &without_provider::habitat::HABITAT_SERVICE,
    &without_provider::habitat::HABITAT_SUP,
    &without_provider::habitat::HABITAT_USER_TOML,
    &hostname::HOSTNAME,
    &http_request::HTTP_REQUEST,
    &without_provider::devices::IFCONFIG,
    &without_provider::chef_client::INSPEC_INPUT,
    &without_provider::chef_client::INSPEC_WAIVER,
    &without_provider::chef_client::INSPEC_WAIVER_FILE_ENTRY,
    &kernel_module::KERNEL_MODULE,
    &script::KSH,
    &link::LINK,
    &user::LINUX_USER,
    &locale::LOCALE,
    &log::LOG,
    &without_provider::devices::MDADM,
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
    &without_provider::packages::PACMAN_PACKAGE,
    &without_provider::packages::PALUDIS_PACKAGE,
    &script::PERL,
    &without_provider::packages::PORTAGE_PACKAGE,
    &script::PYTHON,
    &reboot::REBOOT,
    &remote_directory::REMOTE_DIRECTORY,
    &remote_file::REMOTE_FILE,
    &without_provider::red_hat::RHSM_ERRATA,
    &without_provider::red_hat::RHSM_ERRATA_LEVEL,
    &without_provider::red_hat::RHSM_REGISTER,
    &without_provider::red_hat::RHSM_REPO,
    &without_provider::red_hat::RHSM_SUBSCRIPTION,
    &without_provider::devices::ROUTE,
    &rpm_packages::RPM_PACKAGE,
    &script::RUBY,
    &guest_block::RUBY_BLOCK,
    &script::SCRIPT,
    &without_provider::security::SELINUX_BOOLEAN,
    &without_provider::security::SELINUX_FCONTEXT,
    &without_provider::security::SELINUX_INSTALL,
    &without_provider::security::SELINUX_LOGIN,
    &without_provider::security::SELINUX_MODULE,
    &without_provider::security::SELINUX_PERMISSIVE,
    &without_provider::security::SELINUX_PORT,
    &without_provider::security::SELINUX_STATE,
    &without_provider::security::SELINUX_USER,
    &service::SERVICE,
    &without_provider::packages::SNAP_PACKAGE,
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
    &without_provider::packages::ZYPPER_PACKAGE,
    &without_provider::packages::ZYPPER_REPOSITORY,
];

/// The types that a policy may declare in every language.
pub fn builtin() -> impl Iterator<Item = &'static ResourceType> {
    ALL.into_iter().filter(|resource| resource.implemented_by.is_for_every_language())
}

/// Returns the types that the Ruby library implements, for cookbooks in Ruby only.
pub fn ruby_only() -> impl Iterator<Item = &'static ResourceType> {
    ALL.into_iter().filter(|resource| resource.implemented_by == ImplementedBy::RubyLibrary)
}

/// Returns the types without an implementation. They may be declared, but their actions fail.
pub fn without_provider() -> impl Iterator<Item = &'static ResourceType> {
    ALL.into_iter().filter(|resource| resource.implemented_by == ImplementedBy::Nobody)
}
