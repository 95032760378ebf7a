//! Builds a Ruby runtime: `ruby-runtime FOLDER TARGET [--library-at-start]`. `cargo xtask guests` runs it as a separate
//! program, so that cargo compiles the engine only once for wrun and for this builder.

use anyhow::{Context as _, Result, bail};
use author::build::{Settings, guest_compiler};
use ruby_runtime::{Library, Runtime, build_runtime, cache_folder, forget_old};
use sandbox::{Compiler, NativeCache, Sandbox, SharedComponent};
use std::io::Write as _;
use std::path::PathBuf;

/// The key of the developer's own cache. It only detects damaged files. It need not be secret, because the folder belongs to
/// the developer.
const NO_SECRET: [u8; 32] = *b"native code of the Ruby runtime.";

/// The maximum number of files of native code, two for each runtime.
const FILES_KEPT: usize = 8;

fn main() -> Result<()> {
    let mut arguments = std::env::args_os().skip(1);
    let mut folder = |what| arguments.next().map(PathBuf::from).with_context(|| format!("{what} is missing"));
    let (runtime, target) = (folder("the runtime's folder")?, folder("cargo's target folder")?);
    let library = match arguments.next() {
        None => Library::Frozen,
        Some(option) if option == "--library-at-start" => Library::AtStart,
        Some(other) => bail!("there is no option {}", other.display()),
    };
    // An error is ignored: if standard error is closed, no message can be shown.
    let mut say = |line: &str| drop(writeln!(std::io::stderr(), "{line}"));
    let compiler = guest_compiler(&Settings::from_environment()?, &mut say)?;
    let made = build_runtime(&runtime, library, &compiler, &target, &mut say)?;
    say(&format!("{} sha256:{}", made.path.display(), made.digest));
    ship_native(&made, &mut say)
}

/// Writes the native code for this processor beside the runtime, for nodes with the same kind of processor. It takes the code
/// from the cache folder if the runtime was compiled before.
fn ship_native(made: &Runtime, say: &mut dyn FnMut(&str)) -> Result<()> {
    let folder = cache_folder()?.join("ruby-native");
    std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let sandbox = Sandbox::new(Some(NativeCache::new(&folder, NO_SECRET)?), Compiler::Here)?;
    say("compiling the runtime for this processor (up to a minute and 2 GB, once)");
    let component = SharedComponent { path: &made.path, digest: &made.digest, read: made };
    let native = sandbox.ship_native(component)?;
    say(&native.display().to_string());
    // Each change of the library adds 60 MB.
    Ok(forget_old(&folder, FILES_KEPT)?)
}
