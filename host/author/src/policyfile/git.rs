//! Git, by its own program: repositories are fetched into a cache, commits are taken out of it.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::git_settings;
use policyfile::model::GitSource;
use serde_json::{Value, json};
use sha1::{Digest as _, Sha1};
use text::hex;

/// The reasons why git did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// The program cannot be started.
    #[error("cannot start git, which fetches repositories and says which commit a cookbook is")]
    Start(#[source] std::io::Error),
    /// Git ran and ended with an error.
    #[error("Git command `git {command}` failed with message: {message}")]
    Failed {
        /// The command, without the options that are always given.
        command: String,
        /// The text that git wrote to standard error.
        message: String,
    },
    /// An address or a name that git would take for an option.
    #[error("{text:?} cannot be a git repository or revision")]
    Option {
        /// The address or name that was refused.
        text: String,
    },
    /// There is no folder to fetch into.
    #[error("nothing can be fetched here; `wrun policy build` fetches what a policy needs")]
    NoCache,
    /// Git waits for something.
    #[error("`git {command}` has not ended after {seconds} s: look whether the repository's files are plain files")]
    Waits {
        /// The command, without the options that are always given.
        command: String,
        /// How long it was waited for.
        seconds: u64,
    },
    /// A repository whose own settings may start programs.
    #[error(
        "{}: git is not asked there, since its configuration sets {key}, which may start a program or lead elsewhere",
        place.display()
    )]
    Strange {
        /// The repository.
        place: PathBuf,
        /// The setting.
        key: String,
    },
    /// A link out of a repository.
    #[error("the folder {rel:?} of the repository is a link that leads out of it")]
    Outside {
        /// The folder, as the source names it.
        rel: String,
    },
    /// A folder of the cache.
    #[error("cannot write {}", path.display())]
    Cache {
        /// The path of the cache's folder.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

/// Settings of every call: a repository's own hooks and monitors are not run, and no other program makes the connection.
const ALWAYS: [&str; 8] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "protocol.allow=never",
    "protocol.file.allow=always",
    "protocol.git.allow=always",
    "protocol.http.allow=always",
    "protocol.https.allow=always",
    "protocol.ssh.allow=always",
];

/// How long git may take to answer what is asked of a working tree, which is on this machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// The time between two looks whether git has ended.
const TICK: Duration = Duration::from_millis(2);

/// The most characters of a setting's name that are shown.
const MAX_KEY: usize = 100;

/// The branch of a cookbook whose source names none.
const DEFAULT_BRANCH: &str = "main";

/// Runs git in a folder and returns what it wrote to standard output.
pub(super) fn run(folder: &Path, arguments: &[&str]) -> Result<String, GitError> {
    run_with(folder, arguments, &[])
}

fn run_with(folder: &Path, arguments: &[&str], environment: &[(&str, &Path)]) -> Result<String, GitError> {
    let mut command = prepared(folder, arguments);
    command.envs(environment.iter().copied());
    told(arguments, &command.output().map_err(GitError::Start)?)
}

/// As [`run`], for a working tree that may be a stranger's: git is ended where it waits, as for the other end of a pipe.
fn ask(folder: &Path, arguments: &[&str]) -> Result<String, GitError> {
    let mut command = prepared(folder, arguments);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(GitError::Start)?;
    let [output, errors] = [child.stdout.take().map(collect), child.stderr.take().map(collect)];
    let began = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().map_err(GitError::Start)? {
            break status;
        }
        if began.elapsed() > PATIENCE {
            drop(child.kill().and_then(|()| child.wait()));
            return Err(GitError::Waits { command: arguments.join(" "), seconds: PATIENCE.as_secs() });
        }
        std::thread::sleep(TICK);
    };
    let [stdout, stderr] = [output, errors].map(|one| one.and_then(|one| one.join().ok()).unwrap_or_default());
    told(arguments, &Output { status, stdout, stderr })
}

/// Reads all that git writes, so that it never waits for a reader.
fn collect(mut from: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut all = vec![];
        drop(from.read_to_end(&mut all));
        all
    })
}

fn prepared(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("git");
    let settings = ALWAYS.iter().flat_map(|setting| ["-c", setting]);
    command.args(settings).args(arguments).current_dir(folder).stdin(Stdio::null());
    // A password is not asked for: nobody may be there to answer. These name another repository than the folder's.
    command.env("GIT_TERMINAL_PROMPT", "0").env("LC_ALL", "C");
    // What a stranger's repository lacks is not fetched by the programs that it names.
    command.env("GIT_NO_LAZY_FETCH", "1");
    for variable in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_NAMESPACE"] {
        command.env_remove(variable);
    }
    command
}

fn told(arguments: &[&str], output: &Output) -> Result<String, GitError> {
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let message = String::from_utf8_lossy(&output.stderr).trim_end().to_owned();
    Err(GitError::Failed { command: arguments.join(" "), message })
}

/// The repositories that were fetched.
#[derive(Debug)]
pub(super) struct Repositories {
    folder: PathBuf,
}

impl Repositories {
    pub(super) fn new(cache: &Path) -> Self {
        Self { folder: cache.join("git") }
    }

