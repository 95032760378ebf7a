//! Reads files below one directory, and never outside it.
//!
//! A root may be an image from somebody else. Its `/etc/os-release` may be a link to the machine's `/etc/shadow`, a pipe that
//! blocks for ever, or an endless file. So the kernel resolves paths inside the directory (`openat2` with `RESOLVE_IN_ROOT`).
//! Only regular files are read, without waiting, and never beyond a limit.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{
    Dir, FileType, Mode, OFlags, ResolveFlags, StatVfs, fstat, fstatvfs, open, openat, openat2, readlinkat,
};
use rustix::io::{Errno, retry_on_intr};

use crate::limits;

/// The folders in which programs are looked up: the `PATH` of a root shell on Debian. The caller's own `PATH` is not relevant
/// for the root.
const PROGRAM_DIRECTORIES: [&str; 6] = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];

/// The size of one read, in bytes: the most that the kernel returns at once for its own files.
const PAGE: usize = 4096;

/// The files of one system, named by absolute paths inside it.
#[derive(Debug)]
pub(crate) struct SystemFiles {
    directory: OwnedFd,
    is_whole_system: bool,
}

impl SystemFiles {
    /// Opens the directory in which paths are resolved.
    pub(crate) fn open(directory: &Path) -> Result<Self, Errno> {
        let is_whole_system = directory == Path::new("/");
        let directory = open(directory, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        Ok(Self { directory, is_whole_system })
    }

    /// Opens a path inside the directory. Without `openat2` (on old kernels and in some containers) this still works for the
    /// whole system, which needs no border.
    fn open_inside(&self, path: &str, flags: OFlags) -> Result<OwnedFd, Errno> {
        // A descriptor with `O_PATH` never waits, and does not accept other flags.
        let without_waiting =
            if flags.contains(OFlags::PATH) { OFlags::empty() } else { OFlags::NONBLOCK | OFlags::NOCTTY };
        let flags = flags | OFlags::CLOEXEC | without_waiting;
        match openat2(&self.directory, path, flags, Mode::empty(), ResolveFlags::IN_ROOT) {
            Err(Errno::NOSYS | Errno::PERM) if self.is_whole_system => {
                openat(&self.directory, path, flags, Mode::empty())
            }
            opened => opened,
        }
    }

    /// Returns the whole content of a regular file. Returns `None` if the file is missing, unreadable, not regular, or longer
    /// than `limit`.
    pub(crate) fn bytes(&self, path: &str, limit: usize) -> Option<Vec<u8>> {
        self.bytes_and_more(path, limit).filter(|content| content.len() <= limit)
    }

    /// Returns the lines of a regular file that fit into a limit, as text.
    pub(crate) fn first_lines(&self, path: &str, limit: usize) -> Option<String> {
        let mut content = self.bytes_and_more(path, limit)?;
        if content.len() > limit {
            content.truncate(limit);
            content.truncate(content.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1));
        }
        Some(lossy(content))
    }

    /// Returns the content of a regular file, of a longer one a beginning that is longer than `limit`.
    fn bytes_and_more(&self, path: &str, limit: usize) -> Option<Vec<u8>> {
        let regular = |descriptor: &OwnedFd| {
            let status = fstat(descriptor).ok()?;
            (FileType::from_raw_mode(status.st_mode) == FileType::RegularFile).then_some(status)
        };
        // Opening a pipe or a device can have effects, so the kind is checked on a handle that opens nothing. The kernel's own
        // files, which are most of them, are neither.
        let of_the_kernel = ["/sys/", "/proc/"].iter().any(|folder| path.starts_with(folder));
        if !of_the_kernel {
            regular(&self.open_inside(path, OFlags::PATH).ok()?)?;
        }
        let descriptor = self.open_inside(path, OFlags::RDONLY).ok()?;
        let status = regular(&descriptor)?;
        let size = usize::try_from(status.st_size).unwrap_or(usize::MAX);
        let mut content = Vec::new();
        let mut page = [0; PAGE];
        while content.len() <= limit {
            let read = retry_on_intr(|| rustix::io::read(&descriptor, &mut page)).ok()?;
            content.extend_from_slice(page.get(..read)?);
            // Files below `/sys` report the size of a page and are shorter; those below `/proc` report zero. If the size is
            // known, no further read is needed to find the end.
            if read == 0 || (read < PAGE && (1..=size).contains(&content.len())) {
                break;
            }
        }
        Some(content)
    }

    /// Returns a file as text. Bytes that are not UTF-8 become replacement characters.
    pub(crate) fn text_within(&self, path: &str, limit: usize) -> Option<String> {
        self.bytes(path, limit).map(lossy)
    }

    /// Returns an ordinary file as text.
    pub(crate) fn text(&self, path: &str) -> Option<String> {
        self.text_within(path, limits::ORDINARY_FILE)
    }

    /// Returns the trimmed first line of a file, or `None` if it is empty.
    pub(crate) fn line(&self, path: &str) -> Option<String> {
        let text = self.text(path)?;
        let line = text.lines().next()?.trim();
        (!line.is_empty()).then(|| line.to_owned())
    }

    /// Returns the first line of a file as a number.
    pub(crate) fn number<T: std::str::FromStr>(&self, path: &str) -> Option<T> {
        self.line(path)?.parse().ok()
    }

    /// Tells whether a path exists, with links followed.
    pub(crate) fn exists(&self, path: &str) -> bool {
        self.open_inside(path, OFlags::PATH).is_ok()
    }

