//! Maintains a repository: checks all of it, replaces the platform's keys, and removes unused revisions.

use std::collections::{BTreeMap, BTreeSet};

use artifact::MAX_ARTIFACT;
use jiff::Timestamp as Moment;
use text::error_chain;

use crate::admin::{Platform, role_of};
use crate::error::{RepositoryError, Role};
use crate::first::untrusted;
use crate::keys::PublicKey;
use crate::metadata::{RoleKeys, Root, limit, sign};
use crate::names::{PLATFORM, team_folder, team_target};
use crate::pending::pending_path;
use crate::release::{RELEASED, TeamRepository, group_of};
use crate::store::Writer;
use crate::teams::{Team, check_apart, teams};
use crate::update::{Ages, Trusted, Update, Verified, stored_metadata, stored_target};
use crate::writer::{Current, Lifetimes, Published, Publisher, both, following, role_keys};

/// Smallest age of a revision that is removed, in seconds.
const KEPT: i64 = 7 * 24 * 60 * 60;

/// The result of checking one repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// `platform`, or the team's name.
    pub name: String,
    /// The time when its first document expires, and the role of that document. `None` if unknown.
    pub expires: Option<(Moment, Role)>,
    /// What is wrong with it, each as a sentence without a period.
    pub problems: Vec<String>,
}

