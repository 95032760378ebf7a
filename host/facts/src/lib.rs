//! What the machine is, under Ohai's keys, read from the system's files.
//!
//! Cookbooks read `node['platform_family']`, `node['kernel']['release']` and their kin more than anything else, and Chef
//! fills them by running Ohai: some eighty plugins that start programs (`ip`, `df`, `lscpu`, `dpkg-query`) and take
//! seconds. Here every fact comes from the file or the system call that those programs would have asked, no program is
//! started, and a fact is gathered when somebody reads it: a run that reads none pays for none.
//!
//! Two places are read. The *root* is the system that a run looks after: its users, packages, platform, host name. The
//! *machine* is the kernel and the hardware that the run happens on: `/proc`, `/sys`, the network. They are the same
//! system unless a run is given another root (an image being built, a test), and then nothing of the first kind may come
//! from the machine.
//!
//! Names and shapes are Ohai's (`lib/ohai/plugins` of <https://github.com/chef/ohai>, version 18); one file of
//! `topics` stands for one of its plugins. A file that is missing, unreadable, too large or odd makes its keys absent;
//! it is never an error.

mod facts;
mod files;
mod from_file;
mod limits;
mod machine;
mod network;
mod topics;

pub use facts::{Facts, Settings, Which};
pub use from_file::FactsError;
pub use topics::platform_family;
