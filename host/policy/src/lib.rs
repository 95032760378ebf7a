//! A policy: the folder its author works in, and the one file it is released as.
//!
//! ```text
//! author                  the folder: policy.toml, cookbooks, a cargo workspace; `wrun policy new` starts one
//! build                   finds a compiler and makes a component of the workspace
//! lock                    identifiers of cookbooks and the policy's revision, as Chef computes them
//! artifact                what is released: the component, its manifest and its cookbooks' files in one file
//! folders                 cookbooks that are run from where they lie, without a policy
//! gems                    gems of plain Ruby that travel with cookbooks
//! ```
//!
//! A released policy never depends on the folder it came from: everything that a node needs is in the artifact, and the
//! same folder makes the same artifact, byte by byte, wherever it is built. (Where the SDK is named by a path it must lie at
//! the same path: cargo tells such packages apart by it.)

pub mod artifact;
pub mod author;
pub mod build;
pub mod folders;
pub mod gems;
mod ignore;
pub mod lock;

pub use folders::CookbookFolders;

pub use artifact::{Artifact, ArtifactError, CONTRACT, Manifest};
