//! The file system below one root, and the only place of this room that opens paths.
//!
//! Guests, and whoever owns a directory that a policy manages, may put links where they like while wrun works. So a path is
//! never handed to the kernel to be followed freely:
//! - **Looking** ([`Root`], [`Place`]): a path without links is opened in one call that refuses links
//!   (`openat2(RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS)`). If there is one on the way, the path is walked component by
//!   component over directory handles, links being read and resolved inside the root: a link to `/run` means the root's
//!   `/run`. Either way the *real* path is known without asking again, and it is what `grants` checks.
//! - **Changing** ([`Site`]): a site is made only of a proof for a real path, whose parent is opened refusing any link, and
//!   all effects are calls on that handle with one bare name. A link swapped in after the check makes the opening fail; one
//!   swapped in later is not followed. Nothing outside the granted path changes. wrun's own directories (backups, cache)
//!   are roots of their own, opened with [`Root::open_own`], and need no proof.
//!
//! Rejected: keeping the handles of the inspection for the effects. They would follow a directory that is moved away, to
//! where nothing was granted; and they would be many. Also rejected: a cache of directory handles, for the same reason.

mod access_list;
mod asked;
mod boot_mounts;
mod disk;
mod entry;
mod fault;
mod file_cache;
mod giving;
mod held;
mod home;
mod nameless;
mod open;
mod pinned;
mod place;
mod replace;
mod site;
mod staging;
mod tree;
mod user_entry;
mod walk;

pub use asked::{PathSource, Written};
pub use disk::Disk;
pub use entry::{Entry, Kind};
pub use fault::Fault;
pub(crate) use fault::system_error;
pub use giving::Given;
pub use held::Held;
pub use home::HomeAccess;
pub use nameless::NamelessFile;
pub(crate) use nameless::memory_file;
pub use pinned::Pinned;
pub use replace::{ModeBits, NewFileAttributes, StagedFile};
pub use site::GrantedSite;
pub use site::Site;
pub use tree::UserNumbers;
pub use user_entry::UserEntryChange;

use boot_mounts::BootMounts;
use cap_std::fs::Dir;
use contract::{Account, FileCall, OpenFile};
use grants::{GrantedPath, GrantedTree};
use rustix::fd::OwnedFd;
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use std::io::Read;
use std::ops::ControlFlow;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
pub(crate) use walk::{components, is_of_a_process};

/// The longest path that is looked at, in bytes: the kernel's own limit.
pub(crate) const MAXIMUM_PATH: usize = 4096;

/// How many components a path may have. Each may cost an open handle while links are resolved.
pub(crate) const MAXIMUM_DEPTH: usize = 256;

/// How many links to nothing a path may lead over: the kernel's own limit of links.
const MAXIMUM_BLIND_LINKS: u32 = 40;

/// How much [`Root::read`] reads, in bytes: it is for configuration and databases, not for content.
pub(crate) const MAXIMUM_READ: u64 = 16 << 20;

/// The mode of wrun's own directories: backups may hold passwords.
const OWN_DIRECTORY: u32 = 0o700;

/// The mode of directories that are made for a program to fill.
const PUBLIC_DIRECTORY: u32 = 0o755;

const PLAIN_DIRECTORY: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
const CONTENT: OFlags =
    OFlags::RDONLY.union(OFlags::NOFOLLOW).union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);
const WITHOUT_LINKS: ResolveFlags =
    ResolveFlags::IN_ROOT.union(ResolveFlags::NO_SYMLINKS).union(ResolveFlags::NO_MAGICLINKS);

/// A directory that paths are resolved in: `/`, or `--root DIR`.
#[derive(Debug)]
pub struct Root {
    handle: Dir,
    path: PathBuf,
    own: bool,
    /// What is done below it is charged to it.
    account: Account,
    /// The last paths that were resolved.
    asked: asked::Asked,
    boot_mounts: Arc<BootMounts>,
}

/// Where a path leads: an open parent directory, a bare name, and the path without links. What is there may be nothing.
#[derive(Debug)]
pub struct Place {
    /// Counts it as open, and knows what its effects are charged to.
    open: OpenFile,
    /// Keeps its effects from what is mounted at the next start.
    boot_mounts: Arc<BootMounts>,
    parent: Dir,
    name: String,
    real: String,
}

