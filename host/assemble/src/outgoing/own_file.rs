//! Safely opens files that the settings name and that wrun uses as root: report files and tokens.
//!
//! A user who can change a folder along the path could redirect root: root would write to any file, or send the content of a
//! secret file. So wrun opens the folders of the path one after the other by handles. Each of them must belong to root or to
//! wrun's own user, and nobody else may be able to change the last one. A link is followed only if one of these users made it
//! in such a folder: an operator may store logs on another disk.

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat, fstat, open, openat, readlinkat, statat};
use rustix::io::Errno;
use rustix::process::geteuid;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Component, Path, PathBuf};

/// Largest number of links along the path of a file: the kernel's own limit.
const MAX_LINKS: usize = 40;

/// The permission bits of a report file that wrun makes.
const MODE: u32 = 0o600;

/// The bits by which others than the owner may write.
const WRITABLE: u32 = 0o022;

/// The bit by which users outside of the group may write.
const WRITABLE_BY_ALL: u32 = 0o002;

/// The bit of a folder in which users may rename and remove only their own files.
const STICKY: u32 = 0o1000;

/// A file of wrun's own, open for appending, with its folder.
pub(super) struct OwnFile {
    pub(super) file: File,
    folder: OwnedFd,
    path: PathBuf,
}

impl OwnFile {
    /// Opens a file to add to its end. An absent one is made.
    pub(super) fn append(path: &Path) -> io::Result<Self> {
        let Found { folder, name, path } = find(path, Links::ToFolders)?;
        let flags = OFlags::RDWR | OFlags::APPEND | OFlags::CREATE | quietly();
        let file = openat(&folder, &name, flags, Mode::from_raw_mode(MODE)).map_err(|errno| unopened(&path, errno))?;
        let own = Self { file: file.into(), folder, path };
        own.check()?;
        Ok(own)
    }

    /// Refuses a file unless it is a plain file of wrun's own user with exactly one name.
    pub(super) fn check(&self) -> io::Result<()> {
        let (path, status) = (&self.path, plain(&self.file, &self.path)?);
        let own = geteuid().as_raw();
        if status.st_uid != own {
            let owner = status.st_uid;
            return refuse(format!(
                "{} belongs to user {owner}, not to user {own}, who adds reports to it; remove it, or name another file",
                path.display()
            ));
        }
        match status.st_nlink {
            1 => Ok(()),
            0 => refuse(format!("{} was removed meanwhile", path.display())),
            names => refuse(format!(
                "{} is one of {names} names of a file (hard links); remove it, or name another file",
                path.display()
            )),
        }
    }

    /// Syncs the folder, so that the file's name is on the disk.
    pub(super) fn sync_name(&self) -> io::Result<()> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = openat(&self.folder, ".", flags, Mode::empty())?;
        Ok(rustix::fs::fsync(folder)?)
    }
}

/// Reads a file of at most so many bytes that only root and wrun's own user can change.
pub(super) fn read_text(path: &Path, limit: u64) -> io::Result<String> {
    let Found { folder, name, path } = find(path, Links::Everywhere)?;
    let file = openat(&folder, &name, OFlags::RDONLY | quietly(), Mode::empty());
    let file = File::from(file.map_err(|errno| unopened(&path, errno))?);
    let status = plain(&file, &path)?;
    if !is_trusted(status.st_uid) {
        return refuse(format!(
            "{} belongs to user {}, who could change it; run `chown root` on it",
            path.display(),
            status.st_uid
        ));
    }
    if status.st_mode & WRITABLE != 0 {
        return refuse(format!("{} may be changed by others; run `chmod 0600` on it", path.display()));
    }
    let mut text = String::new();
    let read = file.take(limit.saturating_add(1)).read_to_string(&mut text);
    read.map_err(|error| io::Error::other(format!("{}: {error}", path.display())))?;
    if text.len() as u64 > limit {
        return refuse(format!("{} has more than {limit} bytes", path.display()));
    }
    Ok(text)
}

/// The links that are followed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Links {
    /// Links to folders along the path, but not as the last name.
    ToFolders,
    /// The last name may be a link, too.
    Everywhere,
}

/// A file's name with its folder, which nobody else can change.
struct Found {
    folder: OwnedFd,
    name: OsString,
    /// The whole path, for messages.
    path: PathBuf,
}

