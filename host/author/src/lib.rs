//! The tools for a policy's author: reads the author's folder, checks it, and builds the artifact for a release.
//!
//! ```text
//! policy                  the folder: policy.toml, cookbooks, a cargo workspace; `wrun policy new` starts one
//! build                   finds a compiler and makes a component of the workspace
//! check                   what cookbooks need, and what in them would not work, before any run
//! documents               the files of roles and environments
//! folders                 cookbooks that are run from where they lie, without a policy
//! policyfile              Policyfiles: locked, installed, exported, compared, built
//! release                 where an author keeps keys, and which repository is meant
//! signing_command         runs the programs that have keys of releases
//! undeclared              cookbooks that others use without depending on them
//! gems                    a folder of gems of plain Ruby, from which those travel that cookbooks name
//! ```
//!
//! A released policy does not depend on its source folder: the artifact contains everything that a node needs. The same
//! folder makes the same artifact, byte by byte, on every machine. (If the SDK is named by a path, it must have the same
//! path, because cargo distinguishes such packages by path.)

pub mod build;
pub mod check;
pub mod documents;
pub mod folders;
pub mod gems;
mod ignore;
mod policy;
pub mod policyfile;
pub mod release;
mod signing_command;
mod tar_entries;
pub mod undeclared;

pub use folders::CookbookFolders;
pub use policy::{
    AuthorError, Described, NoRuby, Options, PolicyFolder, Ruby, SdkSource, Start, below_policy, build,
    cookbook_folders, create, needs_resolving, open_policy, refuse_links, shipped_facts, store, store_in, write_below,
};
pub use signing_command::signature_of_command;
