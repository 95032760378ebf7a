//! The platform's operations: starting a repository, and defining its teams.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::error::{RepositoryError, Role};
use crate::files::FOLDER_MODE;
use crate::key_file::{self, KeyFile};
use crate::keys::{PublicKey, Sign as _, SigningKey, random_id};
use crate::metadata::{Envelope, RoleKeys, Root, Target, limit, sign};
use crate::names::{PLATFORM, RepositoryName, check_name, check_team_name, team_folder, team_target};
use crate::store::Store;
use crate::teams::{Team, check_apart, teams};
use crate::trust::Trust;
use crate::update::{Ages, Trusted, Verified, stored_metadata, trusted_root};
use crate::writer::{Current, Lifetimes, Publisher, following, role_keys};

/// The target with the settings of the repository.
const SETTINGS: &str = "platform.json";

/// The member with the days for which snapshots and timestamps are valid.
const ONLINE_DAYS: &str = "online_days";

/// The longest that snapshots and timestamps may be valid, in days.
const MAX_ONLINE_DAYS: i64 = 3650;

/// The largest file with a public key, in bytes.
const MAX_KEY: u64 = 4096;

/// A team's keys and policies.
#[derive(Debug, Clone)]
pub struct TeamKeys {
    /// The team with its policies.
    pub team: Team,
    /// The keys that sign releases.
    pub keys: Vec<PublicKey>,
    /// Number of keys that have to sign.
    pub threshold: usize,
    /// The key that signs snapshots and timestamps.
    pub online: PublicKey,
}

/// The platform's repository, verified.
pub struct Platform {
    /// The state of the platform's repository.
    pub current: Current,
    /// Its teams, by name.
    pub teams: Vec<Team>,
    /// How long documents are valid.
    pub lifetimes: Lifetimes,
}

impl Platform {
    /// Returns the team's root for which the platform has signed the digest.
    ///
    /// # Errors
    /// It cannot be read, or is another file than the one that was signed.
    pub fn team_root(&self, store: &dyn Store, team: &str) -> Result<Vec<u8>, RepositoryError> {
        let path = team_target(team);
        let root =
            self.current.verified().map(|verified| verified.read(store, &path, limit(Role::Root))).transpose()?;
        let root: Option<Vec<u8>> = root.flatten();
        root.ok_or_else(|| {
            let names: Vec<_> = self.teams.iter().map(|team| team.name.clone()).collect();
            RepositoryError::Other(format!("there is no team {team:?}; the teams are {}", names.join(", ")))
        })
    }
}

/// Returns the key with this name in the folder of keys, and creates it if it does not exist.
///
/// # Errors
/// The file is damaged or cannot be written.
pub fn own_key(folder: &Path, name: &str, passphrase: &str) -> Result<PublicKey, RepositoryError> {
    check_name(name, "key")?;
    let path = folder.join(format!("{name}.{}", key_file::EXTENSION));
    if path.exists() {
        return Ok(KeyFile::read(&path)?.public().clone());
    }
    let failed = |what: &str| RepositoryError::Key { path: path.clone(), what: what.to_owned() };
    let key = SigningKey::generate().ok_or_else(|| failed("the system has no random bytes"))?;
    make_key_folder(folder, &path)?;
    key_file::write(&path, &key, passphrase)?;
    Ok(key.public().clone())
}

/// Writes the file of an own key that another program holds: see [`key_file::write_command`]. Returns the file's path.
///
/// # Errors
/// The name or the command is impossible, or the file exists or cannot be written.
pub fn own_command_key(
    folder: &Path,
    name: &str,
    public: &PublicKey,
    command: &[String],
) -> Result<PathBuf, RepositoryError> {
    check_name(name, "key")?;
    let path = folder.join(format!("{name}.{}", key_file::EXTENSION));
    make_key_folder(folder, &path)?;
    key_file::write_command(&path, public, command)?;
    Ok(path)
}

