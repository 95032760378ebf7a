//! Turns a folder of Rust cookbooks into a component.
//!
//! Three steps, each in its file: find a compiler that knows WebAssembly ([`toolchain`], and [`debian`] where rustup can
//! fetch nothing), let cargo build a core module ([`cargo`]), and wrap it as a component that imports the contract and
//! nothing else ([`encode`]). Users need neither wasm-tools nor a script of ours: all of it is in the program.
//!
//! Nothing here prints. What takes long is announced, one sentence at a time, through the caller's function.

pub mod cargo;
mod command;
pub mod debian;
pub mod encode;
pub mod toolchain;

use std::path::Path;

pub use cargo::{CompileError, CompiledModule, Profile, compile_modules};
pub use encode::{EncodeError, encode_component};
pub use toolchain::{GuestCompiler, Preference, Settings, ToolchainError, guest_compiler};

/// Why a folder did not become a component.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    #[error(transparent)]
    Compile(#[from] CompileError),
    #[error("{package} is not a component that the contract allows")]
    Encode { package: String, source: EncodeError },
}

/// Builds the one component that the cargo workspace in `folder` makes.
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
