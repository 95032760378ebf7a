//! Paths in the table of file systems (`/etc/fstab`). At the next start, root mounts there wherever the path leads *then*. So
//! anybody who can replace a directory on the way by a link could choose the mount point.
//!
//! So wrun protects all paths that `/etc/fstab` names: mount points, devices, directories in options, and all directories
//! above them. They are not renamed, replaced by a link or removed, whatever else is granted, until their line is gone.

use cap_std::fs::Dir;
use rustix::fs::{Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, Read as _};

/// The table, below the root.
const TABLE: &str = "etc/fstab";

/// Maximum size of a table that is read, in bytes.
const MAX_TABLE: u64 = 16 << 20;

/// Maximum size of a table that a policy may make larger, in bytes. What is not read would stop all policies.
pub const MAX_GROWN_TABLE: usize = 1 << 20;

/// The table of one root.
#[derive(Debug)]
pub(super) struct BootMounts {
    root: Dir,
}

impl BootMounts {
    pub(super) fn new(root: Dir) -> Self {
        Self { root }
    }

    /// Refuses a resolved path that the table names, or a directory above such a path.
    ///
    /// # Errors
    /// `EBUSY`; or the table exists and cannot be read.
    pub(super) fn check(&self, real: &str) -> Result<(), Errno> {
        if names(&self.text()?, real) { Err(Errno::BUSY) } else { Ok(()) }
    }

    /// Tells whether the table names a path below a resolved path.
    ///
    /// # Errors
    /// The table exists and cannot be read.
    pub(super) fn names_below(&self, real: &str) -> Result<bool, Errno> {
        let real = real.trim_end_matches('/');
        Ok(all_paths(&self.text()?).any(|path| path.strip_prefix(real).is_some_and(|rest| rest.starts_with('/'))))
    }

    /// The table's text; empty if the table does not exist.
    fn text(&self) -> Result<String, Errno> {
        match self.read() {
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                Ok(String::new())
            }
            read => read.map_err(|error| super::fault::errno(&error)),
        }
    }

    fn read(&self) -> io::Result<String> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let inside = ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS;
        let file = File::from(rustix::fs::openat2(&self.root, TABLE, flags, Mode::empty(), inside)?);
        let mut bytes = Vec::new();
        let size = file.take(MAX_TABLE + 1).read_to_end(&mut bytes)?;
        if size as u64 > MAX_TABLE {
            return Err(io::Error::from(io::ErrorKind::FileTooLarge));
        }
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

/// Tells whether a table names a path, or one below it.
fn names(table: &str, real: &str) -> bool {
    let leads_to = |path: &str| {
        path.strip_prefix(real).is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || real == "/")
    };
    all_paths(table).any(|path| leads_to(&path))
}

/// Returns the absolute paths of all lines, normalized.
fn all_paths(table: &str) -> impl Iterator<Item = String> {
    let lines = table.lines().map(str::trim_start).filter(|line| !line.starts_with('#'));
    lines.flat_map(paths).map(|path| plain(&path))
}

/// File system types without a device. Their device and options are not places, whatever texts they are.
const WITHOUT_PLACES: [&str; 8] = ["tmpfs", "ramfs", "proc", "sysfs", "devpts", "devtmpfs", "cgroup2", "efivarfs"];

/// Options with which the device is a place, whatever the type is.
const OF_PLACES: [&str; 3] = ["bind", "move", "loop"];

/// Returns the absolute paths of a line: the device, the mount point, and those in options.
fn paths(line: &str) -> Vec<String> {
    let mut words = line.split_ascii_whitespace();
    let (device, mount_point, kind) = (words.next(), words.next(), words.next().unwrap_or_default());
    let options = words.next().unwrap_or_default();
    // Looks for the words anywhere in the options, because quotation marks can hide the commas around them.
    let has_places = !WITHOUT_PLACES.contains(&kind) || OF_PLACES.iter().any(|word| options.contains(word));
    let mut all: Vec<&str> = device.filter(|_| has_places).into_iter().chain(mount_point).collect();
    if has_places {
        let values = options.split(',').filter_map(|option| option.split_once('='));
        all.extend(values.flat_map(|(_, value)| value.split(':')));
    }
    all.into_iter().map(unescape).filter(|path| path.starts_with('/')).collect()
}

/// Normalizes a path: removes empty parts, dots and a final slash.
fn plain(path: &str) -> String {
    let mut parts: Vec<&str> = vec![];
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}

/// Decodes white space, which the table writes as octal numbers.
fn unescape(word: &str) -> String {
    word.replace("\\040", " ").replace("\\011", "\t").replace("\\012", "\n").replace("\\134", "\\")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_names_its_paths_and_all_that_lead_to_them() {
        let table = "# /commented none\nUUID=1 / ext4 defaults 0 1\n/srv/a/data\t/srv/a//m/. none bind 0 2\n\
                     overlay /srv/o overlay lowerdir=/srv/l1:/srv/l2,upperdir=/srv/u\\040p 0 0\n/dev/sdb1 /mnt/x\n";
        for named in
            ["/srv", "/srv/a", "/srv/a/m", "/srv/a/data", "/srv/o", "/srv/l1", "/srv/l2", "/srv/u p", "/mnt/x", "/dev"]
        {
            assert!(names(table, named), "{named}");
        }
        let below: Vec<String> = all_paths(table).filter(|path| path.starts_with("/srv/a/")).collect();
        assert_eq!(below, ["/srv/a/data", "/srv/a/m"]);
        for other in ["/commented", "/srv/a/m/below", "/srv/a/mm", "/srv/ab", "/srv/a/dat", "/home", "/srv/u"] {
            assert!(!names(table, other), "{other}");
        }
    }

    /// A policy could otherwise keep other policies from replacing their own directories.
    #[test]
    fn attack_texts_that_are_not_places_protect_no_paths() {
        let table = "/srv/a /srv/m tmpfs size=/srv/b:/srv/c,comment=/srv/d 0 0\n/srv/e /srv/n tmpfs ro,bind 0 0\n";
        let mut named: Vec<String> = all_paths(table).collect();
        named.sort();
        assert_eq!(named, ["/srv/e", "/srv/m", "/srv/n"]);
    }
}
