//! Resolves a path component by component, links inside the root.
//!
//! The kernel could do this alone (`openat2(RESOLVE_IN_ROOT)`), but would not say the real path, which has to be asked of
//! `/proc` afterwards: a second look, and there is no `/proc` in some images. A walk over handles knows it, works where
//! `openat2` is forbidden, and goes back over `..` by the way it came.

use super::{DIRECTORY, Fault, MAXIMUM_DEPTH, Place, Root};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, FileType, Mode};
use rustix::io::Errno;

/// How many links a path may lead over: the kernel's own limit.
const MAXIMUM_LINKS: u32 = 40;

/// Directories from the root's first component on; the root itself is not in it.
struct Trail<'a> {
    root: &'a Root,
    directories: Vec<(OwnedFd, String)>,
}

impl Trail<'_> {
    fn last(&self) -> BorrowedFd<'_> {
        self.directories.last().map_or_else(|| self.root.as_fd(), |(handle, _)| handle.as_fd())
    }

    fn real(&self) -> String {
        self.directories.iter().fold(String::new(), |path, (_, name)| path + "/" + name)
    }

    /// The place of a name in the directory reached.
    fn place(self, name: String) -> Result<Place, Errno> {
        let real = self.real() + "/" + &name;
        let parent = self.last().try_clone_to_owned().map_err(|_| Errno::MFILE)?;
        Ok(self.root.place(parent, name, real))
    }

    /// The place of the directory reached itself.
    fn into_place(mut self) -> Result<Place, Errno> {
        match self.directories.pop() {
            Some((_, name)) => self.place(name),
            None => {
                let parent = self.root.as_fd().try_clone_to_owned().map_err(|_| Errno::MFILE)?;
                Ok(self.root.place(parent, ".".into(), "/".into()))
            }
        }
    }
}

/// Where a path leads; `follow`: the last link too. A missing last component is a place as well.
pub(super) fn walk(root: &Root, path: &str, follow: bool) -> Result<Place, Fault> {
    resolve(root, path, follow).map_err(|errno| Fault::new(errno, "rb_sysopen", path))
}

fn resolve(root: &Root, path: &str, follow: bool) -> Result<Place, Errno> {
    let mut trail = Trail { root, directories: Vec::new() };
    // What is still to be walked, the next component last.
    let mut ahead: Vec<String> = components(path).collect();
    let mut links = 0;
    while let Some(name) = ahead.pop() {
        if name == ".." {
            trail.directories.pop();
            continue;
        }
        let is_last = ahead.is_empty();
        let stat = match rustix::fs::statat(trail.last(), name.as_str(), AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => stat,
            Err(Errno::NOENT) if is_last => return trail.place(name),
            Err(errno) => return Err(errno),
        };
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Symlink if is_last && !follow => return trail.place(name),
            FileType::Symlink => {
                links += 1;
                let target = rustix::fs::readlinkat(trail.last(), name.as_str(), Vec::new())?;
                let target = target.into_string().map_err(|_| Errno::ILSEQ)?;
                if links > MAXIMUM_LINKS {
                    return Err(Errno::LOOP);
                }
                if target.starts_with('/') {
                    trail.directories.clear();
                }
                ahead.extend(components(&target));
            }
            FileType::Directory => {
                if trail.directories.len() >= MAXIMUM_DEPTH {
                    return Err(Errno::NAMETOOLONG);
                }
                // NOFOLLOW: if it became a link since the look above, this fails with ENOTDIR.
                let handle = rustix::fs::openat(trail.last(), name.as_str(), DIRECTORY, Mode::empty())?;
                trail.directories.push((handle, name));
            }
            _ if is_last => return trail.place(name),
            _ => return Err(Errno::NOTDIR),
        }
    }
    trail.into_place()
}

/// The components of a path that lead anywhere, last first.
fn components(path: &str) -> impl Iterator<Item = String> {
    path.rsplit('/').filter(|part| !matches!(*part, "" | ".")).map(str::to_owned)
}
