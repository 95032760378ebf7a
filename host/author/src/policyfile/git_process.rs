//! Runs the program git with settings that prevent it from starting a repository's own programs. The output of git is
//! limited, and so is the time without progress: a server may accept a connection and stay silent, or a file may be a pipe.

use std::io::Read;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::MAX_TEXT;
use super::git::GitError;

/// Settings of every call. A repository's own hooks and monitors are not run, and no other program makes the connection. A
/// server that sends less than 1000 bytes a second for a minute is given up. Git connects without encryption only if the
/// requested address says so, and not after a redirect, because it would send the address's password along.
const ALWAYS: [&str; 10] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "http.lowSpeedLimit=1000",
    "http.lowSpeedTime=60",
    "protocol.allow=never",
    "protocol.file.allow=always",
    "protocol.git.allow=always",
    "protocol.http.allow=user",
    "protocol.https.allow=always",
    "protocol.ssh.allow=always",
];

/// A setting for untrusted folders: git does not accept a folder as a bare repository just because it looks like one.
const NO_BARE: &str = "safe.bareRepository=explicit";

/// Environment variables that would make git use another repository or configuration than the folder's, or treat names as
/// patterns.
const OTHER_REPOSITORY: [&str; 11] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_NAMESPACE",
    "GIT_CONFIG",
    "GIT_GLOB_PATHSPECS",
    "GIT_NOGLOB_PATHSPECS",
    "GIT_ICASE_PATHSPECS",
];

/// The most bytes of one file that fetching writes: larger than the packed history of any cookbook, smaller than a disk.
const MAX_FETCHED: u64 = 8 << 30;

/// Bytes of the unit in which a shell counts the length of files (POSIX, `ulimit`).
const BLOCK: u64 = 512;

/// The variable with the command that makes git's connections over ssh.
const SSH_COMMAND: &str = "GIT_SSH_COMMAND";

/// The ssh command without questions. The address may be untrusted, and ssh would ask on the author's terminal.
const SSH_WITHOUT_QUESTIONS: &str = "ssh -o BatchMode=yes";

/// Git's messages when the file size limit has ended one of its processes: 25 is the number of SIGXFSZ on Linux. The second
/// message also appears if a server sends something else than a repository.
const FILE_TOO_LARGE: [&str; 2] = ["died of signal 25", "invalid index-pack output"];

/// Time between two checks whether git has ended.
const TICK: Duration = Duration::from_millis(2);

/// The most bytes of git's messages that are kept: the last ones.
const MAX_MESSAGES: usize = 64 << 10;

/// The time limits of a git command.
struct Patience {
    /// How long git may write nothing.
    silent: Duration,
    /// How long git may take in all.
    whole: Duration,
    /// A hint for the message if it takes longer.
    hint: &'static str,
}

/// The limits for questions about a working tree on this machine.
const QUESTION: Patience = Patience {
    silent: Duration::from_secs(60),
    whole: Duration::from_secs(60),
    hint: "look whether the repository's files are plain files",
};

/// The limits for work in the cache, such as writing the files of a commit.
const WORK: Patience = Patience {
    silent: Duration::from_secs(1200),
    whole: Duration::from_secs(1200),
    hint: "look whether the disk of the cache folder answers",
};

/// The limits for fetching. Git and the server report their progress meanwhile.
const TRANSFER: Patience = Patience {
    silent: Duration::from_secs(300),
    whole: Duration::from_secs(2 * 3600),
    hint: "look whether the server of the repository answers",
};

/// Runs git in a working tree that may be untrusted. Returns git's standard output.
pub(super) fn ask(folder: &Path, arguments: &[&str]) -> Result<String, GitError> {
    let mut command = prepared(folder, &[NO_BARE], arguments);
    told(arguments, &finished(&mut command, arguments, &QUESTION)?)
}

/// Runs git on a repository of the cache, which the environment names.
pub(super) fn in_cache(folder: &Path, arguments: &[&str], environment: &[(&str, &Path)]) -> Result<String, GitError> {
    let mut command = prepared(folder, &[], arguments);
    command.envs(environment.iter().copied());
    told(arguments, &finished(&mut command, arguments, &WORK)?)
}

