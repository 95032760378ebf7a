//! Runtimes that were made before, in the cache folder, so that a fresh target folder does not cost half a minute. They are
//! found by a digest of everything that a runtime is made of; a test holds that the same inputs make the same bytes.

use crate::files::Node;
use anyhow::{Context as _, Result};
use sha2::{Digest as _, Sha256};
use std::fs;
use std::path::{Path, PathBuf};

/// What of the builder's own folder goes into a runtime, beside our library and the bridge.
const SOURCES: [(&str, &str); 4] = [("adapters", ".wat"), ("build/src", ".rs"), ("wit", ".wit"), ("../../wit", ".wit")];

/// How many files are kept, two for each runtime: every change of the library leaves 22 MB.
const FILES_KEPT: usize = 12;

/// Removes a folder's oldest files.
///
/// # Errors
/// The folder cannot be read, or a file cannot be removed.
pub fn forget_old(folder: &Path, kept: usize) -> std::io::Result<()> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        files.push((entry.metadata()?.modified()?, entry.path()));
    }
    files.sort();
    let old = files.len().saturating_sub(kept);
    files.iter().take(old).try_for_each(|(_, path)| fs::remove_file(path))
}

/// A runtime's place in the cache folder.
pub(crate) struct Kept {
    component: PathBuf,
    notice: PathBuf,
}

impl Kept {
    /// The place of the runtime that is made of these parts and of our library.
    pub(crate) fn of(cache: &Path, here: &Path, parts: &[(&str, &[u8])], ours: &Node) -> Result<Self> {
        let mut hasher = Sha256::new();
        let mut add = |name: &str, content: &[u8]| {
            for part in [name.as_bytes(), content] {
                hasher.update((part.len() as u64).to_le_bytes());
                hasher.update(part);
            }
        };
        for (folder, ending) in SOURCES {
            Node::read(&here.join(folder), &[ending])?.each(folder, &mut add);
        }
        // The versions of the crates that write WebAssembly.
        let lock = here.join("../../Cargo.lock");
        add("lock", &fs::read(&lock).with_context(|| format!("cannot read {}", lock.display()))?);
        parts.iter().for_each(|(name, content)| add(name, content));
        ours.each("lib", &mut add);
        let digest: String = hasher.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        let folder = cache.join("ruby-runtimes");
        fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        Ok(Self { component: folder.join(format!("{digest}.wasm")), notice: folder.join(format!("{digest}.NOTICE")) })
    }

    /// The component and its notice, if they are there and whole: the component's digest ends its file.
    pub(crate) fn read(&self) -> Option<(Vec<u8>, Vec<u8>)> {
        let mut component = fs::read(&self.component).ok()?;
        let digest = component.split_off(component.len().checked_sub(32)?);
        let whole = Sha256::digest(&component).as_slice() == digest;
        whole.then_some((component, fs::read(&self.notice).ok()?))
    }

    /// Keeps a component. Failing to is not an error: it is made again.
    pub(crate) fn write(&self, component: &[u8], notice: &[u8]) {
        let content = [component, Sha256::digest(component).as_slice()].concat();
        for (path, content) in [(&self.notice, notice), (&self.component, content.as_slice())] {
            let partial = path.with_extension(format!("partial-{}", std::process::id()));
            if fs::write(&partial, content).and_then(|()| fs::rename(&partial, path)).is_err() {
                // What cannot be kept is of no use to anybody.
                let _ = fs::remove_file(&partial);
            }
        }
        if let Some(folder) = self.component.parent() {
            // What cannot be removed is kept for longer.
            let _ = forget_old(folder, FILES_KEPT);
        }
    }
}
