//! Resolves a path component by component, links inside the root.
//!
//! The kernel could do this alone (`openat2(RESOLVE_IN_ROOT)`), but would not say the real path, which has to be asked of
//! `/proc` afterwards: a second look, and there is no `/proc` in some images. A walk over handles knows it, works where
//! `openat2` is forbidden.
//!
//! `NAME/..` is left out of a path before anything is looked at, as Ruby's `File.expand_path` has it, and so it is in the
//! text of a link. The kernel looks whether NAME is a directory: whoever asked for `/root/.ssh/../../srv/own` would hear
//! from the answer whether there is a directory that he may not see.

use super::fault::errno;
use super::{Fault, Kind, MAXIMUM_DEPTH, Place, Root, entry::Entry, tree};
use cap_fs_ext::DirExt as _;
use cap_std::fs::Dir;
use contract::{FileCall, OpenFile};
use rustix::io::Errno;

/// How many links a path may lead over: the kernel's own limit.
const MAXIMUM_LINKS: u32 = 40;

/// Directories from the root's first component on; the root itself is not in it.
struct Trail<'a> {
    root: &'a Root,
    directories: Vec<(Dir, String, OpenFile)>,
}

impl Trail<'_> {
    fn last(&self) -> &Dir {
        self.directories.last().map_or(&self.root.handle, |(handle, ..)| handle)
    }

    fn is_of_a_process(&self, name: &str) -> bool {
        is_of_a_process(self.directories.iter().map(|(_, name, _)| name.as_str()), name)
    }

    fn real(&self) -> String {
        self.directories.iter().fold(String::new(), |path, (_, name, _)| path + "/" + name)
    }

    /// The place of a name in the directory reached.
    fn place(self, name: String) -> Result<Place, Errno> {
        let real = self.real() + "/" + &name;
        let parent = self.last().try_clone().map_err(|_| Errno::MFILE)?;
        Ok(self.root.place(parent, name, real))
    }

    /// The place of the directory reached itself.
    fn into_place(mut self) -> Result<Place, Errno> {
        match self.directories.pop() {
            Some((_, name, _)) => self.place(name),
            None => {
                let parent = self.root.handle.try_clone().map_err(|_| Errno::MFILE)?;
                Ok(self.root.place(parent, ".".into(), "/".into()))
            }
        }
    }
}

/// Where a path leads; `follow`: the last link too. A missing last component is a place as well.
pub(super) fn walk(root: &Root, path: &str, follow: bool) -> Result<Place, Fault> {
    resolve(root, path, follow).map_err(|(errno, reached)| Fault::new(errno, FileCall::Open, path).reached(reached))
}

/// The path that a path leads to, all links followed as far as they can be. The rest is the text's own: what is missing, what
/// may not be searched, what leads in a circle.
pub(super) fn as_far_as_possible(root: &Root, path: &str) -> String {
    match resolve(root, path, true) {
        Ok(place) => place.real,
        Err((_, reached)) => reached,
    }
}

/// An absolute path out of these names, `..` taken by its text.
pub(super) fn by_text<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let mut kept: Vec<&str> = Vec::new();
    for name in names.filter(|name| !matches!(*name, "" | ".")) {
        if name == ".." {
            kept.pop();
        } else {
            kept.push(name);
        }
    }
    format!("/{}", kept.join("/"))
}

/// Whether a link with this name, in these directories from the root on, leads out of `/proc` to what a process has: its root, its
/// directory, its files.
pub(crate) fn is_of_a_process<'n>(mut directories: impl Iterator<Item = &'n str>, name: &str) -> bool {
    directories.next() == Some("proc")
        && (matches!(name, "root" | "cwd" | "exe") || directories.any(|one| matches!(one, "fd" | "map_files" | "ns")))
}

/// A walk on its way.
struct Walk<'a> {
    trail: Trail<'a>,
    /// The component that is looked at.
    name: Option<String>,
    /// What is still to be walked, the next component last.
    ahead: Vec<String>,
}

impl Walk<'_> {
    /// Walks on. Afterwards the place is that of the name in the directory reached, or that directory itself.
    fn go_on(&mut self, follow: bool) -> Result<(), Errno> {
        let mut links = 0;
        while let Some(name) = self.ahead.pop() {
            if name == ".." {
                self.trail.directories.pop();
                continue;
            }
            let is_last = self.ahead.is_empty();
            let name = &*self.name.insert(name);
            let metadata = match self.trail.last().symlink_metadata(name) {
                Ok(metadata) => metadata,
                Err(error) if is_last && errno(&error) == Errno::NOENT => return Ok(()),
                Err(error) => return Err(errno(&error)),
            };
            match Entry::of_metadata(&metadata).kind {
                Kind::Link if is_last && !follow => return Ok(()),
                // Where it leads tells that there is such a process, and what it has open.
                Kind::Link if self.trail.is_of_a_process(name) => return Err(Errno::ACCESS),
                Kind::Link => {
                    links += 1;
                    let target = self.trail.last().read_link_contents(name).map_err(|error| errno(&error))?;
                    let target = target.into_os_string().into_string().map_err(|_| Errno::ILSEQ)?;
                    if links > MAXIMUM_LINKS {
                        return Err(Errno::LOOP);
                    }
                    if target.starts_with('/') {
                        self.trail.directories.clear();
                    }
                    self.ahead.extend(components(&target));
                    self.name = None;
                }
                Kind::Directory => {
                    if self.trail.directories.len() >= MAXIMUM_DEPTH {
                        return Err(Errno::NAMETOOLONG);
                    }
                    // If it became a link since the look above, this fails with ENOTDIR.
                    let handle = self.trail.last().open_dir_nofollow(name).map_err(|error| errno(&error))?;
                    let open = tree::opened(self.trail.root.account())?;
                    self.trail.directories.extend(self.name.take().map(|name| (handle, name, open)));
                }
                _ if is_last => return Ok(()),
                _ => return Err(Errno::NOTDIR),
            }
        }
        Ok(())
    }

    /// The directory reached, and what was still ahead by its text.
    fn reached(&self) -> String {
        let real = self.trail.real();
        let rest = self.name.iter().chain(self.ahead.iter().rev()).map(String::as_str);
        by_text(real.split('/').chain(rest))
    }
}

/// The place; or why there cannot be one, and the path that was reached.
fn resolve(root: &Root, path: &str, follow: bool) -> Result<Place, (Errno, String)> {
    let trail = Trail { root, directories: Vec::new() };
    let mut walk = Walk { trail, name: None, ahead: components(path).collect() };
    if let Err(errno) = walk.go_on(follow) {
        return Err((errno, walk.reached()));
    }
    let Walk { trail, name, .. } = walk;
    let place = match name {
        Some(name) => trail.place(name),
        None => trail.into_place(),
    };
    place.map_err(|errno| (errno, by_text(path.split('/'))))
}

/// The components of a path that lead anywhere, last first. `..` is left only where nothing stands before it: at the
/// beginning of a link's text.
pub(crate) fn components(path: &str) -> impl Iterator<Item = String> {
    let mut kept: Vec<&str> = Vec::new();
    for name in path.split('/').filter(|name| !matches!(*name, "" | ".")) {
        match kept.last() {
            Some(last) if name == ".." && *last != ".." => drop(kept.pop()),
            _ => kept.push(name),
        }
    }
    kept.into_iter().rev().map(str::to_owned)
}
