//! Finds the accounts that the administrators of this machine made as powerful as root, in the files of sudo, doas and
//! polkit.
//!
//! A name counts even if the account does not exist: a later account with this name or id has the rights at once. sudo
//! accepts `SUDO` for `sudo`, so names are compared without case.

use machine::root::Root;
use std::collections::BTreeSet;
use std::io::ErrorKind;

/// The files of sudo: its own, a distribution's default file, and those of sudo-rs.
const SUDOERS: [&str; 3] = ["/etc/sudoers", "/usr/etc/sudoers", "/etc/sudoers-rs"];
const DOAS: &str = "/etc/doas.conf";
const DOAS_FOLDER: &str = "/etc/doas.d";

/// The file that says whether sudo also reads rules from a directory service.
const NAME_SERVICE: &str = "/etc/nsswitch.conf";

/// The folders of polkit's rules in JavaScript.
const POLKIT_RULES: [&str; 4] = [
    "/etc/polkit-1/rules.d",
    "/run/polkit-1/rules.d",
    "/usr/local/share/polkit-1/rules.d",
    "/usr/share/polkit-1/rules.d",
];

/// The folders of identity lists of older polkit versions, and of their subfolders.
const POLKIT_LISTS: [&str; 3] =
    ["/etc/polkit-1/localauthority.conf.d", "/etc/polkit-1/localauthority", "/var/lib/polkit-1/localauthority"];

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
}

impl Administrators {
    /// Reads the files of a root.
    pub(super) fn read(root: &Root) -> Self {
        let mut found = Self::default();
        for file in SUDOERS {
            found.add_file(root, file, 0);
        }
        found.with_text(root, NAME_SERVICE, Self::add_name_service);
        found.with_text(root, DOAS, Self::add_doas);
        for file in found.names_in(root, DOAS_FOLDER).into_iter().filter(|name| name.ends_with(".conf")) {
            found.with_text(root, &format!("{DOAS_FOLDER}/{file}"), Self::add_doas);
        }
        for folder in POLKIT_RULES {
            for file in found.names_in(root, folder).into_iter().filter(|name| name.ends_with(".rules")) {
                found.with_text(root, &format!("{folder}/{file}"), Self::add_polkit_rules);
            }
        }
        for folder in POLKIT_LISTS {
            for name in found.names_in(root, folder) {
                let path = format!("{folder}/{name}");
                if name.ends_with(".conf") {
                    found.with_text(root, &path, Self::add_polkit_list);
                    continue;
                }
                for file in found.names_in(root, &path).into_iter().filter(|name| name.ends_with(".pkla")) {
                    found.with_text(root, &format!("{path}/{file}"), Self::add_polkit_list);
                }
            }
        }
        found
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

    fn add_file(&mut self, root: &Root, path: &str, depth: usize) {
        if depth > MAX_INCLUDES {
            self.everybody = true;
            return;
        }
        let mut included = vec![];
        self.with_text(root, path, |found, text| included = found.add(text));
        for one in included {
            self.add_included(root, &one, depth + 1);
        }
    }

    fn add_included(&mut self, root: &Root, included: &Included, depth: usize) {
        match included {
            Included::File(path) if path.starts_with('/') => self.add_file(root, path, depth),
            Included::Folder(path) if path.starts_with('/') => {
                // sudo skips names with a dot, and those that end in a tilde.
                let names = self.names_in(root, path).into_iter();
                names
                    .filter(|name| !name.contains('.') && !name.ends_with('~'))
                    .for_each(|name| self.add_file(root, &format!("{path}/{name}"), depth));
            }
            _ => self.everybody = true,
        }
    }

    /// If sudo's rules are also in a directory service (`sudoers: files sss`), only sudo knows the named accounts, so all
    /// count as named.
    fn add_name_service(&mut self, text: &str) {
        let lines = text.lines().filter_map(|line| line.split('#').next()?.trim().strip_prefix("sudoers:"));
        let mut sources = lines.flat_map(str::split_whitespace).filter(|word| !word.starts_with('['));
        self.everybody |= sources.any(|source| source != "files");
    }

    /// Adds the users of all rules of `doas` that permit something: `permit nopass keepenv :wheel as root`.
    fn add_doas(&mut self, text: &str) {
        for line in text.replace("\\\n", " ").lines() {
            let mut words = line.split_whitespace();
            if words.next() == Some("permit") {
                // Options and the words after the name are added too, but no account has such a name.
                let names = words.map(|word| word.trim_matches('"'));
                names.for_each(|name| {
                    self.add_name(&name.strip_prefix(':').map_or(name.to_owned(), |name| format!("%{name}")));
                });
            }
        }
    }

    /// Adds each quoted text that can be a name, as a user and as a group. Rules are programs, so this code does not evaluate
    /// their comparisons.
    fn add_polkit_rules(&mut self, text: &str) {
        let is_mark = |c: char| matches!(c, '"' | '\'' | '`');
        // Every quotation mark may open a text, so that an apostrophe in a comment does not swap the others.
        for quoted in text.split(is_mark).skip(1) {
            let name = quoted.strip_prefix("unix-user:").or_else(|| quoted.strip_prefix("unix-group:"));
            let name = name.unwrap_or(quoted);
            let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '@' | '$' | '\\' | ' ');
            if !name.trim().is_empty() && name.chars().all(is_name) {
                self.add_identity(name, true, true);
            }
        }
        self.everybody |= text.contains("unix-netgroup:");
    }

