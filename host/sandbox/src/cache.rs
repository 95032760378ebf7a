//! Native code, compiled once and kept. Whoever could put a file here could run code as root, so a file counts only if
//! its keyed tag says that this installation made it: the key lies beside the node's state, readable by root alone. A
//! file that does not fit is no error: the component is compiled again.

use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt as _};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use wasmtime::Engine;
use wasmtime::component::Component;

/// The tag in front of each file: a keyed hash of all that follows it.
const TAG: usize = 32;

/// The largest file that is read.
const LARGEST: u64 = 512 << 20;

/// Where native code is kept, and the key that authenticates it.
pub struct NativeCache {
    folder: Dir,
    path: PathBuf,
    key: [u8; 32],
}

impl NativeCache {
    /// A cache in a folder that exists and that only root can write.
    ///
    /// # Errors
    /// The folder cannot be opened.
    pub fn new(folder: &Path, key: [u8; 32]) -> std::io::Result<Self> {
        Ok(Self { folder: Dir::open_ambient_dir(folder, ambient_authority())?, path: folder.to_owned(), key })
    }

    /// The folder.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// A hasher of our key, for one purpose.
    pub(crate) fn keyed(&self, purpose: &str) -> blake3::Hasher {
        let mut hasher = blake3::Hasher::new_keyed(&self.key);
        hasher.update(purpose.as_bytes());
        hasher
    }

    /// The file's name: what was compiled, and for which engine, settings and processor.
    fn name(&self, engine: &Engine, bytes: &[u8]) -> String {
        struct Feed(blake3::Hasher);
        impl std::hash::Hasher for Feed {
            fn write(&mut self, bytes: &[u8]) {
                self.0.update(bytes);
            }
            fn finish(&self) -> u64 {
                0
            }
        }
        let mut feed = Feed(blake3::Hasher::new_keyed(&self.key));
        std::hash::Hash::hash(&engine.precompile_compatibility_hash(), &mut feed);
        feed.0.update(blake3::hash(bytes).as_bytes());
        format!("{}.native", feed.0.finalize().to_hex())
    }

    /// The native code of a component, if it is there and ours.
    pub(crate) fn load(&self, engine: &Engine, bytes: &[u8]) -> Option<Component> {
        let name = self.name(engine, bytes);
        let mut options = OpenOptions::new();
        options.read(true).custom_flags(rustix::fs::OFlags::NOFOLLOW.bits().cast_signed());
        let mut file = self.folder.open_with(&name, &options).ok()?;
        let length = file.metadata().ok().filter(|about| about.is_file() && about.len() <= LARGEST)?.len();
        let mut kept = Vec::with_capacity(usize::try_from(length).ok()?);
        file.read_to_end(&mut kept).ok()?;
        let (tag, code) = kept.split_at_checked(TAG)?;
        // `Hash` compares in constant time.
        let tag = blake3::Hash::from_slice(tag).ok()?;
        if self.tag(&name, code) != tag {
            return None;
        }
        #[expect(unsafe_code, reason = "the engine's only way to load native code")]
        // SAFETY: `deserialize` needs bytes that `serialize` of this engine made. The keyed tag proves that they were
        // written by `store` below with our key, under a name that binds the engine's version, settings and processor.
        let component = unsafe { Component::deserialize(engine, code) };
        component.ok()
    }

    /// Keeps the native code of a component. Failing to is no error: it is compiled again next time.
    pub(crate) fn store(&self, engine: &Engine, bytes: &[u8], component: &Component) {
        let name = self.name(engine, bytes);
        let Ok(code) = component.serialize() else { return };
        let temporary = format!("{name}.{}", std::process::id());
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(0o600);
        let written = self.folder.open_with(&temporary, &options).and_then(|mut file| {
            file.write_all(self.tag(&name, &code).as_bytes())?;
            file.write_all(&code)?;
            self.folder.rename(&temporary, &self.folder, &name)
        });
        if written.is_err() {
            let _ = self.folder.remove_file(&temporary);
        }
    }

    fn tag(&self, name: &str, code: &[u8]) -> blake3::Hash {
        let mut hasher = blake3::Hasher::new_keyed(&self.key);
        hasher.update(name.as_bytes());
        hasher.update(code);
        hasher.finalize()
    }
}

/// Maps a file of native code. The caller has made sure that our engine wrote it.
pub(crate) fn map_native(engine: &Engine, path: &Path) -> Option<Component> {
    #[expect(unsafe_code, reason = "the engine's only way to load native code")]
    // SAFETY: `deserialize_file` needs a file that `serialize` of this engine made and that does not change. `shared.rs`
    // passes files whose tag or whose owner proves the first, and which only that owner can write.
    let component = unsafe { Component::deserialize_file(engine, path) };
    component.ok()
}
