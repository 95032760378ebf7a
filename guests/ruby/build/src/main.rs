//! Makes a Ruby runtime: `ruby-runtime FOLDER TARGET [--library-at-start]`. `cargo xtask guests` runs it, so that the engine
//! is built once for the program and for this.

use anyhow::{Context as _, Result, bail};
use policy::build::{Settings, guest_compiler};
use ruby_runtime::{Library, build_runtime};
use std::io::Write as _;
use std::path::PathBuf;

fn main() -> Result<()> {
    let mut arguments = std::env::args_os().skip(1);
    let mut folder = |what| arguments.next().map(PathBuf::from).with_context(|| format!("{what} is missing"));
    let (runtime, target) = (folder("the runtime's folder")?, folder("cargo's target folder")?);
    let library = match arguments.next() {
        None => Library::Frozen,
        Some(option) if option == "--library-at-start" => Library::AtStart,
        Some(other) => bail!("there is no option {}", other.display()),
    };
    // Nobody is left to tell where standard error is closed.
    let mut say = |line: &str| drop(writeln!(std::io::stderr(), "{line}"));
    let compiler = guest_compiler(&Settings::from_environment()?, &mut say)?;
    let made = build_runtime(&runtime, library, &compiler, &target, &mut say)?;
    say(&format!("{} sha256:{}", made.path.display(), made.digest));
    Ok(())
}