fn make_key_folder(folder: &Path, key: &Path) -> Result<(), RepositoryError> {
    let made = plain_files::Folder::make(folder, FOLDER_MODE).map(drop);
    let what = |error| format!("its folder cannot be made: {error}");
    made.map_err(|error| RepositoryError::Key { path: key.to_owned(), what: what(error) })
}

/// Reads a public key from a key's file, or from the output of `wrun keys show`.
///
/// # Errors
/// It is neither.
pub fn public_key(path: &Path) -> Result<PublicKey, RepositoryError> {
    let wrong = |what: String| RepositoryError::Key { path: path.to_owned(), what };
    let bytes = plain_files::read(path, MAX_KEY).map_err(|error| wrong(format!("it cannot be read: {error}")))?;
    let value: Value = serde_json::from_slice(&bytes).map_err(|_| wrong("it is not a key".into()))?;
    if value.get("keyval").is_some() {
        return PublicKey::from_json(&value).map_err(wrong);
    }
    Ok(KeyFile::read(path)?.public().clone())
}

/// Returns the lifetimes of documents that a platform has chosen, or the usual ones.
pub(crate) fn lifetimes_of(platform: Option<&Verified>) -> Lifetimes {
    let days = platform.and_then(|verified| verified.target(SETTINGS)?.custom.get(ONLINE_DAYS)?.as_i64());
    match days.filter(|days| (1..=MAX_ONLINE_DAYS).contains(days)) {
        Some(days) => Lifetimes::with_online_days(days),
        None => Lifetimes::USUAL,
    }
}

