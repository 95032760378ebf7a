//! Takes policies from signed releases. If the settings name a repository, a run uses only policies that their teams have
//! signed.

mod address;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use artifact::Artifact;
use contract::{ErrorKind, Failure, Stop};
use jiff::Timestamp as Moment;
use repository::first::{first_root, max_root};
use repository::names::place_key;
use repository::node::{Fetched, NodeSettings, Remark, SignedArtifact, Wanted, converged, fetch};
use repository::store::Store;
use repository::{DirectoryStore, Release, RepositoryError};
use serde_json::{Value, json};
use text::error_chain;

use address::{AddressStore, is_address, without_user};

use crate::error::AssembleError;
use crate::notice::Notice;
use crate::request::Request;
use crate::settings::Settings;

/// The folder of the state directory for a node's files about repositories.
const FOLDER: &str = "releases";

/// The repository of a node's settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepositorySettings {
    /// Its directory, or its address (`https://..`).
    pub place: String,
    /// The file with the root of the platform that the operator trusts.
    pub root: Option<PathBuf>,
    /// Longest time since its last verification after which a revision may still run.
    pub stale_after: Option<Duration>,
    /// How long a node uses a revision of a repository behind an address without asking whether there is a newer one.
    pub refresh: Duration,
}

impl RepositorySettings {
    /// Returns the repository's directory, or `None` if it is behind an address.
    pub(crate) fn directory(&self) -> Option<PathBuf> {
        let place = PathBuf::from(&self.place);
        (!is_address(&self.place)).then(|| std::path::absolute(&place).unwrap_or(place))
    }

    /// The node's folder for it.
    pub(crate) fn folder(&self, state_dir: &Path) -> PathBuf {
        let place = self.directory().map_or_else(|| self.place.clone(), |place| place.display().to_string());
        state_dir.join(FOLDER).join(place_key(&place))
    }

    /// Opens the repository. The second value tells whether only the operator can change it.
    fn open(&self, stop: &Stop) -> Result<(Box<dyn Store>, bool), RepositoryError> {
        let Some(place) = self.directory() else {
            if let Some(place) = without_user(&self.place) {
                return Err(RepositoryError::Other(format!(
                    "the address of the repository {place} has a user or a password in it, which wrun does not send; leave \
                     them out"
                )));
            }
            return Ok((Box::new(AddressStore::new(&self.place, stop)), false));
        };
        let store = DirectoryStore::open(&place)?;
        let is_own = store.is_operators_own(&first_root());
        Ok((Box::new(store), is_own))
    }
}

/// A proof that a policy's artifact may run: its team has signed it, or the settings name no repository.
///
/// [`Released`](crate::source::Released) can be made only from it, and the sandbox gets its code only from that.
#[derive(Debug, Clone)]
pub(crate) struct Admitted {
    artifact: Artifact,
}

impl Admitted {
    /// Admits an artifact that its team has signed.
    fn signed(signed: &SignedArtifact) -> Self {
        Self { artifact: signed.artifact().clone() }
    }

    /// Admits a file that the operator put into the folder of artifacts. Returns `None` if the settings name a repository,
    /// because then only signed artifacts count.
    pub(crate) fn unsigned(artifact: Artifact, settings: &Settings) -> Option<Self> {
        settings.repository.is_none().then_some(Self { artifact })
    }

    /// Returns the artifact that was released.
    pub(crate) fn artifact(&self) -> &Artifact {
        &self.artifact
    }
}

/// The releases of a run.
#[derive(Debug, Default)]
pub(crate) struct Releases {
    folder: PathBuf,
    place: String,
    signed: BTreeMap<String, SignedArtifact>,
    refused: BTreeMap<String, RepositoryError>,
}

