//! The file system view of a confined program: every file is at its usual place, and nothing can be changed.
//!
//! In a private mount namespace, every mount becomes read-only, and device nodes stop working. The tree stays *the same*,
//! because a guard may ask about mounts, `/proc`, `/sys` and `/tmp`. Directories for scratch files get a throw-away layer,
//! and a few harmless devices keep working.
//!
//! Rejected: a throw-away layer over everything. It would let commands write anywhere. The mount table would name the layers
//! instead of the disks, and a guard that reads it would silently get a wrong answer.

use super::PLACED;
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use rustix::fs::{AtFlags, CWD, FileType, Gid, Mode, OFlags, StatxFlags, Uid, XattrFlags};
use std::fs::read_to_string;
use std::os::fd::AsRawFd as _;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

/// Directories for scratch files: programs may write there, and the writes are discarded. `apt-cache` writes its cache before
/// it answers, and asks whether it may even where nothing is to be written.
const SCRATCH: [&str; 4] = ["tmp", "var/tmp", "dev/shm", "var/cache/apt"];

/// The mount options of each scratch directory, with its maximum size.
const SCRATCH_SIZE: &str = "size=256m,nr_inodes=64k,mode=0700";

/// The attribute of a directory in an upper layer that hides the one below it.
const OPAQUE: &str = "trusted.overlay.opaque";

/// Devices that store nothing, with their major and minor numbers.
const DEVICES: [(&str, (u32, u32)); 6] =
    [("null", (1, 3)), ("zero", (1, 5)), ("full", (1, 7)), ("random", (1, 8)), ("urandom", (1, 9)), ("tty", (5, 0))];

/// A failed step of making the view.
#[derive(Debug, thiserror::Error)]
#[error("{what}: {why}")]
pub(super) struct Obstacle {
    what: String,
    why: String,
}

impl Obstacle {
    /// Returns a function for `map_err` that adds the failed step.
    pub(super) fn at<Why: std::fmt::Display>(what: impl Into<String>) -> impl FnOnce(Why) -> Self {
        let what = what.into();
        move |why| Self { what, why: why.to_string() }
    }
}

/// The directories and devices that the program may open for writing.
#[derive(Debug, Default)]
pub(super) struct Writable {
    pub(super) directories: Vec<PathBuf>,
    pub(super) devices: Vec<PathBuf>,
}

/// Makes the calling thread's mounts read-only, and puts a throw-away layer over `scratches` and the usual scratch
/// directories. The thread must have a private mount namespace. If `places` is true, the layer gets the directory of a file
/// that the program examines.
///
/// # Errors
/// A mount cannot be made read-only, or its state cannot be determined.
pub(super) fn make(root: &Path, scratches: &[String], places: bool) -> Result<Writable, Obstacle> {
    let private = MsFlags::MS_REC | MsFlags::MS_PRIVATE;
    mount(NOTHING, "/", NOTHING, private, NOTHING).map_err(Obstacle::at("take the mounts apart"))?;
    for mounted in mounts()? {
        // A mount that cannot be reached cannot be remounted either. The loop below looks for mounts that stayed writable.
        let _ = mount(NOTHING, &mounted.path, NOTHING, mounted.flags(), NOTHING);
    }
    for mounted in mounts()?.iter().filter(|mounted| !mounted.has("ro")) {
        if mounted.is_reachable()? {
            let why = format!("{} stays writable", mounted.path.display());
            return Err(Obstacle { what: "make the mounts read-only".into(), why });
        }
    }
    let devices = DEVICES.iter().filter_map(|(name, numbers)| live_device(&root.join("dev").join(name), *numbers));
    let devices = devices.collect();
    let scratches = SCRATCH.into_iter().chain(scratches.iter().map(String::as_str));
    let directories = scratches.map(|name| root.join(name)).filter(|path| {
        let placed = Path::new(PLACED).strip_prefix("/").ok().filter(|_| places);
        let inside = placed.and_then(|placed| root.join(placed).strip_prefix(path).ok().map(Path::to_owned));
        scratch(path, inside.as_deref()).is_some()
    });
    Ok(Writable { directories: directories.collect(), devices })
}