impl Publisher<'_> {
    /// Starts a repository. `root`: the platform's key. `online`: the key for its snapshots and timestamps.
    ///
    /// # Errors
    /// There is one already, a team's name or policies are impossible, a key is missing, or the store cannot be written.
    pub fn init(
        &self,
        root: &PublicKey,
        online: &PublicKey,
        all: &[TeamKeys],
        lifetimes: Lifetimes,
    ) -> Result<(), RepositoryError> {
        let named: Vec<Team> = all.iter().map(|one| one.team.clone()).collect();
        for (index, team) in named.iter().enumerate() {
            check_team_name(&team.name)?;
            if named.iter().take(index).any(|other| other.name == team.name) {
                return Err(RepositoryError::Exists { what: format!("the team {}", team.name) });
            }
        }
        check_apart(&named)?;
        let path = stored_metadata(PLATFORM, Role::Root, 1);
        let writer = self.store.writer(PLATFORM)?;
        let timestamp = stored_metadata(PLATFORM, Role::Timestamp, 0);
        if self.store.get(&path, limit(Role::Root))?.is_some()
            && self.store.get(&timestamp, limit(Role::Timestamp))?.is_some()
        {
            return Err(RepositoryError::Exists { what: format!("the repository {}", self.store.place()) });
        }
        let mut roles: BTreeMap<Role, RoleKeys> = BTreeMap::new();
        for (role, key) in
            [(Role::Root, root), (Role::Targets, root), (Role::Snapshot, online), (Role::Timestamp, online)]
        {
            roles.insert(role, RoleKeys::new([key.clone()], 1));
        }
        let repository = random_id().and_then(|id| RepositoryName::of_platform(&id));
        let repository = repository.ok_or_else(|| RepositoryError::Other("the system has no random bytes".into()))?;
        let document = Root { version: 1, expires: lifetimes.end(Role::Root, self.now)?, repository, roles };
        let (mut files, mut targets) = (vec![], BTreeMap::new());
        for one in all {
            let NewRoot { bytes, target, unwritten } = self.new_team_root(&document, one, None, lifetimes)?;
            if let Some(error) = unwritten {
                return Err(error);
            }
            files.push((team_target(&one.team.name), bytes));
            targets.insert(team_target(&one.team.name), target);
        }
        let settings = settings_file(lifetimes);
        targets.insert(SETTINGS.to_owned(), settings_target(lifetimes));
        files.push((SETTINGS.to_owned(), settings));
        let signers = self.keys.enough(Role::Root, role_keys(&document, Role::Root)?, &self.store.place())?;
        let bytes = sign(&document.to_json(), &signers)?;
        // A repository without a timestamp was left by a killed `init`, and was never used.
        writer.replace(&path, &bytes)?;
        // The trust data of an earlier repository at this place do not apply to the new one.
        self.trust.forget()?;
        self.trust.write(PLATFORM, &Trust { trusted: Trusted::of_root(bytes), ..Trust::default() })?;
        let current = self.current(PLATFORM, None)?;
        self.release(writer.as_ref(), &current, &files, targets, lifetimes).map(drop)
    }

    /// Reads and verifies the platform's repository.
    ///
    /// # Errors
    /// It is damaged, has gone backwards, or cannot be read.
    pub fn platform(&self) -> Result<Platform, RepositoryError> {
        self.platform_of(Ages::Root)
    }

    /// Reads the platform's repository like [`Self::platform`], with other rules for expired documents.
    pub(crate) fn platform_of(&self, ages: Ages) -> Result<Platform, RepositoryError> {
        let current = self.current_of(PLATFORM, None, ages)?;
        let invalid = |what| RepositoryError::Invalid { file: self.store.file(PLATFORM), what };
        let verified: Option<&Verified> = current.verified();
        let teams = verified.map(|verified| teams(verified.targets())).transpose().map_err(invalid)?;
        let lifetimes = lifetimes_of(verified);
        Ok(Platform { current, teams: teams.unwrap_or_default(), lifetimes })
    }

    /// Returns the keys and policies of a team that the platform has signed.
    ///
    /// # Errors
    /// Its root cannot be read, or does not keep its own rules.
    pub fn team_keys(&self, platform: &Platform, team: &Team) -> Result<TeamKeys, RepositoryError> {
        let bytes = platform.team_root(self.store, &team.name)?;
        let file = self.store.file(&team_target(&team.name));
        let root = trusted_root(&file, &bytes, &team_folder(&team.name))?;
        let targets = role_keys(&root, Role::Targets)?;
        let online = role_keys(&root, Role::Snapshot)?.keys.values().next().cloned();
        let online =
            online.ok_or_else(|| RepositoryError::Other(format!("the team {} has no online key", team.name)))?;
        let (keys, threshold) = (targets.keys.values().cloned().collect(), targets.threshold);
        Ok(TeamKeys { team: team.clone(), keys, threshold, online })
    }

    /// Adds a team, or changes its keys or policies. If the new root cannot be written to the team's own folder, the error is
    /// returned as a value. The change is valid anyway, because the platform's signature counts: an attacker who damages the
    /// folder cannot keep a stolen key valid.
    ///
    /// # Errors
    /// Its policies are another team's, a key of the platform is missing, or the store cannot be written.
    pub fn set_team(&self, team: &TeamKeys) -> Result<Option<RepositoryError>, RepositoryError> {
        let writer = self.store.writer(PLATFORM)?;
        let Platform { current, teams, lifetimes } = self.platform()?;
        let name = &team.team.name;
        if teams.iter().all(|other| &other.name != name) {
            check_team_name(name)?;
        }
        let others = teams.into_iter().filter(|other| &other.name != name);
        check_apart(&others.chain([team.team.clone()]).collect::<Vec<_>>())?;
        let path = team_target(name);
        let before =
            current.verified().map(|verified| verified.read(self.store, &path, limit(Role::Root))).transpose()?;
        let before: Option<Vec<u8>> = before.flatten();
        let NewRoot { bytes, target, unwritten } =
            self.new_team_root(&current.root, team, before.as_deref(), lifetimes)?;
        let mut targets = current.targets();
        targets.insert(path.clone(), target);
        self.release(writer.as_ref(), &current, &[(path, bytes)], targets, lifetimes)?;
        Ok(unwritten)
    }

    /// Makes a team's next root, and writes it into the team's own folder. `before`: the root that the team has.
    pub(crate) fn new_team_root(
        &self,
        platform: &Root,
        team: &TeamKeys,
        before: Option<&[u8]>,
        lifetimes: Lifetimes,
    ) -> Result<NewRoot, RepositoryError> {
        let name = &team.team.name;
        let targets = role_of(&format!("the team {name}"), &team.keys, team.threshold)?;
        let folder = team_folder(name);
        let file = self.store.file(&team_target(name));
        let before = before.map(|bytes| version_and_root(&file, bytes)).transpose()?;
        let root_keys = role_keys(platform, Role::Root)?.clone();
        let online = RoleKeys::new([team.online.clone()], 1);
        let roles = BTreeMap::from([
            (Role::Root, root_keys.clone()),
            (Role::Targets, targets),
            (Role::Snapshot, online.clone()),
            (Role::Timestamp, online),
        ]);
        let version = following(before.as_ref().map_or(0, |(version, _)| *version), false, &folder)?;
        let repository = platform.repository.part(&folder);
        let root = Root { version, expires: lifetimes.end(Role::Root, self.now)?, repository, roles };
        let mut signers = self.keys.enough(Role::Root, &root_keys, &self.store.file(&folder))?;
        if let Some((_, Some(before))) = &before {
            // Readers that follow the chain of roots also need signatures of the old keys, as far as these differ.
            let there: Vec<_> = signers.iter().map(|key| key.public().id()).collect();
            let old = self.keys.of_role(role_keys(before, Role::Root)?, &[])?;
            signers.extend(old.into_iter().filter(|key| !there.contains(&key.public().id())));
        }
        let bytes = sign(&root.to_json(), &signers)?;
        let path = stored_metadata(&folder, Role::Root, version);
        // An existing file of this version was left by a killed change that the platform has not signed, or by another
        // repository.
        let written = self.store.writer(&folder).and_then(|writer| writer.replace(&path, &bytes));
        let target = Target { custom: team.team.custom(), ..Target::of(&bytes) };
        Ok(NewRoot { bytes, target, unwritten: written.err() })
    }
}

