//! Puts wrun on a machine: the package, settings, the trusted root, grants; then the first run.
//!
//! ```text
//! wanted          what the machine shall have
//! remote/         the scripts that run on the machine, for a POSIX shell
//! session         the connection: the scripts are sent, questions are answered, steps are ordered one by one
//! plan            what differs on the machine, and so has to be done
//! cloud_init      the same as a cloud-config
//! ```
//!
//! One connection is enough: the machine's shell gets the scripts, and whatever follows, through its standard input. Nothing
//! of it is an argument there, so that no list of processes shows it. Rejected: copying files with `scp` and then running
//! commands, which are several connections, and leaves the machine half done when one of them is refused.
//!
//! Every file is written whole, under another name first. A connection that breaks leaves steps that are done, and steps that
//! are not: the next attempt looks again and does the rest.

mod cloud_init;
mod plan;
mod session;
mod wanted;

pub use cloud_init::{CloudConfigError, MAX_CLOUD_CONFIG, cloud_config};
pub use plan::{Change, Found, Plan, Step, plan};
pub use session::{Marks, Outcome, People, Session, SessionError};
pub use wanted::{Package, Settings, Wanted, WantedFile, package_digest};
