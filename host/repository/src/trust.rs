//! Stores the verified documents of repositories between runs, in one file for each.
//!
//! A version that was seen must not be forgotten. So a damaged file is an error and never counts as an absent one.

use std::path::{Path, PathBuf};

use jiff::Timestamp as Moment;
use serde::{Deserialize, Serialize};

use crate::error::RepositoryError;
use crate::files::{OwnFolder, Survives};
use crate::update::{Pointers, Trusted};

const FORMAT: &str = "wrun-trust-1";

/// The folder with the files.
const TRUST: &str = "trust";

/// The largest file, in bytes: a document of targets and its smaller companions, each as JSON text in JSON.
const MAX_BYTES: u64 = 64 << 20;

/// The trusted documents of one repository, and the time of the last update.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Trust {
    /// The documents that were verified.
    pub trusted: Trusted,
    /// The moment of the last successful update.
    pub checked: Option<Moment>,
    /// The SHA-256 of the root that the operator has named, once it was found in the chain of roots.
    pub named: Option<String>,
    /// The last verified targets, if a root with other keys came afterwards and nothing was verified under it yet. Whoever
    /// serves the files could withhold what follows the new root. They prove nothing any more, but they may still object.
    pub(crate) superseded: Option<Vec<u8>>,
}

impl Trust {
    /// Returns a copy with other trusted documents.
    #[must_use]
    pub fn with(&self, trusted: Trusted) -> Self {
        let superseded = match trusted.targets {
            Some(_) => None,
            None => self.trusted.targets.as_ref().or(self.superseded.as_ref()).cloned(),
        };
        Self { trusted, checked: self.checked, named: self.named.clone(), superseded }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    format: String,
    root: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pointers: Option<WrittenPointers>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    targets: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    checked: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    named: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    superseded: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenPointers {
    timestamp: String,
    snapshot: String,
}

/// The folder with a node's or an author's trust data of one store.
#[derive(Debug, Clone)]
pub struct TrustFolder {
    folder: OwnFolder,
}

impl TrustFolder {
    /// Names the folder, which need not exist.
    #[must_use]
    pub fn new(path: PathBuf) -> Self {
        Self { folder: OwnFolder::new(path) }
    }

    /// Returns the folder of the trust data.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Reads the trust data of the repository in a folder of the store. Returns `None` if there are none yet.
    ///
    /// # Errors
    /// It cannot be read, or is damaged.
    pub fn read(&self, folder: &str) -> Result<Option<Trust>, RepositoryError> {
        let below = trust_file(folder);
        let damaged = |what: String| RepositoryError::Trust { path: self.folder.file(&below), what };
        let Some(bytes) = self.folder.read(&below, MAX_BYTES).map_err(|error| damaged(error.to_string()))? else {
            return Ok(None);
        };
        let written: Written = serde_json::from_slice(&bytes).map_err(|error| damaged(error.to_string()))?;
        if written.format != FORMAT {
            return Err(damaged(format!("its format {:?} is not known to this wrun", written.format)));
        }
        let pointers = written.pointers.map(|pointers| Pointers {
            timestamp: pointers.timestamp.into_bytes(),
            snapshot: pointers.snapshot.into_bytes(),
        });
        let targets = written.targets.map(String::into_bytes);
        let trusted = Trusted { root: written.root.into_bytes(), pointers, targets };
        let checked = written.checked.map(|moment| moment.parse()).transpose();
        let checked = checked.map_err(|_| damaged("a moment of it is invalid".into()))?;
        let superseded = written.superseded.map(String::into_bytes);
        Ok(Some(Trust { trusted, checked, named: written.named, superseded }))
    }

    /// Writes the trust data durably.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&self, folder: &str, trust: &Trust) -> Result<(), RepositoryError> {
        self.write_surviving(folder, trust, Survives::PowerCut)
    }

    /// Writes a new time of the last update, if nothing else has changed. It may be lost in a power cut.
    ///
    /// # Errors
    /// It cannot be written.
    pub(crate) fn write_time(&self, folder: &str, trust: &Trust) -> Result<(), RepositoryError> {
        self.write_surviving(folder, trust, Survives::Kill)
    }

    /// Removes the trust data of the whole store.
    ///
    /// # Errors
    /// It cannot be removed.
    pub(crate) fn forget(&self) -> Result<(), RepositoryError> {
        let failed = |source| RepositoryError::Write { file: self.folder.file(TRUST).display().to_string(), source };
        self.folder.remove_folder(TRUST).map_err(failed)
    }

    fn write_surviving(&self, folder: &str, trust: &Trust, survives: Survives) -> Result<(), RepositoryError> {
        let below = trust_file(folder);
        let failed = |source| RepositoryError::Write { file: self.folder.file(&below).display().to_string(), source };
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let pointers = trust.trusted.pointers.as_ref().map(|pointers| WrittenPointers {
            timestamp: text(&pointers.timestamp),
            snapshot: text(&pointers.snapshot),
        });
        let written = Written {
            format: FORMAT.into(),
            root: text(&trust.trusted.root),
            pointers,
            targets: trust.trusted.targets.as_deref().map(text),
            checked: trust.checked.map(|moment| moment.to_string()),
            named: trust.named.clone(),
            superseded: trust.superseded.as_deref().map(text),
        };
        let bytes = serde_json::to_vec(&written).map_err(|error| failed(error.into()))?;
        self.folder.replace(&below, &bytes, survives).map_err(failed)
    }
}

/// The file with what is trusted of the repository in a folder of the store.
fn trust_file(folder: &str) -> String {
    format!("{TRUST}/{folder}.json")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_link_in_the_place_of_trust_is_neither_read_nor_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (own, elsewhere) = (folder.path().join("own"), folder.path().join("elsewhere"));
        let place = TrustFolder::new(own.clone());
        let trusted = Trusted { root: b"r".to_vec(), pointers: None, targets: None };
        let trust = Trust { trusted, ..Trust::default() };
        place.write("platform", &trust).unwrap();
        std::fs::rename(own.join("trust"), &elsewhere).unwrap();
        // If the folder is a link, its target is not read, written or removed.
        symlink(&elsewhere, own.join("trust")).unwrap();
        let link = |error: RepositoryError| text::error_chain(&error);
        assert!(link(place.read("platform").unwrap_err()).contains("it is a link"));
        assert!(link(place.write("platform", &trust).unwrap_err()).contains("it is a link"));
        assert!(link(place.forget().unwrap_err()).contains("it is a link"));
        assert!(elsewhere.join("platform.json").exists());
        // If the file is a link, it is not read, and a write replaces it.
        std::fs::remove_file(own.join("trust")).unwrap();
        std::fs::create_dir(own.join("trust")).unwrap();
        symlink(elsewhere.join("platform.json"), own.join("trust/platform.json")).unwrap();
        assert!(link(place.read("platform").unwrap_err()).contains("it is a link"));
        std::fs::write(elsewhere.join("platform.json"), "mine").unwrap();
        place.write("platform", &trust).unwrap();
        assert_eq!(place.read("platform").unwrap(), Some(trust));
        assert_eq!(std::fs::read_to_string(elsewhere.join("platform.json")).unwrap(), "mine");
    }

