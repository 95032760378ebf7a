//! Access to files through an open folder. Each system call below it uses a single name and follows no links, so other
//! processes cannot redirect it.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Component, Path};

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt as _};
use cap_std::fs::{Dir, DirBuilder, DirBuilderExt as _, Metadata, OpenOptions, OpenOptionsExt as _};
use rustix::fs::{Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use crate::walk::Kind;
use crate::write::{Existing, Survives, write_in, write_with_in};
use crate::{HOLD, NotPlain, bounded, not_plain, opened, plain};

/// Largest depth of folders that are removed with their content.
const MAX_DEPTH: usize = 48;

/// An open folder. It stays the same folder if its path changes.
#[derive(Debug)]
pub struct Folder {
    pub(crate) handle: Dir,
}

impl AsFd for Folder {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.handle.as_fd()
    }
}

impl Folder {
    /// Opens a folder by its path. The operator chooses the path, so it may contain links. Returns `None` if it does not
    /// exist.
    ///
    /// # Errors
    /// The system's.
    pub fn open(path: &Path) -> io::Result<Option<Self>> {
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        match rustix::fs::open(path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()) {
            Ok(handle) => Ok(Some(Self { handle: handle.into() })),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Opens a folder by its path like [`open`](Self::open), and creates it and its missing parents durably.
    ///
    /// # Errors
    /// The system's.
    pub fn make(path: &Path, mode: u32) -> io::Result<Self> {
        if let Some(folder) = Self::open(path)? {
            return Ok(folder);
        }
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(io::ErrorKind::InvalidFilename.into());
        };
        Self::make(parent, mode)?.make_below(Path::new(name), mode)
    }

    /// Opens a folder below this one, name by name. Returns `None` if it does not exist.
    ///
    /// # Errors
    /// A link or something else that is not a folder lies there; or the system's.
    pub fn below(&self, path: impl AsRef<Path>) -> io::Result<Option<Self>> {
        let mut open = Self { handle: self.handle.try_clone()? };
        for name in names_of(path.as_ref())? {
            match open.entered(name) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
                entered => open = entered?,
            }
        }
        Ok(Some(open))
    }

    /// Opens a folder below this one like [`below`](Self::below), and creates it durably if it is missing.
    ///
    /// # Errors
    /// As [`below`](Self::below).
    pub fn make_below(&self, path: impl AsRef<Path>, mode: u32) -> io::Result<Self> {
        self.make_below_surviving(path, mode, Survives::PowerCut)
    }