/// Fetches something, all of whose files are within [`MAX_FETCHED`]. The arguments ask for messages of progress.
pub(super) fn transfer(folder: &Path, arguments: &[&str], environment: &[(&str, &Path)]) -> Result<(), GitError> {
    transfer_at_most(MAX_FETCHED, folder, arguments, environment)
}

fn transfer_at_most(
    most: u64,
    folder: &Path,
    arguments: &[&str],
    environment: &[(&str, &Path)],
) -> Result<(), GitError> {
    // The received data become one file. A process can set such a limit only for itself before it starts children: so a shell
    // sets it and then becomes git.
    let mut command = Command::new("sh");
    command.args(["-c", r#"ulimit -f "$0" && exec git "$@""#, &(most / BLOCK).to_string()]);
    let mut command = prepared_as(command, folder, &[], arguments);
    command.envs(environment.iter().copied());
    if !names_ssh(folder) {
        command.env(SSH_COMMAND, SSH_WITHOUT_QUESTIONS);
    }
    let mut output = finished(&mut command, arguments, &TRANSFER)?;
    let messages = String::from_utf8_lossy(&output.stderr).into_owned();
    if !output.status.success() && FILE_TOO_LARGE.iter().any(|said| messages.contains(said)) {
        return Err(GitError::TooLarge { command: arguments.join(" "), limit: most });
    }
    output.stderr = without_progress(&messages).into_bytes();
    told(arguments, &output).map(|_| ())
}

/// Tells whether the user has configured how git starts ssh, in the environment or in git's configuration.
fn names_ssh(folder: &Path) -> bool {
    let is_set = |variable| std::env::var_os(variable).is_some();
    let configured = || prepared(folder, &[NO_BARE], &["config", "--get", "core.sshCommand"]).output();
    is_set(SSH_COMMAND) || is_set("GIT_SSH") || configured().is_ok_and(|output| !output.stdout.is_empty())
}

fn prepared(folder: &Path, settings: &[&str], arguments: &[&str]) -> Command {
    prepared_as(Command::new("git"), folder, settings, arguments)
}

/// Adds git's settings and arguments to `command`, which is git or becomes git.
fn prepared_as(mut command: Command, folder: &Path, settings: &[&str], arguments: &[&str]) -> Command {
    let settings = ALWAYS.iter().chain(settings).flat_map(|setting| ["-c", setting]);
    command.args(settings).args(arguments).current_dir(folder);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // Git must not ask for a password, because nobody may be there to answer.
    command.env("GIT_TERMINAL_PROMPT", "0").env("LC_ALL", "C");
    // The name of a folder is not a pattern.
    command.env("GIT_LITERAL_PATHSPECS", "1");
    // Git must not fetch missing objects of an untrusted repository by programs that the repository names.
    command.env("GIT_NO_LAZY_FETCH", "1");
    for variable in OTHER_REPOSITORY {
        command.env_remove(variable);
    }
    command
}

/// Runs git to its end, unless it does nothing for too long.
fn finished(command: &mut Command, arguments: &[&str], patience: &Patience) -> Result<Output, GitError> {
    let mut child = command.spawn().map_err(GitError::Start)?;
    let heard = Arc::new(AtomicU64::new(0));
    let output = child.stdout.take().map(collect);
    let messages = child.stderr.take().map(|from| listen(from, Arc::clone(&heard)));
    let began = Instant::now();
    let (mut last, mut known) = (began, 0);
    let status = loop {
        if let Some(status) = child.try_wait().map_err(GitError::Start)? {
            break status;
        }
        let now = heard.load(Ordering::Relaxed);
        if now != known {
            (last, known) = (Instant::now(), now);
        }
        if last.elapsed() > patience.silent || began.elapsed() > patience.whole {
            drop(child.kill().and_then(|()| child.wait()));
            let seconds = began.elapsed().as_secs();
            return Err(GitError::Waits { command: arguments.join(" "), seconds, hint: patience.hint });
        }
        std::thread::sleep(TICK);
    };
    let [stdout, stderr] = [output, messages].map(|one| one.and_then(|one| one.join().ok()).unwrap_or_default());
    if stdout.len() as u64 > MAX_TEXT {
        return Err(GitError::TooMuch { command: arguments.join(" "), limit: MAX_TEXT });
    }
    Ok(Output { status, stdout, stderr })
}

/// Reads git's output in a thread, so that git never waits for a reader. Beyond the limit the reader closes the pipe, which
/// ends git.
fn collect(from: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut all = vec![];
        drop(from.take(MAX_TEXT + 1).read_to_end(&mut all));
        all
    })
}

