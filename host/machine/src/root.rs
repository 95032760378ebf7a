//! The file system below one root. Only this module opens paths of the machine.
//!
//! While wrun works, guests and owners of managed directories may put links anywhere. So the kernel never follows a path
//! freely:
//! - **Looking** ([`Root`], [`Place`]): a path without links is opened in one call that refuses links
//!   (`openat2(RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS)`). If the path has a link, this module walks it component by component
//!   over directory handles. It reads links itself and resolves them inside the root: a link to `/run` means the root's
//!   `/run`. Either way the *real* path is known without a second call, and `grants` checks that path.
//! - **Changing** ([`Site`]): a site is made only from a proof for a real path. Opening its parent refuses any link, and all
//!   effects are calls on that handle with one bare name. If somebody puts in a link after the check, the opening fails; a
//!   link that comes later is not followed. Nothing outside the granted path changes. wrun's own directories (backups, cache)
//!   are separate roots, opened with [`Root::open_own`], and need no proof.
//!
//! Rejected: using the handles of the inspection for the effects. A handle stays with a directory that is moved away, to a
//! place without a grant, and there would be many handles. Also rejected, for the same reason: a cache of directory handles.

mod access_list;
mod asked;
mod boot_mounts;
mod disk;
mod entry;
mod fault;
mod file_cache;
mod future;
mod giving;
mod held;
mod home;
mod nameless;
mod open;
mod open_to_all;
mod pinned;
mod place;
mod remote;
mod replace;
mod site;
mod staging;
mod step;
mod swap_space;
mod tree;
mod user_entry;
mod walk;

pub use asked::{PathSource, Written};
pub use boot_mounts::MAX_GROWN_TABLE;
pub use disk::Disk;
pub use entry::{Entry, Kind};
pub use fault::Fault;
pub(crate) use fault::system_error;
pub use future::FuturePlace;
pub use giving::Given;
pub use held::Held;
pub use home::HomeAccess;
pub use nameless::NamelessFile;
pub(crate) use nameless::memory_file;
pub use pinned::Pinned;
pub use replace::{ModeBits, NewFileAttributes, StagedFile};
pub use site::GrantedSite;
pub use site::Site;
pub use swap_space::is_swap_space;
pub use tree::UserNumbers;
pub use user_entry::UserEntryChange;

use boot_mounts::BootMounts;
use cap_std::fs::Dir;
use contract::{Account, FileCall, OpenFile};
use grants::{FirstLink, GrantedPath, GrantedTree};
use remote::RemoteMounts;
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, CWD, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use std::io::Read;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
pub(crate) use walk::{components, is_of_a_process};

/// Maximum length of a path, in bytes: the kernel's own limit.
pub(crate) const MAX_PATH: usize = 4096;

/// Maximum number of components of a path. Each may need an open handle while links are resolved.
pub(crate) const MAX_DEPTH: usize = 256;

/// Maximum number of dangling links in a path: the kernel's limit for links.
const MAX_BLIND_LINKS: u32 = 40;

/// Maximum size of a file for [`Root::read`], in bytes. That function is for configuration and databases, not for content.
pub(crate) const MAX_READ: u64 = 16 << 20;

/// The mode of wrun's own directories: backups may hold passwords.
const OWN_DIRECTORY: u32 = 0o700;

/// The mode of directories that a program will fill.
const PUBLIC_DIRECTORY: u32 = 0o755;

const PLAIN_DIRECTORY: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
const HOLD: OFlags = OFlags::PATH.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
const CONTENT: OFlags =
    OFlags::RDONLY.union(OFlags::NOFOLLOW).union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);
const WITHOUT_LINKS: ResolveFlags =
    ResolveFlags::IN_ROOT.union(ResolveFlags::NO_SYMLINKS).union(ResolveFlags::NO_MAGICLINKS);

/// A directory in which paths are resolved: `/`, or the one of `--root DIR`.
#[derive(Debug)]
pub struct Root {
    handle: Dir,
    path: PathBuf,
    own: bool,
    /// The account that pays for operations below the root.
    account: Account,
    /// The most recently resolved paths.
    asked: asked::Asked,
    boot_mounts: Arc<BootMounts>,
    /// The mounts below it whose servers may be silent.
    remote: Arc<RemoteMounts>,
}