    /// Adds the accounts of a list: `Identity=unix-group:admin;unix-user:ann`.
    fn add_polkit_list(&mut self, text: &str) {
        for word in text.split(|c: char| c.is_whitespace() || matches!(c, ';' | ',' | '=')) {
            match word.split_once(':') {
                // All accounts have this right, so it gives no account more power.
                Some((_, "*")) => {}
                Some(("unix-user", name)) => self.add_identity(name, true, false),
                Some(("unix-group", name)) => self.add_identity(name, false, true),
                Some(("unix-netgroup", _)) => self.everybody = true,
                _ => {}
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

    /// Adds the users of all lines, and returns the includes of the text.
    ///
    /// A backslash at the end of a line joins it with the next one, but not at the end of a comment. What is a comment
    /// depends on the place: `#1000` may be a user. So lines with that character are read both ways, and the accounts of both
    /// count.
    fn add(&mut self, text: &str) -> Vec<Included> {
        let mut included = vec![];
        let ends_comment = |line: &str| line.contains('#') && line.ends_with("\\\n");
        let comments_end: String = text
            .split_inclusive('\n')
            .flat_map(|line| if ends_comment(line) { [line.trim_end_matches("\\\n"), "\n"] } else { [line, ""] })
            .collect();
        for joined in [text.replace("\\\n", " "), comments_end.replace("\\\n", " ")] {
            joined.lines().map(str::trim).for_each(|line| self.add_line(line, &mut included));
        }
        included
    }

    fn add_line(&mut self, line: &str, included: &mut Vec<Included>) {
        if let Some(found) = Included::parse(line) {
            match found {
                Ok(found) if included.contains(&found) => {}
                Ok(found) => included.push(found),
                Err(CannotFollow) => self.everybody = true,
            }
            return;
        }
        let first = line.split_whitespace().next().unwrap_or_default();
        // `#1000` is a user, `# 1000` and `#x` are comments.
        let is_comment = first.strip_prefix('#').is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_digit()));
        match first {
            "" | "Host_Alias" | "Runas_Alias" | "Cmnd_Alias" | "Cmd_Alias" => {}
            _ if is_comment || first.starts_with("Defaults") => {}
            "User_Alias" => self.add_alias(line.get(first.len()..).unwrap_or_default()),
            _ => self.add_rule(line),
        }
    }

    /// Adds the users of `OPS = ann, bob : WEB = carl`.
    fn add_alias(&mut self, text: &str) {
        let Some(tokens) = tokens(text, &[',', ':', '=']) else {
            self.everybody = true;
            return;
        };
        let mut in_list = false;
        for token in tokens {
            match token {
                Token::Sign('=') => in_list = true,
                Token::Sign(':') => in_list = false,
                Token::Word(word) if in_list => self.add_user(word),
                _ => {}
            }
        }
    }

    /// Adds the users at the beginning of a rule: a comma-separated list.
    fn add_rule(&mut self, line: &str) {
        let Some(tokens) = tokens(line, &[',', '=']) else {
            self.everybody = true;
            return;
        };
        let mut is_due = true;
        for token in tokens {
            match token {
                Token::Word(word) if is_due => {
                    is_due = false;
                    self.add_user(word);
                }
                Token::Sign(',') => is_due = true,
                _ => break,
            }
        }
    }

    fn add_user(&mut self, user: String) {
        match user.as_str() {
            "" => {}
            "ALL" => self.everybody = true,
            // Netgroups, groups of plugins and exceptions are not resolved. Their members are unknown, so all accounts count
            // as named.
            odd if odd.starts_with(['+', '!']) || odd.starts_with("%:") => self.everybody = true,
            name => self.add_name(name),
        }
    }
}

/// An include in a sudoers file.
#[derive(Debug, PartialEq, Eq)]
enum Included {
    File(String),
    Folder(String),
}

/// The error for an include that only sudo can resolve.
#[derive(Debug, PartialEq, Eq)]
struct CannotFollow;

impl Included {
    /// Parses an include line, or returns `None` for any other line.
    fn parse(line: &str) -> Option<Result<Self, CannotFollow>> {
        let is_folder = line.get(1..).is_some_and(|rest| rest.starts_with("includedir"));
        let word = if is_folder { "includedir" } else { "include" };
        let rest = line.strip_prefix(['@', '#'])?.strip_prefix(word)?;
        if !rest.is_empty() && !rest.starts_with(char::is_whitespace) {
            // `#included below` is a comment.
            return line.starts_with('@').then_some(Err(CannotFollow));
        }
        let words = tokens(rest, &[]).unwrap_or_default();
        let path = match words.as_slice() {
            [Token::Word(path)] => path,
            [Token::Word(path), Token::Word(comment), ..] if comment.starts_with('#') => path,
            _ => return Some(Err(CannotFollow)),
        };
        // `%h` means the host name as sudo sees it.
        if path.contains('%') {
            return Some(Err(CannotFollow));
        }
        Some(Ok(if is_folder { Self::Folder(path.clone()) } else { Self::File(path.clone()) }))
    }
}

/// A part of a line of sudoers.
#[derive(Debug, PartialEq, Eq)]
enum Token {
    /// A word without its quotation marks and backslashes.
    Word(String),
    /// A character that separates words.
    Sign(char),
}

/// Splits a line into tokens, or returns `None` if a quotation mark is not closed.
fn tokens(line: &str, signs: &[char]) -> Option<Vec<Token>> {
    let mut tokens = vec![];
    let mut word: Option<String> = None;
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        // `%:name` is one word.
        let is_plugin = character == ':' && word.as_deref() == Some("%");
        match character {
            '\\' => word.get_or_insert_default().push(escaped(&mut characters)),
            '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match characters.next()? {
                        '"' => break,
                        '\\' => word.push(escaped(&mut characters)),
                        other => word.push(other),
                    }
                }
            }
            _ if character.is_whitespace() => tokens.extend(word.take().map(Token::Word)),
            _ if signs.contains(&character) && !is_plugin => {
                tokens.extend(word.take().map(Token::Word));
                tokens.push(Token::Sign(character));
            }
            _ => word.get_or_insert_default().push(character),
        }
    }
    tokens.extend(word.map(Token::Word));
    Some(tokens)
}

