//! Releases revisions: a push publishes the artifact of a policy with its lock, and the group that runs it from now on.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use artifact::{Artifact, MAX_ARTIFACT, Manifest};
use jiff::Timestamp as Moment;
use serde_json::{Map, Value};
use text::error_chain;

use crate::admin::Platform;
use crate::error::RepositoryError;
use crate::metadata::{Target, Targets};
use crate::names::{artifact_target, check_name, group_target, lock_target, team_folder};
use crate::released::{MAX_BYTES, Release};
use crate::teams::{Team, owner};
use crate::update::read_target;
use crate::writer::{Current, Published, Publisher};

/// A revision that is ready to be released.
#[derive(Debug, Clone)]
pub struct Revision {
    /// The artifact that is released.
    pub artifact: Artifact,
    /// The lock that it was built from.
    pub lock: Vec<u8>,
}

/// The change of a group's revision by a release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupChange {
    /// The policy group that gets it.
    pub group: String,
    /// The name of the policy.
    pub policy: String,
    /// The current release, if any.
    pub was: Option<Release>,
    /// The new release, if any.
    pub will: Option<Release>,
}

/// A released file, other than a group's document, that a release would remove or replace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// Its path, such as `revisions/core/DIGEST.wasm`.
    pub path: String,
    /// Whether the release removes the file. Otherwise it replaces it.
    pub is_removed: bool,
}

/// The largest lock, in bytes.
const MAX_LOCK: u64 = 16 << 20;

/// The member of a revision's target with the moment of its first release.
pub(crate) const RELEASED: &str = "released";

fn moment(now: Moment) -> Map<String, Value> {
    let second = Moment::from_second(now.as_second()).unwrap_or(now);
    Map::from_iter([(RELEASED.to_owned(), Value::from(second.to_string()))])
}

/// The group and the policy of a path such as `groups/prod/web.json`.
pub(crate) fn group_of(path: &str) -> Option<(&str, &str)> {
    path.strip_prefix("groups/")?.strip_suffix(".json")?.split_once('/')
}

/// A team's repository, verified by the publisher.
pub struct TeamRepository {
    /// The team that owns the policy.
    pub team: Team,
    /// The state of the team's repository.
    pub current: Current,
}

/// Tells whether two manifests have the same run lists and attributes.
fn is_told_alike(one: &Manifest, other: &Manifest) -> bool {
    one.run_list == other.run_list
        && one.named_run_lists == other.named_run_lists
        && one.default_attributes == other.default_attributes
        && one.override_attributes == other.override_attributes
}