const NOTHING: Option<&Path> = None;

/// A line of `/proc/self/mountinfo`.
struct Mounted {
    id: u64,
    path: PathBuf,
    options: Vec<String>,
}

fn mounts() -> Result<Vec<Mounted>, Obstacle> {
    let table = read_to_string("/proc/self/mountinfo").map_err(Obstacle::at("read the table of mounts"))?;
    table.lines().filter_map(Mounted::parse).collect()
}

impl Mounted {
    /// Parses a line. Returns `None` for triggers of automatic mounts: nobody can write there, and touching one would mount
    /// something.
    fn parse(line: &str) -> Option<Result<Self, Obstacle>> {
        let malformed = || Obstacle { what: "read the table of mounts".into(), why: line.into() };
        let (before, after) = line.split_once(" - ")?;
        if after.starts_with("autofs ") {
            return None;
        }
        let mut fields = before.split(' ');
        let id = fields.next().and_then(|id| id.parse().ok());
        let (path, options) = (fields.nth(3), fields.next());
        Some(match (id, path, options) {
            (Some(id), Some(path), Some(options)) => {
                Ok(Self { id, path: unescaped(path), options: options.split(',').map(Into::into).collect() })
            }
            _ => Err(malformed()),
        })
    }

    fn has(&self, option: &str) -> bool {
        self.options.iter().any(|other| other == option)
    }

    /// Returns the new mount flags: read-only and without devices, and otherwise as before.
    fn flags(&self) -> MsFlags {
        let kept = [
            ("nosuid", MsFlags::MS_NOSUID),
            ("noexec", MsFlags::MS_NOEXEC),
            ("noatime", MsFlags::MS_NOATIME),
            ("nodiratime", MsFlags::MS_NODIRATIME),
            ("relatime", MsFlags::MS_RELATIME),
        ];
        let kept = kept.iter().filter(|(name, _)| self.has(name)).map(|(_, flag)| *flag);
        kept.fold(MsFlags::MS_REMOUNT | MsFlags::MS_BIND | MsFlags::MS_RDONLY | MsFlags::MS_NODEV, |all, flag| {
            all | flag
        })
    }

    /// Tells whether its path leads to this mount, and not to another one mounted over it.
    fn is_reachable(&self) -> Result<bool, Obstacle> {
        let flags = AtFlags::NO_AUTOMOUNT | AtFlags::SYMLINK_NOFOLLOW;
        let Ok(seen) = rustix::fs::statx(CWD, &self.path, flags, StatxFlags::MNT_ID) else { return Ok(false) };
        if !StatxFlags::from_bits_retain(seen.stx_mask).contains(StatxFlags::MNT_ID) {
            let why = "this kernel does not say which is which".to_owned();
            return Err(Obstacle { what: "check the mounts".into(), why });
        }
        Ok(seen.stx_mnt_id == self.id)
    }
}

/// Decodes a path: the kernel writes blanks and similar characters as three octal digits.
fn unescaped(path: &str) -> PathBuf {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path;
    while let Some((before, after)) = rest.split_once('\\') {
        bytes.extend_from_slice(before.as_bytes());
        match after.get(..3).and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = after.get(3..).unwrap_or_default();
            }
            None => {
                bytes.push(b'\\');
                rest = after;
            }
        }
    }
    bytes.extend_from_slice(rest.as_bytes());
    PathBuf::from(std::ffi::OsString::from_vec(bytes))
}

