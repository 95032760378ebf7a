//! What a node *is*, without touching any machine: its attributes and their levels, its run list, and
//! the object that is saved between runs.
//!
//! This crate does not read files, clocks or the network, so it cannot fail for outside reasons. Other crates load and store
//! the node. Levels, merging and constraints follow Chef. Unlike in Chef, several policies share one node: see [`object`].
//!
//! Reading order: [`attributes`], then [`object`], which passes them from policy to policy.

pub mod attributes;
pub mod deep_merge;
pub mod file_specificity;
pub mod layers;
pub mod object;
pub mod origin;
pub mod policy_in_group;
pub mod run_list;
pub mod saved_filter;
pub mod search;
pub mod version_constraint;
