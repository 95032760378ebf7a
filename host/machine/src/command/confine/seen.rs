//! Resolves paths as a confined program sees them: with its root, its directory and its own `/proc/self`.
//!
//! A tracer cannot pass the program's path to the kernel. `/proc/self/cwd/x` is a different file for each process, and the
//! program sees other mounts. So this module walks the path name by name through `/proc/PID`.

use crate::root::Kind;
use rustix::fs::{FileType, Mode, OFlags};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

/// The maximum number of links in a path: the kernel's own limit.
const MAX_LINKS: u32 = 40;

/// The kernel's number for the file system type of `/proc`.
const PROC_SYSTEM: i64 = 0x9fa0;

/// The inode number of the root of `/proc`.
const PROC_ROOT: u64 = 1;

/// Character devices, as major and minor number, that opening and reading do not change: `null`, `zero`, `full`, `random`,
/// `urandom`, `kmsg`, the process's own terminal, `fuse`.
const STILL_DEVICES: [(u32, u32); 8] = [(1, 3), (1, 5), (1, 7), (1, 8), (1, 9), (1, 11), (5, 0), (10, 229)];

/// The text before the number in a link to an anonymous pipe.
const NAMELESS_PIPE: &str = "pipe:[";

/// The file at a path.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen {
    pub(super) kind: Kind,
    /// True for a pipe that other processes can open too.
    pub(super) is_named_pipe: bool,
    /// True for a device that gives its bytes to one reader only, or that acts when it is opened: a watchdog, a serial line,
    /// a tape, somebody's terminal.
    pub(super) is_live_device: bool,
    /// True if at least one user may execute it.
    pub(super) is_executable: bool,
}

/// A traced process, or one of its threads.
#[derive(Debug, Clone, Copy)]
pub(super) struct Viewer(pub(super) i32);

impl Viewer {
    /// Returns the file at a path and follows links. Relative paths start at `directory`, a descriptor of the process; `None`
    /// is its working directory.
    pub(super) fn look(self, directory: Option<i32>, path: &str) -> Option<Seen> {
        let base = match directory {
            Some(descriptor) => format!("/proc/{}/fd/{descriptor}", self.0),
            None => format!("/proc/{}/cwd", self.0),
        };
        if path.is_empty() {
            return seen(Path::new(&base));
        }
        seen(&self.walk(PathBuf::from(base), path)?)
    }

    /// Returns the file behind a descriptor.
    pub(super) fn descriptor(self, number: i32) -> Option<Seen> {
        seen(Path::new(&format!("/proc/{}/fd/{number}", self.0)))
    }

    /// Returns the path by which the tracer reaches the same file.
    fn walk(self, base: PathBuf, path: &str) -> Option<PathBuf> {
        let root = PathBuf::from(format!("/proc/{}/root", self.0));
        let mut at = if path.starts_with('/') { root.clone() } else { base };
        let mut ahead: Vec<String> = names(path);
        let mut links = 0;
        while let Some(name) = ahead.pop() {
            if name == ".." {
                // `..` leads up from the target of a link, but not above the root, as in the kernel.
                if !is_same(&at, &root) {
                    at.push("..");
                }
                continue;
            }
            let next = at.join(&name);
            if !std::fs::symlink_metadata(&next).ok()?.file_type().is_symlink() {
                at = next;
                continue;
            }
            links += 1;
            if links > MAX_LINKS {
                return None;
            }
            if is_on_proc(&at) {
                at = match name.as_str() {
                    "self" if is_proc_root(&at) => at.join(self.leader()?.to_string()),
                    "thread-self" if is_proc_root(&at) => {
                        at.join(self.leader()?.to_string()).join("task").join(self.0.to_string())
                    }
                    // `mounts`, `net`: a link to `self/..` in text.
                    _ if is_proc_root(&at) => {
                        ahead.extend(names(std::fs::read_link(&next).ok()?.to_str()?));
                        continue;
                    }
                    // A link to an open file leads to the same file for every process that follows it.
                    _ => next,
                };
                continue;
            }
            let text = std::fs::read_link(&next).ok()?;
            let text = text.to_str()?;
            if text.starts_with('/') {
                at.clone_from(&root);
            }
            ahead.extend(names(text));
        }
        Some(at)
    }

    /// Returns the process that the thread belongs to.
    fn leader(self) -> Option<i32> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.0)).ok()?;
        status.lines().find_map(|line| line.strip_prefix("Tgid:")?.trim().parse().ok())
    }
}

/// Splits a path into names, last name first, without empty names and `.`.
fn names(path: &str) -> Vec<String> {
    path.rsplit('/').filter(|name| !matches!(*name, "" | ".")).map(str::to_owned).collect()
}

fn seen(path: &Path) -> Option<Seen> {
    let metadata = std::fs::metadata(path).ok()?;
    let kind = metadata.file_type();
    let is_nameless = || std::fs::read_link(path).is_ok_and(|text| text.to_string_lossy().starts_with(NAMELESS_PIPE));
    Some(Seen {
        kind: Kind::of(FileType::from_raw_mode(metadata.mode())),
        is_named_pipe: kind.is_fifo() && !is_nameless(),
        is_live_device: kind.is_char_device() && !STILL_DEVICES.contains(&numbers(metadata.rdev())),
        is_executable: metadata.mode() & 0o111 != 0,
    })
}

/// The major and the minor number of a device.
fn numbers(device: u64) -> (u32, u32) {
    (rustix::fs::major(device), rustix::fs::minor(device))
}

fn is_on_proc(directory: &Path) -> bool {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let opened = rustix::fs::open(directory, flags, Mode::empty());
    opened.and_then(rustix::fs::fstatfs).is_ok_and(|system| system.f_type == PROC_SYSTEM)
}

fn is_proc_root(directory: &Path) -> bool {
    std::fs::metadata(directory).is_ok_and(|metadata| metadata.ino() == PROC_ROOT)
}

fn is_same(one: &Path, other: &Path) -> bool {
    let identity = |path: &Path| std::fs::metadata(path).map(|metadata| (metadata.dev(), metadata.ino()));
    matches!((identity(one), identity(other)), (Ok(one), Ok(other)) if one == other)
}
