//! What went wrong, as kinds with fields, and the border at which a kind gets its name and its sentence for Ruby and Chef.
//!
//! Inside of wrun an error is an [`ErrorKind`] and a message. [`chef`] alone knows the classes that Ruby cookbooks rescue
//! and reports show, and turns what a report says back into plain sentences for the authors of cookbooks in Rust.

pub mod chef;
mod connection;
mod kind;
mod system;

pub use connection::ConnectionError;
pub use kind::{ClassName, ErrorKind};
pub use system::{FileCall, SystemError};