/// A team's next root.
pub(crate) struct NewRoot {
    /// The document in its signed form.
    pub(crate) bytes: Vec<u8>,
    /// The target with which the platform signs it.
    pub(crate) target: Target,
    /// The error, if the document cannot be written to the team's own folder.
    pub(crate) unwritten: Option<RepositoryError>,
}

/// Reads a root for which the platform has signed, and its version. The root is `None` if it is inconsistent; then it can
/// still be replaced.
fn version_and_root(file: &str, bytes: &[u8]) -> Result<(u64, Option<Root>), RepositoryError> {
    let envelope = Envelope::parse(file, bytes)?;
    let version = envelope.signed().get("version").and_then(Value::as_u64).unwrap_or_default();
    Ok((version, Root::of(&envelope).ok()))
}

/// Makes a role of these keys. Each key counts once.
pub(crate) fn role_of(whose: &str, keys: &[PublicKey], threshold: usize) -> Result<RoleKeys, RepositoryError> {
    let role = RoleKeys::new(keys.iter().cloned(), threshold);
    let count = role.keys.len();
    if (1..=count).contains(&threshold) {
        return Ok(role);
    }
    Err(RepositoryError::Other(format!(
        "{whose} has {count} different keys, so that {threshold} signatures cannot be its threshold"
    )))
}

fn settings_file(lifetimes: Lifetimes) -> Vec<u8> {
    let mut text = json!({ "format": 1, ONLINE_DAYS: lifetimes.online_days() }).to_string().into_bytes();
    text.push(b'\n');
    text
}

fn settings_target(lifetimes: Lifetimes) -> Target {
    let custom = Map::from_iter([(ONLINE_DAYS.to_owned(), Value::from(lifetimes.online_days()))]);
    Target { custom, ..Target::of(&settings_file(lifetimes)) }
}
