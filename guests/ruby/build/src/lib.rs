//! Builds the Ruby runtime, the component that runs policies with Ruby cookbooks.
//!
//! A pinned npm package contains CRuby as a prebuilt module ([`package`]). The build enlarges its buffers ([`asyncify`]). It
//! packs wrun's library and the usable part of Ruby's standard library into Ruby's memory ([`library`], [`files`]). Then it
//! starts Ruby on a simulated system ([`ruby`], [`system`]), loads the library and fills the gaps in Ruby's heap ([`gaps`]). It
//! freezes this state ([`snapshot`]), so a policy's instance starts with the loaded library. Finally, the module becomes a
//! component that imports only the contract ([`component`]).
//!
//! Builds are reproducible: the same sources give the same bytes.

mod asyncify;
mod component;
mod files;
mod gaps;
mod kept;
mod library;
mod package;
mod ruby;
mod snapshot;
mod system;

pub use kept::forget_old;
pub use package::{PACKAGE, PACKAGE_VERSION, cache_folder};

use anyhow::{Context as _, Result, bail};
use author::build::GuestCompiler;
use author::build::cargo::{Profile, compile_modules};
use author::build::encode::check_component;
use files::Node;
use kept::Kept;
use ruby::{Ruby, system_with, with_deep_stack};
use sandbox::ReadComponent;
use sha2::{Digest as _, Sha256};
use std::fs;
use std::path::{Path, PathBuf};

/// The version of Ruby in the runtime.
pub const RUBY_VERSION: &str = "4.0.0";

/// The runtime's own version for this Ruby. Policies name a runtime by both versions and its digest.
pub const REVISION: u32 = 1;

/// The folder in which Ruby sees wrun's library.
const OUR_PLACE: &str = "/wrun";

/// The files of the library that every runtime contains: the connection to the host.
const CORE: [&str; 2] = ["wrun/boot.rb", "wrun/bridge.rb"];

/// The time at which a runtime loads wrun's library.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Library {
    /// Before the state is frozen. Nodes get this kind of runtime.
    Frozen,
    /// At the start of each instance, from the folder that `WRUN_RUBY_LIBRARY` names. Developers of the library use it,
    /// because it saves a build after each change.
    AtStart,
}

impl Library {
    /// Returns the Ruby code to evaluate before the state is frozen.
    fn boot(self) -> String {
        let freeze = match self {
            Self::Frozen => "freeze_here",
            Self::AtStart => "freeze_without_library",
        };
        format!("$LOAD_PATH.unshift('{OUR_PLACE}'); require 'wrun/boot'; Wrun::Boot.{freeze}; ''")
    }

    /// Returns the files of the library that go into Ruby's memory.
    fn files(self, folder: &Path) -> Result<Node> {
        let all = Node::read(folder, &[".rb", ".erb"])?;
        if self == Self::Frozen {
            return Ok(all);
        }
        let mut core = Node::default();
        for path in CORE {
            let Some(Node::File(content)) = all.at(path) else { bail!("{path} is missing in {}", folder.display()) };
            core.put(path, content.clone());
        }
        Ok(core)
    }
}

/// A finished runtime.
#[derive(Debug)]
pub struct Runtime {
    /// The component.
    pub path: PathBuf,
    /// Its SHA-256, in hexadecimal.
    pub digest: String,
}

impl ReadComponent for Runtime {
    fn read(&self) -> std::io::Result<Vec<u8>> {
        fs::read(&self.path)
    }
}

/// Builds the runtime and writes it into a folder as `ruby-VERSION-REVISION.component.wasm`, with the notice of its licences
/// beside it. `target` is cargo's target folder. `say` gets a line before each long step.
///
/// # Errors
/// The package cannot be fetched or has another digest, a compiler or a file operation fails, or the library raises an
/// exception.
pub fn build_runtime(
    folder: &Path,
    library: Library,
    compiler: &GuestCompiler,
    target: &Path,
    say: &mut dyn FnMut(&str),
) -> Result<Runtime> {
    let (component, notice) = make_component(library, compiler, target, say)?;
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let path = folder.join(format!("ruby-{RUBY_VERSION}-{REVISION}.component.wasm"));
    replace(&path, &component)?;
    replace(&folder.join(format!("ruby-{RUBY_VERSION}-{REVISION}.NOTICE")), &notice)?;
    let digest: String = Sha256::digest(&component).iter().map(|byte| format!("{byte:02x}")).collect();
    // The digest's file is written last. It is valid if it is newer than the component.
    let beside = path.with_extension("sha256");
    fs::write(&beside, format!("{digest}\n")).with_context(|| format!("cannot write {}", beside.display()))?;
    Ok(Runtime { path, digest })
}

