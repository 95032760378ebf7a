//! The cache of verified revisions on a node, by policy.

use std::path::PathBuf;

use artifact::MAX_ARTIFACT;
use jiff::Timestamp as Moment;
use serde::{Deserialize, Serialize};

use crate::error::RepositoryError;
use crate::files::{OwnFolder, Survives};
use crate::metadata::Target;
use crate::names::is_digest;
use crate::released::Release;

const FORMAT: u64 = 1;

/// The largest record, in bytes.
const MAX_RECORD: u64 = 64 << 10;

/// A revision that the node has verified.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Kept {
    pub(crate) release: Release,
    /// The SHA-256 of the artifact's file, as the team has signed it.
    pub(crate) sha256: String,
    /// Its length in bytes.
    pub(crate) length: u64,
}

/// The node's record about a policy in a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Record {
    pub(crate) team: String,
    /// The revision that was verified last.
    pub(crate) current: Kept,
    /// The time when the documents were verified.
    pub(crate) verified: Moment,
    /// The revision that converged last.
    pub(crate) converged: Option<Kept>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    format: u64,
    team: String,
    current: Kept,
    verified: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    converged: Option<Kept>,
}

fn record_file(policy: &str, group: &str) -> String {
    format!("policies/{group}/{policy}.json")
}

fn artifact_file(kept: &Kept) -> String {
    format!("artifacts/{}/{}.wasm", kept.release.policy, kept.release.digest)
}

/// The node's revisions, in its folder of a repository.
pub(crate) struct Cache {
    folder: OwnFolder,
    /// Bytes of the disk that stay free.
    min_free: u64,
}

impl Cache {
    pub(crate) fn new(folder: PathBuf, min_free: u64) -> Self {
        Self { folder: OwnFolder::new(folder), min_free }
    }

    /// Returns the path of an artifact's file, for messages.
    pub(crate) fn path(&self, kept: &Kept) -> PathBuf {
        self.folder.file(&artifact_file(kept))
    }

    /// Reads an artifact, and checks that it is the signed one.
    pub(crate) fn artifact(&self, kept: &Kept) -> Result<Vec<u8>, RepositoryError> {
        let file = || self.path(kept).display().to_string();
        let bytes = self.folder.read(&artifact_file(kept), MAX_ARTIFACT.min(kept.length));
        let bytes = bytes.map_err(|source| RepositoryError::Read { file: file(), source })?;
        let bytes = bytes.ok_or_else(|| RepositoryError::Missing { file: file(), hint: "" })?;
        let target = Target { length: kept.length, sha256: kept.sha256.clone(), custom: serde_json::Map::new() };
        if target.is(&bytes) {
            return Ok(bytes);
        }
        Err(RepositoryError::Mismatch { file: file(), what: "it has another digest" })
    }

    /// Reads the node's record about a policy.
    pub(crate) fn record(&self, policy: &str, group: &str) -> Result<Option<Record>, RepositoryError> {
        let below = record_file(policy, group);
        let file = || self.folder.file(&below).display().to_string();
        let damaged = |what: String| RepositoryError::Invalid { file: file(), what };
        let bytes = self.folder.read(&below, MAX_RECORD);
        let bytes = bytes.map_err(|source| RepositoryError::Read { file: file(), source })?;
        let Some(bytes) = bytes else { return Ok(None) };
        let written: Written = serde_json::from_slice(&bytes).map_err(|error| damaged(error.to_string()))?;
        let of_this = |kept: &Kept| kept.release.policy == policy && kept.release.group == group;
        if written.format != FORMAT || !of_this(&written.current) || !written.converged.iter().all(of_this) {
            return Err(damaged("it is of another format, policy or group".into()));
        }
        let verified = written.verified.parse().map_err(|_| damaged("its moment is invalid".into()))?;
        let Written { team, current, converged, .. } = written;
        Ok(Some(Record { team, current, verified, converged }))
    }

    fn write(&self, record: &Record, survives: Survives) -> Result<(), RepositoryError> {
        let Release { policy, group, .. } = &record.current.release;
        let below = record_file(policy, group);
        let failed = |source| RepositoryError::Write { file: self.folder.file(&below).display().to_string(), source };
        let written = Written {
            format: FORMAT,
            team: record.team.clone(),
            current: record.current.clone(),
            verified: record.verified.to_string(),
            converged: record.converged.clone(),
        };
        let bytes = serde_json::to_vec_pretty(&written).map_err(|error| failed(error.into()))?;
        self.folder.replace(&below, &bytes, survives).map_err(failed)
    }