    /// Where a repository lies.
    fn place(&self, uri: &str) -> PathBuf {
        self.folder.join(hex(Sha1::digest(uri)))
    }

    /// Fetches a repository, anew or what it has got since.
    pub(super) fn fetch(&self, uri: &str) -> Result<PathBuf, GitError> {
        check(uri)?;
        if !self.folder.is_absolute() {
            return Err(GitError::NoCache);
        }
        let place = self.place(uri);
        if place.is_dir() {
            run(&place, &["fetch", "--quiet", "--force", "--tags", uri, "refs/heads/*:refs/heads/*"])?;
            return Ok(place);
        }
        let failed = |source| GitError::Cache { path: self.folder.clone(), source };
        std::fs::create_dir_all(&self.folder).map_err(failed)?;
        // Whole or not at all: a name of its own, until it is complete.
        let unfinished = self.folder.join(format!(".{}-unfinished", std::process::id()));
        drop(std::fs::remove_dir_all(&unfinished));
        let name = unfinished.to_string_lossy().into_owned();
        let cloned = run(&self.folder, &["clone", "--quiet", "--bare", "--no-hardlinks", "--", uri, &name]);
        if let Err(error) = cloned {
            drop(std::fs::remove_dir_all(&unfinished));
            return Err(error);
        }
        std::fs::rename(&unfinished, &place).map_err(failed)?;
        Ok(place)
    }

    /// The repository, fetched unless it has the commit already.
    pub(super) fn with_commit(&self, uri: &str, commit: &str) -> Result<PathBuf, GitError> {
        check(commit)?;
        let place = self.place(uri);
        let has = place.is_dir() && run(&place, &["cat-file", "-e", &format!("{commit}^{{commit}}")]).is_ok();
        if has { Ok(place) } else { self.fetch(uri) }
    }

    /// The commit that a cookbook's source means now.
    pub(super) fn commit_of(&self, source: &GitSource) -> Result<String, GitError> {
        if let Some(revision) = &source.revision {
            return Ok(revision.clone());
        }
        let wanted = source.reference.as_deref().or(source.branch.as_deref()).or(source.tag.as_deref());
        self.resolve(&self.fetch(&source.uri)?, wanted.unwrap_or(DEFAULT_BRANCH))
    }

    /// The commit of a name in a repository.
    pub(super) fn resolve(&self, repository: &Path, name: &str) -> Result<String, GitError> {
        check(name)?;
        Ok(run(repository, &["rev-parse", "--verify", name])?.trim().to_owned())
    }

    /// Writes the files of a commit, or of one folder in it, into a new folder.
    pub(super) fn check_out(
        &self,
        repository: &Path,
        commit: &str,
        rel: Option<&str>,
        into: &Path,
    ) -> Result<PathBuf, GitError> {
        check(commit)?;
        let failed = |source| GitError::Cache { path: into.to_owned(), source };
        let work = into.join("work");
        std::fs::create_dir_all(&work).map_err(failed)?;
        let index = into.join("index");
        let what = format!(":(top,literal){}", rel.unwrap_or("."));
        let what = if rel.is_some() { what } else { ".".to_owned() };
        let arguments = ["checkout", "--quiet", "--force", commit, "--", &what];
        run_with(&work, &arguments, &[("GIT_DIR", repository), ("GIT_WORK_TREE", &work), ("GIT_INDEX_FILE", &index)])?;
        let Some(rel) = rel else { return Ok(work) };
        let found = work.join(rel);
        if found.exists() && !plain_files::leads_inside(&found, &work) {
            return Err(GitError::Outside { rel: rel.to_owned() });
        }
        Ok(found)
    }

    /// The content of a file in a commit.
    pub(super) fn show(&self, repository: &Path, commit: &str, path: &str) -> Result<String, GitError> {
        check(commit)?;
        run(repository, &["show", &format!("{commit}:{path}")])
    }
}

fn check(text: &str) -> Result<(), GitError> {
    let is_sound = !text.is_empty() && !text.starts_with('-') && !text.contains(char::is_control);
    if is_sound { Ok(()) } else { Err(GitError::Option { text: text.chars().take(200).collect() }) }
}

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
    let listed = ask(top, &git_settings::LIST)?;
    Ok(git_settings::first_not_plain(&listed).map(|key| key.chars().take(MAX_KEY).collect()))
}

/// The content of a file in a revision of the working tree that a folder lies in.
pub(super) fn file_of_revision(folder: &Path, revision: &str, file: &str) -> Result<String, GitError> {
    check(revision)?;
    // The Policyfile may lie in another folder than the one where the command was typed.
    let path = std::path::absolute(folder.join(file)).unwrap_or_else(|_| folder.join(file));
    let (Some(folder), Some(name)) = (path.parent(), path.file_name().and_then(|name| name.to_str())) else {
        return Err(GitError::Option { text: file.to_owned() });
    };
    if let Some(top) = folder.ancestors().find(|above| above.join(".git").exists())
        && let Some(key) = strange_setting(top)?
    {
        return Err(GitError::Strange { place: top.to_owned(), key });
    }
    ask(folder, &["show", &format!("{revision}:./{name}")])
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
        remote => Some(line(&["config", "--get", &format!("remote.{remote}.url")])?),
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
