//! What a policy must be granted for a checkout.
//!
//! - The folder with all that is in it, and the server of the repository, or its path on the node.
//! - The user as whom git runs, if one is named: git reads that user's keys.
//! - The command `git` itself, as that user and with these variables, for whatever can make git run something else:
//!   variables, `ssh_wrapper`, submodules (whose addresses nobody has granted), and a checkout with a configuration that
//!   is more than what git itself writes. Without that grant, git is restrained: see [`super::call`].

use super::call::Caller;
use crate::plan::{View, denied};
use crate::root::absent;
use converge::{CommandLine, CommandTest, Raised};
use grants::{GrantedCommand, GrantedRepository, GrantedTree, ReadablePath};

/// The proofs.
#[derive(Debug, Clone)]
pub(super) struct Rights {
    _folder: GrantedTree,
    _server: Option<GrantedRepository>,
    _path: Option<ReadablePath>,
    _command: Option<GrantedCommand>,
}

impl Rights {
    /// Asks for all of it.
    ///
    /// # Errors
    /// Something is not granted.
    pub(super) fn of(
        destination: &str,
        repository: &str,
        caller: &mut Caller,
        submodules: bool,
        view: &mut View<'_>,
    ) -> Result<Self, Raised> {
        let real = view.root.prospect(destination)?.real();
        let folder = view.grants.manage_tree(&real).map_err(denied)?;
        let (server, path) = match path_of(repository) {
            Some(path) => (None, Some(readable(path, view)?)),
            None => (Some(view.grants.repository(repository).map_err(denied)?), None),
        };
        if let Some(user) = &caller.user {
            let _user = view.grants.user(user).map_err(denied)?;
        }
        if let Some(group) = &caller.group {
            let _group = view.grants.group(group).map_err(denied)?;
        }
        let runs_more = submodules || !caller.environment.is_empty() || !is_plain_clone(&real, view)?;
        let command = if runs_more || view.grants.allows_everything() {
            caller.restrained = false;
            Some(view.command(&command(caller))?)
        } else {
            None
        };
        Ok(Self { _folder: folder, _server: server, _path: path, _command: command })
    }
}

fn command(caller: &Caller) -> CommandTest {
    CommandTest {
        line: CommandLine::Arguments(vec!["git".into()]),
        user: caller.user.clone(),
        group: caller.group.clone(),
        environment: caller.environment.clone(),
        ..CommandTest::text("")
    }
}

/// A repository on the node itself.
fn path_of(repository: &str) -> Option<&str> {
    Some(repository.strip_prefix("file://").unwrap_or(repository)).filter(|path| path.starts_with('/'))
}

fn readable(path: &str, view: &View<'_>) -> Result<ReadablePath, Raised> {
    let real = absent(view.root.locate_target(path))?.map_or_else(|| path.to_owned(), |place| place.real().to_owned());
    view.grants.read_path(&real).map_err(denied)
}

/// Whether what is at the destination makes git run nothing but git: there is no checkout, or one as git makes it.
fn is_plain_clone(destination: &str, view: &View<'_>) -> Result<bool, Raised> {
    let git = format!("{}/.git", destination.trim_end_matches('/'));
    if view.root.target_entry(&git)?.is_none() {
        return Ok(true);
    }
    let text = view.root.read(&format!("{git}/config")).unwrap_or_default();
    let attributes = view.root.target_entry(&format!("{git}/info/attributes"))?;
    Ok(attributes.is_none() && is_plain_configuration(&String::from_utf8_lossy(&text)))
}

/// Keys that git writes by itself and that name no program, per section.
const PLAIN_KEYS: [(&str, &[&str]); 5] = [
    ("core", &["repositoryformatversion", "filemode", "bare", "logallrefupdates", "ignorecase", "symlinks"]),
    ("remote", &["url", "fetch", "tagopt"]),
    ("branch", &["remote", "merge", "rebase"]),
    ("submodule", &["url", "active"]),
    ("user", &["name", "email"]),
];

fn is_plain_configuration(text: &str) -> bool {
    let mut keys: Option<&[&str]> = None;
    !text.is_empty()
        && text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with(['#', ';'])).all(|line| {
            if let Some(header) = line.strip_prefix('[') {
                // A key after the bracket would belong to the section: git never writes it so.
                let Some(header) = header.strip_suffix(']') else { return false };
                let name = header.split([' ', '"', '.']).next().unwrap_or_default().to_ascii_lowercase();
                keys = PLAIN_KEYS.iter().find(|(section, _)| *section == name).map(|(_, keys)| *keys);
                return keys.is_some() && !header.contains(']');
            }
            let key = line.split('=').next().unwrap_or_default().trim().to_ascii_lowercase();
            !line.ends_with('\\') && keys.is_some_and(|keys| keys.contains(&key.as_str()))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: &str = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n\
                         [remote \"origin\"]\n\turl = https://example.org/a\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n\
                         [branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n";

    #[test]
    fn what_git_writes_is_plain() {
        assert!(is_plain_configuration(PLAIN));
        for more in [
            "[core]\n\tsshCommand = evil\n",
            "[core] fsmonitor = evil\n",
            "[include]\n\tpath = /tmp/x\n",
            "[filter \"x\"]\n\tsmudge = evil\n",
            "[CORE]\n\tSSHCOMMAND = evil\n",
            "[core.x]\n\tpager = evil\n",
            "[remote \"origin\"]\n\tuploadpack = evil\n",
            "[submodule \"a\"]\n\tupdate = !evil\n",
            "\turl = a\\\n",
            "[core] ]\n",
        ] {
            assert!(!is_plain_configuration(&format!("{PLAIN}{more}")), "{more}");
        }
        assert!(!is_plain_configuration(""), "a repository whose configuration cannot be read is none to trust");
    }
}