/// Opens the folder of a file, by handles, one folder of the path after the other.
fn find(path: &Path, links: Links) -> io::Result<Found> {
    let mut folder = Folder::top()?;
    let mut left = names(path);
    let mut followed = 0;
    while let Some(name) = left.pop() {
        if name == ".." {
            folder = folder.enter(&name)?;
            continue;
        }
        let (is_last, here) = (left.is_empty(), folder.path.join(&name));
        let status = match statat(&folder.handle, &name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(status) => Some(status),
            Err(Errno::NOENT) if is_last => None,
            Err(errno) => return Err(unopened(&here, errno)),
        };
        let link = status.filter(|status| FileType::from_raw_mode(status.st_mode) == FileType::Symlink);
        match link {
            Some(link) if !is_last || links == Links::Everywhere => {
                followed += 1;
                if followed > MAX_LINKS {
                    return Err(unopened(path, Errno::LOOP));
                }
                folder.check_link(&here, &link)?;
                let target = readlinkat(&folder.handle, &name, Vec::new()).map_err(|errno| unopened(&here, errno))?;
                let target = PathBuf::from(OsString::from_vec(target.into_bytes()));
                if target.is_absolute() {
                    folder = Folder::top()?;
                }
                left.extend(names(&target));
            }
            _ if is_last => {
                folder.check_unchangeable()?;
                return Ok(Found { folder: folder.handle, name, path: here });
            }
            _ => folder = folder.enter(&name)?,
        }
    }
    refuse(format!("{} is a folder; name a file", path.display()))
}

/// The names in a path, the last one first.
fn names(path: &Path) -> Vec<OsString> {
    let names = path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        Component::Prefix(_) | Component::RootDir | Component::CurDir => None,
    });
    let mut names: Vec<_> = names.collect();
    names.reverse();
    names
}

/// A folder on the way.
struct Folder {
    handle: OwnedFd,
    path: PathBuf,
    mode: u32,
}

impl Folder {
    fn top() -> io::Result<Self> {
        let path = PathBuf::from("/");
        let handle = open(&path, Self::flags(), Mode::empty()).map_err(|errno| unopened(&path, errno))?;
        Self::checked(handle, path)
    }

    /// Opens a folder in this one, or the one above.
    fn enter(&self, name: &OsStr) -> io::Result<Self> {
        let path =
            if name == ".." { self.path.parent().unwrap_or(&self.path).to_owned() } else { self.path.join(name) };
        let handle = openat(&self.handle, name, Self::flags(), Mode::empty());
        Self::checked(handle.map_err(|errno| unopened(&path, errno))?, path)
    }

    fn flags() -> OFlags {
        OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC
    }

    /// Refuses a folder in which an untrusted user could replace folders and links.
    fn checked(handle: OwnedFd, path: PathBuf) -> io::Result<Self> {
        let status = fstat(&handle).map_err(|errno| unopened(&path, errno))?;
        if !is_trusted(status.st_uid) {
            return refuse(format!(
                "the folder {0} belongs to user {1}, who could lead wrun to any file; name a file in folders of root's, or run \
                 `chown root {0}`",
                path.display(),
                status.st_uid
            ));
        }
        let folder = Self { handle, path, mode: status.st_mode & 0o7777 };
        if folder.may_be_changed_by(WRITABLE_BY_ALL) { Err(folder.open_to_others()) } else { Ok(folder) }
    }

    /// Refuses a folder in which others can rename and replace files.
    fn check_unchangeable(&self) -> io::Result<()> {
        if self.may_be_changed_by(WRITABLE) { Err(self.open_to_others()) } else { Ok(()) }
    }

    /// Refuses a link that others could have put into this folder.
    fn check_link(&self, path: &Path, link: &Stat) -> io::Result<()> {
        self.check_unchangeable()?;
        if is_trusted(link.st_uid) && link.st_nlink == 1 {
            return Ok(());
        }
        let (path, owner) = (path.display(), link.st_uid);
        refuse(format!(
            "{path} is a link of user {owner}, who could lead wrun to any file; name the file that it leads to"
        ))
    }

    fn may_be_changed_by(&self, others: u32) -> bool {
        self.mode & others != 0 && self.mode & STICKY == 0
    }

    fn open_to_others(&self) -> io::Error {
        io::Error::other(format!(
            "the folder {0} may be written by others (mode {1:04o}), who could lead wrun to any file; run `chmod go-w {0}`, or \
             name a file elsewhere",
            self.path.display(),
            self.mode
        ))
    }
}

/// Tells whether a user is trusted: root, or the user whose rights wrun has anyway.
fn is_trusted(user: u32) -> bool {
    user == 0 || user == geteuid().as_raw()
}

/// Returns flags that refuse links, and do not wait for pipes and devices.
fn quietly() -> OFlags {
    OFlags::NOFOLLOW | OFlags::NOCTTY | OFlags::NONBLOCK | OFlags::CLOEXEC
}

/// The status of an open file, if it is a plain one.
fn plain(file: &File, path: &Path) -> io::Result<Stat> {
    let status = fstat(file).map_err(|errno| unopened(path, errno))?;
    if FileType::from_raw_mode(status.st_mode) == FileType::RegularFile {
        Ok(status)
    } else {
        refuse(format!("{} is not a plain file; name one", path.display()))
    }
}