impl Publisher<'_> {
    /// Reads and verifies a team's repository.
    ///
    /// # Errors
    /// The team does not exist, or its repository is damaged or has gone backwards.
    pub fn team(&self, platform: &Platform, team: &Team) -> Result<TeamRepository, RepositoryError> {
        let root = platform.team_root(self.store, &team.name)?;
        let current = self.current(&team_folder(&team.name), Some(&root))?;
        Ok(TeamRepository { team: team.clone(), current })
    }

    /// Returns the team that owns a policy.
    ///
    /// # Errors
    /// None does, or two.
    pub fn owner<'t>(&self, platform: &'t Platform, policy: &str) -> Result<&'t Team, RepositoryError> {
        owner(&platform.teams, policy, &self.store.place())
    }

    /// Releases a revision to a group.
    ///
    /// # Errors
    /// No team owns the policy, a key is missing, somebody else has published meanwhile, or the store cannot be written.
    pub fn push(&self, revision: &Revision, group: &str) -> Result<Published, RepositoryError> {
        check_name(group, "policy group")?;
        let platform = self.platform()?;
        let manifest = revision.artifact.manifest();
        let team = self.owner(&platform, &manifest.name)?;
        let writer = self.store.writer(&team_folder(&team.name))?;
        let TeamRepository { current, .. } = self.team(&platform, team)?;
        let digest = revision.artifact.digest();
        let release = Release::new(&manifest.name, group, &manifest.revision_id, digest);
        let mut targets = current.targets();
        let mut files = vec![
            (artifact_target(&manifest.name, digest), revision.artifact.bytes().to_vec()),
            (lock_target(&manifest.name, digest), revision.lock.clone()),
            (group_target(group, &manifest.name), release.to_bytes()),
        ];
        // Files that were released are not replaced. A lock may differ in parts that do not belong to its revision, such as
        // commits.
        files.retain(|(path, content)| {
            !path.starts_with("revisions/") || targets.get(path).is_none_or(|released| released.is(content))
        });
        for (path, content) in &files {
            let mut target = Target::of(content);
            if path.starts_with("revisions/") {
                // The time of the first release is kept, because it is the age of the revision.
                let known = targets.get(path).map(|known| known.custom.clone()).filter(|custom| !custom.is_empty());
                target.custom = known.unwrap_or_else(|| moment(self.now));
            }
            targets.insert(path.clone(), target);
        }
        self.release(writer.as_ref(), &current, &files, targets, platform.lifetimes)
    }

    /// The groups to which the team of a policy has released something.
    ///
    /// # Errors
    /// Nobody may release the policy, or the repository is damaged.
    pub fn known_groups(&self, policy: &str) -> Result<BTreeSet<String>, RepositoryError> {
        let platform = self.platform()?;
        let team = self.owner(&platform, policy)?;
        let TeamRepository { current, .. } = self.team(&platform, team)?;
        let targets = current.targets();
        let groups = targets.keys().filter_map(|path| path.strip_prefix("groups/")?.split_once('/'));
        Ok(groups.map(|(group, _)| group.to_owned()).collect())
    }

    /// Checks that no group runs the same revision with other cookbook files than this artifact has. Metadata are ignored,
    /// because an archive has other metadata than the folder that it was exported from.
    ///
    /// # Errors
    /// One does, or the repository is damaged.
    pub fn check_same_files(&self, artifact: &Artifact) -> Result<(), RepositoryError> {
        let manifest = artifact.manifest();
        let platform = self.platform()?;
        let team = self.owner(&platform, &manifest.name)?;
        let TeamRepository { current, .. } = self.team(&platform, team)?;
        let files = |artifact: &Artifact| -> BTreeMap<String, Vec<u8>> {
            let of_cookbooks = artifact.files().filter(|(path, _)| {
                path.split_once('/').is_none_or(|(_, rest)| rest != "metadata.rb" && rest != "metadata.json")
            });
            of_cookbooks.map(|(path, content)| (path.to_owned(), content.to_vec())).collect()
        };
        for release in self.groups(&current)? {
            let is_same = release.policy == manifest.name && release.revision_id == manifest.revision_id;
            if !is_same || release.digest == artifact.digest() {
                continue;
            }
            let released = self.artifact(&current, &release)?;
            let differs = match (files(&released) == files(artifact), is_told_alike(released.manifest(), manifest)) {
                (true, true) => continue,
                (false, _) => "files",
                // A revision joins the texts of attributes without escaping them, so two locks can have the same revision.
                (true, false) => "attributes or run lists",
            };
            return Err(RepositoryError::Other(format!(
                "the group {} runs the revision {} with other {differs} than this archive has: one of them is not what the lock \
                 was made of",
                release.group, release.revision_id
            )));
        }
        Ok(())
    }

    /// Gives a group the revision that another group runs. `expected`: the release that this group ran when the user looked
    /// at it.
    ///
    /// # Errors
    /// The group runs another revision by now, a key is missing, somebody else has published meanwhile, or the store cannot be
    /// written.
    pub fn promote(&self, expected: &Release, to: &str) -> Result<Published, RepositoryError> {
        check_name(to, "policy group")?;
        let Release { policy, group, revision_id, digest, .. } = expected;
        let platform = self.platform()?;
        let team = self.owner(&platform, policy)?;
        let writer = self.store.writer(&team_folder(&team.name))?;
        let TeamRepository { current, .. } = self.team(&platform, team)?;
        if self.released(&current, policy, group)?.as_ref() != Some(expected) {
            return Err(RepositoryError::Changed { repository: format!("the group {group} of {policy}") });
        }
        let release = Release::new(policy, to, revision_id, digest).to_bytes();
        let mut targets = current.targets();
        let path = group_target(to, policy);
        targets.insert(path.clone(), Target::of(&release));
        self.release(writer.as_ref(), &current, &[(path, release)], targets, platform.lifetimes)
    }

    /// Returns the changes that a pending release would make, by group.
    ///
    /// # Errors
    /// A document of it is missing or damaged.
    pub fn changes(&self, current: &Current, pending: &Targets) -> Result<Vec<GroupChange>, RepositoryError> {
        let before = current.targets();
        let paths: BTreeSet<&String> = before.keys().chain(pending.targets.keys()).collect();
        let mut found = vec![];
        for path in paths.into_iter().filter(|path| before.get(*path) != pending.targets.get(*path)) {
            let Some((group, policy)) = group_of(path) else { continue };
            let was = self.released_by(current, &before, policy, group)?;
            let will = self.released_by(current, &pending.targets, policy, group)?;
            found.push(GroupChange { group: group.to_owned(), policy: policy.to_owned(), was, will });
        }
        Ok(found)
    }

    /// Returns the released files that a pending release would remove or replace, without the groups' documents.
    #[must_use]
    pub fn lost_files(&self, current: &Current, pending: &Targets) -> Vec<FileChange> {
        let changed = current.targets().into_iter().filter_map(|(path, before)| {
            let after = pending.targets.get(&path);
            let is_lost = group_of(&path).is_none() && after != Some(&before);
            is_lost.then(|| FileChange { path, is_removed: after.is_none() })
        });
        changed.collect()
    }

    /// Checks that these targets have, for each group, the revision that it runs.
    ///
    /// # Errors
    /// A group's document is missing or damaged, or names a revision that is not among the targets.
    pub(crate) fn check_revisions(
        &self,
        current: &Current,
        targets: &BTreeMap<String, Target>,
    ) -> Result<(), RepositoryError> {
        match self.without_revision(&current.folder, targets).into_iter().next() {
            None => Ok(()),
            Some(found) => Err(RepositoryError::Other(found?)),
        }
    }

    /// Returns a sentence for each group whose revision is not among the targets, or whose document cannot be read.
    pub(crate) fn without_revision(
        &self,
        folder: &str,
        targets: &BTreeMap<String, Target>,
    ) -> Vec<Result<String, RepositoryError>> {
        let check = |path: &String| {
            let (group, policy) = group_of(path)?;
            let release = match self.released_in(folder, targets, policy, group) {
                Ok(release) => release?,
                Err(error) => return Some(Err(error)),
            };
            let needed = [artifact_target(policy, &release.digest), lock_target(policy, &release.digest)];
            let missing = needed.into_iter().find(|needed| !targets.contains_key(needed))?;
            Some(Ok(format!("the group {group} is given a revision of {policy} whose file {missing} is not released")))
        };
        targets.keys().filter_map(check).collect()
    }

    /// Returns the release of a policy to a group in these targets, if there is one.
    ///
    /// # Errors
    /// The document is missing or damaged.
    pub fn released_by(
        &self,
        current: &Current,
        targets: &BTreeMap<String, Target>,
        policy: &str,
        group: &str,
    ) -> Result<Option<Release>, RepositoryError> {
        self.released_in(&current.folder, targets, policy, group)
    }

    fn released_in(
        &self,
        folder: &str,
        targets: &BTreeMap<String, Target>,
        policy: &str,
        group: &str,
    ) -> Result<Option<Release>, RepositoryError> {
        let path = group_target(group, policy);
        let Some(target) = targets.get(&path) else { return Ok(None) };
        let bytes = read_target(self.store, folder, &path, target, MAX_BYTES)?;
        let invalid = |what| RepositoryError::Invalid { file: self.store.file(&path), what };
        Release::parse(&bytes, policy, group).map(Some).map_err(invalid)
    }

    /// The lock of a release.
    ///
    /// # Errors
    /// It is missing or damaged.
    pub fn lock(&self, current: &Current, release: &Release) -> Result<Vec<u8>, RepositoryError> {
        let path = lock_target(&release.policy, &release.digest);
        let lock = current.verified().map(|verified| verified.read(self.store, &path, MAX_LOCK)).transpose()?;
        let lock: Option<Vec<u8>> = lock.flatten();
        lock.ok_or_else(|| RepositoryError::Missing { file: self.store.file(&path), hint: "" })
    }

    /// The artifact of a release.
    ///
    /// # Errors
    /// It is missing or damaged, or is not the one that the release names.
    pub fn artifact(&self, current: &Current, release: &Release) -> Result<Artifact, RepositoryError> {
        let path = artifact_target(&release.policy, &release.digest);
        let bytes = current.verified().map(|verified| verified.read(self.store, &path, MAX_ARTIFACT)).transpose()?;
        let bytes: Option<Vec<u8>> = bytes.flatten();
        let file = self.store.file(&path);
        let bytes = bytes.ok_or_else(|| RepositoryError::Missing { file: file.clone(), hint: "" })?;
        let invalid = |what: String| RepositoryError::Invalid { file: file.clone(), what };
        let artifact = Artifact::from_bytes(Path::new(&file), bytes).map_err(|error| invalid(error_chain(&error)))?;
        let manifest = artifact.manifest();
        if artifact.digest() != release.digest || manifest.revision_id != release.revision_id {
            return Err(invalid("it is another revision than the one that was released".into()));
        }
        Ok(artifact)
    }

    /// Returns the releases to all groups of a team.
    ///
    /// # Errors
    /// A document is missing or damaged.
    pub fn groups(&self, current: &Current) -> Result<Vec<Release>, RepositoryError> {
        let targets = current.targets();
        let named = targets.keys().filter_map(|path| group_of(path));
        let releases = named.map(|(group, policy)| self.released(current, policy, group));
        Ok(releases.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
    }

    /// Returns the current release of a policy to a group, if there is one.
    ///
    /// # Errors
    /// The document is damaged.
    pub fn released(&self, current: &Current, policy: &str, group: &str) -> Result<Option<Release>, RepositoryError> {
        let Some(verified) = current.verified() else { return Ok(None) };
        let path = group_target(group, policy);
        let Some(bytes) = verified.read(self.store, &path, MAX_BYTES)? else { return Ok(None) };
        let invalid = |what| RepositoryError::Invalid { file: self.store.file(&path), what };
        Release::parse(&bytes, policy, group).map(Some).map_err(invalid)
    }
}
