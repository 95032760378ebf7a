//! The built-in resource types: one builder each, made from the host's schema, which also validates them.

mod generated;
mod guest_block;

pub use generated::*;
