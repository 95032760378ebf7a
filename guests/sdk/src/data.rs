//! Data that operators keep beside the cookbooks: data bags, roles, environments, other nodes. Each needs a grant.

use crate::bindings::wrun::data::data::{self as host, DataError};
use crate::error::{Error, Here as _, Result};
use crate::json::parse;
use serde_json::Value;

#[track_caller]
fn failed(error: DataError) -> Error {
    match error {
        DataError::Denied(text) => Error::new("Wrun::Denied", text),
        DataError::NotFound(text) => Error::new("Wrun::NotFound", text),
        DataError::Invalid(text) => Error::new("Wrun::InvalidData", text),
        DataError::BadQuery(text) => Error::new("Chef::Exceptions::InvalidSearchQuery", text),
    }
}

/// The names of all data bags.
///
/// # Errors
/// The policy may not read them.
#[track_caller]
pub fn bags() -> Result<Vec<String>> {
    host::bags().map_err(failed).here()
}

/// The identifiers of a bag's items, sorted.
///
/// # Errors
/// The bag does not exist, or the policy may not read it.
#[track_caller]
pub fn bag(name: &str) -> Result<Vec<String>> {
    host::bag(name).map_err(failed).here()
}

/// One item of a bag, as it is stored.
///
/// # Errors
/// The item does not exist, or the policy may not read it.
#[track_caller]
pub fn bag_item(bag: &str, id: &str) -> Result<Value> {
    parse(&host::bag_item(bag, id).map_err(failed).here()?)
}

/// A role.
///
/// # Errors
/// The role does not exist, or the policy may not read it.
#[track_caller]
pub fn role(name: &str) -> Result<Value> {
    parse(&host::role(name).map_err(failed).here()?)
}

/// An environment.
///
/// # Errors
/// The environment does not exist, or the policy may not read it.
#[track_caller]
pub fn environment(name: &str) -> Result<Value> {
    parse(&host::environment(name).map_err(failed).here()?)
}

/// What an index (`node`, `role`, or a bag's name) has for a query in Chef's syntax, in the order of names.
///
/// # Errors
/// The query is malformed, or the policy may not search there.
#[track_caller]
pub fn search(index: &str, query: &str) -> Result<Vec<Value>> {
    host::search(index, query).map_err(failed).here()?.iter().map(|found| parse(found)).collect()
}