/// Reads git's messages, counts them, and keeps the last ones.
fn listen(mut from: impl Read + Send + 'static, heard: Arc<AtomicU64>) -> JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let (mut all, mut buffer) = (vec![], [0; 4096]);
        loop {
            match from.read(&mut buffer) {
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Ok(0) | Err(_) => return all,
                Ok(count) => {
                    heard.fetch_add(1, Ordering::Relaxed);
                    all.extend_from_slice(buffer.get(..count).unwrap_or_default());
                    all.drain(..all.len().saturating_sub(MAX_MESSAGES));
                }
            }
        }
    })
}

fn told(arguments: &[&str], output: &Output) -> Result<String, GitError> {
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let message = String::from_utf8_lossy(&output.stderr).trim_end().to_owned();
    Err(GitError::Failed { command: arguments.join(" "), message })
}

/// Git's messages without those that say how far it has come.
fn without_progress(messages: &str) -> String {
    let lines = messages.split(['\r', '\n']).filter(|line| !line.trim().is_empty() && !is_progress(line));
    lines.map(str::trim_end).collect::<Vec<_>>().join("\n")
}

fn is_progress(line: &str) -> bool {
    const STARTS: [&str; 8] = ["Cloning into ", "Enumerating ", "From ", "Total ", " * ", " - ", " + ", "   "];
    let text = line.strip_prefix("remote: ").unwrap_or(line).trim_end();
    text.contains("% (") || text.ends_with(", done.") || STARTS.iter().any(|start| text.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_told_without_progress() {
        let messages = "Cloning into bare repository 'x'...\nremote: Enumerating objects: 4, done.        \n\
                        remote: Counting objects:  25% (1/4)        \rremote: Counting objects: 100% (4/4), done.\n\
                        remote: Repository not found.\nFrom https://example.org/a\n * [new branch]  main -> main\n\
                        fatal: repository 'https://example.org/a' not found\n";
        assert_eq!(
            without_progress(messages),
            "remote: Repository not found.\nfatal: repository 'https://example.org/a' not found"
        );
    }

    #[test]
    fn a_repository_that_is_too_large_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let git = |arguments: &[&str]| told(arguments, &prepared(folder.path(), &[], arguments).output().unwrap());
        git(&["init", "-q", "source"]).unwrap();
        let noise: Vec<u8> = (0_u32..100_000).flat_map(|at| at.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
        std::fs::write(folder.path().join("source/noise"), noise).unwrap();
        git(&["-C", "source", "add", "noise"]).unwrap();
        let commit = ["-C", "source", "-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-q", "-m", "noise"];
        git(&commit).unwrap();
        let source = format!("file://{}/source", folder.path().display());
        let clone = |most: u64, name: &str| {
            let arguments = ["clone", "--progress", "--bare", "--no-hardlinks", "--", &source, name];
            transfer_at_most(most, folder.path(), &arguments, &[])
        };
        clone(MAX_FETCHED, "whole").unwrap();
        let refused = clone(64 << 10, "part").unwrap_err();
        assert!(matches!(refused, GitError::TooLarge { limit: 65_536, .. }), "{refused}");
    }

    #[test]
    fn git_is_ended_where_it_says_nothing_and_where_it_says_too_much() {
        let run = |script: &str, silent: u64| {
            let patience =
                Patience { silent: Duration::from_millis(silent), whole: Duration::from_secs(60), hint: "why" };
            let mut command = Command::new("sh");
            command.args(["-c", script]).stdout(Stdio::piped()).stderr(Stdio::piped());
            finished(&mut command, &["fetch"], &patience)
        };
        let error = run("exec sleep 600", 50).unwrap_err();
        assert!(matches!(error, GitError::Waits { hint: "why", .. }), "{error}");
        let error = run("exec cat /dev/zero", 30_000).unwrap_err();
        assert_eq!(error.to_string(), format!("`git fetch` wrote more than {MAX_TEXT} bytes"));
        let output = run("yes message | head -c 200000 >&2; echo done", 30_000).unwrap();
        assert_eq!((output.stdout.as_slice(), output.stderr.len()), (&b"done\n"[..], MAX_MESSAGES));
    }
}