impl Releases {
    /// Finds and verifies the releases of policies, and returns them with notices for people. Returns `None` if the settings
    /// do not name a repository.
    ///
    /// # Errors
    /// A policy has no group, a revision is chosen of a policy that is not run, the repository's folder cannot be used, or none of
    /// the policies can be had.
    pub(crate) fn fetch(
        names: &[String],
        group_of: impl Fn(&str) -> Option<String>,
        request: &Request,
        settings: &Settings,
        stop: &Stop,
    ) -> Result<Option<(Self, Vec<Notice>)>, AssembleError> {
        if let Some(policy) = request.revisions.keys().find(|policy| !names.contains(policy)) {
            return Err(AssembleError::NoSuchChoice { policy: policy.clone(), why: "this policy is not run" });
        }
        let Some(repository) = settings.repository.as_ref().filter(|_| !names.is_empty()) else {
            return match request.revisions.keys().next() {
                None => Ok(None),
                Some(policy) => {
                    let why = "the settings name no repository";
                    Err(AssembleError::NoSuchChoice { policy: policy.clone(), why })
                }
            };
        };
        let mut wanted = vec![];
        for name in names {
            let group = group_of(name).ok_or_else(|| AssembleError::NoGroup { policy: name.clone() })?;
            wanted.push(Wanted { policy: name.clone(), group, revision: request.revisions.get(name).cloned() });
        }
        let now = Moment::try_from(SystemTime::now()).map_err(AssembleError::Clock)?;
        let root = repository.root.as_deref().map(read_root).transpose()?;
        let opened = repository.open(stop);
        let first_use = opened.as_ref().is_ok_and(|(_, is_own)| *is_own);
        let folder = repository.folder(&settings.state_dir);
        let node = NodeSettings {
            store: match &opened {
                Ok((store, _)) => Ok(store.as_ref()),
                Err(error) => Err(RepositoryError::Other(error_chain(error))),
            },
            folder: folder.clone(),
            root,
            first_use,
            stale_after: repository.stale_after,
            // Reading a directory is cheap, so it is always read.
            refresh: repository.directory().is_none().then_some(repository.refresh),
            keeps: !request.mode.is_dry(),
            min_free: settings.min_free,
            now,
        };
        let Fetched { artifacts, mut refused, remarks } = fetch(node, &wanted)?;
        let mut notices: Vec<_> = remarks.into_iter().map(Notice::of_repository).collect();
        for (policy, signed) in &artifacts {
            notices.extend(signed.stale().map(|stale| Notice::Stale {
                policy: policy.clone(),
                verified: stale.verified.to_string(),
                days: now.duration_since(stale.verified).as_secs() / (24 * 60 * 60),
                reason: stale.reason.clone(),
            }));
        }
        // If a single policy is not available, only that policy fails. If no policy is available, the run cannot begin.
        if artifacts.is_empty()
            && let Some((_, error)) = refused.pop_first()
        {
            return Err(error.into());
        }
        let place = without_user(&repository.place).unwrap_or_else(|| repository.place.clone());
        Ok(Some((Self { folder, place, signed: artifacts, refused }, notices)))
    }

    /// Returns the artifact of a policy, with the proof that it was signed.
    pub(crate) fn admitted(&self, policy: &str) -> Result<Admitted, Failure> {
        if let Some(signed) = self.signed.get(policy) {
            return Ok(Admitted::signed(signed));
        }
        let why = self.refused.get(policy).map_or_else(|| "it was not released".to_owned(), |error| error_chain(error));
        Err(Failure::raised(ErrorKind::NotStarted, why))
    }

    /// Returns the entry of the run's record: the repository, and the release of each policy.
    pub(crate) fn summary(&self) -> Value {
        let release = |(policy, signed): (&String, &SignedArtifact)| {
            let Release { group, revision_id, digest, .. } = signed.release();
            let stale = signed.stale();
            json!({
                "policy": policy,
                "team": signed.team(),
                "group": group,
                "revision": revision_id,
                "artifact": digest,
                "stale": stale.map(|stale| json!({"reason": stale.reason, "verified": stale.verified.to_string()})),
            })
        };
        let all: Vec<_> = self.signed.iter().map(release).collect();
        json!({ "repository": self.place, "policies": all })
    }

    /// Notes which policies have converged. The node keeps their revisions.
    pub(crate) fn note_converged(&self, policies: &[String]) -> Result<(), RepositoryError> {
        let releases = policies.iter().filter_map(|policy| self.signed.get(policy)).map(SignedArtifact::release);
        converged(&self.folder, releases)
    }
}

fn read_root(path: &Path) -> Result<Vec<u8>, AssembleError> {
    let failed = |source| AssembleError::Read { what: "the trusted root", path: path.to_owned(), source };
    plain_files::read(path, max_root()).map_err(failed)
}

impl Notice {
    fn of_repository(remark: Remark) -> Self {
        match remark {
            Remark::FirstUse { file, keys } => Self::FirstUse { file, keys },
            Remark::ClockWentBack { before } => Self::ClockWentBack { before: before.to_string() },
        }
    }
}
