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

/// The Ruby that it runs.
pub const RUBY_VERSION: &str = "4.0.0";

/// Counts the runtime's own versions for that Ruby. Policies name a runtime by both and by its digest.
pub const REVISION: u32 = 1;

/// Where Ruby sees our library.
const OUR_PLACE: &str = "/wrun";

/// What of our library is in every runtime: enough to talk to the host.
const CORE: [&str; 2] = ["wrun/boot.rb", "wrun/bridge.rb"];

/// When a runtime loads our library.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Library {
    /// Before it is frozen: what nodes get.
    Frozen,
    /// In each instance, from the folder that `WRUN_RUBY_LIBRARY` names: for those who work on the library, who then
    /// need not make a runtime for each change.
    AtStart,
}

impl Library {
    /// What Ruby evaluates before it is frozen.
    fn boot(self) -> String {
        let freeze = match self {
            Self::Frozen => "freeze_here",
            Self::AtStart => "freeze_without_library",
        };
        format!("$LOAD_PATH.unshift('{OUR_PLACE}'); require 'wrun/boot'; Wrun::Boot.{freeze}; ''")
    }

    /// The files that Ruby's memory gets.
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

/// Makes the runtime and writes it into a folder as `ruby-VERSION-REVISION.component.wasm`, with the notice that its
/// licences ask for beside it. `target` keeps cargo's files; `say` is told what takes long.
///
/// # Errors
/// The package cannot be had or is another one, a compiler or a file fails, our library raises.
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
    // Written last: it counts while it is newer than the component.
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

/// As [`make_component`], and does not look into the cache folder for it: to see that it becomes the same again.
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

/// What a runtime is made of, beside the package.
struct Parts {
    /// The folder of all that is the Ruby runtime's.
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

/// Packs files into Ruby's memory, starts it, loads our library, and returns the module as it is then.
fn freeze(module: &[u8], standard: Node, ours: Node, boot: &str) -> Result<Vec<u8>> {
    let (module, globals) = snapshot::observable(module)?;
    let mut ruby = Ruby::new(&module, system_with(vec![(library::PLACE, standard), (OUR_PLACE, ours)]))?;
    ruby.call("wasi_vfs_pack_fs").context("Ruby's files cannot be packed")?;
    // From here on the files are in Ruby's memory, as they are when it runs.
    ruby.set_system(system_with(vec![]));
    ruby.call("__wasi_vfs_rt_init")?;
    ruby.start()?;
    ruby.evaluate(boot).context("our library cannot be loaded")?;
    let regions = ruby.allocate(asyncify::REGIONS)?;
    ruby.set_global(asyncify::REGION_GLOBAL, regions)?;
    ruby.freeze(&module, globals)
}

/// Writes a file whole, and leaves it alone where it is the same. Two builds may write one file at once.
fn replace(path: &Path, content: &[u8]) -> Result<()> {
    if fs::read(path).is_ok_and(|old| old == content) {
        return Ok(());
    }
    let partial = path.with_extension(format!("partial-{}", std::process::id()));
    fs::write(&partial, content).with_context(|| format!("cannot write {}", partial.display()))?;
    fs::rename(&partial, path).with_context(|| format!("cannot rename {}", partial.display()))
}
