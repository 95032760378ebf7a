//! Finds the releases that a node runs: for each policy, the revision that its team has signed for the node's group.
//!
//! Everything is verified before the first policy runs. If newer releases are unavailable or invalid, the node uses the
//! revisions that it verified last. A [`SignedArtifact`] is the proof that a team has signed the code that is about to run.
//! Files in the node's folder:
//!
//! ```text
//! trust/platform.json, trust/teams/TEAM.json      what was verified, see `trust`
//! policies/GROUP/POLICY.json                      the revision that was verified last, and the one that converged last
//! artifacts/POLICY/DIGEST.wasm                    their artifacts
//! ```

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use artifact::{Artifact, MAX_ARTIFACT};
use jiff::Timestamp as Moment;
use text::error_chain;

use crate::cache::{Cache, Kept, Record};
use crate::error::{RepositoryError, Role};
use crate::files::OwnFolder;
use crate::first::{check_named_root, first_trust};
use crate::metadata::{Envelope, Targets, limit};
use crate::names::{PLATFORM, artifact_target, check_name, group_target, team_folder, team_target};
use crate::prefetch::{Prefetched, first_files};
use crate::released::{MAX_BYTES, Release};
use crate::store::Store;
use crate::teams::{Team, owner, teams};
use crate::trust::{Trust, TrustFolder};
use crate::update::{Ages, Trusted, Update, Verified, known_targets};

/// How long a run waits for another one that reads the repository. A slow server cannot delay that run for so long.
const PATIENCE: Duration = Duration::from_secs(900);

/// The lock file for runs that change the node's folder.
const LOCK: &str = ".lock";

/// A policy that a node should run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// The name of the policy.
    pub policy: String,
    /// The policy group of the node.
    pub group: String,
    /// A revision that the node has, instead of the group's: the beginning of its id or digest.
    pub revision: Option<String>,
}

/// An artifact that its policy's team has signed for the node's group. Only this module creates one.
#[derive(Debug, Clone)]
pub struct SignedArtifact {
    artifact: Artifact,
    release: Release,
    team: String,
    stale: Option<Stale>,
}

impl SignedArtifact {
    /// Returns the artifact that was verified.
    #[must_use]
    pub fn artifact(&self) -> &Artifact {
        &self.artifact
    }

    /// The release that it belongs to.
    #[must_use]
    pub fn release(&self) -> &Release {
        &self.release
    }

    /// The team that has signed it.
    #[must_use]
    pub fn team(&self) -> &str {
        &self.team
    }

    /// Returns the reason why it may be outdated, or `None` if it is the repository's current revision.
    #[must_use]
    pub fn stale(&self) -> Option<&Stale> {
        self.stale.as_ref()
    }
}

/// The reason why a node runs a revision that it verified earlier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stale {
    /// The error with its causes.
    pub reason: String,
    /// The time when the revision was verified last.
    pub verified: Moment,
}

/// How a node uses a repository.
pub struct NodeSettings<'a> {
    /// The store of the repository, or the reason why it cannot be opened.
    pub store: Result<&'a dyn Store, RepositoryError>,
    /// The node's folder for this repository.
    pub folder: PathBuf,
    /// The root of the platform that the operator trusts.
    pub root: Option<Vec<u8>>,
    /// Whether the platform's first root in the store may be trusted, because only the operator can change the store.
    pub first_use: bool,
    /// Longest time since its last verification after which a revision may still run. `None`: no limit.
    pub stale_after: Option<Duration>,
    /// How long a verified revision is used without reading the store again. `None`: the store is read every time, because
    /// that is cheap. Other stores are asked for several files in parallel at the start of an update.
    pub refresh: Option<Duration>,
    /// Whether verified files are stored.
    pub keeps: bool,
    /// Bytes of the disk that stay free.
    pub min_free: u64,
    /// The current time, for expiry checks.
    pub now: Moment,
}

