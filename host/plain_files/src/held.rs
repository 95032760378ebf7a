//! A stranger's folder that is opened once. All that lies below it is reached through the handle.
//!
//! Links count as long as they stay in the folder: where a path leads over one, the system says where that is, and the path
//! without links that it names is opened name by name. What is exchanged between the two looks leads nowhere.

use std::fs::{File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::folder::parted;
use crate::write::MODE;
use crate::{Existing, Folder, Kind, NotPlain, Survives, bounded, is_link, not_plain, text_of};

/// The permission bits of folders that are made, before the umask.
const FOLDER_MODE: u32 = 0o777;

/// A folder that is held open, and the path that people know it by.
#[derive(Debug, Clone)]
pub struct HeldFolder {
    path: PathBuf,
    /// The path without links. It tells where links lead, and is never opened.
    real: PathBuf,
    folder: Arc<Folder>,
}

impl HeldFolder {
    /// Opens a folder by its path, which is the operator's and may lead over links.
    ///
    /// # Errors
    /// The system's.
    pub fn open(path: &Path) -> io::Result<Self> {
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        let folder = Folder::open(path)?.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
        Self::of(path, folder)
    }

    /// Opens a folder by its path, as [`open`](Self::open), and makes it where it does not exist.
    ///
    /// # Errors
    /// The system's.
    pub fn make(path: &Path) -> io::Result<Self> {
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        Self::of(path, Folder::make(path, FOLDER_MODE)?)
    }

    fn of(path: &Path, folder: Folder) -> io::Result<Self> {
        Ok(Self { path: path.to_owned(), real: path.canonicalize()?, folder: Arc::new(folder) })
    }

    /// The same folder under another path, for people.
    #[must_use]
    pub fn with_path(self, path: PathBuf) -> Self {
        Self { path, ..self }
    }

    /// The path that people know the folder by.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path that the folder had when it was opened, without links.
    #[must_use]
    pub fn real(&self) -> &Path {
        &self.real
    }

    /// The handle that everything below is reached through.
    #[must_use]
    pub fn folder(&self) -> &Folder {
        &self.folder
    }

    /// Opens a plain file below. Links are followed within the folder.
    ///
    /// # Errors
    /// `NotFound`; the file is not plain, or the way to it leads out ([`crate::leads_out`]); or the system's.
    pub fn open_file(&self, below: impl AsRef<Path>) -> io::Result<File> {
        self.within(below.as_ref(), |folder, path| folder.open_file_below(path))?
            .ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Reads a plain file of at most so many bytes.
    ///
    /// # Errors
    /// As [`open_file`](Self::open_file); `FileTooLarge` for more bytes.
    pub fn read(&self, below: impl AsRef<Path>, limit: u64) -> io::Result<Vec<u8>> {
        bounded(self.open_file(below)?, limit)
    }

    /// Reads a plain file of at most so many bytes as text.
    ///
    /// # Errors
    /// As [`read`](Self::read); `InvalidData` for bytes that are not UTF-8.
    pub fn read_text(&self, below: impl AsRef<Path>, limit: u64) -> io::Result<String> {
        text_of(self.read(below, limit)?)
    }

    /// What lies below, or what a link leads to. `None`: it does not exist.
    ///
    /// # Errors
    /// The way leads out of the folder; or the system's.
    pub fn kind(&self, below: impl AsRef<Path>) -> io::Result<Option<Kind>> {
        self.within(below.as_ref(), |folder, path| match folder.kind(path) {
            Ok(Some(Kind::Link)) => Err(not_plain(io::ErrorKind::Other, NotPlain::Link)),
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => Ok(None),
            kind => kind,
        })
    }

    /// Whether a plain file lies below, or a link to one that lies below as well.
    #[must_use]
    pub fn is_file(&self, below: impl AsRef<Path>) -> bool {
        self.kind(below).is_ok_and(|kind| kind == Some(Kind::File))
    }

    /// Opens a folder below. Links are followed within this one. `None`: it does not exist.
    ///
    /// # Errors
    /// It is not a folder, or the way to it leads out; or the system's.
    pub fn below(&self, below: impl AsRef<Path>) -> io::Result<Option<Self>> {
        let below = below.as_ref();
        let opened =
            self.within(below, |folder, path| Ok(folder.below(path)?.map(|folder| (path.to_owned(), folder))))?;
        Ok(opened.map(|(real, folder)| Self {
            path: self.path.join(below),
            real: self.real.join(real),
            folder: Arc::new(folder),
        }))
    }

    /// Opens what lies below, with the path without links where the given one leads over some.
    fn within<T>(&self, below: &Path, open: impl Fn(&Folder, &Path) -> io::Result<Option<T>>) -> io::Result<Option<T>> {
        match open(&self.folder, below) {
            Err(error) if is_link(&error) => match self.without_links(below) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
                below => open(&self.folder, &below?),
            },
            opened => opened,
        }
    }

    /// The path below the folder, without links, that a path below it leads to.
    ///
    /// # Errors
    /// It leads out of the folder; or the system's.
    pub fn without_links(&self, below: impl AsRef<Path>) -> io::Result<PathBuf> {
        let target = self.real.join(below).canonicalize()?;
        let inside = target.strip_prefix(&self.real).map(Path::to_owned);
        inside.map_err(|_| not_plain(io::ErrorKind::Other, NotPlain::LinkOut))
    }

    /// Opens a folder below in which the program writes, and makes it where it does not exist. No link is followed.
    ///
    /// # Errors
    /// A link lies on the way ([`crate::is_link`]); or the system's.
    pub fn own(&self, below: impl AsRef<Path>) -> io::Result<Self> {
        let below = below.as_ref();
        let folder = self.folder.make_below(below, FOLDER_MODE)?;
        Ok(Self { path: self.path.join(below), real: self.real.join(below), folder: Arc::new(folder) })
    }

    /// Copies an open file with its permission bits, as [`write`](Self::write) writes one.
    ///
    /// # Errors
    /// As [`write`](Self::write); or the file cannot be read.
    pub fn copy(&self, mut from: File, below: impl AsRef<Path>) -> io::Result<()> {
        let permissions = from.metadata()?.permissions();
        let (folder, name) = parted(below.as_ref())?;
        let folder = self.folder.make_below(folder, FOLDER_MODE)?;
        let copied = folder.write_with(name, MODE, Existing::Replaced, Survives::Kill, |to| {
            io::copy(&mut from, to)?;
            to.set_permissions(Permissions::from_mode(permissions.mode() & FOLDER_MODE))
        });
        copied.map(|_| ())
    }

    /// Puts a file in the place of whatever has its name, and makes the folders on the way. No link is followed.
    ///
    /// # Errors
    /// A link lies on the way ([`crate::is_link`]); or the system's; what was there is as it was.
    pub fn write(&self, below: impl AsRef<Path>, content: &[u8]) -> io::Result<()> {
        let (folder, name) = parted(below.as_ref())?;
        let folder = self.folder.make_below(folder, FOLDER_MODE)?;
        folder.write(name, content, MODE, Existing::Replaced, Survives::Kill).map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    /// A folder `own` with a file and a folder, and a folder `elsewhere` beside it that has secrets under the same names.
    fn folders() -> tempfile::TempDir {
        let top = tempfile::tempdir().unwrap();
        for folder in ["own", "elsewhere"] {
            fs::create_dir_all(top.path().join(folder).join("inner")).unwrap();
            for file in ["a", "inner/b"] {
                fs::write(top.path().join(folder).join(file), folder).unwrap();
            }
        }
        top
    }

    #[test]
    fn links_within_the_folder_are_followed_and_others_are_told() {
        let top = folders();
        let own = top.path().join("own");
        let links = [
            ("file", "inner/b"),
            ("folder", "inner"),
            ("twice", "folder/b"),
            ("nowhere", "gone"),
            ("out", "../elsewhere"),
            ("secret", "../elsewhere/a"),
        ];
        for (name, target) in links {
            symlink(target, own.join(name)).unwrap();
        }
        symlink(own.join("a"), own.join("absolute")).unwrap();
        // The folder itself may be given as a link.
        symlink("own", top.path().join("link")).unwrap();
        let held = HeldFolder::open(&top.path().join("link")).unwrap();
        for path in ["a", "inner/b", "file", "folder/b", "twice", "absolute"] {
            assert_eq!(held.read_text(path, 10).unwrap(), "own", "{path}");
            assert!(held.is_file(path));
        }
        assert_eq!(held.below("folder").unwrap().unwrap().read_text("b", 10).unwrap(), "own");
        assert_eq!(held.kind("folder").unwrap(), Some(Kind::Folder));
        for path in ["gone", "nowhere", "inner/gone", "gone/b"] {
            assert_eq!(held.read("gone", 10).unwrap_err().kind(), io::ErrorKind::NotFound, "{path}");
            assert!(held.kind(path).unwrap().is_none() && held.below(path).unwrap().is_none(), "{path}");
        }
        for path in ["secret", "out/a", "out/inner/b"] {
            assert!(crate::leads_out(&held.read(path, 10).unwrap_err()), "{path}");
            assert!(!held.is_file(path));
        }
        assert!(crate::leads_out(&held.below("out").unwrap_err()));
        for path in ["../elsewhere/a", "/etc/passwd", "inner/../../elsewhere/a"] {
            assert!(held.read(path, 10).is_err(), "{path}");
        }
    }

    #[test]
    fn attack_what_is_exchanged_for_a_link_is_not_read() {
        let top = folders();
        let own = top.path().join("own");
        let held = HeldFolder::open(&own).unwrap();
        let exchange = |path: &str| {
            fs::rename(own.join(path), top.path().join("away")).unwrap();
            symlink(top.path().join("elsewhere").join(path), own.join(path)).unwrap();
        };
        exchange("a");
        assert!(crate::leads_out(&held.read("a", 10).unwrap_err()));
        fs::remove_file(top.path().join("away")).unwrap();
        exchange("inner");
        assert!(crate::leads_out(&held.read("inner/b", 10).unwrap_err()));
    }

    #[test]
    fn attack_a_folder_that_is_exchanged_for_a_link_stays_the_one_that_was_opened() {
        let top = folders();
        let (own, away) = (top.path().join("own"), top.path().join("away"));
        let held = HeldFolder::open(&own).unwrap();
        fs::rename(&own, &away).unwrap();
        symlink("elsewhere", &own).unwrap();
        assert_eq!(held.read_text("a", 10).unwrap(), "own");
        held.write("a", b"new").unwrap();
        held.write("new/deep/c", b"new").unwrap();
        held.own("made").unwrap().write("d", b"new").unwrap();
        assert_eq!(fs::read_to_string(away.join("a")).unwrap(), "new");
        assert!(away.join("new/deep/c").exists() && away.join("made/d").exists());
        let elsewhere = top.path().join("elsewhere");
        assert_eq!(fs::read_to_string(elsewhere.join("a")).unwrap(), "elsewhere");
        assert!(!elsewhere.join("new").exists() && !elsewhere.join("made").exists());
    }

    #[test]
    fn attack_nothing_is_written_where_links_lead() {
        let top = folders();
        let own = top.path().join("own");
        symlink("../elsewhere", own.join("out")).unwrap();
        symlink("inner", own.join("in")).unwrap();
        symlink("../elsewhere/a", own.join("file")).unwrap();
        let held = HeldFolder::open(&own).unwrap();
        for path in ["out/a", "in/b", "out/new/c"] {
            assert!(is_link(&held.write(path, b"new").unwrap_err()), "{path}");
        }
        assert!(is_link(&held.own("out").unwrap_err()));
        held.write("file", b"new").unwrap();
        assert!(fs::symlink_metadata(own.join("file")).unwrap().is_file());
        assert_eq!(fs::read_to_string(top.path().join("elsewhere/a")).unwrap(), "elsewhere");
        assert_eq!(fs::read_to_string(own.join("inner/b")).unwrap(), "own");
    }
}
