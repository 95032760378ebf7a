//! Turns a folder of Rust cookbooks into a component.
//!
//! There are three steps, each in its own file. First, find a compiler for WebAssembly ([`toolchain`], and [`debian`] if
//! rustup cannot download). Second, build a core module with cargo ([`cargo`]). Third, wrap it as a component that imports
//! only the contract ([`encode`]). Users do not need wasm-tools or scripts: all of this is in the program.
//!
//! This module does not print. It announces slow steps through a function of the caller, one sentence for each.

pub mod cargo;
mod command;
pub mod debian;
pub mod encode;
pub mod toolchain;

use std::path::Path;

pub use cargo::{CompileError, CompiledModule, Profile, compile_modules};
pub use encode::{EncodeError, encode_component};
pub use toolchain::{GuestCompiler, Preference, Settings, ToolchainError, guest_compiler};

/// The reasons why a folder cannot be built to a component.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    #[error(transparent)]
    Compile(#[from] CompileError),
    #[error("{package} is not a component that the contract allows")]
    Encode { package: String, source: EncodeError },
}

/// Builds the cargo workspace in `folder` to its only component.
///
/// `target_folder` keeps cargo's intermediate files; several workspaces may share it as long as their packages have
/// different names. Cargo's own progress and errors go to standard error.
pub fn compile_component(
    folder: &Path,
    compiler: &GuestCompiler,
    target_folder: &Path,
    profile: Profile,
) -> Result<Vec<u8>, BuildError> {
    let modules = compile_modules(folder, compiler, target_folder, profile)?;
    let module = cargo::only_module(folder, modules)?;
    encode_component(&module.bytes).map_err(|source| BuildError::Encode { package: module.package, source })
}