    /// Returns the text of a symbolic link.
    pub(crate) fn link_target(&self, path: &str) -> Option<String> {
        let descriptor = self.open_inside(path, OFlags::PATH | OFlags::NOFOLLOW).ok()?;
        readlinkat(&descriptor, "", Vec::new()).ok()?.into_string().ok()
    }

    /// Returns the sorted names in a directory, without `.` and `..`. Names that are not UTF-8 are left out.
    pub(crate) fn names(&self, path: &str) -> Vec<String> {
        let Ok(descriptor) = self.open_inside(path, OFlags::RDONLY | OFlags::DIRECTORY) else { return Vec::new() };
        let Ok(directory) = Dir::read_from(&descriptor) else { return Vec::new() };
        let mut names: Vec<String> = directory
            .take(limits::DIRECTORY_ENTRIES)
            .filter_map(|entry| entry.ok()?.file_name().to_str().ok().map(str::to_owned))
            .filter(|name| name != "." && name != "..")
            .collect();
        names.sort();
        names
    }

    /// Returns the space of the file system at a path, and the number of its device.
    pub(crate) fn space(&self, path: &str) -> Option<(StatVfs, u64)> {
        let descriptor = self.open_inside(path, OFlags::PATH).ok()?;
        Some((fstatvfs(&descriptor).ok()?, fstat(&descriptor).ok()?.st_dev))
    }

    /// Returns bytes of a block device, starting at `offset`.
    pub(crate) fn device_bytes(&self, path: &str, offset: u64, length: usize) -> Option<Vec<u8>> {
        let descriptor = self.open_inside(path, OFlags::RDONLY).ok()?;
        if FileType::from_raw_mode(fstat(&descriptor).ok()?.st_mode) != FileType::BlockDevice {
            return None;
        }
        let mut content = vec![0; length];
        std::os::unix::fs::FileExt::read_exact_at(&File::from(descriptor), &mut content, offset).ok()?;
        Some(content)
    }

    /// Tells whether a program of that name is installed.
    pub(crate) fn has_program(&self, name: &str) -> bool {
        PROGRAM_DIRECTORIES.iter().any(|directory| self.exists(&format!("{directory}/{name}")))
    }
}

/// Returns bytes as text. Those that are not UTF-8 become replacement characters.
fn lossy(content: Vec<u8>) -> String {
    String::from_utf8(content).unwrap_or_else(|odd| String::from_utf8_lossy(odd.as_bytes()).into_owned())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use rustix::fs::inotify;

    use super::*;

    #[test]
    fn links_stay_inside() {
        let outside = tempfile::tempdir().unwrap();
        std::fs::write(outside.path().join("secret"), "secret").unwrap();
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("etc")).unwrap();
        std::fs::write(root.path().join("etc/inside"), "inside\n").unwrap();
        symlink(outside.path().join("secret"), root.path().join("etc/absolute")).unwrap();
        symlink("../../../../../../../../etc/passwd", root.path().join("etc/climbing")).unwrap();
        symlink("/etc/inside", root.path().join("etc/good")).unwrap();
        let files = SystemFiles::open(root.path()).unwrap();
        assert_eq!(files.line("/etc/good").as_deref(), Some("inside"));
        assert_eq!(files.line("/etc/../../../etc/inside").as_deref(), Some("inside"));
        assert_eq!(files.text("/etc/absolute"), None);
        assert_eq!(files.text("/etc/climbing"), None);
        assert_eq!(files.link_target("/etc/good").as_deref(), Some("/etc/inside"));
        assert_eq!(files.names("/etc"), ["absolute", "climbing", "good", "inside"]);
    }

    #[test]
    fn odd_files_are_absent() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("directory")).unwrap();
        std::fs::write(root.path().join("long"), vec![b'x'; 11]).unwrap();
        std::fs::write(root.path().join("bytes"), b"a\xffb").unwrap();
        std::fs::write(root.path().join("empty"), "\n\n").unwrap();
        rustix::fs::mknodat(rustix::fs::CWD, root.path().join("pipe"), FileType::Fifo, Mode::from_raw_mode(0o600), 0)
            .unwrap();
        let watch = inotify::init(inotify::CreateFlags::NONBLOCK | inotify::CreateFlags::CLOEXEC).unwrap();
        inotify::add_watch(&watch, root.path().join("pipe"), inotify::WatchFlags::OPEN).unwrap();
        let files = SystemFiles::open(root.path()).unwrap();
        assert_eq!(files.text("/missing"), None);
        assert_eq!(files.text("/directory"), None);
        assert_eq!(files.text("/pipe"), None, "a pipe without a writer must neither block nor be read");
        assert!(rustix::io::read(&watch, &mut [0; 4096]).is_err(), "a writer that waits for a reader would go on");
        assert_eq!(files.bytes("/long", 10), None);
        assert_eq!(files.bytes("/long", 11).map(|content| content.len()), Some(11));
        assert_eq!(files.text("/bytes").as_deref(), Some("a\u{fffd}b"));
        std::fs::write(root.path().join("table"), "one\ntwo\nthree\n").unwrap();
        for (limit, expect) in [(14, "one\ntwo\nthree\n"), (13, "one\ntwo\n"), (8, "one\ntwo\n"), (3, "")] {
            assert_eq!(files.first_lines("/table", limit).as_deref(), Some(expect), "{limit}");
        }
        assert_eq!(files.line("/empty"), None);
        assert_eq!(files.number::<u64>("/bytes"), None);
        assert_eq!(files.names("/long"), Vec::<String>::new());
    }
}
