//! Resolves a path component by component, with links resolved inside the root.
//!
//! The kernel alone could do this (`openat2(RESOLVE_IN_ROOT)`), but does not return the real path. That would need a second
//! look through `/proc`, which some images do not have. A walk over handles knows the real path, and works where `openat2` is
//! forbidden.
//!
//! `NAME/..` is removed from a path, and from the text of a link, before anything is looked up, as in Ruby's
//! `File.expand_path`. The kernel would check whether NAME is a directory. A policy that asks for `/root/.ssh/../../srv/own`
//! could then learn whether a hidden directory exists.

use super::fault::errno;
use super::{Fault, HOLD, Kind, MAX_DEPTH, Place, Root, entry::Entry, step::Steps, tree};
use cap_fs_ext::DirExt as _;
use cap_std::fs::Dir;
use contract::{FileCall, OpenFile};
use grants::FirstLink;
use rustix::io::Errno;

/// Maximum number of links in a path: the kernel's own limit.
const MAX_LINKS: u32 = 40;

/// The open directories of a walk, from the first component on. The root itself is not included.
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

    /// Returns the place of a name in the last directory.
    fn place(self, name: String) -> Result<Place, Errno> {
        let real = self.real() + "/" + &name;
        let parent = self.last().try_clone().map_err(|_| Errno::MFILE)?;
        Ok(self.root.place(parent, name, real))
    }

    /// Returns the place of the last directory itself.
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

/// Resolves a path. If `follow` is true, it follows also a link in the last component. The last component may be missing.
pub(super) fn walk(root: &Root, path: &str, follow: bool) -> Result<Place, Fault> {
    resolve(root, path, follow).map_err(|(errno, reached)| Fault::new(errno, FileCall::Open, path).reached(reached))
}

/// Returns the real path, with links followed as far as possible. The rest stays as written: missing parts, directories that
/// may not be searched, and links in a circle.
pub(super) fn as_far_as_possible(root: &Root, path: &str) -> String {
    match resolve(root, path, true) {
        Ok(place) => place.real,
        Err((_, reached)) => reached,
    }
}

/// Builds an absolute path from names; `..` removes the name before it.
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

/// Tells whether a link with this name leads out of `/proc` to something of a process: its root, its directory or its files.
/// `directories` are those from the root on.
pub(crate) fn is_of_a_process<'n>(mut directories: impl Iterator<Item = &'n str>, name: &str) -> bool {
    directories.next() == Some("proc")
        && (matches!(name, "root" | "cwd" | "exe") || directories.any(|one| matches!(one, "fd" | "map_files" | "ns")))
}

/// The state of a walk.
struct Walk<'a> {
    trail: Trail<'a>,
    /// The component that the walk has reached.
    name: Option<String>,
    /// The remaining components, the next one last.
    ahead: Vec<String>,
}

impl Walk<'_> {
    /// Continues the walk to its end. The place is then the present name in the last directory, or that directory itself.
    fn go_on(&mut self, follow: bool) -> Result<(), Errno> {
        let mut links = 0;
        let root = self.trail.root;
        let steps = (!root.remote.is_empty()).then(|| Steps::new(&root.remote, root.account()));
        while let Some(name) = self.ahead.pop() {
            if name == ".." {
                self.trail.directories.pop();
                continue;
            }
            let is_last = self.ahead.is_empty();
            let name = &*self.name.insert(name);
            if let Some(steps) = &steps {
                steps.require_answer(self.trail.last(), name.as_ref()).map_err(|stopped| stopped.errno)?;
            }
            let metadata = match self.trail.last().symlink_metadata(name) {
                Ok(metadata) => metadata,
                Err(error) if is_last && errno(&error) == Errno::NOENT => return Ok(()),
                Err(error) => return Err(errno(&error)),
            };
            match Entry::of_metadata(&metadata).kind {
                Kind::Link if is_last && !follow => return Ok(()),
                // The target would reveal that the process exists and which files it has open.
                Kind::Link if self.trail.is_of_a_process(name) => return Err(Errno::ACCESS),
                Kind::Link => {
                    links += 1;
                    let target = self.trail.last().read_link_contents(name).map_err(|error| errno(&error))?;
                    let target = target.into_os_string().into_string().map_err(|_| Errno::ILSEQ)?;
                    if links > MAX_LINKS {
                        return Err(Errno::LOOP);
                    }
                    if target.starts_with('/') {
                        self.trail.directories.clear();
                    }
                    self.ahead.extend(components(&target));
                    self.name = None;
                }
                Kind::Directory => {
                    if self.trail.directories.len() >= MAX_DEPTH {
                        return Err(Errno::NAMETOOLONG);
                    }
                    // If the entry has become a link meanwhile, this fails with ENOTDIR.
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

    /// Returns the real path so far, with the remaining components as written.
    fn reached(&self) -> String {
        let real = self.trail.real();
        let rest = self.name.iter().chain(self.ahead.iter().rev()).map(String::as_str);
        by_text(real.split('/').chain(rest))
    }
}

/// Returns the first link on the way of an absolute path without `.` and `..`. Returns `None` if there is no link, or if the
/// way cannot be seen up to it.
pub(super) fn first_link(root: &Root, path: &str) -> Option<FirstLink> {
    root.require_answers(path).ok()?;
    let ends: Vec<usize> = path.match_indices('/').map(|(at, _)| at).skip(1).chain([path.len()]).collect();
    // The kernel reports a link before it looks at anything behind it, so half of the rest can be left out each time.
    let is_before = |end: &usize| {
        let way = path.get(..*end).unwrap_or_default();
        match root.open_plain(way, HOLD) {
            Ok(handle) => rustix::fs::fstat(&handle).is_ok_and(|about| Entry::of(&about).kind != Kind::Link),
            Err(Errno::NOSYS | Errno::PERM | Errno::AGAIN) => as_far_as_possible(root, way) == way,
            Err(errno) => errno != Errno::LOOP,
        }
    };
    let end = *ends.get(ends.partition_point(is_before))?;
    let target = root.find(path.get(..end)?).ok()?.read_link().ok()?;
    Some(FirstLink { end, target })
}

/// Returns the place, or the error with the path that was reached.
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

/// Returns the components of a path, last first, without empty ones and `.`. A `..` stays only if no name is before it, as at
/// the beginning of a link's text.
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
