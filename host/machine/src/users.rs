//! Users and groups of the root. They come from the root's own files; for the whole machine, also from the name service.
//!
//! Under `--root`, wrun never asks the host's user database, not even through the C library. A name means the user in the
//! root's `/etc/passwd`.

use crate::root::Root;
use contract::{MachineGroup, MachineUser};
use std::collections::{BTreeSet, HashMap};
use std::ffi::CString;

/// Identity, size and time of a file, to detect that it was replaced.
type Stamp = Option<((u64, u64), u64, i64)>;

const PASSWD: &str = "/etc/passwd";
const GROUP: &str = "/etc/group";

/// A numeric id that no group has.
const NO_GROUP: u32 = u32::MAX;

/// Maximum size of each file, in bytes. A larger one would be read as empty, and then nobody is known to be as powerful as root.
/// Policies with a right to users make it larger, so it is far above any real one.
const MAX_DATABASE: u64 = 256 << 20;

/// A source of users and groups besides the root's files, such as a company directory.
#[derive(Debug, Clone, Copy)]
#[doc(hidden)]
pub struct NameService {
    pub user: fn(&str) -> Option<MachineUser>,
    pub user_by_id: fn(u32) -> Option<MachineUser>,
    pub group: fn(&str) -> Option<MachineGroup>,
    pub group_by_id: fn(u32) -> Option<MachineGroup>,
    /// Returns the numeric ids of all groups of a user with this primary group.
    pub groups_of: fn(&str, u32) -> Vec<u32>,
}

impl NameService {
    /// The name service of the C library.
    const SYSTEM: Self = Self {
        user: |name| nix::unistd::User::from_name(name).ok().flatten().map(from_name_service),
        user_by_id: |uid| nix::unistd::User::from_uid(uid.into()).ok().flatten().map(from_name_service),
        group: |name| nix::unistd::Group::from_name(name).ok().flatten().map(group_from_name_service),
        group_by_id: |gid| nix::unistd::Group::from_gid(gid.into()).ok().flatten().map(group_from_name_service),
        groups_of: |name, gid| {
            let groups = CString::new(name).ok().and_then(|name| nix::unistd::getgrouplist(&name, gid.into()).ok());
            groups.unwrap_or_default().into_iter().map(nix::unistd::Gid::as_raw).collect()
        },
    };
}

/// The user database. It is read when first used, and again when an action may have replaced its files.
#[derive(Debug, Default)]
pub struct Users {
    /// True if no action has run since the files were checked.
    fresh: bool,
    stamps: Option<(Stamp, Stamp)>,
    name_service: Option<NameService>,
    users: Vec<MachineUser>,
    groups: Vec<MachineGroup>,
    found_users: HashMap<String, Option<MachineUser>>,
    found_groups: HashMap<String, Option<MachineGroup>>,
    found_groups_of: HashMap<(String, u32), Vec<u32>>,
}

impl Users {
    /// Marks the database as possibly outdated: the next `refresh` checks the files again.
    pub fn doubt(&mut self) {
        self.fresh = false;
    }

    /// Reads the root's files if an action has run since, and if they differ from the files that were read last.
    pub fn refresh(&mut self, root: &Root) {
        if std::mem::replace(&mut self.fresh, true) {
            return;
        }
        let stamps = (stamp(root, PASSWD), stamp(root, GROUP));
        if self.stamps == Some(stamps) {
            return;
        }
        let text = |path| {
            root.read_up_to(path, MAX_DATABASE)
                .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
                .unwrap_or_default()
        };
        *self = Self {
            fresh: true,
            stamps: Some(stamps),
            name_service: root.is_whole().then_some(NameService::SYSTEM),
            users: text(PASSWD).lines().filter_map(parse_user).collect(),
            groups: text(GROUP).lines().filter_map(parse_group).collect(),
            ..Self::default()
        };
    }

    /// Clears the database: the next `refresh` reads the files again.
    pub fn forget(&mut self) {
        *self = Self::default();
    }

