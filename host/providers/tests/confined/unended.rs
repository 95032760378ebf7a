//! Commands that do not end, whatever they are sent: neither a run nor a dry run waits for them.

use crate::machine;
use crate::support::{Bench, Done, run};
use contract::{CommandLine, CommandTest, ErrorKind, GuardResult, Machine as _, MachineError, Providers as _, Raised};
use grants::{Addition, Grants};
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};
use serde_json::json;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// A server of a file system that takes requests and answers none.
const SERVER: &str = include_str!("silent.pl");

/// A command that has ended and whose end its tracer, in a session of its own, keeps.
const TRACED: &str = include_str!("traced.pl");

/// Does something in a thread and with mounts of its own.
///
/// # Panics
/// It takes longer than any limit allows.
fn within_a_minute<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, result) = mpsc::channel();
    std::thread::spawn(move || {
        unshare(CloneFlags::CLONE_NEWNS).unwrap();
        mount(None::<&str>, "/", None::<&str>, MsFlags::MS_REC | MsFlags::MS_PRIVATE, None::<&str>).unwrap();
        done.send(work())
    });
    result.recv_timeout(Duration::from_secs(60)).expect("the command holds the run")
}

/// A mounted file system with a silent server. When the server is gone, its file system fails at once.
struct Silent {
    /// The folder of the mount, if it is the mount's own.
    folder: Option<tempfile::TempDir>,
    point: PathBuf,
    server: Child,
}

impl Silent {
    /// `None`: this machine has no such file systems.
    fn mounted() -> Option<Self> {
        Self::in_a_folder("")
    }

    /// One into which the kernel also lets root, as into NFS.
    fn of_everyone() -> Option<Self> {
        Self::in_a_folder("everyone")
    }

    fn in_a_folder(others: &str) -> Option<Self> {
        // A dry run shows the directories for scratch files without what is mounted in them.
        let folder = tempfile::Builder::new().prefix("wrun-silent-").tempdir_in("/var/lib").unwrap();
        std::fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let mut silent = Self::at(folder.path().to_owned(), others)?;
        silent.folder = Some(folder);
        Some(silent)
    }

    fn at(point: PathBuf, others: &str) -> Option<Self> {
        if !Path::new("/dev/fuse").exists() {
            eprintln!("skipped: this machine has no /dev/fuse");
            return None;
        }
        let mut server = Command::new("perl");
        let mut server = server.args(["-e", SERVER]).arg(&point).arg(others).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(server.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "mounted\n");
        Some(Self { folder: None, point, server })
    }

    fn file(&self) -> String {
        format!("{}/f", self.point.display())
    }

    fn unmount(&self) {
        nix::mount::umount2(&self.point, nix::mount::MntFlags::MNT_DETACH).unwrap();
    }
}

impl Drop for Silent {
    fn drop(&mut self) {
        self.server.kill().unwrap();
        self.server.wait().unwrap();
        // A test may have unmounted it.
        let _ = nix::mount::umount2(&self.point, nix::mount::MntFlags::MNT_DETACH);
    }
}

/// A command of an ordinary user, with a timeout of one second.
fn command(words: &[&str]) -> CommandTest {
    let line = CommandLine::Arguments(words.iter().map(|word| (*word).to_owned()).collect());
    CommandTest { line, user: Some("nobody".into()), timeout: Some(1), ..CommandTest::text("") }
}

/// Runs a command that does not end, and returns the message.
#[track_caller]
fn failure(command: &CommandTest) -> String {
    match machine().providers(false).machine().run(command, false) {
        Err(MachineError::System(name, message)) if name == "ETIMEDOUT" => message,
        other => panic!("{other:?}"),
    }
}

#[test]
fn attack_a_command_that_no_signal_ends_holds_no_run() {
    within_a_minute(|| {
        let Some(silent) = Silent::mounted() else { return };
        let message = failure(&command(&["cat", &silent.file()]));
        assert!(message.contains(" does not end: it waits in the kernel"), "{message}");
    });
}

#[test]
fn attack_a_command_that_no_signal_ends_holds_no_dry_run() {
    within_a_minute(|| {
        let Some(silent) = Silent::mounted() else { return };
        let answer = machine().providers(true).guard(&command(&["cat", &silent.file()]), true).unwrap();
        let GuardResult::Unknown(why) = answer else { panic!("{answer:?}") };
        assert!(why.contains("it took longer than 1 s"), "{why}");
        assert!(why.contains(" does not end: it waits in the kernel"), "{why}");
    });
}

#[test]
fn attack_a_program_on_a_silent_file_system_holds_no_run() {
    within_a_minute(|| {
        let Some(silent) = Silent::mounted() else { return };
        let message = failure(&command(&[&silent.file()]));
        assert!(message.contains(" does not end: it waits in the kernel"), "{message}");
    });
}

/// The path is looked at before the right to it is decided, since a link may lead elsewhere.
#[test]
fn attack_a_path_below_a_silent_file_system_holds_no_run() {
    within_a_minute(|| {
        let Some(silent) = Silent::of_everyone() else { return };
        let bench = Bench::whole("paths = [\"ROOT/own/**\"]");
        std::fs::create_dir_all(bench.path("own")).unwrap();
        std::os::unix::fs::symlink(&silent.point, bench.path("own/link")).unwrap();
        for path in [silent.file(), bench.text("ROOT/own/link/f"), silent.point.display().to_string()] {
            for why_run in [false, true] {
                let asked = bench.declaration("file", &path, json!({"content": "x"}));
                let raised = run(&mut bench.providers(why_run), &asked, "create", why_run).unwrap_err();
                assert_eq!(raised.kind, ErrorKind::Denied, "{path}: {raised:?}");
            }
        }
        let granted = Bench::whole("").unlimited();
        let raised = granted.run("file", &silent.file(), "create", json!({"content": "x"})).unwrap_err();
        assert!(raised.hint.as_deref().is_some_and(|hint| hint.contains("does not answer")), "{raised:?}");
        // Others go on, and so does what comes back.
        granted.run("file", "ROOT/etc/other", "create", json!({"content": "x"})).unwrap();
        silent.unmount();
        granted.run("file", &silent.file(), "create", json!({"content": "x"})).unwrap();
    });
}

