//! What a node *is*, without touching any machine: its attributes and their levels, its run list, and
//! the object that is saved between runs.
//!
//! Nothing in here reads a file, a clock or the network, so nothing in here can fail for outside reasons. The rooms
//! around it load and store; this one decides. The behaviour follows Chef where Chef has one (levels, merging,
//! constraints); what is new is that several policies share one node: see [`object`].
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