/// The place that a path leads to: an open parent directory, a bare name, and the path without links. Nothing need exist
/// there.
#[derive(Debug)]
pub struct Place {
    /// Counts the place as an open file, and gives the account that pays for its effects.
    open: OpenFile,
    /// Protects paths that are mounted at the next start.
    boot_mounts: Arc<BootMounts>,
    /// The mounts of its root whose servers may be silent.
    remote: Arc<RemoteMounts>,
    parent: Dir,
    name: String,
    real: String,
}

impl Root {
    /// Opens a root. The path is the operator's own and may lead over links.
    ///
    /// # Errors
    /// The path is not a directory, or cannot be opened.
    pub fn open(path: &Path, account: &Account) -> Result<Self, Fault> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let failed = |errno| Fault::new(errno, FileCall::Open, &path.to_string_lossy());
        let handle = rustix::fs::openat(CWD, path, flags, Mode::empty()).map_err(failed)?;
        let asked = asked::Asked::default();
        let handle = Dir::from(handle);
        let boot_mounts = handle.try_clone().map_err(|error| failed(fault::errno(&error)))?;
        let boot_mounts = Arc::new(BootMounts::new(boot_mounts));
        let remote = Arc::new(RemoteMounts::below(&handle));
        Ok(Self { handle, path: path.to_owned(), own: false, account: account.clone(), asked, boot_mounts, remote })
    }

    /// Opens one of wrun's own directories, which need no grants. Creates it, for this user only, if it is missing.
    ///
    /// # Errors
    /// The directory cannot be created or opened.
    pub fn open_own(path: &Path, account: &Account) -> Result<Self, Fault> {
        std::fs::DirBuilder::new().recursive(true).mode(OWN_DIRECTORY).create(path).map_err(|error| {
            let errno = error.raw_os_error().map_or(Errno::IO, Errno::from_raw_os_error);
            Fault::new(errno, FileCall::MakeDirectory, &path.to_string_lossy())
        })?;
        Ok(Self { own: true, ..Self::open(path, account)? })
    }

    /// Returns the path that opened it, for commands that are confined to the same root.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Tells whether the root is the whole machine.
    pub fn is_whole(&self) -> bool {
        self.path == Path::new("/")
    }

    /// Resolves an absolute path. It follows links on the way, but not the last component.
    ///
    /// # Errors
    /// The path is malformed, or a directory on the way is missing, is not a directory, or may not be searched.
    pub fn locate(&self, path: &str) -> Result<Place, Fault> {
        let found = self.find(path);
        self.note(path, &found);
        found
    }

    fn find(&self, path: &str) -> Result<Place, Fault> {
        check(path)?;
        if let Some((parent, name)) = plain(path) {
            let failed = |errno| Fault::new(errno, FileCall::Open, path).reached(path.to_owned());
            self.require_answers(path).map_err(failed)?;
            match self.open_plain(parent, PLAIN_DIRECTORY) {
                Ok(handle) => return Ok(self.place(handle.into(), name.to_owned(), path.to_owned())),
                Err(errno) if is_final(errno) => return Err(failed(errno)),
                Err(_) => {}
            }
        }
        walk::walk(self, path, false)
    }

    /// Resolves an absolute path and follows all links, also the last component.
    ///
    /// # Errors
    /// As [`locate`](Self::locate). Also: the last link forms a circle, or leads into a missing directory.
    pub fn locate_target(&self, path: &str) -> Result<Place, Fault> {
        let found = self.find_target(path);
        self.note(path, &found);
        found
    }

    fn find_target(&self, path: &str) -> Result<Place, Fault> {
        check(path)?;
        walk::walk(self, path, true)
    }

    fn note(&self, path: &str, found: &Result<Place, Fault>) {
        match found {
            Ok(place) => self.asked.note(path, place.real()),
            Err(fault) => fault.real().into_iter().for_each(|real| self.asked.note(path, real)),
        }
    }

    /// Returns the entry at a path without following the last link. Returns `None` if the entry, or its directory, does not
    /// exist.
    ///
    /// # Errors
    /// The path is malformed, or may not be read.
    pub fn entry(&self, path: &str) -> Result<Option<Entry>, Fault> {
        absent(self.locate(path).and_then(|place| place.entry()))
    }

    /// Returns the entry that a path leads to, or `None` if it does not exist.
    ///
    /// # Errors
    /// The path is malformed, forms a circle, or may not be read.
    pub fn target_entry(&self, path: &str) -> Result<Option<Entry>, Fault> {
        absent(self.locate_target(path).and_then(|place| place.entry()))
    }

    /// Returns the path for a grant check of an entry that may be missing: the real path as in
    /// [`future_place`](Self::future_place). The rest stays as written if links form a circle or if a directory may not be
    /// searched. So a policy cannot probe for files that it may not see.
    pub fn asked_about(&self, path: &str) -> String {
        let real = match check(path) {
            Ok(()) => walk::as_far_as_possible(self, path),
            Err(fault) => walk::by_text(fault.path.split('/')),
        };
        self.asked.note(path, &real);
        real
    }

    /// Returns the first symbolic link on the way of an absolute path without `.` and `..`, or `None` if there is no link.
    pub fn first_link(&self, path: &str) -> Option<FirstLink> {
        check(path).ok().and_then(|()| walk::first_link(self, path))
    }

    /// Returns the written form of the last path that resolved to this one, or to one above or below it.
    pub fn as_written(&self, resolved: &str) -> PathSource {
        self.asked.find(resolved)
    }

    /// Forgets all resolved paths.
    pub fn forget_asked(&self) {
        self.asked.clear();
    }

    /// Opens a regular file whose path has no link, without walking the path: the common case of thousands of unchanged files.
    /// Returns `None` if the path needs the full check. Opens only what was a regular file just now: opening alone has effects
    /// on pipes and devices.
    pub fn open_unlinked(&self, path: &str) -> Option<(OwnedFd, Entry)> {
        let (parent, name) = plain(path)?;
        if path.len() > MAX_PATH {
            return None;
        }
        let file = |entry: Entry| (entry.kind == Kind::File).then_some(entry);
        let by_name = AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT;
        if self.remote.is_empty() {
            // The look by name follows links on the way. It is only a hint, and no server keeps it waiting.
            file(Entry::of(&rustix::fs::statat(&self.handle, path.trim_start_matches('/'), by_name).ok()?))?;
            let handle = self.open_plain(path, CONTENT).ok()?;
            let entry = file(Entry::of(&rustix::fs::fstat(&handle).ok()?))?;
            return Some((handle, entry));
        }
        self.require_answers(path).ok()?;
        let parent = self.open_plain(parent, PLAIN_DIRECTORY).ok()?;
        file(Entry::of(&rustix::fs::statat(&parent, name, by_name).ok()?))?;
        let handle = rustix::fs::openat(&parent, name, CONTENT, Mode::empty()).ok()?;
        let entry = file(Entry::of(&rustix::fs::fstat(&handle).ok()?))?;
        Some((handle, entry))
    }

    /// Reads a whole small file of the root, and follows all links.
    ///
    /// # Errors
    /// The file is missing, is not a regular file, may not be read, or is larger than [`MAX_READ`].
    pub fn read(&self, path: &str) -> std::io::Result<Vec<u8>> {
        self.read_up_to(path, MAX_READ)
    }

    /// Reads a whole file of the root, and follows all links.
    ///
    /// # Errors
    /// As [`read`](Self::read), with another maximum.
    pub(crate) fn read_up_to(&self, path: &str, maximum: u64) -> std::io::Result<Vec<u8>> {
        let place = self.locate_target(path).map_err(|fault| std::io::Error::from(fault.errno))?;
        let (file, entry) = place.open_file().map_err(|fault| std::io::Error::from(fault.errno))?;
        if entry.size > maximum {
            return Err(std::io::ErrorKind::FileTooLarge.into());
        }
        let mut content = Vec::with_capacity(usize::try_from(entry.size).unwrap_or_default());
        std::fs::File::from(file).take(maximum).read_to_end(&mut content)?;
        Ok(content)
    }

    /// Opens the place for an effect: the granted real path, with its parent opened without following any link.
    ///
    /// # Errors
    /// A directory on the way is gone or was replaced.
    pub fn site(&self, granted: &GrantedPath) -> Result<Site, Fault> {
        Ok(Site::new(self.exact(granted.path())?))
    }

    /// Does the same for a directory that is granted with everything below it.
    ///
    /// # Errors
    /// As [`site`](Self::site).
    pub fn tree_site(&self, granted: &GrantedTree) -> Result<GrantedSite, Fault> {
        Ok(GrantedSite::new(self.exact(granted.path())?))
    }

    /// Opens the site of a file that the host itself maintains in a granted directory, such as `.git/config`.
    ///
    /// # Errors
    /// As [`site`](Self::site).
    pub fn site_below(&self, granted: &GrantedTree, name: &str) -> Result<Site, Fault> {
        Ok(Site::new(self.exact(&format!("{}/{name}", granted.path().trim_end_matches('/')))?))
    }

    /// Creates a granted directory and the missing directories above it, as a program would that fills it. Returns whether
    /// the granted directory was missing.
    ///
    /// # Errors
    /// A directory cannot be created, or a link or a file is on the way.
    pub fn make_granted(&self, granted: &GrantedTree, gid: Option<u32>) -> Result<bool, Fault> {
        self.make_way(granted.path(), gid)
    }

    /// Opens one of wrun's own directories inside this root, at a path without links. It holds files that programs of the
    /// root will read.
    ///
    /// # Errors
    /// The directory cannot be created, or a link is on the way.
    pub fn own_folder(&self, real: &str) -> Result<Self, Fault> {
        let _was_missing = self.make_way(real, None)?;
        let fault = |errno| Fault::new(errno, FileCall::Open, real);
        let handle = Dir::from(self.open_plain(real, PLAIN_DIRECTORY).map_err(fault)?);
        Ok(Self {
            path: self.path.join(real.trim_start_matches('/')),
            own: true,
            account: self.account.clone(),
            asked: asked::Asked::default(),
            boot_mounts: Arc::clone(&self.boot_mounts),
            remote: Arc::new(RemoteMounts::below(&handle)),
            handle,
        })
    }

    /// Creates a directory and the missing directories above it, without following a link. Returns whether the directory was
    /// missing.
    fn make_way(&self, real: &str, gid: Option<u32>) -> Result<bool, Fault> {
        let ends = real.match_indices('/').map(|(at, _)| at).skip(1).chain([real.len()]);
        let mut was_missing = false;
        for path in ends.filter_map(|end| real.get(..end)) {
            let site = Site::new(self.exact(path)?);
            was_missing = match site.make_directory(ModeBits::plain(PUBLIC_DIRECTORY)) {
                Ok(()) => {
                    site.refuse_inherited_lists()?;
                    true
                }
                Err(fault) if fault.errno == Errno::EXIST => false,
                Err(fault) => return Err(fault),
            };
            if was_missing && gid.is_some() {
                let held = site.hold()?;
                held.require_new_directory()?;
                held.set_owner(None, gid)?;
            }
        }
        Ok(was_missing)
    }

    /// Returns a site in one of wrun's own directories, and creates missing directories above it.
    ///
    /// # Errors
    /// The root was not opened with [`Root::open_own`], or a directory cannot be created.
    pub fn own_site(&self, path: &str) -> Result<Site, Fault> {
        if !self.own {
            return Err(Fault::new(Errno::PERM, FileCall::Open, path));
        }
        let mut made = String::new();
        let parent = plain(path).ok_or_else(|| Fault::new(Errno::INVAL, FileCall::Open, path))?.0;
        for part in parent.split('/').filter(|part| !part.is_empty()) {
            made = made + "/" + part;
            match Site::new(self.exact(&made)?).make_directory(ModeBits::plain(OWN_DIRECTORY)) {
                Err(fault) if fault.errno != Errno::EXIST => return Err(fault),
                _ => {}
            }
        }
        Ok(Site::new(self.exact(path)?))
    }

    /// Returns the entry at a real path. `None`: it does not exist, or a directory on the way is a link or another file.
    ///
    /// # Errors
    /// It cannot be looked at.
    pub(crate) fn exact_entry(&self, real: &str) -> Result<Option<Entry>, Fault> {
        match self.exact(real).and_then(|place| place.entry()) {
            Err(fault) if fault.errno == Errno::LOOP => Ok(None),
            found => absent(found),
        }
    }

    /// Opens the place with this real path. No link on the way is followed.
    ///
    /// # Errors
    /// A directory on the way is a link, or cannot be opened.
    pub(crate) fn exact(&self, real: &str) -> Result<Place, Fault> {
        check(real)?;
        if real == "/" {
            return walk::walk(self, real, false);
        }
        let (parent, name) = plain(real).ok_or_else(|| Fault::new(Errno::INVAL, FileCall::Open, real))?;
        self.require_answers(real).map_err(|errno| Fault::new(errno, FileCall::Open, real))?;
        match self.open_plain(parent, PLAIN_DIRECTORY) {
            Ok(handle) => Ok(self.place(handle.into(), name.to_owned(), real.to_owned())),
            Err(Errno::NOSYS | Errno::PERM | Errno::AGAIN) => {
                let place = walk::walk(self, real, false)?;
                if place.real == real { Ok(place) } else { Err(Fault::new(Errno::LOOP, FileCall::Open, real)) }
            }
            Err(errno) => Err(Fault::new(errno, FileCall::Open, real)),
        }
    }

    fn place(&self, parent: Dir, name: String, real: String) -> Place {
        let (boot_mounts, remote) = (Arc::clone(&self.boot_mounts), Arc::clone(&self.remote));
        Place { open: self.account.open_file(), boot_mounts, remote, parent, name, real }
    }

    /// Tells whether `/etc/fstab` names a path below a folder, which is given by its resolved path.
    ///
    /// # Errors
    /// The file exists and cannot be read.
    pub fn mounts_at_boot_below(&self, real: &str) -> Result<bool, Fault> {
        self.boot_mounts.names_below(real).map_err(|errno| Fault::new(errno, FileCall::Open, real))
    }

    /// Returns the account that pays for operations below the root.
    pub fn account(&self) -> &Account {
        &self.account
    }

    /// Fails if a file system on the way to a path does not answer.
    fn require_answers(&self, path: &str) -> Result<(), Errno> {
        if self.remote.is_empty() {
            return Ok(());
        }
        self.remote.require_automounts(path, &self.account)?;
        // If a link comes before any mount, whoever follows it asks.
        let unmounted = WITHOUT_LINKS.union(ResolveFlags::NO_XDEV);
        match rustix::fs::openat2(&self.handle, path, HOLD, Mode::empty(), unmounted) {
            Err(errno) if step::may_be_mounted(errno) => self.remote.require_answers(path, &self.account),
            _ => Ok(()),
        }
    }

    fn open_plain(&self, path: &str, flags: OFlags) -> Result<OwnedFd, Errno> {
        let path = if path.is_empty() { "/" } else { path };
        rustix::fs::openat2(&self.handle, path, flags, Mode::empty(), WITHOUT_LINKS)
    }
}

