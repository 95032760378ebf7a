//! Finds the accounts that the administrators of this machine made as powerful as root, in the files of sudo, doas, polkit
//! and PAM.
//!
//! A name counts even if the account does not exist: a later account with this name or id has the rights at once. sudo
//! accepts `SUDO` for `sudo`, so names are compared without case. If a file cannot be read, or says what only its program can
//! judge, all accounts count as named.

mod pam;
mod polkit;
mod sudo;

use machine::root::Root;
use std::collections::BTreeSet;
use std::io::ErrorKind;

/// The files of doas, and of one that was built by hand.
const DOAS: [&str; 2] = ["/etc/doas.conf", "/usr/local/etc/doas.conf"];
const DOAS_FOLDERS: [&str; 2] = ["/etc/doas.d", "/usr/local/etc/doas.d"];

/// Maximum depth of includes in sudoers files, and maximum number of files.
const MAX_INCLUDES: usize = 8;
const MAX_FILES: usize = 1_000;

/// The users and groups that these files name.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Administrators {
    /// Users, groups as `%name`, numbers as `#1000` and `%#1000`; in lower case.
    names: BTreeSet<String>,
    /// True if all accounts are named, or if that cannot be determined.
    everybody: bool,
    /// The number of files that were read.
    files: usize,
    /// Absolute paths, as written in these files, of further rules and of programs that decide.
    places: BTreeSet<String>,
    /// Absolute paths in the rules of sudo: users run these programs as root.
    commands: BTreeSet<String>,
}

impl Administrators {
    /// Reads the files of a root.
    pub(super) fn read(root: &Root) -> Self {
        let mut found = Self::default();
        found.read_sudo(root);
        for file in DOAS {
            found.with_text(root, file, Self::add_doas);
        }
        for folder in DOAS_FOLDERS {
            for file in found.names_in(root, folder).into_iter().filter(|name| name.ends_with(".conf")) {
                found.with_text(root, &format!("{folder}/{file}"), Self::add_doas);
            }
        }
        found.read_polkit(root);
        found.read_pam(root);
        found
    }

    /// Returns the absolute paths of further rules and of programs that decide, as the files name them.
    pub(super) fn places(&self) -> impl Iterator<Item = &str> {
        self.places.iter().map(String::as_str)
    }

    /// Returns the paths of programs that users run as root, each with the file that stands for all rules. A folder stands for
    /// all programs in it.
    pub(super) fn commands(&self) -> impl Iterator<Item = (String, &'static str)> {
        let path = |path: &String| if path.ends_with('/') { format!("{path}*") } else { path.clone() };
        self.commands.iter().map(path).map(|path| (path, sudo::SUDOERS[0]))
    }

    /// Tells whether a user of this name or id is as powerful as root.
    pub(super) fn names_user(&self, name: &str, uid: Option<u32>) -> bool {
        self.everybody
            || self.names.contains(&name.to_ascii_lowercase())
            || uid.is_some_and(|uid| self.names_user_number(uid))
    }

    /// Tells whether members of a group of this name are as powerful as root.
    pub(super) fn names_group(&self, name: &str) -> bool {
        self.everybody || self.names.contains(&format!("%{}", name.to_ascii_lowercase()))
    }

    /// Tells whether a user with this id is as powerful as root, whatever its name.
    pub(super) fn names_user_number(&self, uid: u32) -> bool {
        self.everybody || self.names.contains(&format!("#{uid}"))
    }

    /// Tells whether members of a group with this id are as powerful as root, whatever its name.
    pub(super) fn names_group_number(&self, gid: u32) -> bool {
        self.everybody || self.names.contains(&format!("%#{gid}"))
    }

    /// Tells whether any account is named by its id.
    pub(super) fn names_numbers(&self) -> bool {
        self.everybody || self.names.iter().any(|name| name.trim_start_matches('%').starts_with('#'))
    }