    /// Returns all users of the root's file, in its order.
    pub fn users(&self) -> &[MachineUser] {
        &self.users
    }

    /// Returns all groups of the root's file, in its order.
    pub fn groups(&self) -> &[MachineGroup] {
        &self.groups
    }

    /// Returns a user by name.
    pub fn user(&mut self, name: &str) -> Option<&MachineUser> {
        if let Some(at) = self.users.iter().position(|user| user.name == name) {
            return self.users.get(at);
        }
        let service = self.name_service?;
        let ask = || (service.user)(name);
        self.found_users.entry(name.into()).or_insert_with(ask).as_ref()
    }

    /// Returns a user by numeric id; if several have it, the first.
    pub fn user_by_id(&mut self, uid: u32) -> Option<&MachineUser> {
        if let Some(at) = self.users.iter().position(|user| user.uid == uid) {
            return self.users.get(at);
        }
        let service = self.name_service?;
        let ask = || (service.user_by_id)(uid);
        self.found_users.entry(format!("#{uid}")).or_insert_with(ask).as_ref()
    }

    /// Returns a group by name.
    pub fn group(&mut self, name: &str) -> Option<&MachineGroup> {
        if let Some(at) = self.groups.iter().position(|group| group.name == name) {
            return self.groups.get(at);
        }
        let service = self.name_service?;
        let ask = || (service.group)(name);
        self.found_groups.entry(name.into()).or_insert_with(ask).as_ref()
    }

    /// Returns a group by numeric id; if several have it, the first.
    pub fn group_by_id(&mut self, gid: u32) -> Option<&MachineGroup> {
        if let Some(at) = self.groups.iter().position(|group| group.gid == gid) {
            return self.groups.get(at);
        }
        let service = self.name_service?;
        let ask = || (service.group_by_id)(gid);
        self.found_groups.entry(format!("#{gid}")).or_insert_with(ask).as_ref()
    }

    /// Returns the numeric ids of all groups of a user, from the root's file and from the name service. `primary` is the
    /// user's primary group, or `None` for a user who does not exist.
    pub fn group_numbers(&mut self, name: &str, primary: Option<u32>) -> BTreeSet<u32> {
        let mut all: BTreeSet<u32> = self.supplementary(name).into_iter().chain(primary).collect();
        if let Some(service) = self.name_service {
            // A group may have members who do not exist yet. The placeholder id belongs to no group.
            let asked = primary.unwrap_or(NO_GROUP);
            let ask = || (service.groups_of)(name, asked);
            let found = self.found_groups_of.entry((name.to_owned(), asked)).or_insert_with(ask);
            all.extend(found.iter().filter(|gid| **gid != NO_GROUP));
        }
        all
    }

    /// The same database with another name service, for tests.
    #[doc(hidden)]
    #[must_use]
    pub fn with_name_service(self, service: NameService) -> Self {
        Self { name_service: Some(service), ..self }
    }

    /// Returns the numeric ids of the groups in the root's file that name the user as a member.
    pub(crate) fn supplementary(&self, name: &str) -> Vec<u32> {
        let named = |group: &&MachineGroup| group.members.iter().any(|member| member == name);
        self.groups.iter().filter(named).map(|group| group.gid).collect()
    }
}

fn stamp(root: &Root, path: &str) -> Stamp {
    let entry = root.target_entry(path).ok().flatten()?;
    Some((entry.identity, entry.size, entry.modified))
}

fn parse_user(line: &str) -> Option<MachineUser> {
    let mut fields = line.split(':');
    let mut next = || fields.next();
    let (name, _password) = (next()?, next()?);
    let (uid, gid) = (next()?.parse().ok()?, next()?.parse().ok()?);
    let (comment, home, shell) = (next()?, next()?, next().unwrap_or_default());
    let text = |field: &str| field.to_owned();
    (!name.is_empty() && !name.starts_with(['#', '+', '-'])).then(|| MachineUser {
        name: text(name),
        uid,
        gid,
        comment: text(comment),
        home: text(home),
        shell: text(shell),
    })
}

