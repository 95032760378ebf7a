//! Installs wrun on a machine: the package, the settings, the trusted root, and the grants. Then it starts the first run.
//!
//! ```text
//! wanted          what the machine shall have
//! remote/         the scripts that run on the machine, for a POSIX shell
//! session         the connection: the scripts are sent, questions are answered, steps are ordered one by one
//! plan            what differs on the machine, and so has to be done
//! cloud_init      the same as a cloud-config
//! ```
//!
//! One connection is enough: the machine's shell receives the scripts and all data through its standard input. They are not
//! arguments, so process lists do not show them. Rejected alternative: copying files with `scp` and then running commands.
//! This needs several connections, and leaves the machine half configured if one of them is refused.
//!
//! Every file is written under a temporary name and then renamed. If the connection breaks, some steps are done and others
//! are not. The next attempt checks again and does the rest.

mod cloud_init;
mod plan;
mod session;
mod wanted;

pub use cloud_init::{CloudConfigError, MAX_CLOUD_CONFIG, cloud_config};
pub use plan::{Change, Found, Plan, Step, plan};
pub use session::{Marks, Outcome, People, Session, SessionError};
pub use wanted::{Package, Settings, Wanted, WantedFile, package_digest};
