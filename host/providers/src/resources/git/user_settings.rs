//! The settings of users and of the machine that git and ssh read, and that name programs: helpers, proxies, other programs for
//! transport.
//!
//! Root's own settings and the machine's are the operator's, and count. Those of another user do not, since a policy that may
//! write files and name the user would start programs as that user. Where a policy may write one that counts, or one that it
//! includes, or a program that it names, git needs the command `git`.

use super::settings_text::{self, Named};
use crate::plan::View;
use contract::Raised;
use machine::root::{Kind, Root, absent};
use machine::users::Users;
use std::collections::HashSet;
use std::io::ErrorKind;

/// How many files may include each other in turn: ssh's own limit. That of git is 10.
const MAX_DEPTH: usize = 16;

/// Maximum number of files of settings that are looked at.
const MAX_FILES: usize = 1_000;

/// The machine's settings of ssh, which it reads in place of the user's own.
const SSH: &str = "/etc/ssh/ssh_config";

/// The folder of more of them.
const MORE_OF_SSH: &str = "/etc/ssh/ssh_config.d";

/// The machine's settings of git, by where git was installed.
const OF_MACHINE: [&str; 3] = ["/etc/gitconfig", "/usr/local/etc/gitconfig", SSH];

/// Settings in the home of the user as whom wrun runs.
const IN_HOME: [&str; 3] = [".gitconfig", ".config/git/config", ".ssh/config"];

/// How ssh is started for another user: with the machine's settings, and with the keys that have the usual names.
///
/// What it is told to read in place of the user's settings counts as such: it would look for files that this includes by
/// relative paths in the user's `.ssh`. Then it reads no settings at all.
pub(super) fn ssh_of_another(root: &Root) -> String {
    let text = |path: &str| root.read(path).map(|text| String::from_utf8_lossy(&text).into_owned());
    let more = || names_in(MORE_OF_SSH, root).unwrap_or_default().into_iter();
    let leads_away = |path: &str| text(path).is_ok_and(|text| includes_relative(&text));
    let is_usable = text(SSH).is_ok_and(|text| !includes_relative(&text))
        && !more().any(|name| leads_away(&format!("{MORE_OF_SSH}/{name}")));
    format!("ssh -F {}", if is_usable { SSH } else { "none" })
}

/// Whether settings of ssh include a file by a path that is not absolute, or may do so.
fn includes_relative(text: &str) -> bool {
    settings_text::of_ssh(text).iter().any(|named| match named {
        Named::Settings(path) => !path.starts_with('/'),
        Named::Unknown(_) => true,
        _ => false,
    })
}

/// The names in a folder. Empty: the folder does not exist.
fn names_in(folder: &str, root: &Root) -> Result<Vec<String>, Raised> {
    let Some(place) = absent(root.locate_target(folder))? else { return Ok(vec![]) };
    let is_folder = absent(place.entry())?.is_some_and(|entry| entry.kind == Kind::Directory);
    if is_folder { Ok(place.names()?) } else { Ok(vec![]) }
}

