//! The machine below one root. All other crates that touch the machine use this one.
//!
//! Two rules hold. *Where*: paths are opened inside one root ([`root`]), and programs start inside it ([`command`]). In a dry
//! run a program sees a file system that it cannot change (`command/confine.rs`). *What*: every effect takes a proof from the
//! crate `grants`.
//!
//! ```text
//! root        paths, handles and files below the root
//! command     programs: granted, started, waited for, confined
//! download    HTTP, within limits
//! users       accounts of the machine
//! systemd     the service manager, over its bus
//! process_search  finds processes by a pattern; locks: who holds a file's lock; mask: the modes of new files
//! guest       the machine as a policy's own code sees it; what that writes in a dry run stays in memory
//! data        data bags and other documents that operators keep beside cookbooks
//! ```

pub mod command;
pub mod data;
pub mod denied;
pub mod diff;
pub mod digest;
pub mod download;
pub mod guest;
pub mod locks;
pub mod mask;
pub mod pace;
pub mod process_search;
pub mod remarks;
pub mod root;
pub mod systemd;
pub mod users;
pub mod written;

pub use plain_files::random_bytes;
