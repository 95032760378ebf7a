//! The files of sudo: rules (sudoers), the settings that name further rules, and the name service.

use super::{Administrators, MAX_INCLUDES};
use machine::root::Root;

/// The files of rules: its own, a distribution's default file, those of sudo-rs, and those of a sudo that was built by hand.
pub(super) const SUDOERS: [&str; 4] = ["/etc/sudoers", "/usr/etc/sudoers", "/etc/sudoers-rs", "/usr/local/etc/sudoers"];

/// The files of settings, which name plugins and the files of their rules.
const SETTINGS: [&str; 3] = ["/etc/sudo.conf", "/usr/etc/sudo.conf", "/usr/local/etc/sudo.conf"];

/// The plugin that reads sudoers. Another plugin has rules of its own.
const SUDOERS_PLUGIN: &str = "sudoers.so";

/// A plugin that only writes a log.
const LOG_PLUGIN: &str = "audit_json.so";

/// The file that says whether sudo also reads rules from a directory service.
const NAME_SERVICE: &str = "/etc/nsswitch.conf";

impl Administrators {
    /// Adds the accounts of all files of sudo.
    pub(super) fn read_sudo(&mut self, root: &Root) {
        for file in SUDOERS {
            self.add_file(root, file, 0);
        }
        let mut named = vec![];
        for file in SETTINGS {
            self.with_text(root, file, |found, text| named.extend(found.add_settings(text)));
        }
        for file in named {
            self.add_named_file(root, &file, 0);
        }
        self.with_text(root, NAME_SERVICE, Self::add_name_service);
    }

    /// Returns the files of rules that the settings name: `Plugin sudoers_policy sudoers.so sudoers_file=/etc/rules`. If the
    /// settings name a plugin that has other rules, all accounts count as named.
    fn add_settings(&mut self, text: &str) -> Vec<String> {
        let mut files = vec![];
        for line in text.replace("\\\n", " ").lines() {
            let line = line.split('#').next().unwrap_or_default();
            let mut words = line.split_whitespace();
            if !words.next().is_some_and(|word| word.eq_ignore_ascii_case("Plugin")) {
                continue;
            }
            let plugin = words.nth(1).unwrap_or_default();
            if plugin.starts_with('/') {
                self.places.insert(plugin.to_owned());
            }
            match plugin.rsplit('/').next().unwrap_or_default() {
                SUDOERS_PLUGIN => {
                    let options = words.filter_map(|word| word.split_once('='));
                    files.extend(options.filter(|(name, _)| *name == "sudoers_file").map(|(_, path)| path.to_owned()));
                }
                LOG_PLUGIN => {}
                _ => self.everybody = true,
            }
        }
        files
    }

    /// Adds the users of a file that another file names. Its place decides about accounts, too.
    fn add_named_file(&mut self, root: &Root, path: &str, depth: usize) {
        if !path.starts_with('/') {
            self.everybody = true;
            return;
        }
        self.places.insert(path.to_owned());
        self.add_file(root, path, depth);
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
            Included::File(path) => self.add_named_file(root, path, depth),
            Included::Folder(path) if path.starts_with('/') => {
                self.places.insert(path.clone());
                // sudo skips names with a dot, and those that end in a tilde.
                let names = self.names_in(root, path).into_iter();
                names
                    .filter(|name| !name.contains('.') && !name.ends_with('~'))
                    .for_each(|name| self.add_file(root, &format!("{path}/{name}"), depth));
            }
            Included::Folder(_) => self.everybody = true,
        }
    }

    /// If sudo's rules are also in a directory service (`sudoers: files sss`), only sudo knows the named accounts, so all
    /// count as named.
    pub(super) fn add_name_service(&mut self, text: &str) {
        let lines = text.lines().filter_map(|line| line.split('#').next()?.trim().strip_prefix("sudoers:"));
        let mut sources = lines.flat_map(str::split_whitespace).filter(|word| !word.starts_with('['));
        self.everybody |= sources.any(|source| source != "files");
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
        if !is_comment && !first.starts_with("Defaults") {
            self.commands.extend(text::absolute_paths(line).map(str::to_owned));
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

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
    fn attack_settings_of_sudo_name_further_rules() {
        let settings = |text: &str| {
            let mut found = Administrators::default();
            let files = found.add_settings(text);
            (files.join(" "), found.everybody)
        };
        let plain =
            "# Plugin other other.so\nPlugin sudoers_policy sudoers.so\nPlugin sudoers_io sudoers.so\nSet x y\n";
        assert_eq!(settings(plain), (String::new(), false));
        let named =
            "plugin sudoers_policy /usr/libexec/sudo/sudoers.so sudoers_mode=0400 \\\n sudoers_file=/srv/rules\n";
        assert_eq!(settings(named), ("/srv/rules".into(), false));
        assert!(settings("Plugin python_policy python_plugin.so ModulePath=/srv/policy.py\n").1);
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in [
            ("etc/sudo.conf", "Plugin sudoers_policy sudoers.so sudoers_file=/srv/rules\n"),
            ("srv/rules", "ann ALL=ALL\n@include /srv/more\n"),
            ("srv/more", "%ops ALL=ALL\n"),
        ] {
            let place = folder.path().join(path);
            std::fs::create_dir_all(place.parent().unwrap()).unwrap();
            std::fs::write(place, text).unwrap();
        }
        let root = Root::open(folder.path(), &contract::Account::unmetered("test")).unwrap();
        let found = Administrators::read(&root);
        assert!(found.names_user("ann", None) && found.names_group("ops") && !found.everybody);
        assert_eq!(Vec::from_iter(&found.places), ["/srv/more", "/srv/rules"]);
    }
}