    #[test]
    fn trust_is_kept_and_damage_is_not_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let place = TrustFolder::new(folder.path().join("a"));
        assert_eq!(place.read("teams/core").unwrap(), None);
        let pointers = Pointers { timestamp: b"t".to_vec(), snapshot: b"s".to_vec() };
        let trusted = Trusted { root: b"r".to_vec(), pointers: Some(pointers), targets: Some(b"x".to_vec()) };
        let checked = Some(Moment::UNIX_EPOCH);
        let trust = Trust { trusted, checked, named: Some("0".repeat(64)), superseded: None };
        place.write("teams/core", &trust).unwrap();
        assert_eq!(place.read("teams/core").unwrap(), Some(trust.clone()));
        // Under a root with other keys, the targets are kept only to object.
        let rotated = trust.with(Trusted::of_root(b"r2".to_vec()));
        assert_eq!(rotated.superseded.as_deref(), Some(b"x".as_slice()));
        place.write("teams/core", &rotated).unwrap();
        assert_eq!(place.read("teams/core").unwrap(), Some(rotated.clone()));
        assert_eq!(rotated.with(Trusted::of_root(b"r3".to_vec())).superseded, rotated.superseded);
        assert_eq!(rotated.with(trust.trusted.clone()).superseded, None);
        place.write("teams/core", &trust).unwrap();
        let file = folder.path().join("a/trust/teams/core.json");
        for damage in ["", "{}", "{\"format\": \"wrun-trust-2\", \"root\": \"\"}"] {
            std::fs::write(&file, damage).unwrap();
            let error = place.read("teams/core").unwrap_err().to_string();
            assert!(error.contains("is damaged") && error.contains("remove it to trust"), "{error}");
        }
    }
}
