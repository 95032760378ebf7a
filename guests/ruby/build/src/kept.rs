//! Caches built runtimes in the cache folder, because a build takes half a minute. The key is a digest of all inputs of a
//! runtime. A test ensures that the same inputs give the same bytes.

use crate::files::Node;
use anyhow::{Context as _, Result};
use sha2::{Digest as _, Sha256};
use std::fs;
use std::path::{Path, PathBuf};

/// The folders and endings of the sources that determine a runtime, in addition to the library and the bridge.
const SOURCES: [(&str, &str); 4] = [("adapters", ".wat"), ("build/src", ".rs"), ("wit", ".wit"), ("../../wit", ".wit")];

/// The maximum number of files, two for each runtime. Each change of the library adds 22 MB.
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

/// The paths of a runtime in the cache folder.
pub(crate) struct Kept {
    component: PathBuf,
    notice: PathBuf,
}

impl Kept {
    /// Returns the paths for the runtime with these parts and this library.
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

    /// Returns the component and its notice, or `None` if they are absent or damaged. The file of the component ends with its
    /// digest.
    pub(crate) fn read(&self) -> Option<(Vec<u8>, Vec<u8>)> {
        let mut component = fs::read(&self.component).ok()?;
        let digest = component.split_off(component.len().checked_sub(32)?);
        let whole = Sha256::digest(&component).as_slice() == digest;
        whole.then_some((component, fs::read(&self.notice).ok()?))
    }

    /// Stores a component. A failure is not an error, because the next build makes the component again.
    pub(crate) fn write(&self, component: &[u8], notice: &[u8]) {
        let content = [component, Sha256::digest(component).as_slice()].concat();
        for (path, content) in [(&self.notice, notice), (&self.component, content.as_slice())] {
            let partial = path.with_extension(format!("partial-{}", std::process::id()));
            if fs::write(&partial, content).and_then(|()| fs::rename(&partial, path)).is_err() {
                // A partial file is useless, so it is removed.
                let _ = fs::remove_file(&partial);
            }
        }
        if let Some(folder) = self.component.parent() {
            // A file that cannot be removed stays until the next build.
            let _ = forget_old(folder, FILES_KEPT);
        }
    }
}
