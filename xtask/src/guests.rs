//! Builds everything that runs inside the sandbox: the test guests as components, and the example policies as artifacts.
//!
//! Both use the functions of `wrun policy build`, so that there is only one build process.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result};
use author::build::{GuestCompiler, Profile, Settings, compile_modules, encode_component, guest_compiler};
use author::{NoRuby, Options, PolicyFolder};

use crate::{checkout, say};

/// The arguments of `cargo xtask guests`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Make only a Ruby runtime that loads its library in each run, from the folder WRUN_RUBY_LIBRARY
    #[arg(long)]
    library_at_start: bool,
}

/// Finds a compiler and builds all guests.
pub(crate) fn build_all(arguments: &Arguments) -> Result<()> {
    if arguments.library_at_start {
        let folder = checkout::runtimes()?.with_file_name("wrun-library-at-start");
        make_runtime(&folder, &["--library-at-start"], &[])?;
        say::line(&format!(
            "use it with WRUN_RUNTIME_DIR={} and WRUN_RUBY_LIBRARY={}",
            folder.display(),
            checkout::root().join("guests/ruby/lib").display()
        ));
        return Ok(());
    }
    build(&find_compiler()?)?;
    build_runtime(&[])
}

/// Builds the Ruby runtime in the folder where the program looks for it. `options` are the cargo options of the program's
/// build. Unchanged parts are taken from the cache folder.
pub(crate) fn build_runtime(options: &[&str]) -> Result<()> {
    make_runtime(&checkout::runtimes()?, &[], options)
}

fn make_runtime(folder: &Path, kind: &[&str], options: &[&str]) -> Result<()> {
    say::line("building the Ruby runtime");
    let builder = checkout::build_runtime_builder(options)?;
    checkout::run(Command::new(builder).arg(folder).arg(checkout::guest_target_of("ruby")?).args(kind))
}

/// Finds or installs the compiler for guests, and prints each step.
pub(crate) fn find_compiler() -> Result<GuestCompiler> {
    let compiler = guest_compiler(&Settings::from_environment()?, &mut say::line)?;
    say::line(&format!("guests are built with {}", compiler.describe()));
    Ok(compiler)
}

/// Builds the fixtures and the example policies.
pub(crate) fn build(compiler: &GuestCompiler) -> Result<()> {
    build_fixtures(compiler)?;
    build_policies(compiler)
}

/// Builds the guests of the tests.
pub(crate) fn build_fixtures(compiler: &GuestCompiler) -> Result<()> {
    say::line("building the tests' guests");
    let modules = compile_modules(
        &checkout::root().join("guests"),
        compiler,
        &checkout::guest_target_of("fixtures")?,
        Profile::Release,
    )?;
    for folder in [checkout::components(), checkout::fixtures()] {
        fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    }
    for module in &modules {
        let component =
            encode_component(&module.bytes).with_context(|| format!("the guest {} is refused", module.package))?;
        let source = checkout::fixture_source(&module.package);
        // Most test guests are also policies, which the complete program can run.
        let artifact = if source.join("policy.toml").is_file() {
            PolicyFolder::read(&source, &mut NoRuby)?.artifact(&component)?.bytes().to_vec()
        } else {
            component.clone()
        };
        let file = format!("{}.wasm", module.package);
        replace(&checkout::components().join(&file), &component)?;
        replace(&checkout::fixtures().join(&file), &artifact)?;
    }
    Ok(())
}

/// Builds the example policies.
pub(crate) fn build_policies(compiler: &GuestCompiler) -> Result<()> {
    let folder = checkout::artifacts();
    for policy in checkout::policies()? {
        let name = policy.file_name().unwrap_or_default().display();
        say::line(&format!("building the policy {name}"));
        let target = checkout::guest_target_of("policies")?;
        let artifact = author::build(&policy, &Options::new(&target), &mut NoRuby, &mut || Ok(compiler.clone()))
            .with_context(|| format!("the policy {name} cannot be built"))?;
        author::store(&artifact, &folder)?;
    }
    Ok(())
}

/// Replaces a file atomically, since a test may be reading it and two builds may write it at once. An unchanged file is not
/// written.
fn replace(path: &Path, content: &[u8]) -> Result<()> {
    if fs::read(path).is_ok_and(|old| old == content) {
        return Ok(());
    }
    let partial = path.with_extension(format!("partial-{}", std::process::id()));
    fs::write(&partial, content).with_context(|| format!("cannot write {}", partial.display()))?;
    fs::rename(&partial, path).with_context(|| format!("cannot rename {}", partial.display()))
}