/// Where a path would lead if what is missing were made.
#[derive(Debug)]
pub struct FuturePlace {
    /// The deepest thing on the way that is there.
    pub base: Place,
    /// The attributes of what is at that place.
    pub entry: Entry,
    /// The names below it that are missing, in order.
    pub missing: Vec<String>,
}

/// The deepest thing on the way of a path that is there, and the names that are missing below it.
type Deepest = (Place, Entry, Vec<String>);

impl FuturePlace {
    /// The real path that it all would have.
    pub fn real(&self) -> String {
        self.real_paths().pop().unwrap_or_else(|| self.base.real.clone())
    }

    /// The real paths of what is missing, in order.
    pub fn real_paths(&self) -> Vec<String> {
        let base = self.base.real.trim_end_matches('/');
        let grow = |path: &mut String, name: &String| {
            path.push('/');
            path.push_str(name);
            Some(path.clone())
        };
        self.missing.iter().scan(base.to_owned(), grow).collect()
    }
}

impl Root {
    /// Opens a root. The path is the operator's own and may lead over links.
    ///
    /// # Errors
    /// It is not a directory, or may not be opened.
    pub fn open(path: &Path, account: &Account) -> Result<Self, Fault> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let failed = |errno| Fault::new(errno, FileCall::Open, &path.to_string_lossy());
        let handle = rustix::fs::openat(CWD, path, flags, Mode::empty()).map_err(failed)?;
        let asked = asked::Asked::default();
        let handle = Dir::from(handle);
        let boot_mounts = handle.try_clone().map_err(|error| failed(fault::errno(&error)))?;
        let boot_mounts = Arc::new(BootMounts::new(boot_mounts));
        Ok(Self { handle, path: path.to_owned(), own: false, account: account.clone(), asked, boot_mounts })
    }

    /// Opens a directory of wrun's own, where no grants are asked; makes it, for this user only, where it is missing.
    ///
    /// # Errors
    /// It cannot be made or opened.
    pub fn open_own(path: &Path, account: &Account) -> Result<Self, Fault> {
        std::fs::DirBuilder::new().recursive(true).mode(OWN_DIRECTORY).create(path).map_err(|error| {
            let errno = error.raw_os_error().map_or(Errno::IO, Errno::from_raw_os_error);
            Fault::new(errno, FileCall::MakeDirectory, &path.to_string_lossy())
        })?;
        Ok(Self { own: true, ..Self::open(path, account)? })
    }

    /// The path it was opened by, for commands that are confined to the same root.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it is the whole machine.
    pub fn is_whole(&self) -> bool {
        self.path == Path::new("/")
    }

    /// Where an absolute path leads if links on the way are followed, the last component not.
    ///
    /// # Errors
    /// It is malformed; a directory on the way is missing, is not a directory, or may not be searched.
    pub fn locate(&self, path: &str) -> Result<Place, Fault> {
        let found = self.find(path);
        self.note(path, &found);
        found
    }

    fn find(&self, path: &str) -> Result<Place, Fault> {
        check(path)?;
        if let Some((parent, name)) = plain(path) {
            match self.open_plain(parent, PLAIN_DIRECTORY) {
                Ok(handle) => return Ok(self.place(handle.into(), name.to_owned(), path.to_owned())),
                Err(errno) if is_final(errno) => {
                    return Err(Fault::new(errno, FileCall::Open, path).reached(path.to_owned()));
                }
                Err(_) => {}
            }
        }
        walk::walk(self, path, false)
    }

    /// Where an absolute path leads if all links are followed, the last component too.
    ///
    /// # Errors
    /// As [`locate`](Self::locate); the last link leads in a circle, or into a directory that is not there.
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

    /// What is at a path, the last link not followed; none: nothing, or no directory to be in.
    ///
    /// # Errors
    /// The path is malformed or may not be looked at.
    pub fn entry(&self, path: &str) -> Result<Option<Entry>, Fault> {
        absent(self.locate(path).and_then(|place| place.entry()))
    }

    /// What a path leads to; none: nothing.
    ///
    /// # Errors
    /// The path is malformed, leads in a circle, or may not be looked at.
    pub fn target_entry(&self, path: &str) -> Result<Option<Entry>, Fault> {
        absent(self.locate_target(path).and_then(|place| place.entry()))
    }

    /// Where an absolute path would lead if what is missing were made: the real path of the deepest thing on the way that
    /// is there, and the names that are missing below it.
    ///
    /// # Errors
    /// It is malformed, leads in a circle or may not be searched; `..` stands below what is missing.
    pub fn future_place(&self, path: &str) -> Result<FuturePlace, Fault> {
        let (base, entry, missing) = self.deepest(path)?;
        let future_place = FuturePlace { base, entry, missing };
        self.asked.note(path, &future_place.real());
        Ok(future_place)
    }

    /// The path by which the grant is asked for what may be missing: that of [`future_place`](Self::prospect), and the one that
    /// the text says where `..` stands below what is missing, where links lead in a circle, and where nobody may search.
    /// So a policy cannot probe for what it may not see.
    pub fn asked_about(&self, path: &str) -> String {
        let real = match check(path) {
            Ok(()) => walk::as_far_as_possible(self, path),
            Err(fault) => walk::by_text(fault.path.split('/')),
        };
        self.asked.note(path, &real);
        real
    }

    /// How the last path that led to a resolved one, or to one above or below it, was written.
    pub fn as_written(&self, resolved: &str) -> PathSource {
        self.asked.find(resolved)
    }

    /// Forgets which paths were resolved.
    pub fn forget_asked(&self) {
        self.asked.clear();
    }

    /// The deepest thing on the way of a path that is there, and the names that are missing below it. A link to something
    /// missing is followed to where it would lead, as one to something that is there: so both are asked about alike.
    fn deepest(&self, path: &str) -> Result<Deepest, Fault> {
        check(path)?;
        let mut path = path.to_owned();
        for _ in 0..=MAXIMUM_BLIND_LINKS {
            path = walk::by_text(path.split('/'));
            check(&path)?;
            path = match self.deepest_or_link(&path)? {
                ControlFlow::Break(found) => return Ok(found),
                ControlFlow::Continue(behind_link) => behind_link,
            };
        }
        Err(Fault::new(Errno::LOOP, FileCall::Open, &path))
    }

    /// One round of [`deepest`](Self::deepest): what was found, or the path behind a link that leads to nothing.
    fn deepest_or_link(&self, path: &str) -> Result<ControlFlow<Deepest, String>, Fault> {
        let names: Vec<&str> = path.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
        for end in (0..=names.len()).rev() {
            let (there, missing) = names.split_at_checked(end).unwrap_or_default();
            let there = format!("/{}", there.join("/"));
            if let Some(place) = absent(self.find_target(&there))?
                && let Some(entry) = absent(place.entry())?
            {
                let missing = missing.iter().map(|name| (*name).to_owned()).collect();
                return Ok(ControlFlow::Break((place, entry, missing)));
            }
            let Some(place) = absent(self.find(&there))? else { continue };
            if absent(place.entry())?.is_some_and(|entry| entry.kind == Kind::Link) {
                let text = place.read_link()?;
                let parent = place.real().rsplit_once('/').map_or("", |(parent, _)| parent);
                let target = if text.starts_with('/') { text } else { format!("{parent}/{text}") };
                return Ok(ControlFlow::Continue(format!("{target}/{}", missing.join("/"))));
            }
        }
        Err(Fault::new(Errno::NOENT, FileCall::Open, path))
    }

    /// Opens a regular file that is reached without any link, in a single look at the path: the case of thousands of
    /// unchanged files. None: look closer. Never opens below `/dev`, where opening alone has effects.
    pub fn open_unlinked(&self, path: &str) -> Option<(OwnedFd, Entry)> {
        plain(path)?;
        if path.starts_with("/dev/") || path.len() > MAXIMUM_PATH {
            return None;
        }
        let handle = self.open_plain(path, CONTENT).ok()?;
        let entry = Entry::of(&rustix::fs::fstat(&handle).ok()?);
        (entry.kind == Kind::File).then_some((handle, entry))
    }

    /// Reads a small file of the root whole, all links followed.
    ///
    /// # Errors
    /// It is not there, is not a file, may not be read, or is larger than [`MAXIMUM_READ`].
    pub fn read(&self, path: &str) -> std::io::Result<Vec<u8>> {
        let place = self.locate_target(path).map_err(|fault| std::io::Error::from(fault.errno))?;
        let (file, entry) = place.open_file().map_err(|fault| std::io::Error::from(fault.errno))?;
        if entry.size > MAXIMUM_READ {
            return Err(std::io::ErrorKind::FileTooLarge.into());
        }
        let mut content = Vec::with_capacity(usize::try_from(entry.size).unwrap_or_default());
        std::fs::File::from(file).take(MAXIMUM_READ).read_to_end(&mut content)?;
        Ok(content)
    }

    /// Where an effect may happen: the granted real path, its parent opened without following any link.
    ///
    /// # Errors
    /// A directory on the way is gone, or something else stands there by now.
    pub fn site(&self, granted: &GrantedPath) -> Result<Site, Fault> {
        Ok(Site::new(self.exact(granted.path())?))
    }

    /// The same for a directory that is granted with all that is below it.
    ///
    /// # Errors
    /// As [`site`](Self::site).
    pub fn tree_site(&self, granted: &GrantedTree) -> Result<GrantedSite, Fault> {
        Ok(GrantedSite::new(self.exact(granted.path())?))
    }

    /// The site of something that the host itself keeps in a granted directory, such as `.git/config`.
    ///
    /// # Errors
    /// As [`site`](Self::site).
    pub fn site_below(&self, granted: &GrantedTree, name: &str) -> Result<Site, Fault> {
        Ok(Site::new(self.exact(&format!("{}/{name}", granted.path().trim_end_matches('/')))?))
    }

    /// Makes a granted directory, and those on the way to it that are missing, as a program would that is told to fill it.
    /// Returns whether it was missing itself.
    ///
    /// # Errors
    /// One cannot be made; or a link or a file is on the way.
    pub fn make_granted(&self, granted: &GrantedTree, gid: Option<u32>) -> Result<bool, Fault> {
        self.make_way(granted.path(), gid)
    }

    /// A directory of wrun's own inside this root, at a path without links, for what programs of the root are to read.
    ///
    /// # Errors
    /// It cannot be made, or a link is on the way.
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
            handle,
        })
    }

    /// Makes a directory and those on the way to it that are missing, without following a link. Returns whether it was
    /// missing itself.
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

    /// A site in a directory of wrun's own; missing directories on the way are made.
    ///
    /// # Errors
    /// The root was not opened with [`Root::open_own`], or a directory cannot be made.
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

    /// The place with this real path.
    fn exact(&self, real: &str) -> Result<Place, Fault> {
        check(real)?;
        if real == "/" {
            return walk::walk(self, real, false);
        }
        let (parent, name) = plain(real).ok_or_else(|| Fault::new(Errno::INVAL, FileCall::Open, real))?;
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
        Place { open: self.account.open_file(), boot_mounts: Arc::clone(&self.boot_mounts), parent, name, real }
    }

    /// Whether the table of file systems names something below a folder, by the folder's resolved path.
    ///
    /// # Errors
    /// The table is there and cannot be read.
    pub fn mounts_at_boot_below(&self, real: &str) -> Result<bool, Fault> {
        self.boot_mounts.names_below(real).map_err(|errno| Fault::new(errno, FileCall::Open, real))
    }

    /// What is done below the root is charged to it.
    pub fn account(&self) -> &Account {
        &self.account
    }

    fn open_plain(&self, path: &str, flags: OFlags) -> Result<OwnedFd, Errno> {
        let path = if path.is_empty() { "/" } else { path };
        rustix::fs::openat2(&self.handle, path, flags, Mode::empty(), WITHOUT_LINKS)
    }
}