/// A remark for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Remark {
    /// The platform's root was trusted because it was the first.
    FirstUse {
        /// The name of the file.
        file: String,
        /// The ids of its keys.
        keys: Vec<String>,
    },
    /// The clock is behind an earlier run's.
    ClockWentBack {
        /// The moment of the earlier run.
        before: Moment,
    },
}

/// The result of finding a node's releases.
#[derive(Debug, Default)]
pub struct Fetched {
    /// The policies that have a signed artifact.
    pub artifacts: BTreeMap<String, SignedArtifact>,
    /// The errors of the other policies.
    pub refused: BTreeMap<String, RepositoryError>,
    /// The remarks for people.
    pub remarks: Vec<Remark>,
}

/// Finds and verifies the artifacts of policies.
///
/// # Errors
/// A name is impossible, or the node's folder cannot be used.
pub fn fetch(settings: NodeSettings<'_>, wanted: &[Wanted]) -> Result<Fetched, RepositoryError> {
    for one in wanted {
        check_name(&one.policy, "policy")?;
        check_name(&one.group, "policy group")?;
    }
    let _lock = settings.keeps.then(|| lock(&settings.folder)).transpose()?;
    let trust = TrustFolder::new(settings.folder.clone());
    let cache = Cache::new(settings.folder.clone(), settings.min_free);
    let mut fetched = Fetched::default();
    let NodeSettings { store, now, keeps, .. } = settings;
    let mut node = Node {
        root: settings.root,
        first_use: settings.first_use,
        keeps,
        now,
        trust,
        teams: None,
        remarks: vec![],
        updated: BTreeMap::new(),
    };
    node.check_root(store.as_ref().map(|store| *store))?;
    // The platform is asked only if a policy needs it.
    let (mut waiting, mut platform, mut prefetched) = (Some(store), None, None);
    let is_remote = settings.refresh.is_some();
    for one in wanted {
        let is_fresh =
            settings.refresh.is_some_and(|refresh| one.revision.is_none() && fresh(&cache, one, refresh, now));
        if is_fresh
            && let Ok(Some(Record { current, team, .. })) = cache.record(&one.policy, &one.group)
            && node.check_owner(&one.policy, &team).is_ok()
            && let Ok(artifact) = opened(&cache, &current, &team, None)
        {
            fetched.artifacts.insert(one.policy.clone(), artifact);
            continue;
        }
        if let Some(wanted_revision) = &one.revision {
            let found = cache.revision(&one.policy, &one.group, wanted_revision);
            let found = found.and_then(|(kept, record)| {
                node.check_owner(&one.policy, &record.team)?;
                opened(&cache, &kept, &record.team, None)
            });
            match found {
                Ok(artifact) => drop(fetched.artifacts.insert(one.policy.clone(), artifact)),
                Err(error) => drop(fetched.refused.insert(one.policy.clone(), error)),
            }
            continue;
        }
        if let Some(store) = waiting.take() {
            let files = if is_remote { first_files(&node.trust, wanted) } else { vec![] };
            let store = store.map(|store| &*prefetched.insert(Prefetched::of(store, files)));
            let asked = store.and_then(|store| Ok((store, node.platform(store)?)));
            platform = Some(asked.map_err(|error| error_chain(&error)));
        }
        let newest = match &platform {
            Some(Ok((store, (verified, teams)))) => node.newest(*store, verified, teams, one, &cache),
            Some(Err(reason)) => Err(Refusal::Unknown(reason.clone())),
            None => continue,
        };
        match newest {
            Ok(artifact) => drop(fetched.artifacts.insert(one.policy.clone(), artifact)),
            Err(Refusal::Final(error)) => drop(fetched.refused.insert(one.policy.clone(), error)),
            Err(Refusal::Unknown(reason)) => match node.stale(&cache, one, reason, settings.stale_after) {
                Ok(artifact) => drop(fetched.artifacts.insert(one.policy.clone(), artifact)),
                Err(error) => drop(fetched.refused.insert(one.policy.clone(), error)),
            },
        }
    }
    fetched.remarks = node.remarks;
    Ok(fetched)
}