/// Decodes the character after a backslash: itself, or `x` with two hexadecimal digits.
fn escaped(characters: &mut std::str::Chars<'_>) -> char {
    let rest = characters.as_str();
    let number = rest.strip_prefix('x').and_then(|rest| u8::from_str_radix(rest.get(..2)?, 16).ok());
    match number {
        Some(number) => {
            let _read = characters.nth(2);
            number.into()
        }
        None => characters.next().unwrap_or('\\'),
    }
}

fn is_absence(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, names: &[&str], everybody: bool) {
        let mut found = Administrators::default();
        let _ = found.add(text);
        let expect = names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
        assert_eq!((found.names, found.everybody), (expect, everybody), "{text}");
    }

    #[test]
    fn users_of_sudoers_are_those_before_the_hosts() {
        check("root ALL=(ALL:ALL) ALL\n%sudo\tALL=(ALL:ALL) ALL\n", &["root", "%sudo"], false);
        check("ann, bob ,carl ALL = NOPASSWD: /bin/x\n", &["ann", "bob", "carl"], false);
        check("# ann ALL=ALL\n#1000 ALL=ALL\n%#27 ALL=ALL\n#ann ALL=ALL\n", &["#1000", "%#27"], false);
        check("Defaults env_reset\nDefaults:ann !lecture\nHost_Alias X = a\n", &[], false);
        check("User_Alias OPS = ann, bob : WEB = carl\nOPS ALL=ALL\n", &["ann", "bob", "carl", "ops"], false);
        check("User_Alias OPS=ann,bob:WEB=\"c d\"\n", &["ann", "bob", "c d"], false);
        check("\"ann\" ALL=ALL\na\\ b ALL=ALL\n%\"x y\", \\x65ve ALL=ALL\n", &["ann", "a b", "%x y", "eve"], false);
        check("ann, \\\n  bob ALL=ALL\n", &["ann", "bob"], false);
        check("ALL ALL=(ALL) ALL\n", &[], true);
        check(
            "Ann ALL=ALL\n%SuDo ALL=ALL\n#01003 ALL=ALL\n%#02027 ALL=ALL\n",
            &["ann", "%sudo", "#1003", "%#2027"],
            false,
        );
        check("# note \\\nann ALL=ALL\n", &["ann"], false);
        check("bob ALL=/bin/true # why \\\nann ALL=ALL\n", &["ann", "bob"], false);
        check("#1000, \\\n ann ALL=ALL\n", &["#1000", "ann"], false);
        check("+netgroup ALL=ALL\n", &[], true);
        check("%:plugin ALL=ALL\n", &[], true);
        check("\"ann ALL=ALL\n", &[], true);
        let mut found = Administrators::default();
        found.add_doas("# permit x\npermit nopass ann as root\npermit :ops\ndeny bob\n");
        assert!(found.names_user("ann", None) && found.names_group("ops") && !found.names_user("bob", None));
    }

    #[test]
    fn what_sudoers_include_is_followed_or_everybody_is_named() {
        let file = |path: &str| Some(Ok(Included::File(path.into())));
        let folder = |path: &str| Some(Ok(Included::Folder(path.into())));
        for (line, expect) in [
            ("@includedir /etc/sudoers.d", folder("/etc/sudoers.d")),
            ("#includedir\t/etc/sudoers.d", folder("/etc/sudoers.d")),
            ("#include /etc/more", file("/etc/more")),
            ("@include /etc/more # why", file("/etc/more")),
            ("@include /etc/two\\ words", file("/etc/two words")),
            ("@include \"/etc/two words\"", file("/etc/two words")),
            ("@include /etc/two words", Some(Err(CannotFollow))),
            ("@include \"/etc/two words", Some(Err(CannotFollow))),
            ("@include /etc/sudoers.%h", Some(Err(CannotFollow))),
            ("@include", Some(Err(CannotFollow))),
            ("@includes /etc/more", Some(Err(CannotFollow))),
            ("#included below", None),
            ("# include /etc/more", None),
            ("ann ALL=ALL", None),
        ] {
            assert_eq!(Included::parse(line), expect, "{line}");
        }
        check("@include /etc/two words\n", &[], true);
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

    #[test]
    fn polkit_names_users_and_groups() {
        let mut found = Administrators::default();
        found.add_polkit_rules(
            "// don't\npolkit.addAdminRule(function(a, s) { return [\"unix-group:sudo\", 'unix-user:0']; });\n\
             polkit.addRule(function(a, s) { if (s.isInGroup(\"netops\")) return polkit.Result.YES; });\n",
        );
        assert!(found.names_group("sudo") && found.names_group("netops") && found.names_user("x", Some(0)));
        assert!(!found.names_group("polkit") && !found.everybody);
        let mut found = Administrators::default();
        found.add_polkit_list("[x]\nIdentity=unix-group:ops;unix-user:ann;unix-user:*\nAction=org.x\n");
        assert!(found.names_group("ops") && found.names_user("ann", None) && !found.names_user("ops", None));
        assert!(!found.everybody);
    }
}
