//! What an account is worth on this machine: who is as good as root, and who is the system's.
//!
//! A list of names cannot know whom this machine's administrators put into `sudo`. So the root's own files are asked, each
//! time, since policies change them. What cannot be read counts for the worse.

use crate::plan::View;
use contract::{MachineGroup, MachineUser};
use grants::{ElevatedAccounts, Standing};
use machine::root::Root;
use machine::users::Users;
use std::collections::BTreeSet;

/// The first number of people's accounts unless the login tools' configuration says otherwise.
const FIRST_ORDINARY: u32 = 1000;

/// The number of `nobody`, whose files are those of nobody in particular.
const NOBODY: u32 = 65534;

const SUDOERS: &str = "/etc/sudoers";
const DOAS: &str = "/etc/doas.conf";

/// How deep files of sudoers may include each other.
const MAX_INCLUDES: usize = 8;

/// Where a user stands.
pub(crate) fn of_user(name: &str, view: &mut View<'_>) -> Standing {
    if view.grants.allows_everything() {
        return Standing::Ordinary;
    }
    let root = view.root;
    let administrators = Administrators::read(root);
    let first = first_ordinary(root, "UID_MIN");
    let users = view.users();
    let elevated = elevated_numbers(users, &administrators);
    let user = users.user(name).map(|user| (user.uid, user.gid));
    let uid = user.map(|(uid, _)| uid);
    let is_member = |group: &&MachineGroup| group.members.iter().any(|member| member == name);
    let mut gids = users.groups().iter().filter(is_member).map(|group| group.gid).chain(user.map(|(_, gid)| gid));
    let is_elevated = uid == Some(0) || administrators.names_user(name, uid) || gids.any(|gid| elevated.contains(&gid));
    match uid {
        _ if is_elevated => Standing::Elevated,
        Some(uid) if uid < first || uid == NOBODY => Standing::System,
        _ => Standing::Ordinary,
    }
}

/// Where a group stands: one without a number does not exist yet.
pub(crate) fn of_group(name: &str, view: &mut View<'_>) -> Standing {
    if view.grants.allows_everything() {
        return Standing::Ordinary;
    }
    let root = view.root;
    let administrators = Administrators::read(root);
    let first = first_ordinary(root, "GID_MIN");
    let users = view.users();
    let gid = users.group(name).map(|group| group.gid);
    let is_elevated = gid.is_some_and(|gid| elevated_numbers(users, &administrators).contains(&gid));
    match gid {
        _ if is_elevated || administrators.names_group(name) => Standing::Elevated,
        Some(gid) if gid < first || gid == NOBODY => Standing::System,
        _ => Standing::Ordinary,
    }
}

/// The numbers of all groups that are as good as root: a second name for one of them is no less.
fn elevated_numbers(users: &Users, administrators: &Administrators) -> BTreeSet<u32> {
    let is_elevated = |group: &&MachineGroup| {
        Standing::by_name_of_group(&group.name) == Standing::Elevated
            || administrators.names_group(&group.name)
            || administrators.names.contains(&format!("%#{}", group.gid))
    };
    users.groups().iter().filter(is_elevated).map(|group| group.gid).chain([0]).collect()
}

/// Whether a user with this number counts as one of the system.
pub(crate) fn is_number_of_system_user(uid: u32, view: &View<'_>) -> bool {
    uid == NOBODY || uid < first_ordinary(view.root, "UID_MIN")
}

/// Whether a group with this number counts as one of the system.
pub(crate) fn is_number_of_system_group(gid: u32, view: &View<'_>) -> bool {
    gid == NOBODY || gid < first_ordinary(view.root, "GID_MIN")
}

fn first_ordinary(root: &Root, key: &str) -> u32 {
    let text = root.read("/etc/login.defs").unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let value = text.lines().find_map(|line| line.trim().strip_prefix(key)?.split_whitespace().next()?.parse().ok());
    value.unwrap_or(FIRST_ORDINARY)
}

/// Who stands in the files of sudo and doas.
#[derive(Debug, Default, PartialEq, Eq)]
struct Administrators {
    /// Users, groups as `%name`, numbers as `#1000` and `%#1000`.
    names: BTreeSet<String>,
    /// Everybody does, or who does cannot be known.
    everybody: bool,
}

impl Administrators {
    fn read(root: &Root) -> Self {
        let mut found = Self::default();
        found.add_file(root, SUDOERS, 0);
        match root.read(DOAS) {
            Ok(text) => found.add_doas(&String::from_utf8_lossy(&text)),
            Err(error) if is_absence(&error) => {}
            Err(_) => found.everybody = true,
        }
        found
    }