/// Notes that a run with these artifacts succeeded, so that they stay on the disk even after newer releases.
///
/// # Errors
/// The node's folder cannot be written to.
pub fn converged<'r>(folder: &Path, releases: impl Iterator<Item = &'r Release>) -> Result<(), RepositoryError> {
    let _lock = lock(folder)?;
    let cache = Cache::new(folder.to_owned(), 0);
    releases.into_iter().try_for_each(|release| cache.mark_converged(release))
}

/// Waits until no other run of this node changes its folder.
fn lock(folder: &Path) -> Result<std::fs::File, RepositoryError> {
    let folder = OwnFolder::new(folder.to_owned());
    let failed = |source| RepositoryError::Write { file: folder.file(LOCK).display().to_string(), source };
    folder.lock(LOCK, PATIENCE).map_err(failed)
}

/// The reasons why there is no newest revision.
enum Refusal {
    /// The repository cannot be read or verified. Earlier verified revisions may still be used.
    Unknown(String),
    /// According to the repository, there is no revision for the node.
    Final(RepositoryError),
}

impl From<RepositoryError> for Refusal {
    fn from(error: RepositoryError) -> Self {
        match error {
            RepositoryError::NotReleased { .. } | RepositoryError::NoTeam { .. } | RepositoryError::TwoTeams { .. } => {
                Self::Final(error)
            }
            error => Self::Unknown(error_chain(&error)),
        }
    }
}

struct Node {
    root: Option<Vec<u8>>,
    first_use: bool,
    keeps: bool,
    now: Moment,
    trust: TrustFolder,
    remarks: Vec<Remark>,
    /// The teams in the platform's current documents, or in the last verified ones.
    teams: Option<Vec<Team>>,
    /// The results of updating the teams' repositories.
    updated: BTreeMap<String, Result<Verified, String>>,
}

impl Node {
    /// Checks that the trusted documents descend from the root that the settings name.
    fn check_root(&self, store: Result<&dyn Store, &RepositoryError>) -> Result<(), RepositoryError> {
        let Some((root, trust)) = self.root.as_ref().zip(self.trust.read(PLATFORM).ok().flatten()) else {
            return Ok(());
        };
        let checked = check_named_root(store, &trust, root, &self.trust)?;
        if self.keeps && checked != trust { self.trust.write(PLATFORM, &checked) } else { Ok(()) }
    }

    /// Checks that a policy still belongs to the team that has signed this node's revision of it.
    fn check_owner(&mut self, policy: &str, team: &str) -> Result<(), RepositoryError> {
        if self.teams.is_none() {
            let trust = self.trust.read(PLATFORM).ok().flatten();
            let targets = trust.and_then(|trust| last_targets(&trust));
            self.teams = Some(targets.and_then(|targets| teams(&targets).ok()).unwrap_or_default());
        }
        let teams = self.teams.as_deref().unwrap_or_default();
        // If nothing of the platform was ever verified, nothing contradicts the verified revision.
        if teams.is_empty() {
            return Ok(());
        }
        let now = owner(teams, policy, "this node's")?;
        if now.name == team {
            return Ok(());
        }
        Err(RepositoryError::Other(format!(
            "the policy {policy} belongs to the team {} now, and what this node has of it was signed by the team {team}",
            now.name
        )))
    }

    /// Updates the platform's repository, and reads the teams.
    fn platform(&mut self, store: &dyn Store) -> Result<(Verified, Vec<Team>), RepositoryError> {
        let trust = match self.trust.read(PLATFORM)? {
            Some(trust) => trust,
            None => {
                let (trust, remark) = first_trust(store, self.root.as_deref(), self.first_use)?;
                self.remarks.extend(remark);
                trust
            }
        };
        if let Some(before) = trust.checked.filter(|before| self.now < *before) {
            self.remarks.push(Remark::ClockWentBack { before });
        }
        let verified = self.update(store, PLATFORM, trust, None)?;
        let invalid = |what| RepositoryError::Invalid { file: store.file(PLATFORM), what };
        let teams = teams(verified.targets()).map_err(invalid)?;
        self.teams = Some(teams.clone());
        Ok((verified, teams))
    }

