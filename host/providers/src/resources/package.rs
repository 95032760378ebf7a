//! `package`, `apt_package`, `dpkg_package` and the types of other distributions: packages, by the distribution's own tools.
//!
//! The tools do all changes, since no library is safer than their locking and their order of steps. Reading works without the
//! tools if a file has the answer: dpkg's status file lists the installed packages. It is read once, and again only when it
//! has changed, so a resource whose packages are installed costs one `stat`. apt is called (`apt-cache policy`, all names of
//! a resource in one call) only if a package may have to be installed.
//!
//! Rejected: treating names as apt's patterns, as Chef does by accident (`package 'lua5.3'` may install a package that merely
//! matches). A grant is for a name itself. So a name means only the package of exactly that name, or the only provider of a
//! virtual package.

mod along;
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
