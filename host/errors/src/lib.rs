//! Defines the kinds of errors, and their names and messages for Ruby and Chef.
//!
//! Inside of wrun an error is an [`ErrorKind`] and a message. Only [`chef`] knows the classes that Ruby cookbooks rescue and
//! reports show. It also converts the messages of reports to plain sentences, for the authors of Rust cookbooks.

pub mod chef;
mod connection;
mod kind;
mod system;

pub use connection::ConnectionError;
pub use kind::{ClassName, ErrorKind};
pub use system::{FileCall, SystemError};