    /// Updates one repository, and stores the newly trusted documents.
    fn update(
        &self,
        store: &dyn Store,
        folder: &str,
        trust: Trust,
        vouched: Option<&[u8]>,
    ) -> Result<Verified, RepositoryError> {
        let update = Update { store, folder, now: self.now, ages: Ages::All };
        let keep = |trusted: &Trusted| match self.keeps {
            true => self.trust.write(folder, &trust.with(trusted.clone())),
            false => Ok(()),
        };
        let (trusted, verified) = update.run(&trust.trusted, vouched, &keep)?;
        if self.keeps {
            // After the clock was set back, versions still count, but the later time is kept.
            let checked = trust.checked.map_or(self.now, |before| before.max(self.now));
            let is_new = trusted != trust.trusted;
            let trust = Trust { checked: Some(checked), ..trust.with(trusted) };
            // A power cut may lose the time of the last update, but must not lose the trusted documents.
            if is_new { self.trust.write(folder, &trust)? } else { self.trust.write_time(folder, &trust)? }
        }
        Ok(verified)
    }

    /// The newest revision of a policy.
    fn newest(
        &mut self,
        store: &dyn Store,
        platform: &Verified,
        teams: &[Team],
        wanted: &Wanted,
        cache: &Cache,
    ) -> Result<SignedArtifact, Refusal> {
        let Wanted { policy, group, .. } = wanted;
        let team = owner(teams, policy, &store.place())?;
        let verified = self.team(store, platform, &team.name).map_err(Refusal::Unknown)?;
        let path = group_target(group, policy);
        let known = cache.record(policy, group).ok().flatten().map(|record| record.current.release.to_bytes());
        let known = known.filter(|known| verified.target(&path).is_some_and(|target| target.is(known)));
        let bytes = match known {
            Some(known) => Some(known),
            None => verified.read(store, &path, MAX_BYTES)?,
        };
        let Some(bytes) = bytes else {
            let error = RepositoryError::NotReleased {
                repository: store.place(),
                team: team.name.clone(),
                policy: policy.clone(),
                group: group.clone(),
            };
            // No command withdraws a release. So the team has replaced its keys, and has not released to this group since.
            let record = cache.record(policy, group).ok().flatten();
            let is_known = record.is_some_and(|record| record.team == team.name);
            return Err(if is_known { Refusal::Unknown(error_chain(&error)) } else { Refusal::Final(error) });
        };
        let file = store.file(&path);
        let release = Release::parse(&bytes, policy, group)
            .map_err(|what| RepositoryError::Invalid { file: file.clone(), what })?;
        let target_path = artifact_target(policy, &release.digest);
        let target = verified.target(&target_path).ok_or_else(|| RepositoryError::Invalid {
            file,
            what: format!("it names {target_path}, which is not released"),
        })?;
        let kept = Kept { release, sha256: target.sha256.clone(), length: target.length };
        let bytes = match cache.artifact(&kept) {
            Ok(bytes) => bytes,
            Err(_) => {
                let read = verified.read(store, &target_path, MAX_ARTIFACT)?;
                read.ok_or_else(|| RepositoryError::Missing { file: store.file(&target_path), hint: "" })?
            }
        };
        let artifact = checked(&cache.path(&kept), &kept, bytes.clone())?;
        if self.keeps {
            cache.store(&kept, &bytes, &team.name, self.now)?;
        }
        Ok(SignedArtifact { artifact, release: kept.release, team: team.name.clone(), stale: None })
    }

    /// Updates a team's repository, once a run.
    fn team(&mut self, store: &dyn Store, platform: &Verified, team: &str) -> Result<Verified, String> {
        if let Some(known) = self.updated.get(team) {
            return known.clone();
        }
        let updated = self.update_team(store, platform, team).map_err(|error| error_chain(&error));
        self.updated.insert(team.to_owned(), updated.clone());
        updated
    }