/// Why git may start more than itself: the policy may change a file of settings that counts, or what such a file includes or
/// names as a program. `None`: it may change none of them.
///
/// # Errors
/// The folder of ssh's settings cannot be seen.
pub(super) fn changeable(is_own: bool, user: Option<&str>, view: &mut View<'_>) -> Result<Option<String>, Raised> {
    if view.grants.allows_everything() {
        return Ok(None);
    }
    let home = machine::command::home(user, view.users()).unwrap_or_default();
    let home = home.trim_end_matches('/');
    let mut files: Vec<File> = OF_MACHINE.map(|path| File::first(path, "/etc/ssh")).to_vec();
    files.extend(
        names_in(MORE_OF_SSH, view.root)?
            .iter()
            .map(|name| File { syntax: Syntax::Ssh, ..File::first(&format!("{MORE_OF_SSH}/{name}"), "/etc/ssh") }),
    );
    if is_own {
        let folder = format!("{home}/.ssh");
        files.extend(IN_HOME.map(|name| File::first(&format!("{home}/{name}"), &folder)));
    }
    let mut seen: HashSet<String> = files.iter().map(|file| file.path.clone()).collect();
    while let Some(file) = files.pop() {
        if may_change(&file.path, view) {
            return Ok(Some(file.reason()));
        }
        let text = match view.root.read(&file.path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::FileTooLarge => return Ok(Some(unknown(&file.path))),
            // git and ssh cannot read it either.
            Err(_) => continue,
        };
        for named in file.named(&String::from_utf8_lossy(&text)) {
            let is_of_ssh = matches!(named, Named::SettingsOfSsh(_));
            match named {
                Named::Unknown(setting) => return Ok(Some(unknown_program(&setting, &file.path))),
                Named::Settings(path) | Named::SettingsOfSsh(path) => {
                    let file = if is_of_ssh { file.naming_ssh(home) } else { file.clone() };
                    let path = in_home(&path, home, view.users());
                    let included = path.and_then(|path| file.included(path, view.root));
                    let Some(included) = included.filter(|included| seen.len() + included.len() <= MAX_FILES) else {
                        return Ok(Some(unknown(&file.path)));
                    };
                    for path in included {
                        if file.depth < MAX_DEPTH && seen.insert(path.clone()) {
                            files.push(file.including(path));
                        }
                    }
                }
                Named::Program(path) => {
                    let Some(path) = in_home(&path, home, view.users()) else {
                        return Ok(Some(format!(
                            "wrun cannot tell which program {path} is, which {} names",
                            file.path
                        )));
                    };
                    if may_change(&path, view) {
                        let by = &file.path;
                        return Ok(Some(format!("the policy may change {path}, which {by} names as a program")));
                    }
                }
            }
        }
    }
    Ok(None)
}

/// The reason for a file whose lines wrun cannot follow.
fn unknown(path: &str) -> String {
    format!("wrun cannot tell which files {path} includes, which can name programs for git to run")
}

/// The reason for a setting that wrun does not understand.
fn unknown_program(setting: &str, path: &str) -> String {
    format!("wrun cannot tell which program `{setting}` names in {path}")
}

/// Whether the policy may change a file, or a link or directory on the way to it. A way that is too long counts as changeable.
fn may_change(path: &str, view: &View<'_>) -> bool {
    let silent = view.grants.silent();
    let is_granted = |place: &str| silent.manage_path(place).is_ok();
    grants::places(path, |path| view.root.first_link(path))
        .is_none_or(|places| places.iter().any(|place| is_granted(place)))
        || is_granted(&view.root.asked_about(path))
}

/// Whose settings a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Syntax {
    Git,
    Ssh,
}

/// A file of settings.
#[derive(Debug, Clone)]
struct File {
    path: String,
    syntax: Syntax,
    /// Where ssh looks for files that it includes by relative paths.
    folder: String,
    /// How many files lead to it.
    depth: usize,
    /// The file that includes it.
    by: Option<String>,
}

impl File {
    /// A file that git or ssh reads without being told.
    fn first(path: &str, folder: &str) -> Self {
        let is_ssh = path == SSH || path.ends_with("/.ssh/config");
        let syntax = if is_ssh { Syntax::Ssh } else { Syntax::Git };
        Self { path: path.to_owned(), syntax, folder: folder.to_owned(), depth: 0, by: None }
    }

    /// A file that this one includes.
    fn including(&self, path: String) -> Self {
        Self { path, depth: self.depth + 1, by: Some(self.path.clone()), ..self.clone() }
    }

    /// The same file as ssh sees it: it takes a file that git names for a user's own settings.
    fn naming_ssh(&self, home: &str) -> Self {
        Self { syntax: Syntax::Ssh, folder: format!("{home}/.ssh"), ..self.clone() }
    }

    fn named(&self, text: &str) -> Vec<Named> {
        match self.syntax {
            Syntax::Git => settings_text::of_git(text),
            Syntax::Ssh => settings_text::of_ssh(text),
        }
    }

    /// The files that are meant where this one includes a path. `None`: they are too many, or only ssh itself knows them.
    fn included(&self, path: String, root: &Root) -> Option<Vec<String>> {
        let folder = match self.syntax {
            Syntax::Git => self.path.rsplit_once('/').map_or("", |(folder, _)| folder),
            Syntax::Ssh => &self.folder,
        };
        let path = match path.as_str() {
            "" => return Some(vec![]),
            absolute if absolute.starts_with('/') => path,
            relative => format!("{folder}/{relative}"),
        };
        match self.syntax {
            Syntax::Git => Some(vec![path]),
            // Newer ones replace variables and `%h`.
            Syntax::Ssh if path.contains(['%', '$']) => None,
            Syntax::Ssh => matching(&path, root),
        }
    }