fn parse_group(line: &str) -> Option<MachineGroup> {
    let mut fields = line.split(':');
    let mut next = || fields.next();
    let (name, _password, gid) = (next()?, next()?, next()?.parse().ok()?);
    let members = next().unwrap_or_default().split(',').filter(|member| !member.is_empty()).map(Into::into).collect();
    (!name.is_empty() && !name.starts_with(['#', '+', '-'])).then(|| MachineGroup { name: name.into(), gid, members })
}

fn from_name_service(user: nix::unistd::User) -> MachineUser {
    MachineUser {
        name: user.name,
        uid: user.uid.as_raw(),
        gid: user.gid.as_raw(),
        comment: user.gecos.to_string_lossy().into_owned(),
        home: user.dir.to_string_lossy().into_owned(),
        shell: user.shell.to_string_lossy().into_owned(),
    }
}

fn group_from_name_service(group: nix::unistd::Group) -> MachineGroup {
    MachineGroup { name: group.name, gid: group.gid.as_raw(), members: group.mem }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn database(passwd: &str, group: &str) -> (tempfile::TempDir, Root, Users) {
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir(directory.path().join("etc")).unwrap();
        std::fs::write(directory.path().join("etc/passwd"), passwd).unwrap();
        std::fs::write(directory.path().join("etc/group"), group).unwrap();
        let root = Root::open(directory.path(), &contract::Account::unmetered("test")).unwrap();
        let mut users = Users::default();
        users.refresh(&root);
        (directory, root, users)
    }

    /// An empty database knows nobody who is as powerful as root, and no home.
    #[test]
    fn attack_a_large_file_of_accounts_is_read() {
        let comment = "x".repeat(17 << 20);
        let (_folder, root, mut users) =
            database(&format!("evil:x:2000:2000:{comment}:/home/evil:/bin/sh\nada:x:7:7::/home/ada:/bin/sh\n"), "");
        users.refresh(&root);
        assert_eq!(users.user("ada").map(|user| user.uid), Some(7));
    }

    #[test]
    fn the_roots_own_files_are_what_counts() {
        let (_directory, _root, mut users) = database(
            "root:x:0:0:root:/root:/bin/sh\nalice:x:1000:1001:Alice,,,:/home/alice:/bin/bash\n+::::::\nbroken:x:no:1::/:\n",
            "root:x:0:\nalice:x:1001:\nweb:x:33:alice,bob\n",
        );
        assert_eq!(users.users().len(), 2);
        assert_eq!(
            users.user("alice").map(|user| (user.uid, user.gid, user.home.clone())),
            Some((1000, 1001, "/home/alice".into()))
        );
        assert_eq!(users.user_by_id(0).map(|user| user.name.clone()), Some("root".into()));
        assert_eq!(users.group_by_id(33).map(|group| group.members.clone()), Some(vec!["alice".into(), "bob".into()]));
        assert_eq!(users.supplementary("alice"), [33]);
        assert_eq!(users.user("nobody"), None, "the host's database must not be asked under a root");
        assert_eq!(users.group("nogroup"), None);
    }

    #[test]
    fn replaced_files_are_read_again() {
        let (directory, root, mut users) = database("root:x:0:0::/root:/bin/sh\n", "");
        assert_eq!(users.user("bob"), None);
        std::fs::write(directory.path().join("etc/passwd"), "root:x:0:0::/root:/bin/sh\nbob:x:7:7::/:/bin/sh\n")
            .unwrap();
        users.doubt();
        users.refresh(&root);
        assert_eq!(users.user("bob").map(|user| user.uid), Some(7));
    }

    #[test]
    fn a_root_without_the_files_has_nobody() {
        let directory = tempfile::tempdir().unwrap();
        let mut users = Users::default();
        users.refresh(&Root::open(directory.path(), &contract::Account::unmetered("test")).unwrap());
        assert!(users.user("root").is_none() && users.users().is_empty());
    }
}