    fn names_user(&self, name: &str, uid: Option<u32>) -> bool {
        self.everybody || self.names.contains(name) || uid.is_some_and(|uid| self.names.contains(&format!("#{uid}")))
    }

    fn names_group(&self, name: &str) -> bool {
        self.everybody || self.names.contains(&format!("%{name}"))
    }

    fn add_file(&mut self, root: &Root, path: &str, depth: usize) {
        match root.read(path) {
            Ok(text) if depth <= MAX_INCLUDES => {
                for included in self.add(&String::from_utf8_lossy(&text)) {
                    self.add_included(root, &included, depth + 1);
                }
            }
            Err(error) if is_absence(&error) => {}
            _ => self.everybody = true,
        }
    }

    fn add_included(&mut self, root: &Root, included: &Included, depth: usize) {
        match included {
            Included::File(path) if path.starts_with('/') => self.add_file(root, path, depth),
            Included::Folder(path) if path.starts_with('/') => {
                match root.locate_target(path).and_then(|place| place.names()) {
                    // sudo skips names with a dot, and those that end in a tilde.
                    Ok(names) => names
                        .iter()
                        .filter(|name| !name.contains('.') && !name.ends_with('~'))
                        .for_each(|name| self.add_file(root, &format!("{path}/{name}"), depth)),
                    Err(fault) if fault.is_absence() => {}
                    Err(_) => self.everybody = true,
                }
            }
            _ => self.everybody = true,
        }
    }

    /// Adds the users of all rules of `doas` that permit something: `permit nopass keepenv :wheel as root`.
    fn add_doas(&mut self, text: &str) {
        for line in text.replace("\\\n", " ").lines() {
            let mut words = line.split_whitespace();
            if words.next() == Some("permit") {
                // Options and what follows the name are not names of accounts that anybody has.
                let names = words.map(|word| word.trim_matches('"'));
                self.names.extend(
                    names.map(|name| name.strip_prefix(':').map_or(name.to_owned(), |name| format!("%{name}"))),
                );
            }
        }
    }

    /// Adds the users of all lines, and returns what the text includes.
    fn add(&mut self, text: &str) -> Vec<Included> {
        let mut included = vec![];
        let joined = text.replace("\\\n", " ");
        for line in joined.lines().map(str::trim) {
            let words: Vec<&str> = line.split_whitespace().collect();
            match words.as_slice() {
                ["@include" | "#include", path] => included.push(Included::File((*path).to_owned())),
                ["@includedir" | "#includedir", path] => included.push(Included::Folder((*path).to_owned())),
                [] | ["Host_Alias" | "Runas_Alias" | "Cmnd_Alias" | "Cmd_Alias", ..] => {}
                ["User_Alias", ..] => {
                    let lists = line.split(':').filter_map(|part| part.split_once('=')).map(|(_, users)| users);
                    lists.for_each(|users| self.add_users(users));
                }
                [first, ..] if first.starts_with("Defaults") => {}
                // `#1000` is a user, `# 1000` and `#x` are comments.
                [first, ..]
                    if first.strip_prefix('#').is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_digit())) => {}
                _ => self.add_users(users_of_line(line)),
            }
        }
        included
    }

    fn add_users(&mut self, users: &str) {
        for user in users.split(',') {
            let user = user.trim().trim_matches('"').replace('\\', "");
            match user.as_str() {
                "" => {}
                "ALL" => self.everybody = true,
                // Net groups and what is excepted are not resolved: who is not in them cannot be known.
                odd if odd.starts_with(['+', '!']) => self.everybody = true,
                _ => {
                    self.names.insert(user);
                }
            }
        }
    }
}

/// What a file of sudoers includes.
#[derive(Debug, PartialEq, Eq)]
enum Included {
    File(String),
    Folder(String),
}

fn is_absence(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory)
}

/// The list of users at the beginning of a line: words that commas join.
fn users_of_line(line: &str) -> &str {
    let mut end = 0;
    let mut goes_on = true;
    for word in line.split_inclusive(char::is_whitespace) {
        let bare = word.trim();
        if !goes_on && !bare.starts_with(',') && !bare.is_empty() {
            break;
        }
        end += word.len();
        goes_on = if bare.is_empty() { goes_on } else { bare.ends_with(',') };
    }
    line.get(..end).unwrap_or(line)
}

