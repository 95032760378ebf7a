//! A temporary root: the base root with a layer in memory above it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::{Context as _, Result, ensure};
use nix::mount::{MntFlags, MsFlags, mount, umount2};

use crate::base::base_root;
use crate::machine::{Machine, Network};
use crate::tree::Tree;

/// First part of the folder's name. The ID of the process that created it follows.
const PREFIX: &str = "wrun-root-";

/// Counter of this process's roots, so that each has its own folder.
static COUNTER: AtomicU32 = AtomicU32::new(0);

/// A new Debian root, which is unmounted and removed when it is dropped.
#[derive(Debug)]
pub struct Root {
    /// Contains `upper`, `work`, and `merged`, on a file system in memory.
    folder: PathBuf,
    merged: PathBuf,
}

impl Root {
    /// Mounts a new root. The first call in a month creates the base root, with a message on standard error.
    pub fn new() -> Result<Self> {
        Self::announced(&mut |sentence| {
            use std::io::Write as _;
            // If standard error is closed, no message is needed.
            let _ignored = writeln!(std::io::stderr(), "{sentence}");
        })
    }

    /// Does the same as [`Root::new`], but passes the message to the caller.
    pub fn announced(announce: &mut dyn FnMut(&str)) -> Result<Self> {
        Self::above(&base_root(announce)?)
    }

    /// Does the same as [`Root::new`] with additional Debian packages. They are downloaded once for each base root, into a
    /// cache folder.
    pub fn with_packages(packages: &[&str]) -> Result<Self> {
        let plain = Self::new()?;
        let base = base_root(&mut |_| {})?;
        let layer = base.with_file_name(format!("with-{}-{}", packages.join("-"), base_name(&base)));
        if !layer.is_dir() {
            let lock = fs::File::create(layer.with_extension("lock"))?;
            lock.lock().context("cannot lock the layer of packages")?;
            if !layer.is_dir() {
                install(&plain, packages, &layer)?;
            }
        }
        Self::above_all(&format!("{}:{}", layer.display(), base.display()))
    }

    /// Mounts a layer above the developer's own root, for tests that need its tools: a compiler, a cache of crates. All
    /// writes go only to the layer.
    pub fn of_this_machine() -> Result<Self> {
        if let Some(sentence) = crate::base::missing_prerequisite() {
            anyhow::bail!(sentence);
        }
        Self::above(Path::new("/"))
    }

    /// Mounts a layer in memory above a folder, which is not changed.
    fn above(base: &Path) -> Result<Self> {
        Self::above_all(&base.display().to_string())
    }

    /// Mounts a layer in memory above folders, which are not changed. `lower`: the folders, separated by colons, the
    /// uppermost first.
    fn above_all(lower: &str) -> Result<Self> {
        remove_roots_of_dead_processes();
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("{PREFIX}{}-{number}", std::process::id()));
        fs::create_dir(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        // The value is created before the first mount, so that its `Drop` also cleans up after a failure.
        let root = Self { merged: folder.join("merged"), folder };
        let memory = Some("tmpfs");
        mount(memory, &root.folder, memory, MsFlags::empty(), Some("mode=0755"))
            .with_context(|| format!("cannot mount a file system in memory at {}", root.folder.display()))?;
        for name in ["upper", "work", "merged"] {
            fs::create_dir(root.folder.join(name))?;
        }
        let options = format!(
            "lowerdir={lower},upperdir={},workdir={}",
            root.folder.join("upper").display(),
            root.folder.join("work").display()
        );
        let overlay = Some("overlay");
        mount(overlay, &root.merged, overlay, MsFlags::empty(), Some(options.as_str()))
            .with_context(|| format!("cannot mount an overlay at {}", root.merged.display()))?;
        Ok(root)
    }