/// Makes one device work again, if it has the expected type and numbers.
fn live_device(path: &Path, (major, minor): (u32, u32)) -> Option<PathBuf> {
    let seen = rustix::fs::lstat(path).ok()?;
    let is_it = FileType::from_raw_mode(seen.st_mode) == FileType::CharacterDevice
        && (rustix::fs::major(seen.st_rdev), rustix::fs::minor(seen.st_rdev)) == (major, minor);
    if !is_it {
        return None;
    }
    mount(Some(path), path, NOTHING, MsFlags::MS_BIND, NOTHING).ok()?;
    let flags = MsFlags::MS_REMOUNT | MsFlags::MS_BIND | MsFlags::MS_RDONLY | MsFlags::MS_NOSUID | MsFlags::MS_NOEXEC;
    mount(NOTHING, path, NOTHING, flags, NOTHING).ok()?;
    Some(path.to_owned())
}

/// Lays a throw-away layer over a directory. If that fails, the directory stays read-only.
///
/// `own` is a directory that the layer contains from the beginning. It hides everything of that name below it, so that other
/// users of the machine's directory cannot interfere.
fn scratch(path: &Path, own: Option<&Path>) -> Option<()> {
    let directory = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let lower = rustix::fs::open(path, directory, Mode::empty()).ok()?;
    let seen = rustix::fs::fstat(&lower).ok()?;
    let safe = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
    mount(Some("tmpfs"), path, Some("tmpfs"), safe, Some(SCRATCH_SIZE)).ok()?;
    let layered = || -> Result<(), rustix::io::Errno> {
        let base = rustix::fs::open(path, directory, Mode::empty())?;
        rustix::fs::mkdirat(&base, "upper", Mode::RWXU)?;
        rustix::fs::mkdirat(&base, "work", Mode::RWXU)?;
        let upper = rustix::fs::openat(&base, "upper", directory, Mode::empty())?;
        let work = rustix::fs::openat(&base, "work", directory, Mode::empty())?;
        let (owner, group) = (Uid::from_raw(seen.st_uid), Gid::from_raw(seen.st_gid));
        rustix::fs::chownat(&base, "upper", Some(owner), Some(group), AtFlags::empty())?;
        rustix::fs::chmodat(&base, "upper", Mode::from_raw_mode(seen.st_mode), AtFlags::empty())?;
        if let Some(own) = own {
            rustix::fs::mkdirat(&upper, own, Mode::RWXU)?;
            let readable = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let made = rustix::fs::openat(&upper, own, readable, Mode::empty())?;
            rustix::fs::fsetxattr(&made, OPAQUE, b"y", XattrFlags::CREATE)?;
        }
        // The layers are named by descriptors, because a path may contain characters with a meaning in the option's syntax.
        let [lower, upper, work] = [&lower, &upper, &work].map(|handle| handle.as_raw_fd());
        let layers =
            format!("lowerdir=/proc/self/fd/{lower},upperdir=/proc/self/fd/{upper},workdir=/proc/self/fd/{work}");
        mount(Some("overlay"), path, Some("overlay"), safe, Some(layers.as_str()))
            .map_err(|errno| rustix::io::Errno::from_raw_os_error(errno as i32))
    };
    if layered().is_err() {
        let _ = umount2(path, MntFlags::MNT_DETACH);
        return None;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_table() {
        let line = "36 35 98:0 /mnt1 /mnt\\0402\\134 rw,noatime,nosuid master:1 - ext3 /dev/root rw,errors=continue";
        let mounted = Mounted::parse(line).unwrap().unwrap();
        assert_eq!((mounted.id, mounted.path.to_str().unwrap()), (36, "/mnt 2\\"));
        assert!(mounted.flags().contains(MsFlags::MS_RDONLY | MsFlags::MS_NODEV | MsFlags::MS_NOATIME));
        assert!(!mounted.flags().contains(MsFlags::MS_NOEXEC));
        assert!(Mounted::parse("36 35 0:5 / /home rw - autofs systemd-1 rw,fd=30").is_none());
        assert!(Mounted::parse("36 35 0:5 - ext4 x rw").unwrap().is_err());
    }
}
