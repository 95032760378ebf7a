//! The machine below one root: every room that touches the machine goes through here.
//!
//! *Where*: paths are opened inside one root ([`root`]), and programs are started inside it ([`command`]), in a dry run in
//! a view that they cannot change (`command/confine.rs`). *What*: every effect takes a proof of the `grants` room.
//!
//! ```text
//! root        paths, handles and files below the root
//! command     programs: granted, started, waited for, confined
//! download    HTTP, within limits
//! users       accounts of the machine
//! systemd     the service manager, over its bus
//! processes   the process table; locks: who holds a file's lock; mask: the modes of new files
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
