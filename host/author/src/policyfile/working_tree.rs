//! Which commit a folder of the author's own machine is at, and what a file was in a commit. The folder may be a stranger's.
//!
//! Git reads the configuration of the repository that it finds, and configurations name programs. So git is asked twice in the same
//! folder, the one that has `.git`: first which settings there are ([`git_settings`]), then what is wanted. In a folder below it, git
//! might find another repository: every folder with `HEAD`, `objects` and `refs` passes for a bare one.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::git::{GitError, check};
use super::git_places::check_working_tree;
use super::git_process::ask;
use super::git_settings;
use serde_json::{Value, json};

/// The most characters of a setting's name that are shown.
const MAX_KEY: usize = 100;

/// Which commit the cookbooks in working trees are.
#[derive(Debug, Default)]
pub(super) struct WorkingTrees {
    known: BTreeMap<PathBuf, Value>,
}

impl WorkingTrees {
    /// The `scm_info` of a folder: null where it is in no repository, or in one whose own settings may start programs.
    pub(super) fn info(&mut self, folder: &Path, say: &dyn Fn(&str)) -> Result<Value, GitError> {
        let Some(top) = folder.ancestors().find(|above| above.join(".git").exists()) else { return Ok(Value::Null) };
        if let Some(known) = self.known.get(top) {
            return Ok(known.clone());
        }
        let info = match strange_setting(top)? {
            None => working_tree(top)?,
            Some(key) => {
                let place = top.display();
                say(&format!(
                    "note: the lock has no scm_info for cookbooks in {place}: its git configuration sets {key}, which may \
                     start a program or lead elsewhere; git is not asked there"
                ));
                Value::Null
            }
        };
        self.known.insert(top.to_owned(), info.clone());
        Ok(info)
    }
}

/// A setting of a working tree's own that may start a program.
fn strange_setting(top: &Path) -> Result<Option<String>, GitError> {
    check_working_tree(top)?;
    let listed = ask(top, &git_settings::LIST)?;
    Ok(git_settings::first_not_plain(&listed).map(|key| key.chars().take(MAX_KEY).collect()))
}

/// The content of a file in a revision of the repository that it lies in.
pub(super) fn file_of_revision(folder: &Path, revision: &str, file: &str) -> Result<String, GitError> {
    check(revision)?;
    // The Policyfile may lie in another folder than the one where the command was typed.
    let path = folder.join(file);
    let (Some(folder), Some(name)) = (path.parent(), path.file_name().and_then(|name| name.to_str())) else {
        return Err(GitError::Option { text: file.to_owned() });
    };
    let failed = |message: String| GitError::Failed { command: format!("show {revision}:./{name}"), message };
    // As git itself, which asks the system where it is.
    let folder = folder.canonicalize().map_err(|error| failed(error.to_string()))?;
    let top = folder.ancestors().find(|above| above.join(".git").exists());
    let top =
        top.ok_or_else(|| failed("fatal: not a git repository (or any of the parent directories): .git".into()))?;
    if let Some(key) = strange_setting(top)? {
        return Err(GitError::Strange { place: top.to_owned(), key });
    }
    let below = folder.strip_prefix(top).unwrap_or(Path::new("")).join(name);
    let below = below.to_str().ok_or_else(|| GitError::Option { text: file.to_owned() })?;
    // The bytes as they were committed: `git show` runs them through programs that attributes name, and follows submodules.
    ask(top, &["cat-file", "blob", &format!("{revision}:{below}")]).map_err(|error| match error {
        GitError::Failed { message, .. } => failed(message),
        error => error,
    })
}

/// The address of a remote as everybody may read it, who reads the lock. Of `https://USER:TOKEN@HOST/` both are left out: a token may
/// stand for either. Of `ssh://USER@HOST/` the user stays, who is a part of the address.
fn without_secrets(remote: &str) -> String {
    let Some((scheme, rest)) = remote.split_once("://") else { return remote.to_owned() };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (place, path) = rest.split_at_checked(end).unwrap_or((rest, ""));
    let Some((who, host)) = place.rsplit_once('@') else { return remote.to_owned() };
    let user = who.split(':').next().filter(|user| !user.is_empty() && scheme.eq_ignore_ascii_case("ssh"));
    match user {
        Some(user) => format!("{scheme}://{user}@{host}{path}"),
        None => format!("{scheme}://{host}{path}"),
    }
}

fn working_tree(top: &Path) -> Result<Value, GitError> {
    let line = |arguments: &[&str]| ask(top, arguments).map(|text| text.trim().to_owned());
    let revision = match line(&["rev-parse", "--verify", "HEAD"]) {
        Ok(revision) => Some(revision),
        // Nothing was committed yet. Where there is no branch either, something else is wrong.
        Err(error) => line(&["symbolic-ref", "-q", "HEAD"]).map(|_| None).map_err(|_| error)?,
    };
    let branch = line(&["rev-parse", "--abbrev-ref", "HEAD"]).unwrap_or_default();
    let remote = line(&["config", "--get", &format!("branch.{branch}.remote")]).unwrap_or_default();
    let remote = match remote.as_str() {
        "" | "." => None,
        remote => Some(without_secrets(&line(&["config", "--get", &format!("remote.{remote}.url")])?)),
    };
    // Submodules have settings of their own, which nobody has looked at.
    let is_clean = match ask(top, &["diff-files", "--quiet", "--ignore-submodules=all"]) {
        Ok(_) => true,
        Err(GitError::Failed { message, .. }) if message.is_empty() => false,
        Err(error) => return Err(error),
    };
    let branches: Vec<String> = match &revision {
        Some(revision) => {
            line(&["branch", "-r", "--contains", revision])?.lines().map(|line| line.trim().to_owned()).collect()
        }
        None => vec![],
    };
    Ok(json!({
        "scm": "git",
        "remote": remote,
        "revision": revision,
        "working_tree_clean": is_clean,
        "published": !branches.is_empty(),
        "synchronized_remote_branches": branches,
    }))
}

#[cfg(test)]
mod tests {
    use super::without_secrets;

    #[test]
    fn the_lock_does_not_tell_the_token_of_a_remote() {
        for (remote, shown) in [
            ("https://user:token@example.org/a.git", "https://example.org/a.git"),
            ("https://token@example.org:8443", "https://example.org:8443"),
            ("https://a@b:c@example.org/x@y", "https://example.org/x@y"),
            ("ssh://git:password@example.org/a", "ssh://git@example.org/a"),
            ("ssh://:password@example.org/a", "ssh://example.org/a"),
            ("ssh://git@example.org/a", "ssh://git@example.org/a"),
            ("git@example.org:a/b.git", "git@example.org:a/b.git"),
            ("https://example.org/x@y", "https://example.org/x@y"),
            ("/srv/a@b", "/srv/a@b"),
        ] {
            assert_eq!(without_secrets(remote), shown);
        }
    }
}
