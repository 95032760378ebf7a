//! Decides which recipes a node runs, in which order and with which cookbooks, from run lists, roles, environments and
//! versions.
//!
//! This crate does not read files, clocks or the network: its callers pass the documents. The behaviour follows Chef.
//!
//! ```text
//! asked_run_lists         run lists that somebody asks for, each for one policy
//! run_list_choice         which of its run lists a policy runs
//! expansion               from a run list with roles to recipes
//! roles, environment      documents with attributes, run lists and constraints
//! cookbook_choice         the cookbooks that recipes need, where each constraint holds
//! cookbook_order          the order in which cookbooks are loaded
//! repository              all of it for a Chef repository
//! layers                  environment files, of which the last one wins
//! objects                 roles, environments and data bag items that somebody writes: checks, and the form that is written
//! ```

pub mod asked_run_lists;
pub mod cookbook_choice;
pub mod cookbook_order;
pub mod environment;
pub mod expansion;
pub mod layers;
pub mod objects;
pub mod repository;
pub mod roles;
pub mod run_list_choice;