    fn update_team(&self, store: &dyn Store, platform: &Verified, team: &str) -> Result<Verified, RepositoryError> {
        let path = team_target(team);
        let folder = team_folder(team);
        let trust = self.trust.read(&folder)?;
        // A known root need not be read again.
        let is_vouched = |trust: &&Trust| platform.target(&path).is_some_and(|target| target.is(&trust.trusted.root));
        let root = match trust.as_ref().filter(is_vouched) {
            Some(trust) => Some(trust.trusted.root.clone()),
            None => platform.read(store, &path, limit(Role::Root))?,
        };
        let root = root.ok_or_else(|| RepositoryError::Missing { file: store.file(&path), hint: "" })?;
        let first = || Trust { trusted: Trusted::of_root(root.clone()), ..Trust::default() };
        let trust = trust.unwrap_or_else(first);
        self.update(store, &folder, trust, Some(&root))
    }

    /// Returns the revision that the node verified last.
    fn stale(
        &mut self,
        cache: &Cache,
        wanted: &Wanted,
        reason: String,
        stale_after: Option<Duration>,
    ) -> Result<SignedArtifact, RepositoryError> {
        let Some(Record { current, verified, team, .. }) = cache.record(&wanted.policy, &wanted.group)? else {
            return Err(RepositoryError::Other(format!(
                "{reason}; and this node has no revision of {} for the group {} that it verified before",
                wanted.policy, wanted.group
            )));
        };
        if let Err(error) = self.check_owner(&wanted.policy, &team) {
            return Err(RepositoryError::Other(format!("{reason}; and {}", error_chain(&error))));
        }
        let age = self.now.duration_since(verified).unsigned_abs();
        if stale_after.is_some_and(|most| age > most) {
            return Err(RepositoryError::Other(format!(
                "{reason}; the revision that this node has of {} was verified at {verified}, longer ago than `stale_after` \
                 allows",
                wanted.policy
            )));
        }
        opened(cache, &current, &team, Some(Stale { reason, verified }))
    }
}

/// Returns the targets of the platform that were verified last, also if its keys have changed since.
fn last_targets(trust: &Trust) -> Option<Targets> {
    let known = known_targets(PLATFORM, &trust.trusted).ok().flatten();
    let superseded = || Targets::of(&Envelope::parse("", trust.superseded.as_ref()?).ok()?).ok();
    known.or_else(superseded)
}

/// Tells whether a policy's revision was verified recently, within `refresh`.
fn fresh(cache: &Cache, wanted: &Wanted, refresh: Duration, now: Moment) -> bool {
    let record = cache.record(&wanted.policy, &wanted.group).ok().flatten();
    // If the clock was set back, the revision does not count as recent.
    record.is_some_and(|record| record.verified <= now && now.duration_since(record.verified).unsigned_abs() < refresh)
}

/// Opens an artifact of the cache.
fn opened(cache: &Cache, kept: &Kept, team: &str, stale: Option<Stale>) -> Result<SignedArtifact, RepositoryError> {
    let artifact = checked(&cache.path(kept), kept, cache.artifact(kept)?)?;
    Ok(SignedArtifact { artifact, release: kept.release.clone(), team: team.to_owned(), stale })
}

/// Checks that an artifact belongs to the release.
fn checked(path: &Path, kept: &Kept, bytes: Vec<u8>) -> Result<Artifact, RepositoryError> {
    let invalid = |what: String| RepositoryError::Invalid { file: path.display().to_string(), what };
    let artifact = Artifact::from_bytes(path, bytes).map_err(|error| invalid(error_chain(&error)))?;
    let Release { policy, revision_id, digest, .. } = &kept.release;
    let manifest = artifact.manifest();
    if &manifest.name != policy {
        return Err(invalid(format!("it holds the policy {:?} and not {policy:?}", manifest.name)));
    }
    if artifact.digest() != digest || &manifest.revision_id != revision_id {
        return Err(invalid("it is another revision than the one that was released".into()));
    }
    Ok(artifact)
}
