//! Reads data that operators keep outside the cookbooks: data bags, roles, environments and other nodes. Each read needs a
//! grant.

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

/// Returns the names of all data bags.
///
/// # Errors
/// The policy may not read them.
#[track_caller]
pub fn bags() -> Result<Vec<String>> {
    host::bags().map_err(failed).here()
}

/// Returns the sorted ids of a bag's items.
///
/// # Errors
/// The bag does not exist, or the policy may not read it.
#[track_caller]
pub fn bag(name: &str) -> Result<Vec<String>> {
    host::bag(name).map_err(failed).here()
}

/// Returns one item of a bag as it is stored. An encrypted item stays encrypted.
///
/// # Errors
/// The item does not exist, or the policy may not read it.
#[track_caller]
pub fn bag_item(bag: &str, id: &str) -> Result<Value> {
    parse(&host::bag_item(bag, id).map_err(failed).here()?)
}

/// Returns a role as JSON.
///
/// # Errors
/// The role does not exist, or the policy may not read it.
#[track_caller]
pub fn role(name: &str) -> Result<Value> {
    parse(&host::role(name).map_err(failed).here()?)
}

/// Returns an environment as JSON.
///
/// # Errors
/// The environment does not exist, or the policy may not read it.
#[track_caller]
pub fn environment(name: &str) -> Result<Value> {
    parse(&host::environment(name).map_err(failed).here()?)
}

/// Returns the documents of an index (`node`, `role` or a bag's name) that match a query in Chef's syntax, sorted by name.
///
/// # Errors
/// The query is malformed, or the policy may not search there.
#[track_caller]
pub fn search(index: &str, query: &str) -> Result<Vec<Value>> {
    host::search(index, query).map_err(failed).here()?.iter().map(|found| parse(found)).collect()
}