fn refuse<T>(why: String) -> io::Result<T> {
    Err(io::Error::other(why))
}

fn unopened(path: &Path, errno: Errno) -> io::Error {
    let path = path.display();
    io::Error::other(match errno {
        Errno::LOOP => format!("{path} is a link; name the file that it leads to"),
        Errno::NXIO => format!("{path} is not a plain file; name one"),
        _ => format!("{path}: {}", io::Error::from(errno)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, chown, symlink};
    use std::process::Command;

    fn mode(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[track_caller]
    fn refused(path: &Path, words: &str) {
        let error = OwnFile::append(path).err().unwrap().to_string();
        assert!(error.contains(words), "{error}");
    }

    #[test]
    fn only_a_plain_file_of_ones_own_is_added_to() {
        let top = tempfile::tempdir().unwrap();
        let at = |name: &str| top.path().join(name);
        OwnFile::append(&at("new")).unwrap();
        assert_eq!(fs::metadata(at("new")).unwrap().permissions().mode() & 0o7777, 0o600);
        fs::write(at("victim"), "victim\n").unwrap();
        symlink("victim", at("link")).unwrap();
        refused(&at("link"), "/link is a link; name the file that it leads to");
        fs::hard_link(at("victim"), at("hard")).unwrap();
        refused(&at("hard"), "/hard is one of 2 names of a file");
        assert!(Command::new("mkfifo").arg(at("pipe")).status().unwrap().success());
        refused(&at("pipe"), "/pipe is not a plain file");
        fs::create_dir(at("folder")).unwrap();
        refused(&at("folder"), "/folder: Is a directory");
        refused(&at("absent/runs"), "/absent: No such file or directory");
        assert_eq!(fs::read_to_string(at("victim")).unwrap(), "victim\n");
    }

    #[test]
    fn nobody_else_can_change_the_way_to_the_file() {
        let top = tempfile::tempdir().unwrap();
        let log = top.path().join("log");
        fs::create_dir(&log).unwrap();
        for (bits, is_fine) in [(0o775, false), (0o757, false), (0o1777, true), (0o755, true)] {
            mode(&log, bits);
            assert_eq!(OwnFile::append(&log.join("runs")).is_ok(), is_fine, "{bits:o}");
        }
        mode(&log, 0o777);
        refused(
            &log.join("runs"),
            "/log may be written by others (mode 0777), who could lead wrun to any file; run `chmod go-w ",
        );
        mode(&log, 0o755);
        // An operator's own link leads to another disk.
        symlink("log", top.path().join("disk")).unwrap();
        OwnFile::append(&top.path().join("disk/../disk/runs")).unwrap();
        symlink("round", top.path().join("round")).unwrap();
        refused(&top.path().join("round/runs"), "is a link");
        if !geteuid().is_root() {
            return;
        }
        chown(log.join("runs"), Some(65534), None).unwrap();
        refused(&log.join("runs"), "/log/runs belongs to user 65534, not to user 0");
        std::os::unix::fs::lchown(top.path().join("disk"), Some(65534), None).unwrap();
        refused(&top.path().join("disk/other"), "/disk is a link of user 65534");
        chown(&log, Some(65534), None).unwrap();
        refused(&log.join("other"), "/log belongs to user 65534, who could lead wrun to any file");
        assert!(!log.join("other").exists());
    }

    #[test]
    fn a_token_is_read_where_nobody_else_can_change_it() {
        let top = tempfile::tempdir().unwrap();
        let token = top.path().join("token");
        fs::write(&token, "secret\n").unwrap();
        mode(&token, 0o640);
        symlink("token", top.path().join("link")).unwrap();
        for path in [&token, &top.path().join("link")] {
            assert_eq!(read_text(path, 7).unwrap(), "secret\n");
        }
        let said = |path: &Path, limit: u64| read_text(path, limit).unwrap_err().to_string();
        assert!(said(&token, 6).ends_with("/token has more than 6 bytes"));
        assert!(said(&top.path().join("absent"), 7).ends_with("/absent: No such file or directory (os error 2)"));
        mode(&token, 0o620);
        assert!(said(&token, 7).ends_with("/token may be changed by others; run `chmod 0600` on it"));
        mode(&token, 0o600);
        mode(top.path(), 0o770);
        assert!(said(&token, 7).contains("may be written by others (mode 0770)"));
        mode(top.path(), 0o700);
        if geteuid().is_root() {
            chown(&token, Some(65534), None).unwrap();
            assert!(said(&token, 7).contains("/token belongs to user 65534"));
        }
    }
}
