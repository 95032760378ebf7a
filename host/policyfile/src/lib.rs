//! Resolves Policyfiles: reads their content and includes, chooses cookbook versions, and makes the lock.
//!
//! This crate does not read files, start programs or open connections: its callers pass the Policyfile, the locks of included
//! policies and the lists of cookbooks.
//!
//! ```text
//! written       what evaluating a Policyfile.rb found, as the Ruby runtime tells it
//! model         what a Policyfile or a policy.toml says, checked; cookbook_source: where one cookbook is from
//! constraint    constraints on versions
//! include       policies that are included: their cookbooks and run lists
//! attributes    attributes of all of them, and where they conflict
//! universe      the cookbooks that a server offers
//! solver        a version of each cookbook, or the reasons why none fits
//! compile       all of it: from the model to the lock
//! lock          Policyfile.lock.json
//! ```

pub mod attributes;
pub mod compile;
pub mod constraint;
mod cookbook_source;
pub mod include;
pub mod lock;
pub mod model;
pub mod solver;
pub mod universe;
pub mod written;