#[test]
fn attack_a_silent_file_system_inside_a_tree_holds_no_run() {
    within_a_minute(|| {
        let bench = Bench::whole("paths = [\"ROOT/own/**\"]\nusers = [\"*\"]");
        std::fs::create_dir_all(bench.path("own/tree/a/mount")).unwrap();
        std::fs::write(bench.path("own/tree/z"), "").unwrap();
        let Some(silent) = Silent::at(bench.path("own/tree/a/mount"), "everyone") else { return };
        let requires_answer = |done: Result<Done, Raised>| {
            let raised = done.unwrap_err();
            assert!(raised.hint.as_deref().is_some_and(|hint| hint.contains("does not answer")), "{raised:?}");
            assert!(raised.message.contains(&bench.text("ROOT/own/tree/a/mount")), "{raised:?}");
        };
        requires_answer(bench.run("directory", "ROOT/own/tree", "delete", json!({"recursive": true})));
        requires_answer(bench.why_run("directory", "ROOT/own/tree", "delete", json!({"recursive": true})));
        requires_answer(bench.run("directory", "ROOT/own/tree", "create", json!({"owner": "nobody"})));
        assert!(bench.path("own/tree/z").exists());
        // The kernel reports no change of the mounts when a folder above one is renamed.
        std::fs::rename(bench.path("own/tree"), bench.path("own/renamed")).unwrap();
        let raised = bench.run("file", "ROOT/own/renamed/a/mount/f", "create", json!({"content": "x"})).unwrap_err();
        assert!(raised.hint.as_deref().is_some_and(|hint| hint.contains("does not answer")), "{raised:?}");
        let raised = bench.run("directory", "ROOT/own/renamed", "delete", json!({"recursive": true})).unwrap_err();
        assert!(raised.message.contains(&bench.text("ROOT/own/renamed/a/mount")), "{raised:?}");
        nix::mount::umount2(&bench.path("own/renamed/a/mount"), nix::mount::MntFlags::MNT_DETACH).unwrap();
        bench.run("directory", "ROOT/own/renamed", "delete", json!({"recursive": true})).unwrap();
        drop(silent);
    });
}

#[test]
fn attack_removing_a_tree_enters_no_silent_file_system() {
    within_a_minute(|| {
        let bench = Bench::whole("").unlimited();
        std::fs::create_dir_all(bench.path("tree/a/mount")).unwrap();
        let Some(_silent) = Silent::at(bench.path("tree/a/mount"), "everyone") else { return };
        let raised = bench.run("directory", "ROOT/tree", "delete", json!({"recursive": true})).unwrap_err();
        assert!(raised.message.contains(&bench.text("ROOT/tree/a/mount")), "{raised:?}");
    });
}

#[test]
fn attack_the_risk_of_a_grant_waits_for_no_silent_file_system() {
    within_a_minute(|| {
        let Some(silent) = Silent::of_everyone() else { return };
        let value = format!("\"sh {}\"", silent.file());
        let addition = Addition { policy: "a".into(), key: "commands".into(), value };
        let text = "[policy.a]\n";
        let all = Grants::parse(text, "grants.toml").unwrap();
        let machine = providers::machine_view(Path::new("/"));
        let risks = grants::risks(text, "grants.toml", std::slice::from_ref(&addition), &all, &machine);
        assert_eq!(risks.unwrap().len(), 1);
    });
}

#[test]
fn attack_a_traced_command_holds_no_run() {
    within_a_minute(|| {
        let message = failure(&CommandTest { timeout: None, ..command(&["perl", "-e", TRACED]) });
        let tracer =
            message.split(" does not end: process ").nth(1).and_then(|rest| rest.strip_suffix(" (perl) traces it"));
        let tracer = tracer.unwrap_or_else(|| panic!("{message}")).parse().unwrap();
        nix::sys::signal::kill(nix::unistd::Pid::from_raw(tracer), nix::sys::signal::Signal::SIGKILL).unwrap();
    });
}

#[test]
fn attack_a_command_cannot_join_wruns_process_group() {
    let joined = "setpgrp(0, getpgrp(getppid())); exit(getpgrp(0) == $$ ? 0 : 1)";
    let outcome = machine().providers(false).machine().run(&command(&["perl", "-e", joined]), false).unwrap();
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
}

#[test]
fn a_timeout_also_ends_what_has_left_the_group() {
    // No other process of the machine has this argument: several runs of this test may share the machine.
    let seconds = format!("613.{}", std::process::id());
    let line = format!("setsid sleep {seconds} & wait");
    let outcome = machine().providers(false).machine().run(&command(&["sh", "-c", &line]), false).unwrap();
    assert!(outcome.timed_out, "{outcome:?}");
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let texts = processes.filter_map(|process| std::fs::read(process.path().join("cmdline")).ok());
    let left = texts.filter(|text| text.split(|byte| *byte == 0).any(|word| word == seconds.as_bytes())).count();
    assert_eq!(left, 0);
}
