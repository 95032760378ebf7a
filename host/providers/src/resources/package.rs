//! `package`, `apt_package`, `dpkg_package` and the types of other distributions: packages through the real tools.
//!
//! The tools do all changing, since no library is safer than their locking and their order of steps. Looking is done without
//! them where a file says it: dpkg's status file has what is installed. It is read once, and again only when it has
//! changed, so that a resource whose packages are there costs one `stat`. apt is asked (`apt-cache policy`, all names of a
//! resource in one call) only where something may have to be installed.
//!
//! Rejected: taking names as apt's patterns, as Chef does by accident (`package 'lua5.3'` may install what merely matches).
//! A name is granted as itself, so only the package of exactly that name, or the only provider of a virtual one, is meant.

mod apt;
mod candidates;
mod choice;
mod copies;
mod database;
mod dpkg;
mod found;
mod gem;
mod lock;
mod preseed;
mod request;
mod rpm;
mod status;
mod targets;
mod tools;
mod version;

pub(crate) use apt::AptPackage;
pub(crate) use choice::Package;
pub(crate) use database::PackageCache;
pub(crate) use dpkg::{DpkgPackage, InstallFiles};
pub(crate) use gem::Gem;
pub(crate) use preseed::Preseed;
pub(crate) use rpm::{DnfPackage, RpmPackage, RpmTransaction};
pub(crate) use tools::{InstallFromArchives, RefreshLists, Transaction};