/// Makes the component, or takes it from the cache folder, and returns it with the notice of its licences.
///
/// # Errors
/// As [`build_runtime`].
pub fn make_component(
    library: Library,
    compiler: &GuestCompiler,
    target: &Path,
    say: &mut dyn FnMut(&str),
) -> Result<(Vec<u8>, Vec<u8>)> {
    let parts = Parts::new(library, compiler, target)?;
    let kept = parts.kept()?;
    if let Some(made) = kept.read() {
        return Ok(made);
    }
    let (component, notice) = parts.make(say)?;
    kept.write(&component, &notice);
    Ok((component, notice))
}

/// Builds the component without the cache. Tests use it to check that builds are reproducible.
///
/// # Errors
/// As [`build_runtime`].
pub fn make_component_anew(
    library: Library,
    compiler: &GuestCompiler,
    target: &Path,
    say: &mut dyn FnMut(&str),
) -> Result<(Vec<u8>, Vec<u8>)> {
    Parts::new(library, compiler, target)?.make(say)
}

/// The inputs of a runtime, except the package.
struct Parts {
    /// The folder `guests/ruby`.
    here: &'static Path,
    cache: PathBuf,
    ours: Node,
    bridge: Vec<u8>,
    boot: String,
}

impl Parts {
    fn new(library: Library, compiler: &GuestCompiler, target: &Path) -> Result<Self> {
        let here = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("the checkout lies at the root")?;
        let cache = cache_folder()?;
        fs::create_dir_all(&cache).with_context(|| format!("cannot make {}", cache.display()))?;
        let bridge = compile_modules(&here.join("bridge"), compiler, target, Profile::Release)?;
        let bridge = bridge.into_iter().next().context("the bridge makes no module")?.bytes;
        Ok(Self { here, cache, ours: library.files(&here.join("lib"))?, bridge, boot: library.boot() })
    }

    fn kept(&self) -> Result<Kept> {
        let parts = [("boot", self.boot.as_bytes()), ("bridge", self.bridge.as_slice())];
        Kept::of(&self.cache, self.here, &parts, &self.ours)
    }

    fn make(self, say: &mut dyn FnMut(&str)) -> Result<(Vec<u8>, Vec<u8>)> {
        let package = package::package(&self.cache, say)?;
        let standard = library::library(&package.ruby_with_library, &self.cache, say)?;
        let patched = asyncify::enlarge(&package.ruby)?;
        say("starting Ruby and freezing it");
        let frozen = with_deep_stack(|| freeze(&patched.module, standard, self.ours, &self.boot))?;
        let (contract, border) = (self.here.join("../../wit"), self.here.join("wit"));
        let component = component::encode(&frozen, &self.bridge, &contract, &border)?;
        check_component(&component)?;
        Ok((component, package.notice))
    }
}

/// Packs files into Ruby's memory, starts Ruby and loads the library. Returns the module with this state.
fn freeze(module: &[u8], standard: Node, ours: Node, boot: &str) -> Result<Vec<u8>> {
    let (module, globals) = snapshot::observable(module)?;
    let mut ruby = Ruby::new(&module, system_with(vec![(library::PLACE, standard), (OUR_PLACE, ours)]))?;
    ruby.call("wasi_vfs_pack_fs").context("Ruby's files cannot be packed")?;
    // From here on Ruby reads its files from its own memory, as it does in a policy.
    ruby.set_system(system_with(vec![]));
    ruby.call("__wasi_vfs_rt_init")?;
    ruby.start()?;
    ruby.evaluate(boot).context("our library cannot be loaded")?;
    gaps::fill(&mut ruby)?;
    let regions = ruby.allocate(asyncify::REGIONS)?;
    ruby.set_global(asyncify::REGION_GLOBAL, regions)?;
    ruby.freeze(&module, globals)
}

/// Replaces a file in one step, if its content differs. Two builds may write one file at once.
fn replace(path: &Path, content: &[u8]) -> Result<()> {
    if fs::read(path).is_ok_and(|old| old == content) {
        return Ok(());
    }
    let partial = path.with_extension(format!("partial-{}", std::process::id()));
    fs::write(&partial, content).with_context(|| format!("cannot write {}", partial.display()))?;
    fs::rename(&partial, path).with_context(|| format!("cannot rename {}", partial.display()))
}