/// The accounts of a root that are as good as root itself. For grants, which tell operators of entries with them.
pub fn elevated_accounts(root: &std::path::Path) -> ElevatedAccounts {
    let Ok(root) = Root::open(root, &contract::Account::unmetered("wrun")) else { return ElevatedAccounts::default() };
    let mut users = Users::default();
    users.refresh(&root);
    let administrators = Administrators::read(&root);
    let elevated = elevated_numbers(&users, &administrators);
    let is_member = |user: &MachineUser| {
        let named = |group: &MachineGroup| group.members.contains(&user.name);
        elevated.contains(&user.gid) || users.groups().iter().any(|group| elevated.contains(&group.gid) && named(group))
    };
    let is_elevated =
        |user: &&MachineUser| user.uid == 0 || administrators.names_user(&user.name, Some(user.uid)) || is_member(user);
    ElevatedAccounts {
        users: users.users().iter().filter(is_elevated).map(|user| user.name.clone()).collect(),
        groups: users
            .groups()
            .iter()
            .filter(|group| elevated.contains(&group.gid))
            .map(|group| group.name.clone())
            .collect(),
    }
}

/// The resolved homes of a root's users who can log in, as seen from inside it. For grants, which protect hidden names there.
pub fn homes(root: &std::path::Path) -> Vec<String> {
    let Ok(root) = Root::open(root, &contract::Account::unmetered("wrun")) else { return vec![] };
    let mut users = Users::default();
    users.refresh(&root);
    let can_log_in = |shell: &str| !matches!(shell.rsplit('/').next(), Some("nologin" | "false" | "sync"));
    let own = users.users().iter().filter(|user| can_log_in(&user.shell));
    // What is as high as a top directory is not one user's.
    let own = own.filter(|user| user.home.trim_matches('/').contains('/'));
    let mut homes: BTreeSet<String> = own.clone().map(|user| user.home.trim_end_matches('/').to_owned()).collect();
    homes.extend(own.filter_map(|user| Some(root.locate_target(&user.home).ok()?.real().to_owned())));
    homes.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, names: &[&str], everybody: bool) {
        let mut found = Administrators::default();
        let _ = found.add(text);
        let expect = Administrators { names: names.iter().map(|name| (*name).to_owned()).collect(), everybody };
        assert_eq!(found, expect, "{text}");
    }

    #[test]
    fn accounts_as_good_as_root_are_found_on_the_machine() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("etc")).unwrap();
        for (path, text) in [
            (
                "etc/passwd",
                "root:x:0:0::/root:/bin/sh\nops:x:1000:1000::/home/ops:/bin/sh\nada:x:1001:1001::/:/bin/sh\n\
                 bob:x:1002:27::/:/bin/sh\neve:x:1003:1003::/:/bin/sh\n",
            ),
            ("etc/group", "root:x:0:\nsudo:x:27:ada\nteam:x:1100:\nplain:x:1003:eve\n"),
            ("etc/sudoers", "root ALL=(ALL) ALL\nops ALL=(ALL) ALL\n%team ALL=(ALL) ALL\n"),
        ] {
            std::fs::write(folder.path().join(path), text).unwrap();
        }
        let found = elevated_accounts(folder.path());
        assert_eq!(Vec::from_iter(found.users), ["ada", "bob", "ops", "root"]);
        assert_eq!(Vec::from_iter(found.groups), ["root", "sudo", "team"]);
    }

    #[test]
    fn users_of_sudoers_are_those_before_the_hosts() {
        check("root ALL=(ALL:ALL) ALL\n%sudo\tALL=(ALL:ALL) ALL\n", &["root", "%sudo"], false);
        check("ann, bob ,carl ALL = NOPASSWD: /bin/x\n", &["ann", "bob", "carl"], false);
        check("# ann ALL=ALL\n#1000 ALL=ALL\n%#27 ALL=ALL\n#ann ALL=ALL\n", &["#1000", "%#27"], false);
        check("Defaults env_reset\nDefaults:ann !lecture\nHost_Alias X = a\n", &[], false);
        check("User_Alias OPS = ann, bob : WEB = carl\nOPS ALL=ALL\n", &["ann", "bob", "carl", "OPS"], false);
        check("\"ann\" ALL=ALL\na\\ b ALL=ALL\n", &["ann", "a"], false);
        check("ann, \\\n  bob ALL=ALL\n", &["ann", "bob"], false);
        check("ALL ALL=(ALL) ALL\n", &[], true);
        check("+netgroup ALL=ALL\n", &[], true);
        let mut found = Administrators::default();
        found.add_doas("# permit x\npermit nopass ann as root\npermit :ops\ndeny bob\n");
        assert!(found.names_user("ann", None) && found.names_group("ops") && !found.names_user("bob", None));
        let mut found = Administrators::default();
        let included = found.add("@includedir /etc/sudoers.d\n#include /etc/more\n");
        assert_eq!(included, [Included::Folder("/etc/sudoers.d".into()), Included::File("/etc/more".into())]);
    }
}