    fn reason(&self) -> String {
        let path = &self.path;
        match &self.by {
            None => format!("the policy may change {path}, which can name programs for git to run"),
            Some(by) => {
                format!("the policy may change {path}, which {by} includes and which can name programs for git to run")
            }
        }
    }
}

/// Returns a path with a home in place of `~` or `~NAME`. `None`: nobody knows a user with this name, so that it may become
/// anything.
fn in_home(path: &str, home: &str, users: &mut Users) -> Option<String> {
    let Some(rest) = path.strip_prefix('~') else { return Some(path.to_owned()) };
    let (name, below) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    match name {
        "" => Some(format!("{home}{below}")),
        name => users.user(name).map(|user| format!("{}{below}", user.home.trim_end_matches('/'))),
    }
}

/// Returns the paths that a pattern of ssh's matches. A text without signs of a pattern is returned as it is. Returns `None` if
/// too many paths match.
fn matching(pattern: &str, root: &Root) -> Option<Vec<String>> {
    let mut found = vec![String::new()];
    for part in pattern.split('/').filter(|part| !part.is_empty()) {
        let is_pattern = part.contains(['*', '?', '[']);
        let mut longer = vec![];
        for folder in found {
            if !is_pattern {
                longer.push(format!("{folder}/{part}"));
                continue;
            }
            let names = names_in(&folder, root).unwrap_or_default();
            longer.extend(names.iter().filter(|name| is_match(part, name)).map(|name| format!("{folder}/{name}")));
        }
        if longer.len() > MAX_FILES {
            return None;
        }
        found = longer;
    }
    Some(found)
}

/// A part of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// Any number of signs.
    Star,
    /// One sign. `None`: any.
    One(Option<char>),
}

/// Whether a name matches a pattern. What stands in brackets counts as any sign.
fn is_match(pattern: &str, name: &str) -> bool {
    let (mut parts, mut signs) = (vec![], pattern.chars());
    while let Some(sign) = signs.next() {
        parts.push(match sign {
            '*' => Part::Star,
            '?' => Part::One(None),
            '[' => {
                signs.by_ref().take_while(|sign| *sign != ']').for_each(drop);
                Part::One(None)
            }
            sign => Part::One(Some(sign)),
        });
    }
    let name: Vec<char> = name.chars().collect();
    let (mut parts, mut name, mut retry) = (parts.as_slice(), name.as_slice(), None);
    loop {
        match (parts.split_first(), name.split_first()) {
            (None, None) => return true,
            (Some((Part::Star, rest)), _) => (parts, retry) = (rest, Some((rest, name))),
            (Some((Part::One(wanted), rest)), Some((sign, after))) if wanted.is_none_or(|wanted| wanted == *sign) => {
                (parts, name) = (rest, after);
            }
            // The last star takes one sign more.
            _ => match retry {
                Some((rest, [_, after @ ..])) => (parts, name, retry) = (rest, after, Some((rest, after))),
                _ => return false,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attack_settings_of_the_machine_include_nothing_of_a_users() {
        let check = |text: &str, expect: bool| assert_eq!(includes_relative(text), expect, "{text}");
        check("Include /etc/ssh/ssh_config.d/*.conf\nHost *\n    SendEnv LANG\n", false);
        check("# Include x\n", false);
        check("Include /etc/a.conf # all of them\n", false);
        check("include a.conf\n", true);
        check("Include /etc/a.conf ~/.ssh/more\n", true);
        check("  INCLUDE=\"a.conf\"\n", true);
    }

    #[test]
    fn patterns_of_ssh_match_names() {
        for (pattern, name, expect) in [
            ("*.conf", "a.conf", true),
            ("*.conf", ".conf", true),
            ("*.conf", "a.config", false),
            ("?[a-c]*", "xbyz", true),
            ("?[a-c]*", "x", false),
            ("a", "a", true),
            ("a", "ab", false),
            ("**b", "äb", true),
            ("", "", true),
        ] {
            assert_eq!(is_match(pattern, name), expect, "{pattern} {name}");
        }
    }
}