impl Publisher<'_> {
    /// Checks each repository like a node with this publisher's trust data, and checks every released file.
    #[must_use]
    pub fn check(&self) -> Vec<Checked> {
        let (of_platform, platform) = self.check_one(PLATFORM, PLATFORM, None);
        let mut found = vec![of_platform];
        let Some(platform) = platform else { return found };
        let teams = match teams(platform.targets()) {
            Ok(teams) => teams,
            Err(what) => {
                found.extend([Checked { name: PLATFORM.into(), expires: None, problems: vec![what] }]);
                return found;
            }
        };
        if let Some(first) = found.first_mut() {
            first.problems.extend(check_apart(&teams).err().map(|error| error.to_string()));
        }
        for team in teams {
            let root = platform.read(self.store, &team_target(&team.name), limit(Role::Root));
            let root: Option<Vec<u8>> = root.ok().flatten();
            let folder = team_folder(&team.name);
            let timestamp = self.store.get(&stored_metadata(&folder, Role::Timestamp, 0), limit(Role::Timestamp));
            if matches!(timestamp, Ok(None)) {
                found.push(Checked { name: team.name, expires: None, problems: vec![] });
                continue;
            }
            found.push(self.check_one(&team.name, &folder, root).0);
        }
        found
    }

    fn check_one(&self, name: &str, folder: &str, root: Option<Vec<u8>>) -> (Checked, Option<Verified>) {
        let mut problems = vec![];
        let mut expires = None;
        let verified = self.verified(folder, root);
        match &verified {
            Err(error) => problems.push(error_chain(error)),
            Ok(verified) => {
                expires = Some(verified.expires());
                for path in verified.targets().targets.keys() {
                    problems
                        .extend(verified.read(self.store, path, MAX_ARTIFACT).err().map(|error| error_chain(&error)));
                }
                // Read errors were reported above.
                problems.extend(
                    self.without_revision(folder, &verified.targets().targets).into_iter().filter_map(Result::ok),
                );
            }
        }
        (Checked { name: name.to_owned(), expires, problems }, verified.ok())
    }

    fn verified(&self, folder: &str, root: Option<Vec<u8>>) -> Result<Verified, RepositoryError> {
        let trusted = match (self.trust.read(folder)?, &root) {
            (Some(trust), _) => trust.trusted,
            (None, Some(root)) => Trusted::of_root(root.clone()),
            (None, None) => return Err(untrusted(self.store)),
        };
        let update = Update { store: self.store, folder, now: self.now, ages: Ages::All };
        Ok(update.run(&trusted, root.as_deref(), &|_| Ok(()))?.1)
    }

    /// Replaces the platform's keys. The teams get roots that name the new keys. The published documents are signed with the
    /// old and the new keys, so that they are valid before and after the new root is written, which happens last. Returns the
    /// version of the root, and the errors of single teams, which do not stop the others.
    ///
    /// # Errors
    /// A key is missing, somebody else has published meanwhile, or the store cannot be written.
    pub fn rotate(
        &self,
        keys: &[PublicKey],
        threshold: usize,
        online: &PublicKey,
    ) -> Result<(u64, Vec<RepositoryError>), RepositoryError> {
        let own = role_of("the platform", keys, threshold)?;
        let writer = self.store.writer(PLATFORM)?;
        let platform = self.platform_of(Ages::None)?;
        let online = RoleKeys::new([online.clone()], 1);
        let Platform { current, teams, lifetimes } = &platform;
        let lifetimes = *lifetimes;
        let version = following(current.root.version, false, PLATFORM)?;
        let root = Root {
            version,
            expires: lifetimes.end(Role::Root, self.now)?,
            repository: current.root.repository.clone(),
            roles: BTreeMap::from([
                (Role::Root, own.clone()),
                (Role::Targets, own),
                (Role::Snapshot, online.clone()),
                (Role::Timestamp, online),
            ]),
        };
        let place = self.store.place();
        let old = self.keys.enough(Role::Root, role_keys(&current.root, Role::Root)?, &place)?;
        let new = self.keys.enough(Role::Root, role_keys(&root, Role::Root)?, &place)?;
        let (mut files, mut targets, mut unwritten) = (vec![], current.targets(), vec![]);
        for team in teams {
            let path = team_target(&team.name);
            let before = platform.team_root(self.store, &team.name)?;
            let made = self
                .team_keys(&platform, team)
                .and_then(|team| self.new_team_root(&root, &team, Some(&before), lifetimes));
            match made {
                Ok(made) => {
                    unwritten.extend(made.unwritten);
                    targets.insert(path.clone(), made.target);
                    files.push((path, made.bytes));
                }
                // The old root of this team is kept, and so is the platform's signature for it.
                Err(error) => unwritten.push(error),
            }
        }
        self.release_for(writer.as_ref(), current, &files, targets, lifetimes, Some(&root))?;
        let bytes = sign(&root.to_json(), &both(old, new))?;
        let path = stored_metadata(PLATFORM, Role::Root, version);
        if !writer.put_if_absent(&path, &bytes)? {
            return Err(RepositoryError::Changed { repository: self.store.file(PLATFORM) });
        }
        if let Some(trust) = self.trust.read(PLATFORM)? {
            let trusted = Trusted { root: bytes, ..trust.trusted.clone() };
            self.trust.write(PLATFORM, &trust.with(trusted))?;
        }
        Ok((version, unwritten))
    }

    /// Removes a team's revisions that no group runs and that were released more than a week ago, and files that no document
    /// names. Returns their paths.
    ///
    /// # Errors
    /// A key is missing, somebody else has published meanwhile, or the store cannot be written.
    pub fn clean(&self, team: &Team, platform: &Platform) -> Result<Vec<String>, RepositoryError> {
        let folder = team_folder(&team.name);
        let writer = self.store.writer(&folder)?;
        let TeamRepository { current, .. } = self.team(platform, team)?;
        let run: BTreeSet<String> = self.groups(&current)?.into_iter().map(|release| release.digest).collect();
        let mut targets = current.targets();
        let before: Vec<_> = targets.keys().cloned().collect();
        targets.retain(|path, target| {
            let digest = path.rsplit('/').next().and_then(|name| name.split('.').next()).unwrap_or_default();
            let released = target.custom.get(RELEASED).and_then(|moment| moment.as_str()?.parse::<Moment>().ok());
            let is_old = released.is_none_or(|released| self.now.as_second() - released.as_second() > KEPT);
            group_of(path).is_some() || run.contains(digest) || !is_old
        });
        let removed: Vec<_> = before.into_iter().filter(|path| !targets.contains_key(path)).collect();
        if !removed.is_empty() {
            let released = self.release(writer.as_ref(), &current, &[], targets, platform.lifetimes)?;
            if matches!(released, Published::Pending { .. }) {
                return Ok(vec![]);
            }
        }
        let TeamRepository { current, .. } = self.team(platform, team)?;
        self.remove_unfit(writer.as_ref(), &current, platform.lifetimes)?;
        self.remove_unnamed(writer.as_ref(), &current, platform.lifetimes)?;
        Ok(removed)
    }

    /// Removes pending releases that cannot be signed any more.
    fn remove_unfit(
        &self,
        writer: &dyn Writer,
        current: &Current,
        lifetimes: Lifetimes,
    ) -> Result<(), RepositoryError> {
        for id in self.pending(&current.folder)? {
            let unfit = matches!(
                self.read_pending(current, &id, lifetimes),
                Err(RepositoryError::Other(_) | RepositoryError::Invalid { .. } | RepositoryError::Mismatch { .. })
            );
            if unfit {
                writer.remove(&pending_path(&current.folder, &id))?;
            }
        }
        writer.sweep(&format!("{}/pending", current.folder))
    }

    /// Removes the files of a team's repository that neither its newest documents nor pending releases name.
    fn remove_unnamed(
        &self,
        writer: &dyn Writer,
        current: &Current,
        lifetimes: Lifetimes,
    ) -> Result<(), RepositoryError> {
        let Some(verified) = current.verified() else { return Ok(()) };
        let folder = &current.folder;
        let mut named: BTreeSet<String> = BTreeSet::new();
        let mut all: Vec<_> = verified.targets().targets.clone().into_iter().collect();
        for id in self.pending(folder)? {
            // A pending release that is outdated cannot be signed any more.
            if let Ok(pending) = self.read_pending(current, &id, lifetimes) {
                all.extend(pending.targets.targets);
            }
        }
        named.extend(all.iter().map(|(path, target)| stored_target(folder, path, &target.sha256)));
        for below in [format!("{folder}/targets/groups"), format!("{folder}/targets/revisions")] {
            for part in self.store.names(&below)? {
                let part = format!("{below}/{part}");
                writer.sweep(&part)?;
                for name in self.store.names(&part)? {
                    let path = format!("{part}/{name}");
                    if !named.contains(&path) {
                        writer.remove(&path)?;
                    }
                }
            }
        }
        let metadata = format!("{folder}/metadata");
        writer.sweep(&metadata)?;
        let newest = [
            stored_metadata(folder, Role::Targets, verified.targets().version),
            stored_metadata(folder, Role::Snapshot, verified.snapshot().version),
        ];
        for name in self.store.names(&metadata)? {
            let path = format!("{metadata}/{name}");
            let is_old = name.ends_with(".targets.json") || name.ends_with(".snapshot.json");
            if is_old && !newest.contains(&path) {
                writer.remove(&path)?;
            }
        }
        Ok(())
    }
}
