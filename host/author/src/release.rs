//! Manages an author's files for releases: keys, the repository that `init` made last, and the verified state of
//! repositories.
//!
//! ```text
//! ~/.config/wrun/keys/NAME.key         keys
//! ~/.config/wrun/repository            the place of the repository
//! ~/.config/wrun/seen/KEY/trust/..     what was verified of a repository: see `repository::trust`
//! ```

use std::path::{Path, PathBuf};

use repository::trust::TrustFolder;
use repository::{DirectoryStore, RepositoryError};

/// The longest place of a repository, in bytes.
const MAX_PLACE: u64 = 4096;

/// The errors of finding and opening an author's repository.
#[derive(Debug, thiserror::Error)]
pub enum ReleaseError {
    /// No repository is named anywhere.
    #[error("which repository? name it with --repository; `wrun repository init` makes one and remembers it")]
    NoRepository,
    /// The remembered repository does not exist any more.
    #[error(
        "{place} does not exist: it is the repository that `wrun repository init` made last; name the place that it has now with \
         --repository"
    )]
    Gone {
        /// The folder or the URL of the repository.
        place: String,
    },
    /// A repository that is not in a directory.
    #[error("{place}: releases are written to a directory; repositories at addresses are for nodes")]
    NotADirectory {
        /// The folder or the URL of the repository.
        place: String,
    },
    /// A file of the author's own cannot be read or written.
    #[error("cannot read or write {}", path.display())]
    Own {
        /// The path of the file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The repository cannot be read or written.
    #[error(transparent)]
    Repository(#[from] RepositoryError),
}

/// The author's own folder.
#[derive(Debug, Clone)]
pub struct OwnPlaces {
    folder: PathBuf,
}

impl OwnPlaces {
    /// The folder, which need not exist.
    #[must_use]
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// The folder of keys.
    #[must_use]
    pub fn keys(&self) -> PathBuf {
        self.folder.join("keys")
    }

    fn remembered(&self) -> PathBuf {
        self.folder.join("repository")
    }

    /// Remembers a repository for the commands that follow.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn remember(&self, repository: &Path) -> Result<(), ReleaseError> {
        let path = self.remembered();
        let failed = |source| ReleaseError::Own { path: path.clone(), source };
        std::fs::create_dir_all(&self.folder).map_err(failed)?;
        std::fs::write(&path, format!("{}\n", repository.display())).map_err(failed)
    }

    /// The directory of the repository: the one that is named, else the one that is remembered.
    ///
    /// # Errors
    /// No repository is named, or it is not a directory.
    pub fn repository(&self, named: Option<&str>) -> Result<PathBuf, ReleaseError> {
        let place = match named {
            Some(named) => named.to_owned(),
            None => {
                let remembered = self.read_remembered()?.ok_or(ReleaseError::NoRepository)?;
                if !remembered.contains("://") && !Path::new(&remembered).exists() {
                    return Err(ReleaseError::Gone { place: remembered });
                }
                remembered
            }
        };
        if place.contains("://") {
            return Err(ReleaseError::NotADirectory { place });
        }
        let failed = |source| ReleaseError::Own { path: PathBuf::from(&place), source };
        std::path::absolute(&place).map_err(failed)
    }

    fn read_remembered(&self) -> Result<Option<String>, ReleaseError> {
        let path = self.remembered();
        let failed = |source| ReleaseError::Own { path: path.clone(), source };
        let text = match plain_files::read_text(&path, MAX_PLACE) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            text => text.map_err(failed)?,
        };
        Ok(Some(text.trim().to_owned()).filter(|place| !place.is_empty()))
    }

    /// Returns the folder with the verified state of a repository.
    #[must_use]
    pub fn seen(&self, repository: &Path) -> TrustFolder {
        TrustFolder::new(self.folder.join("seen").join(repository::names::place_key(&repository.display().to_string())))
    }

    /// Makes a directory for a repository, if it does not exist.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn make(&self, repository: &Path) -> Result<(), ReleaseError> {
        let failed = |source| ReleaseError::Own { path: repository.to_owned(), source };
        std::fs::create_dir_all(repository).map_err(failed)
    }

    /// Opens a repository's directory.
    ///
    /// # Errors
    /// It cannot be opened.
    pub fn open(&self, repository: &Path) -> Result<DirectoryStore, ReleaseError> {
        Ok(DirectoryStore::open(repository)?)
    }
}
