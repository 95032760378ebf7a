//! Finds the commit of a folder on the author's machine, and reads a file as it was in a commit. The folder may be untrusted.
//!
//! Git reads the configuration of the repository that it finds, and a configuration can name programs. So git is run twice in
//! the same folder, the one with `.git`: first to list the settings ([`git_settings`]), then for the actual question. In a
//! folder below it, git might find another repository, because it accepts every folder with `HEAD`, `objects` and `refs` as a
//! bare one.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::git::{GitError, check};
use super::git_places::check_working_tree;
use super::git_process::ask;
use super::git_settings;
use serde_json::{Value, json};

/// The most characters of a setting's name that are shown.
const MAX_KEY: usize = 100;

/// Finds the commits of cookbooks in working trees.
#[derive(Debug, Default)]
pub(super) struct WorkingTrees {
    known: BTreeMap<PathBuf, Value>,
}

impl WorkingTrees {
    /// Returns the `scm_info` of a folder. It is null if the folder is not in a repository, or if the repository's own
    /// settings may start programs.
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
    // The Policyfile may be in another folder than the working directory.
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
    // `git cat-file` gives the committed bytes. `git show` would filter them through programs that attributes name, and
    // follow submodules.
    ask(top, &["cat-file", "blob", &format!("{revision}:{below}")]).map_err(|error| match error {
        GitError::Failed { message, .. } => failed(message),
        error => error,
    })
}

/// Removes secrets from the address of a remote, because everybody who reads the lock can see it. In
/// `https://USER:TOKEN@HOST/` user and token are removed, because either can be secret. In `ssh://USER@HOST/` the user stays,
/// because the address needs it.
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
        // The repository may not have commits yet. If it does not have a branch either, the error is a real one.
        Err(error) => line(&["symbolic-ref", "-q", "HEAD"]).map(|_| None).map_err(|_| error)?,
    };
    let branch = line(&["rev-parse", "--abbrev-ref", "HEAD"]).unwrap_or_default();
    let remote = line(&["config", "--get", &format!("branch.{branch}.remote")]).unwrap_or_default();
    let remote = match remote.as_str() {
        "" | "." => None,
        remote => Some(without_secrets(&line(&["config", "--get", &format!("remote.{remote}.url")])?)),
    };
    // Submodules are ignored, because they have settings of their own that were not checked.
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