    /// Returns the path of the root on the developer's machine, for `--root`.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.merged
    }

    /// Returns the path on the developer's machine for a path inside the root. The path may contain only plain names, and
    /// links are not followed.
    pub fn at(&self, inside: impl AsRef<Path>) -> Result<PathBuf> {
        let inside = inside.as_ref();
        let plain = |part: &Component| matches!(part, Component::RootDir | Component::Normal(_));
        ensure!(inside.components().all(|part| plain(&part)), "{} is not a plain path", inside.display());
        Ok(self.merged.join(inside.strip_prefix("/").unwrap_or(inside)))
    }

    /// Writes a file with mode 0644, and creates its parent folders.
    pub fn write(&self, inside: impl AsRef<Path>, content: impl AsRef<[u8]>) -> Result<()> {
        let path = self.at(inside)?;
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).with_context(|| format!("cannot make {}", parent.display()))?;
        }
        fs::write(&path, content).with_context(|| format!("cannot write {}", path.display()))?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644))?;
        Ok(())
    }

    /// Writes an executable file.
    pub fn write_program(&self, inside: impl AsRef<Path>, content: impl AsRef<[u8]>) -> Result<()> {
        let path = self.at(&inside)?;
        self.write(inside, content)?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
        Ok(())
    }

    /// Reads a text file.
    pub fn read(&self, inside: impl AsRef<Path>) -> Result<String> {
        let path = self.at(inside)?;
        fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
    }

    /// Returns whether this path exists. A broken link counts too.
    pub fn exists(&self, inside: impl AsRef<Path>) -> bool {
        self.at(inside).is_ok_and(|path| path.symlink_metadata().is_ok())
    }

    /// Returns the content of a folder in the root, for comparisons.
    pub fn tree(&self, below: impl AsRef<Path>) -> Result<Tree> {
        Tree::read(&self.at(below)?)
    }

    /// Returns all entries that were created, changed, or removed since the root was mounted. It is empty if nothing was
    /// written.
    pub fn changes(&self) -> Result<Tree> {
        Tree::read(&self.changed_files())
    }

    /// Returns the folder with all files that were created or changed since the root was mounted.
    #[must_use]
    pub fn changed_files(&self) -> PathBuf {
        self.folder.join("upper")
    }

    /// Starts a machine with its own processes in this root.
    pub fn machine(&self, network: Network) -> Result<Machine<'_>> {
        Machine::start(self, network)
    }

    /// Runs one command inside, in a new machine that ends with it.
    pub fn run<Argument: AsRef<std::ffi::OsStr>>(&self, arguments: &[Argument]) -> Result<std::process::Output> {
        self.machine(Network::Shared)?.run(arguments)
    }
}

impl Drop for Root {
    fn drop(&mut self) {
        remove(&self.folder);
    }
}

fn base_name(base: &Path) -> String {
    base.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Installs packages in a root, and stores their changes as a layer folder.
fn install(root: &Root, packages: &[&str], layer: &Path) -> Result<()> {
    let machine = root.machine(Network::Shared)?;
    let names = packages.join(" ");
    let script =
        format!("apt-get -qq update && apt-get -qq install --yes --no-install-recommends {names} && apt-get clean");
    let output = machine.run(&["sh", "-c", &script])?;
    ensure!(output.status.success(), "{names} cannot be installed: {}", String::from_utf8_lossy(&output.stderr));
    drop(machine);
    let partial = layer.with_extension(format!("partial-{}", std::process::id()));
    let copied = std::process::Command::new("cp").arg("--archive").arg(root.changed_files()).arg(&partial).status()?;
    ensure!(copied.success(), "cannot keep the packages in {}", partial.display());
    fs::rename(&partial, layer).with_context(|| format!("cannot rename {}", partial.display()))
}

/// Unmounts a root and removes its folder. Failures are ignored, since a later root tries again.
fn remove(folder: &Path) {
    let _ignored = umount2(&folder.join("merged"), MntFlags::MNT_DETACH);
    let _ignored = umount2(folder, MntFlags::MNT_DETACH);
    let _ignored = fs::remove_dir(folder);
}

/// Removes the roots of tests that were killed.
fn remove_roots_of_dead_processes() {
    let Ok(entries) = fs::read_dir(std::env::temp_dir()) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let Some(process) = name.strip_prefix(PREFIX).and_then(|rest| rest.split('-').next()) else { continue };
        if !process.is_empty() && !Path::new("/proc").join(process).exists() {
            remove(&entry.path());
        }
    }
}
