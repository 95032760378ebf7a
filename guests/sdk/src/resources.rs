//! The built-in resource types: one builder each, made from the host's schema, which also validates them.

#[rustfmt::skip]
mod generated;
mod guest_block;

pub use generated::*;
