//! Defines the built-in resource types: their actions, properties, value types, defaults and docs.
//!
//! This crate is the single source of truth. The Ruby DSL and the Rust SDK's builders are generated from it
//! ([`rust_builders`]), the host checks declarations of guests with it ([`validate`]), and `wrun resources` prints it
//! ([`reference`]). So they always agree. The crate is pure: it does no I/O, reads no clock, and does not work at start-up,
//! because all tables are constants.

pub mod common;
pub mod property;
pub mod reference;
mod rendered;
pub mod resource;
mod ruby_types;
mod rust_builders;
pub mod typed;
pub mod types;
pub mod validation;
pub mod value;

pub use rendered::{is_only_shown, is_rendered, looks_at};
pub use resource::{Action, ImplementedBy, ResourceType};
pub use ruby_types::ruby_types;
pub use rust_builders::rust_builders;
pub use types::ForeignType;
pub use validation::{
    Given, ValidationFailed, check_actions, check_required, check_sizes, find, foreign, require, validate,
    validate_one, validate_sensitive, why_no_provider,
};

/// Tells whether the actions of a type are made of other resources.
pub fn is_composite(kind: &str) -> bool {
    find(kind).is_some_and(|resource| resource.implemented_by == ImplementedBy::Children)
}

/// The types that a policy may declare in every language, in alphabetical order.
pub fn builtin() -> impl Iterator<Item = &'static ResourceType> {
    types::builtin()
}