/// Nothing there, or no directory to be in, is an answer and no failure.
pub fn absent<T>(result: Result<T, Fault>) -> Result<Option<T>, Fault> {
    match result {
        Ok(found) => Ok(Some(found)),
        Err(fault) if fault.is_absence() => Ok(None),
        Err(fault) => Err(fault),
    }
}

/// Fails if a text is not an absolute path, on any machine.
///
/// # Errors
/// `EINVAL`, also for a path with a zero byte.
pub fn absolute(path: &str) -> Result<(), Fault> {
    match path.starts_with('/') && !path.contains('\0') {
        true => Ok(()),
        false => Err(Fault::new(Errno::INVAL, FileCall::Open, path).because(fault::Hint::NotAbsolute)),
    }
}

/// Fails if a text is not a valid path, whoever says it.
fn check(path: &str) -> Result<(), Fault> {
    absolute(path)?;
    let is_deep = || path.split('/').filter(|part| !part.is_empty()).count() > MAXIMUM_DEPTH;
    match path.len() > MAXIMUM_PATH || is_deep() {
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

/// Errors that looking closer would not change: there is no link on the way.
fn is_final(errno: Errno) -> bool {
    matches!(errno, Errno::NOENT | Errno::NOTDIR | Errno::ACCESS)
}

#[cfg(test)]
mod tests;
