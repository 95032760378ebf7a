//! The policy artifact: a component with its manifest and its cookbooks' files.

pub mod build;