    /// Stores a verified revision: the artifact first, the record last.
    pub(crate) fn store(&self, kept: &Kept, bytes: &[u8], team: &str, now: Moment) -> Result<(), RepositoryError> {
        // A damaged record is ignored, because the new revision is verified by the team's signature and not by the record.
        let Release { policy, group, .. } = &kept.release;
        let before = self.record(policy, group).ok().flatten();
        if self.artifact(kept).is_err() {
            let failed = |source| RepositoryError::Write { file: self.path(kept).display().to_string(), source };
            self.check_free(bytes.len() as u64).map_err(failed)?;
            self.folder.replace(&artifact_file(kept), bytes, Survives::PowerCut).map_err(failed)?;
        }
        // A revision that another team has signed does not count.
        let before = before.filter(|before| before.team == team);
        let converged = before.as_ref().and_then(|record| record.converged.clone());
        let is_new = before.is_none_or(|before| &before.current != kept);
        let record = Record { team: team.to_owned(), current: kept.clone(), verified: now, converged };
        self.write(&record, if is_new { Survives::PowerCut } else { Survives::Kill })?;
        // Old artifacts are also removed for a policy that never converges. If a record is damaged, nothing is removed,
        // because the needed artifacts are unknown.
        if is_new { self.prune(policy).or(Ok(())) } else { Ok(()) }
    }

    /// Refuses to write if the disk would then have less free space than the limit.
    fn check_free(&self, size: u64) -> std::io::Result<()> {
        let free = self.folder.free_bytes()?;
        if free.saturating_sub(size) >= self.min_free {
            return Ok(());
        }
        let (free, least) = (free >> 20, self.min_free >> 20);
        Err(std::io::Error::other(format!(
            "the disk has {free} MiB free, of which {least} MiB are always left (`min_free_mib` of the settings)"
        )))
    }

    /// Notes that a revision has converged, and removes artifacts that are not needed any more.
    pub(crate) fn mark_converged(&self, release: &Release) -> Result<(), RepositoryError> {
        let Some(mut record) = self.record(&release.policy, &release.group)? else { return Ok(()) };
        if &record.current.release != release {
            return Ok(());
        }
        if record.converged.as_ref() != Some(&record.current) {
            record.converged = Some(record.current.clone());
            self.write(&record, Survives::PowerCut)?;
        }
        self.prune(&release.policy)
    }

    /// Removes the artifacts of a policy that no record names.
    fn prune(&self, policy: &str) -> Result<(), RepositoryError> {
        let names = |below: &str| {
            let failed = |source| RepositoryError::Read { file: self.folder.file(below).display().to_string(), source };
            self.folder.names(below).map_err(failed)
        };
        let mut needed = vec![];
        for group in names("policies")? {
            let record = self.record(policy, &group)?;
            needed.extend(record.into_iter().flat_map(|record| record.converged.into_iter().chain([record.current])));
        }
        let folder = format!("artifacts/{policy}");
        for name in names(&folder)? {
            let digest = name.strip_suffix(".wasm").filter(|digest| is_digest(digest));
            if digest.is_some_and(|digest| needed.iter().all(|kept| kept.release.digest != digest)) {
                let below = format!("{folder}/{name}");
                let failed =
                    |source| RepositoryError::Write { file: self.folder.file(&below).display().to_string(), source };
                self.folder.remove(&below).map_err(failed)?;
            }
        }
        Ok(())
    }

    /// Finds one of the node's revisions by the beginning of its id or digest.
    pub(crate) fn revision(&self, policy: &str, group: &str, wanted: &str) -> Result<(Kept, Record), RepositoryError> {
        let record = self.record(policy, group)?;
        let kept = record.iter().flat_map(|record| record.converged.iter().chain([&record.current]));
        let is_wanted = |kept: &&Kept| {
            !wanted.is_empty()
                && [&kept.release.revision_id, &kept.release.digest].iter().any(|id| id.starts_with(wanted))
        };
        let found = kept.clone().find(is_wanted).cloned();
        let mut there: Vec<String> = vec![];
        for id in kept.map(|kept| kept.release.revision_id.chars().take(12).collect()) {
            if !there.contains(&id) {
                there.push(id);
            }
        }
        found.zip(record.clone()).ok_or_else(|| {
            RepositoryError::Other(format!(
                "this node has no revision {wanted:?} of the policy {policy} for the group {group}; it has {}",
                if there.is_empty() { "none".to_owned() } else { there.join(", ") }
            ))
        })
    }
}