/// Turns the error for a missing entry, or a missing directory of it, into `None`.
pub fn absent<T>(result: Result<T, Fault>) -> Result<Option<T>, Fault> {
    match result {
        Ok(found) => Ok(Some(found)),
        Err(fault) if fault.is_absence() => Ok(None),
        Err(fault) => Err(fault),
    }
}

/// Fails unless a text is an absolute path. This check needs no machine.
///
/// # Errors
/// `EINVAL`, also for a path with a zero byte.
pub fn absolute(path: &str) -> Result<(), Fault> {
    match path.starts_with('/') && !path.contains('\0') {
        true => Ok(()),
        false => Err(Fault::new(Errno::INVAL, FileCall::Open, path).because(fault::Hint::NotAbsolute)),
    }
}

/// Fails unless a text is a valid path with an accepted length and depth.
fn check(path: &str) -> Result<(), Fault> {
    absolute(path)?;
    let is_deep = || path.split('/').filter(|part| !part.is_empty()).count() > MAX_DEPTH;
    match path.len() > MAX_PATH || is_deep() {
        true => Err(Fault::new(Errno::NAMETOOLONG, FileCall::Open, path)),
        false => Ok(()),
    }
}

/// Splits a path that needs no cleaning into parent (empty for the root) and name.
fn plain(path: &str) -> Option<(&str, &str)> {
    let rest = path.strip_prefix('/')?;
    let clean = rest.split('/').all(|part| !matches!(part, "" | "." | ".."));
    if clean { path.rsplit_once('/') } else { None }
}

/// Tells whether an error is final: no link is on the way, so a walk would give the same error.
fn is_final(errno: Errno) -> bool {
    matches!(errno, Errno::NOENT | Errno::NOTDIR | Errno::ACCESS)
}

#[cfg(test)]
mod tests;
