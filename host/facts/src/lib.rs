//! Facts of the machine under Ohai's keys, read from the system's files.
//!
//! Cookbooks read `node['platform_family']`, `node['kernel']['release']` and similar facts more than anything else. Chef
//! fills them by running Ohai: some eighty plugins that start programs (`ip`, `df`, `lscpu`, `dpkg-query`) and take seconds.
//! Here every fact comes from the file or system call that those programs would use, and no program is started. A fact is
//! gathered when it is read, so a run that reads none takes no time for facts.
//!
//! There are two sources. The *root* is the system that a run manages: its users, packages, platform, host name. The
//! *machine* is the kernel and the hardware on which the run takes place: `/proc`, `/sys`, the network. They are the same
//! system unless a run has another root (an image that is being built, a test). In that case no fact about the root may come
//! from the machine.
//!
//! Names and shapes are Ohai's (`lib/ohai/plugins` of <https://github.com/chef/ohai>, version 18); each file of `topics`
//! corresponds to one of its plugins. If a source file is missing, unreadable, too large or malformed, its keys are absent.
//! That is never an error.

mod facts;
mod files;
mod from_file;
mod limits;
mod machine;
mod network;
mod topics;

pub use facts::{Facts, Settings, Which};
pub use from_file::FactsError;
pub use topics::{known_platforms, platform_family};
