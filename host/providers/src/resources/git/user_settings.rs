//! The settings of users and of the machine that git and ssh read, and that name programs: helpers, proxies, other programs for
//! transport.
//!
//! Root's own settings and the machine's are the operator's, and count. Those of another user do not, since a policy that may
//! write files and name the user would start programs as that user. Where a policy may write one that counts, git needs the
//! command `git`.

use crate::plan::View;
use contract::Raised;
use machine::root::{Kind, Root, absent};

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

/// Whether settings of ssh include a file by a path that is not absolute.
fn includes_relative(text: &str) -> bool {
    let words = |line: &str| {
        let line = line.replace(['=', '"', '\''], " ");
        line.split_ascii_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    text.lines().map(words).any(|words| match words.split_first() {
        Some((first, rest)) if first.eq_ignore_ascii_case("include") => {
            rest.iter().take_while(|word| !word.starts_with('#')).any(|word| !word.starts_with('/'))
        }
        _ => false,
    })
}

/// The names in a folder. Empty: the folder does not exist.
fn names_in(folder: &str, root: &Root) -> Result<Vec<String>, Raised> {
    let Some(place) = absent(root.locate_target(folder))? else { return Ok(vec![]) };
    let is_folder = absent(place.entry())?.is_some_and(|entry| entry.kind == Kind::Directory);
    if is_folder { Ok(place.names()?) } else { Ok(vec![]) }
}

/// Why git may start more than itself: the policy may change a file of settings that counts. `None`: it may change none.
///
/// # Errors
/// The folder of ssh's settings cannot be seen.
pub(super) fn changeable(is_own: bool, view: &mut View<'_>) -> Result<Option<String>, Raised> {
    if view.grants.allows_everything() {
        return Ok(None);
    }
    let mut paths: Vec<String> = OF_MACHINE.map(str::to_owned).to_vec();
    paths.extend(names_in(MORE_OF_SSH, view.root)?.into_iter().map(|name| format!("{MORE_OF_SSH}/{name}")));
    if is_own {
        let home = machine::command::home(None, view.users()).unwrap_or_default();
        paths.extend(IN_HOME.map(|name| format!("{}/{name}", home.trim_end_matches('/'))));
    }
    let silent = view.grants.silent();
    let may = |path: &str| {
        // A link is the policy's to exchange, or what is behind it is.
        let real = view.root.locate(path).map_or_else(|_| path.to_owned(), |place| place.real().to_owned());
        silent.manage_path(&real).is_ok() || silent.manage_path(&view.root.asked_about(path)).is_ok()
    };
    let found = paths.iter().find(|path| may(path));
    Ok(found.map(|path| format!("the policy may change {path}, which can name programs for git to run")))
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
}
