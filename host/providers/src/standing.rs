//! What an account is worth on this machine: who is as good as root, and who is the system's.
//!
//! A list of names cannot know whom this machine's administrators put into `sudo`. So the root's own files are asked, each
//! time, since policies change them. What cannot be read counts for the worse.

use crate::plan::View;
use crate::root::Root;
use grants::Standing;
use std::collections::BTreeSet;

/// The first number of people's accounts unless the login tools' configuration says otherwise.
const FIRST_ORDINARY: u32 = 1000;

/// The number of `nobody`, whose files are those of nobody in particular.
const NOBODY: u32 = 65534;

const SUDOERS: &str = "/etc/sudoers";

/// How deep files of sudoers may include each other.
const MAX_INCLUDES: usize = 8;

/// Where a user stands.
pub(crate) fn of_user(name: &str, view: &mut View<'_>) -> Standing {
    if view.grants.allows_everything() {
        return Standing::Ordinary;
    }
    let root = view.root;
    let sudoers = Sudoers::read(root);
    let first = first_ordinary(root, "UID_MIN");
    let users = view.users();
    let user = users.user(name).cloned();
    let uid = user.as_ref().map(|user| user.uid);
    let mut groups: Vec<String> = {
        let member = |group: &&crate::users::Group| group.members.iter().any(|member| member == name);
        users.groups().iter().filter(member).map(|group| group.name.clone()).collect()
    };
    groups.extend(user.and_then(|user| users.group_by_id(user.gid).map(|group| group.name.clone())));
    let is_elevated = uid == Some(0)
        || sudoers.names_user(name, uid)
        || groups
            .iter()
            .any(|group| Standing::by_name_of_group(group) == Standing::Elevated || sudoers.names_group(group));
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
    let sudoers = Sudoers::read(root);
    let first = first_ordinary(root, "GID_MIN");
    let gid = view.users().group(name).map(|group| group.gid);
    match gid {
        _ if sudoers.names_group(name) || gid == Some(0) => Standing::Elevated,
        Some(gid) if gid < first || gid == NOBODY => Standing::System,
        _ => Standing::Ordinary,
    }
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

/// Who stands in the files of sudo.
#[derive(Debug, Default, PartialEq, Eq)]
struct Sudoers {
    /// Users, groups as `%name`, numbers as `#1000` and `%#1000`.
    names: BTreeSet<String>,
    /// Everybody does, or who does cannot be known.
    everybody: bool,
}

impl Sudoers {
    fn read(root: &Root) -> Self {
        let mut found = Self::default();
        found.add_file(root, SUDOERS, 0);
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
            Err(error) if matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) => {}
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

/// The resolved homes of a root's users who can log in, as seen from inside it. For grants, which protect hidden names there.
pub fn homes(root: &std::path::Path) -> Vec<String> {
    let Ok(root) = Root::open(root, &contract::Account::unmetered("wrun")) else { return vec![] };
    let mut users = crate::users::Users::default();
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
        let mut found = Sudoers::default();
        let _ = found.add(text);
        let expect = Sudoers { names: names.iter().map(|name| (*name).to_owned()).collect(), everybody };
        assert_eq!(found, expect, "{text}");
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
        let mut found = Sudoers::default();
        let included = found.add("@includedir /etc/sudoers.d\n#include /etc/more\n");
        assert_eq!(included, [Included::Folder("/etc/sudoers.d".into()), Included::File("/etc/more".into())]);
    }
}
