//! Makes the Ruby runtime: one component on which policies of Ruby cookbooks run.
//!
//! CRuby comes prebuilt in a pinned npm package ([`package`]). Its buffers are enlarged ([`asyncify`]), our library and the
//! part of Ruby's that recipes can use are packed into its memory ([`library`], [`files`]), it is started on a system of
//! our own ([`ruby`], [`system`]), loads the library, and is frozen there ([`snapshot`]), so that a policy's instance begins with all of
//! it done. Then it becomes a component ([`component`]) that imports the contract and nothing else.
//!
//! Two builds of the same sources give the same bytes.

mod asyncify;
mod component;
mod files;
mod library;
mod package;
mod ruby;
mod snapshot;
mod system;

pub use package::{PACKAGE, PACKAGE_VERSION, cache_folder};

use anyhow::{Context as _, Result};
use files::Node;
use policy::build::GuestCompiler;
use policy::build::cargo::compile_modules;
use policy::build::encode::check_component;
use ruby::{Ruby, system_with, with_deep_stack};
use sha2::{Digest as _, Sha256};
use std::fs;
use std::path::{Path, PathBuf};

/// The Ruby that it runs.
pub const RUBY_VERSION: &str = "4.0.0";

/// Counts the runtime's own versions for that Ruby. Policies name a runtime by both and by its digest.
pub const REVISION: u32 = 1;

/// Where Ruby sees our library.
const OUR_PLACE: &str = "/wrun";

/// Loads our library, and what recipes may use without waiting for it.
const BOOT: &str = "$LOAD_PATH.unshift('/wrun'); require 'wrun/boot'; Wrun::Boot.freeze_here; ''";

/// A finished runtime.
#[derive(Debug)]
pub struct Runtime {
    /// The component.
    pub path: PathBuf,
    /// Its SHA-256, in hexadecimal.
    pub digest: String,
}

/// Makes the runtime and writes it into a folder as `ruby-VERSION-REVISION.component.wasm`, with the notice that its
/// licences ask for beside it. `target` keeps cargo's files; `say` is told what takes long.
///
/// # Errors
/// The package cannot be had or is another one, a compiler or a file fails, our library raises.
pub fn build_runtime(
    folder: &Path,
    compiler: &GuestCompiler,
    target: &Path,
    say: &mut dyn FnMut(&str),
) -> Result<Runtime> {
    let (component, notice) = make_component(compiler, target, say)?;
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let path = folder.join(format!("ruby-{RUBY_VERSION}-{REVISION}.component.wasm"));
    replace(&path, &component)?;
    replace(&folder.join(format!("ruby-{RUBY_VERSION}-{REVISION}.NOTICE")), &notice)?;
    let digest = Sha256::digest(&component).iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(Runtime { path, digest })
}

/// Makes the component, and returns it with the notice of its licences.
///
/// # Errors
/// As [`build_runtime`].
pub fn make_component(
    compiler: &GuestCompiler,
    target: &Path,
    say: &mut dyn FnMut(&str),
) -> Result<(Vec<u8>, Vec<u8>)> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("the checkout lies at the root")?;
    let cache = cache_folder()?;
    fs::create_dir_all(&cache).with_context(|| format!("cannot make {}", cache.display()))?;
    let package = package::package(&cache, say)?;
    let library = library::library(&package.ruby_with_library, &cache, say)?;
    let ours = Node::read(&here.join("lib"))?;
    let patched = asyncify::enlarge(&package.ruby)?;
    say("starting Ruby and freezing it");
    let frozen = with_deep_stack(|| freeze(&patched.module, library, ours))?;
    let bridge = compile_modules(&here.join("bridge"), compiler, target)?;
    let bridge = bridge.into_iter().next().context("the bridge makes no module")?;
    let component = component::encode(&frozen, &bridge.bytes, &here.join("../../wit"), &here.join("wit"))?;
    check_component(&component)?;
    Ok((component, package.notice))
}

/// Packs files into Ruby's memory, starts it, loads our library, and returns the module as it is then.
fn freeze(module: &[u8], library: Node, ours: Node) -> Result<Vec<u8>> {
    let (module, globals) = snapshot::observable(module)?;
    let mut ruby = Ruby::new(&module, system_with(vec![(library::PLACE, library), (OUR_PLACE, ours)]))?;
    ruby.call("wasi_vfs_pack_fs").context("Ruby's files cannot be packed")?;
    // From here on the files are in Ruby's memory, as they are when it runs.
    ruby.set_system(system_with(vec![]));
    ruby.call("__wasi_vfs_rt_init")?;
    ruby.start()?;
    ruby.evaluate(BOOT).context("our library cannot be loaded")?;
    let regions = ruby.allocate(asyncify::REGIONS)?;
    ruby.set_global(asyncify::REGION_GLOBAL, regions)?;
    ruby.freeze(&module, globals)
}

/// Writes a file whole, and leaves it alone where it is the same.
fn replace(path: &Path, content: &[u8]) -> Result<()> {
    if fs::read(path).is_ok_and(|old| old == content) {
        return Ok(());
    }
    let partial = path.with_extension("partial");
    fs::write(&partial, content).with_context(|| format!("cannot write {}", partial.display()))?;
    fs::rename(&partial, path).with_context(|| format!("cannot rename {}", partial.display()))
}