    /// Returns the named users in lower case, existing or not.
    pub(super) fn users(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str).filter(|name| !name.starts_with(['%', '#']))
    }

    /// Returns the named groups in lower case, existing or not.
    pub(super) fn groups(&self) -> impl Iterator<Item = &str> {
        self.names.iter().filter_map(|name| name.strip_prefix('%')).filter(|name| !name.starts_with('#'))
    }

    fn with_text(&mut self, root: &Root, path: &str, add: impl FnOnce(&mut Self, &str)) {
        self.files += 1;
        match root.read(path) {
            Ok(text) if self.files <= MAX_FILES => add(self, &String::from_utf8_lossy(&text)),
            Err(error) if is_absence(&error) => {}
            _ => self.everybody = true,
        }
    }

    /// Returns the names in a folder. If the folder cannot be read, all accounts count as named.
    fn names_in(&mut self, root: &Root, folder: &str) -> Vec<String> {
        match root.locate_target(folder).and_then(|place| place.names()) {
            Ok(names) => names,
            Err(fault) if fault.is_absence() => vec![],
            Err(_) => {
                self.everybody = true;
                vec![]
            }
        }
    }

    /// Adds the users of all rules of `doas` that permit something: `permit nopass keepenv :wheel as root`. A backslash hides
    /// the next character, so with one the name is not known.
    fn add_doas(&mut self, text: &str) {
        for line in text.replace("\\\n", " ").lines() {
            let mut words = line.split_whitespace();
            if words.next() == Some("permit") {
                self.everybody |= line.contains('\\');
                // Options and the words after the name are added too, but no account has such a name.
                let names = words.map(|word| word.trim_matches('"'));
                names.for_each(|name| {
                    self.add_name(&name.strip_prefix(':').map_or(name.to_owned(), |name| format!("%{name}")));
                });
            }
        }
    }

    fn add_identity(&mut self, name: &str, user: bool, group: bool) {
        let is_number = name.bytes().all(|byte| byte.is_ascii_digit());
        let name = if is_number { format!("#{name}") } else { name.to_owned() };
        if group {
            self.add_name(&format!("%{name}"));
        }
        if user {
            self.add_name(&name);
        }
    }

    /// Adds a user, or a group after a percent sign. Ids are stored without leading zeros.
    fn add_name(&mut self, name: &str) {
        let (sign, rest) = name.strip_prefix('%').map_or(("", name), |rest| ("%", rest));
        let number = rest.strip_prefix('#').and_then(|number| number.parse::<u32>().ok());
        self.names.insert(match number {
            Some(number) => format!("{sign}#{number}"),
            None => name.to_ascii_lowercase(),
        });
    }
}

fn is_absence(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_of_doas_are_those_of_rules_that_permit() {
        let mut found = Administrators::default();
        found.add_doas("# permit x\npermit nopass ann as root\npermit :ops\ndeny bob\n");
        assert!(found.names_user("ann", None) && found.names_group("ops") && !found.names_user("bob", None));
        found.add_doas("permit a\\nn\n");
        assert!(found.everybody);
    }

    #[test]
    fn attack_administrators_of_other_places_are_found() {
        let names_everybody = |text: &str| {
            let mut found = Administrators::default();
            found.add_name_service(text);
            found.everybody
        };
        assert!(names_everybody("passwd: files sss\nsudoers: files [NOTFOUND=continue] sss\n"));
        assert!(!names_everybody("passwd: files sss\n# sudoers: sss\nsudoers: files # sss\n"));
        for (path, text) in [
            ("usr/etc/sudoers", "ann ALL=ALL\n"),
            ("etc/sudoers-rs", "ann ALL=ALL\n"),
            ("etc/doas.d/one.conf", "permit ann\n"),
            ("usr/local/etc/doas.conf", "permit ann\n"),
            ("usr/local/etc/sudoers", "ann ALL=ALL\n"),
            ("etc/nsswitch.conf", "sudoers: ldap\n"),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let place = folder.path().join(path);
            std::fs::create_dir_all(place.parent().unwrap()).unwrap();
            std::fs::write(place, text).unwrap();
            let root = Root::open(folder.path(), &contract::Account::unmetered("test")).unwrap();
            assert!(Administrators::read(&root).names_user("ann", None), "{path}");
        }
    }
}