    /// Does the same as [`make_below`](Self::make_below). A folder that need not survive a power cut is created without
    /// waiting for the disk.
    ///
    /// # Errors
    /// As [`below`](Self::below).
    pub fn make_below_surviving(&self, path: impl AsRef<Path>, mode: u32, survives: Survives) -> io::Result<Self> {
        let mut open = Self { handle: self.handle.try_clone()? };
        for name in names_of(path.as_ref())? {
            open = match open.entered(name) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    match open.handle.create_dir_with(name, DirBuilder::new().mode(mode)) {
                        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                        _ if survives == Survives::PowerCut => rustix::fs::fsync(&open.handle)?,
                        _ => {}
                    }
                    open.entered(name)
                }
                entered => entered,
            }?;
        }
        Ok(open)
    }

    fn entered(&self, name: &Path) -> io::Result<Self> {
        match self.handle.open_with(name, &without_links(OpenOptions::new().read(true), OFlags::DIRECTORY)) {
            Ok(opened) => Ok(Self { handle: Dir::from_std_file(opened.into_std()) }),
            // The kernel returns the same error for a link.
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
                let is_link = self.about(name)?.is_some_and(|about| about.is_symlink());
                Err(if is_link { told(Errno::LOOP.into()) } else { not_plain(error.kind(), NotPlain::Folder) })
            }
            Err(error) => Err(told(error)),
        }
    }

    /// Opens a regular file for reading, without blocking. Returns `None` if it does not exist.
    ///
    /// # Errors
    /// A link or something else that is not a plain file lies there; or the system's.
    pub fn open_file(&self, name: impl AsRef<Path>) -> io::Result<Option<File>> {
        let name = bare(name.as_ref())?;
        match rustix::fs::openat(&self.handle, name, HOLD | OFlags::NOFOLLOW, Mode::empty()) {
            Err(Errno::NOENT) => Ok(None),
            held => opened(held?, || self.opened(name, OpenOptions::new().read(true))).map(Some),
        }
    }

    /// Opens a regular file for locking, and creates it if it does not exist.
    ///
    /// # Errors
    /// As [`open_file`](Self::open_file).
    pub fn lock_file(&self, name: impl AsRef<Path>, mode: u32) -> io::Result<File> {
        self.opened(name.as_ref(), OpenOptions::new().write(true).create(true).mode(mode))
    }

    /// Opens a regular file for appending, and creates it if it does not exist.
    ///
    /// # Errors
    /// As [`open_file`](Self::open_file).
    pub fn append_file(&self, name: impl AsRef<Path>, mode: u32) -> io::Result<File> {
        self.opened(name.as_ref(), OpenOptions::new().append(true).create(true).mode(mode))
    }

    fn opened(&self, name: &Path, options: &mut OpenOptions) -> io::Result<File> {
        let opened = self.handle.open_with(bare(name)?, &without_links(options, OFlags::NONBLOCK));
        plain(opened.map_err(told)?.into_std())
    }

    /// Reads a regular file of at most `limit` bytes. Returns `None` if it does not exist.
    ///
    /// # Errors
    /// As [`open_file`](Self::open_file); `FileTooLarge` for more bytes.
    pub fn read(&self, name: impl AsRef<Path>, limit: u64) -> io::Result<Option<Vec<u8>>> {
        self.open_file(name)?.map(|file| bounded(file, limit)).transpose()
    }

    /// Opens a plain file below, name by name. `None`: it does not exist.
    ///
    /// # Errors
    /// As [`below`](Self::below) and [`open_file`](Self::open_file).
    pub fn open_file_below(&self, path: impl AsRef<Path>) -> io::Result<Option<File>> {
        let (folder, name) = parted(path.as_ref())?;
        self.below(folder)?.map_or(Ok(None), |folder| folder.open_file(name))
    }

    /// Reads a plain file below of at most so many bytes. `None`: it does not exist.
    ///
    /// # Errors
    /// As [`open_file_below`](Self::open_file_below); `FileTooLarge` for more bytes.
    pub fn read_below(&self, path: impl AsRef<Path>, limit: u64) -> io::Result<Option<Vec<u8>>> {
        self.open_file_below(path)?.map(|file| bounded(file, limit)).transpose()
    }

    /// What lies below: links are not followed. `None`: it does not exist.
    ///
    /// # Errors
    /// As [`below`](Self::below).
    pub fn kind(&self, path: impl AsRef<Path>) -> io::Result<Option<Kind>> {
        if path.as_ref().as_os_str().is_empty() {
            return Ok(Some(Kind::Folder));
        }
        let (folder, name) = parted(path.as_ref())?;
        let Some(folder) = self.below(folder)? else { return Ok(None) };
        Ok(folder.about(Path::new(name))?.map(|about| Kind::of(about.file_type())))
    }

    /// Writes a file atomically: under a temporary name, and then renames it. Returns `false` if a file exists and is kept.
    ///
    /// # Errors
    /// The system's.
    pub fn write(
        &self,
        name: impl AsRef<Path>,
        content: &[u8],
        mode: u32,
        existing: Existing,
        survives: Survives,
    ) -> io::Result<bool> {
        write_in(self.as_fd(), bare(name.as_ref())?, content, mode, existing, survives)
    }

    /// Does the same as [`write`](Self::write) for content that is written in pieces.
    ///
    /// # Errors
    /// The system's, and those of `write`.
    pub fn write_with(
        &self,
        name: impl AsRef<Path>,
        mode: u32,
        existing: Existing,
        survives: Survives,
        write: impl FnOnce(&mut File) -> io::Result<()>,
    ) -> io::Result<bool> {
        write_with_in(self.as_fd(), bare(name.as_ref())?, mode, existing, survives, write)
    }

    /// Renames an entry to a new name that must not exist.
    ///
    /// # Errors
    /// Something has the new name; or the system's.
    pub fn rename_to_new(&self, name: impl AsRef<Path>, new: impl AsRef<Path>) -> io::Result<()> {
        let (name, new) = (bare(name.as_ref())?, bare(new.as_ref())?);
        Ok(rustix::fs::renameat_with(&self.handle, name, &self.handle, new, RenameFlags::NOREPLACE)?)
    }

    /// Moves something to another folder, in the place of whatever has that name there: a folder goes with all that is in it.
    ///
    /// # Errors
    /// The system's.
    pub fn move_to(&self, name: impl AsRef<Path>, folder: &Self, new: impl AsRef<Path>) -> io::Result<()> {
        let (name, new) = (bare(name.as_ref())?, bare(new.as_ref())?);
        match folder.kind(new)? {
            Some(Kind::Folder) => folder.remove_folder(new)?,
            Some(_) => folder.remove(new)?,
            None => {}
        }
        Ok(rustix::fs::renameat(&self.handle, name, &folder.handle, new)?)
    }

    /// Returns the names in the folder, sorted.
    ///
    /// # Errors
    /// The system's.
    pub fn names(&self) -> io::Result<Vec<OsString>> {
        let mut names = vec![];
        for entry in self.handle.entries()? {
            names.push(entry?.file_name());
        }
        names.sort();
        Ok(names)
    }

    /// Returns whether an entry with a name exists. A dangling link counts too.
    ///
    /// # Errors
    /// The system's.
    pub fn has(&self, name: impl AsRef<Path>) -> io::Result<bool> {
        Ok(self.about(bare(name.as_ref())?)?.is_some())
    }

    /// Returns the size of an entry below, in bytes, without opening it. Returns `None` if it does not exist.
    ///
    /// # Errors
    /// As [`below`](Self::below).
    pub fn size(&self, path: impl AsRef<Path>) -> io::Result<Option<u64>> {
        let (folder, name) = parted(path.as_ref())?;
        let Some(folder) = self.below(folder)? else { return Ok(None) };
        Ok(folder.about(Path::new(name))?.map(|about| about.len()))
    }

    fn about(&self, name: &Path) -> io::Result<Option<Metadata>> {
        match self.handle.symlink_metadata(name) {
            Ok(about) => Ok(Some(about)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Removes a file or a link, if it exists.
    ///
    /// # Errors
    /// The system's.
    pub fn remove(&self, name: impl AsRef<Path>) -> io::Result<()> {
        gone(self.handle.remove_file(bare(name.as_ref())?))
    }

    /// Removes an empty folder, if it exists.
    ///
    /// # Errors
    /// It is not a folder, or something is in it; or the system's.
    pub fn remove_empty_folder(&self, name: impl AsRef<Path>) -> io::Result<()> {
        gone(self.handle.remove_dir(bare(name.as_ref())?))
    }

    /// Removes a folder with its content, if it exists. Links in it are removed, but not their targets. If the name itself is
    /// a link, this is an error.
    ///
    /// # Errors
    /// It is not a folder, or is deeper than folders of wrun's; or the system's.
    pub fn remove_folder(&self, name: impl AsRef<Path>) -> io::Result<()> {
        self.remove_to_depth(bare(name.as_ref())?, MAX_DEPTH)
    }

    fn remove_to_depth(&self, name: &Path, depth: usize) -> io::Result<()> {
        let Some(left) = depth.checked_sub(1) else { return Err(io::Error::other("its folders are too deep")) };
        let Some(folder) = self.below(name)? else { return Ok(()) };
        for entry in folder.handle.entries()? {
            let entry = entry?;
            let name = entry.file_name();
            match entry.file_type()?.is_dir() {
                true => folder.remove_to_depth(Path::new(&name), left)?,
                false => gone(folder.handle.remove_file(&name))?,
            }
        }
        gone(self.handle.remove_dir(name))
    }

    /// Returns the free bytes on the disk for users other than root.
    ///
    /// # Errors
    /// The system's.
    pub fn free_bytes(&self) -> io::Result<u64> {
        free_bytes(&self.handle)
    }
}

/// Returns the free bytes on the disk of an open file or folder, for users other than root.
///
/// # Errors
/// The system's.
pub fn free_bytes(file: impl AsFd) -> io::Result<u64> {
    let disk = rustix::fs::fstatvfs(file)?;
    Ok(disk.f_bavail.saturating_mul(disk.f_frsize))
}

/// The folder of a path and the name there.
pub(crate) fn parted(path: &Path) -> io::Result<(&Path, &OsStr)> {
    path.parent().zip(path.file_name()).ok_or_else(|| io::ErrorKind::InvalidFilename.into())
}

/// Adds flags to the options, so that links are not opened.
fn without_links(options: &mut OpenOptions, flags: OFlags) -> OpenOptions {
    options.follow(FollowSymlinks::No).custom_flags(flags.bits().cast_signed()).clone()
}

/// Returns the single names of a relative path below a folder.
pub(crate) fn names_of(path: &Path) -> io::Result<Vec<&Path>> {
    let name = |part: Component<'_>| matches!(part, Component::Normal(_));
    match path.components().all(name) {
        true => Ok(path.iter().map(Path::new).collect()),
        false => Err(io::ErrorKind::InvalidFilename.into()),
    }
}

/// Checks that a path is a single name.
pub(crate) fn bare(name: &Path) -> io::Result<&Path> {
    match names_of(name)?.as_slice() {
        // The texts are compared, since a trailing slash would follow a link.
        [one] if one.as_os_str() == name.as_os_str() => Ok(name),
        _ => Err(io::ErrorKind::InvalidFilename.into()),
    }
}

/// Returns the system's error, with a clearer text if the original is misleading.
fn told(error: io::Error) -> io::Error {
    match Errno::from_io_error(&error) {
        Some(Errno::LOOP) => not_plain(io::ErrorKind::Other, NotPlain::Link),
        Some(Errno::NXIO) => not_plain(io::ErrorKind::InvalidInput, NotPlain::File),
        _ => error,
    }
}

fn gone(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;
    use std::os::unix::fs::symlink;

    #[test]
    fn folders_are_made_and_files_come_back() {
        let top = tempfile::tempdir().unwrap();
        let path = top.path().join("a/b");
        assert!(Folder::open(&path).unwrap().is_none());
        let folder = Folder::make(&path, 0o700).unwrap();
        let inner = folder.make_below("c/d", 0o700).unwrap();
        let write = |existing| inner.write("x", b"one", 0o600, existing, Survives::PowerCut).unwrap();
        assert_eq!((write(Existing::Replaced), write(Existing::Stays)), (true, false));
        assert_eq!(std::fs::read(path.join("c/d/x")).unwrap(), b"one");
        let again = folder.below("c/d").unwrap().unwrap();
        assert_eq!(again.read("x", 3).unwrap().unwrap(), b"one");
        assert_eq!(again.read("x", 2).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        assert_eq!((again.read("y", 9).unwrap(), again.has("x").unwrap()), (None, true));
        assert_eq!(again.names().unwrap(), ["x"]);
        again.remove("x").unwrap();
        again.remove("x").unwrap();
        assert!(folder.below("c/e").unwrap().is_none() && !again.has("x").unwrap());
        std::fs::write(path.join("c/y"), "").unwrap();
        folder.remove_folder("c").unwrap();
        folder.remove_folder("c").unwrap();
        assert!(!path.join("c").exists());
    }

    #[test]
    fn files_grow_and_get_names_that_nothing_has() {
        let top = tempfile::tempdir().unwrap();
        let folder = Folder::open(top.path()).unwrap().unwrap();
        for _ in 0..2 {
            folder.append_file("x", 0o600).unwrap().write_all(b"line\n").unwrap();
        }
        assert_eq!((folder.size("x").unwrap(), folder.size("y").unwrap()), (Some(10), None));
        folder.make_below("a", 0o700).unwrap().append_file("x", 0o600).unwrap();
        assert_eq!((folder.size("a/x").unwrap(), folder.size("b/x").unwrap()), (Some(0), None));
        assert!(folder.size("../x").is_err() && folder.size("a/..").is_err());
        folder.remove_folder("a").unwrap();
        folder.append_file("y", 0o600).unwrap();
        assert_eq!(folder.rename_to_new("x", "y").unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        folder.rename_to_new("x", "z").unwrap();
        let half = folder.write_with("y", 0o600, Existing::Replaced, Survives::Kill, |file| {
            file.write_all(b"half")?;
            Err(io::Error::other("no"))
        });
        assert!(half.is_err());
        assert_eq!((folder.size("y").unwrap(), folder.names().unwrap().len()), (Some(0), 2));
        let full = folder.make_below("full", 0o700).unwrap();
        full.append_file("x", 0o600).unwrap();
        assert!(folder.remove_empty_folder("full").is_err());
        full.remove("x").unwrap();
        folder.remove_empty_folder("full").unwrap();
        folder.remove_empty_folder("full").unwrap();
    }

    #[test]
    fn what_is_in_the_way_of_a_file_or_a_folder_is_told_from_errors_of_the_system() {
        let top = tempfile::tempdir().unwrap();
        std::fs::write(top.path().join("file"), "").unwrap();
        std::fs::create_dir(top.path().join("folder")).unwrap();
        symlink("folder", top.path().join("link")).unwrap();
        symlink("link", top.path().join("twice")).unwrap();
        let folder = Folder::open(top.path()).unwrap().unwrap();
        for (error, words) in [
            (folder.below("file").unwrap_err(), "it is not a folder"),
            (folder.below("file/x").unwrap_err(), "it is not a folder"),
            (folder.below("link").unwrap_err(), "it is a link"),
            (folder.below("twice").unwrap_err(), "it is a link"),
            (folder.read("folder", 9).unwrap_err(), "is a directory"),
            (folder.append_file("folder", 0o600).unwrap_err(), "Is a directory"),
            (folder.append_file("link", 0o600).unwrap_err(), "it is a link"),
            (Folder::open(&top.path().join("file")).unwrap_err(), "Not a directory"),
        ] {
            assert!(crate::is_not_plain(&error) && error.to_string().starts_with(words), "{words}: {error}");
        }
        assert!(!crate::is_not_plain(&folder.read("a/b", 9).unwrap_err()));
        assert_eq!(folder.below("file").unwrap_err().kind(), io::ErrorKind::NotADirectory);
        assert_ne!(folder.below("link").unwrap_err().kind(), io::ErrorKind::NotADirectory);
    }

    #[test]
    fn no_link_is_followed_and_nothing_outside_is_reached() {
        let top = tempfile::tempdir().unwrap();
        let (outside, own) = (top.path().join("outside"), top.path().join("own"));
        std::fs::create_dir(&outside).unwrap();
        std::fs::write(outside.join("secret"), "secret").unwrap();
        std::fs::create_dir(&own).unwrap();
        symlink(&outside, own.join("folder")).unwrap();
        symlink(outside.join("secret"), own.join("file")).unwrap();
        symlink(outside.join("new"), own.join("nowhere")).unwrap();
        let folder = Folder::open(&own).unwrap().unwrap();
        for error in [
            folder.below("folder").unwrap_err(),
            folder.make_below("folder/x", 0o700).unwrap_err(),
            folder.remove_folder("folder").unwrap_err(),
            folder.read("file", 10).unwrap_err(),
            folder.lock_file("file", 0o600).unwrap_err(),
            folder.lock_file("nowhere", 0o600).unwrap_err(),
        ] {
            assert!(error.to_string().contains("it is a link"), "{error}");
        }
        for name in ["..", ".", "", "/", "a/b", "../outside/secret", "a/"] {
            assert!(folder.read(name, 10).is_err() && folder.remove(name).is_err(), "{name:?}");
        }
        assert!(folder.below("../outside").is_err() && folder.below("/").is_err());
        assert!(folder.write("file", b"new", 0o600, Existing::Replaced, Survives::Kill).unwrap());
        assert_eq!(std::fs::read_to_string(outside.join("secret")).unwrap(), "secret");
        assert!(!outside.join("new").exists() && std::fs::symlink_metadata(own.join("file")).unwrap().is_file());
        // The target of a link stays when the folder is removed.
        std::fs::create_dir(own.join("old")).unwrap();
        symlink(&outside, own.join("old/link")).unwrap();
        folder.remove_folder("old").unwrap();
        assert!(outside.join("secret").exists() && !own.join("old").exists());
    }
}
