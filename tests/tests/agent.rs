//! `wrun agent` as a service manager and people see it. The tests listen on the socket of the service manager, and wait for
//! its words instead of sleeping.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking, and helpers are not tests to the lints"
)]

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use specs::{Program, fixtures};
use state::{LockRequest, StateDirectory};
use std::fs;
use std::os::unix::net::UnixDatagram;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, SystemTime};

/// How long the words of a service that works are waited for.
const PATIENCE: Duration = Duration::from_secs(120);

/// The largest anonymous memory of an agent at rest, in KiB.
const MEMORY_AT_REST: u64 = 6 << 10;

/// An agent that a fake service manager listens to. Dropping it kills it.
struct Service {
    agent: Child,
    manager: UnixDatagram,
}

impl Service {
    /// Starts an agent that converges the empty policy; `options` are the agent's, `run` those of its runs.
    fn start(program: &Program, options: &[&str], run: &[&str]) -> Self {
        let socket = program.configuration().join(format!("notify-{}", random()));
        let manager = UnixDatagram::bind(&socket).unwrap();
        manager.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut command = Command::new(program.executable());
        command.env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").envs(program.environment());
        command.env("NOTIFY_SOCKET", &socket).env("WATCHDOG_USEC", "120000000");
        let root = program.configuration().join("root");
        fs::create_dir_all(&root).unwrap();
        let file = || fs::OpenOptions::new().create(true).append(true).open(log(program)).unwrap();
        command.arg("agent").args(options).arg("--root").arg(&root).args(["-N", "n1", "--"]).args(run);
        command.args(["--allow-all", "--policy-name", "empty", "--policies"]).arg(fixtures());
        let agent = command.stdin(Stdio::null()).stdout(file()).stderr(file()).spawn().unwrap();
        Self { agent, manager }
    }

    /// Waits until the agent says something with this text to the service manager.
    fn hear(&self, text: &str) -> String {
        let mut heard = Vec::new();
        let mut bytes = [0; 4096];
        loop {
            let Ok(length) = self.manager.recv(&mut bytes) else { panic!("no {text:?}, but: {heard:#?}") };
            let message = String::from_utf8(bytes.get(..length).unwrap().to_vec()).unwrap();
            if message.contains(text) {
                return message;
            }
            heard.push(message);
        }
    }

    fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.agent.id().try_into().unwrap()), signal).unwrap();
    }

    fn end(mut self, signal: Signal) -> ExitStatus {
        self.signal(signal);
        self.agent.wait().unwrap()
    }

    /// Anonymous memory in KiB, and the number of open files.
    fn holds(&self) -> (u64, usize) {
        let folder = PathBuf::from(format!("/proc/{}", self.agent.id()));
        let status = fs::read_to_string(folder.join("status")).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap();
        let memory = line.trim().trim_end_matches("kB").trim().parse().unwrap();
        (memory, fs::read_dir(folder.join("fd")).unwrap().count())
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ignored = self.agent.kill();
        let _ignored = self.agent.wait();
    }
}

fn random() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().subsec_nanos().into()
}

/// The file with everything that an agent and its runs said.
fn log(program: &Program) -> PathBuf {
    program.configuration().join("agent.log")
}

/// What a command of `wrun agent` says: its exit code, and both outputs.
fn says(program: &Program, words: &[&str]) -> (i32, String) {
    let output = program.run(&[&["agent"], words].concat()).unwrap();
    (output.code.unwrap(), format!("{}{}", output.stdout, output.stderr))
}

fn status(program: &Program) -> Value {
    let output = program.run(&["agent", "status", "-F", "json"]).unwrap();
    serde_json::from_str(&output.stdout).unwrap()
}

#[test]
fn an_agent_runs_hears_people_and_ends() {
    let program = Program::new().unwrap();
    assert_eq!(says(&program, &["status"]).0, 1);
    let (code, said) = says(&program, &["run-now"]);
    assert!(code == 43 && said.contains("no agent runs with the state directory [STATE]"), "{said}");
    let service = Service::start(&program, &["--interval", "1h", "--splay", "0s"], &[]);
    service.hear("READY=1");
    service.hear("STATUS=the run succeeded; next run at ");
    let (code, said) = says(&program, &["status"]);
    assert!(code == 0 && said.contains(&format!("The agent runs as process {}", service.agent.id())), "{said}");
    assert!(said.contains("The last run ended at ") && said.contains("in 59 min (every 3600 s"), "{said}");
    let first = status(&program)["status"]["last"]["run_id"].clone();
    let recorded = program.run(&["run", "list"]).unwrap().stdout;
    assert!(recorded.starts_with(first.as_str().unwrap()), "{recorded}");
    // A second agent has no place beside it, and another run beside its own neither.
    let mut other = Service::start(&program, &[], &[]);
    assert_eq!(other.agent.wait().unwrap().code(), Some(75));
    let (code, said) = says(&program, &["run-now"]);
    assert!(code == 0 && said.contains("has been asked for a run"), "{said}");
    service.hear("STATUS=the run succeeded");
    assert_ne!(status(&program)["status"]["last"]["run_id"], first);
    let (memory, open) = service.holds();
    assert!(memory < MEMORY_AT_REST, "{memory} KiB at rest");
    for _ in 0..10 {
        service.signal(Signal::SIGUSR1);
        service.hear("STATUS=the run succeeded");
    }
    let (later, open_later) = service.holds();
    assert!(open_later == open && later < memory + 256, "{memory} then {later} KiB, {open} then {open_later} files");
    let end = service.end(Signal::SIGTERM);
    assert_eq!(end.code(), Some(0), "{}", fs::read_to_string(log(&program)).unwrap());
    let (code, said) = says(&program, &["status"]);
    assert!(code == 1 && said.contains("No agent runs") && said.contains("succeeded"), "{said}");
}

#[test]
fn failures_are_shown_and_settings_are_read_again() {
    let program = Program::new().unwrap();
    let service = Service::start(&program, &["--splay", "0s"], &["--override-runlist", "nothing::here"]);
    service.hear("STATUS=the run failed (exit code 43)");
    let (code, said) = says(&program, &["status"]);
    assert!(code == 1 && said.contains("failed (exit code 43)") && said.contains("nothing"), "{said}");
    assert_eq!(status(&program)["status"]["failures"], 1);
    let settings = program.configuration().join("wrun.toml");
    fs::write(&settings, "interval = \"2m\"\n").unwrap();
    service.signal(Signal::SIGHUP);
    service.hear("RELOADING=1");
    let ready = service.hear("READY=1");
    assert!(ready.contains("(in 119 s)") || ready.contains("(in 2 min)"), "{ready}");
    fs::write(&settings, "interval = \"2x\"\n").unwrap();
    service.signal(Signal::SIGHUP);
    service.hear("READY=1");
    assert_eq!(status_of_broken(&program)["status"]["interval"], 120);
    assert!(fs::read_to_string(log(&program)).unwrap().contains("and stay as they were"));
    drop(service);
    fs::write(&settings, "").unwrap();
    let output = program.run(&["agent", "--", "--wyh-run"]).unwrap();
    assert!(output.code == Some(43) && output.stderr.contains("the options of runs are invalid"), "{}", output.text());
}

/// The status while the settings cannot be read: from a file of settings of its own.
fn status_of_broken(program: &Program) -> Value {
    let other = program.configuration().join("other.toml");
    fs::write(&other, "").unwrap();
    let output = program.run(&["agent", "status", "-F", "json", "--config", &other.display().to_string()]).unwrap();
    serde_json::from_str(&output.stdout).unwrap()
}

#[test]
fn an_end_is_passed_on_and_a_lock_is_nobodys_fault() {
    let program = Program::new().unwrap();
    let state = StateDirectory::open(&program.state()).unwrap();
    let request = LockRequest {
        command: "a person's run",
        began: SystemTime::now(),
        wait: Duration::ZERO,
        interrupted: &|| false,
        waiting: &mut |_| {},
    };
    let lock = state.lock(request).unwrap();
    let impatient = Service::start(&program, &["--splay", "0s"], &["--lock-timeout", "0"]);
    impatient.hear("STATUS=the run did not begin: another run was under way");
    let known = status(&program)["status"].clone();
    assert_eq!(known["failures"], 0);
    let (holder, blocked) = (&known["last"]["holder"], &known["blocked"]["holder"]);
    assert!(holder == blocked && holder.as_str().unwrap().contains("(`a person's run`), since "), "{known}");
    drop(impatient);
    let before = fs::read_to_string(log(&program)).unwrap().len();
    // This run waits for the lock, until the agent passes the signal on.
    let service = Service::start(&program, &["--splay", "0s"], &["--lock-timeout", "3600"]);
    service.hear("STATUS=a run is under way");
    while !fs::read_to_string(log(&program)).unwrap()[before..].contains("a person's run") {
        std::thread::yield_now();
    }
    assert_eq!(status(&program)["status"]["doing"], "running");
    let end = service.end(Signal::SIGTERM);
    assert_eq!(end.code(), Some(0));
    let last = status(&program)["status"]["last"].clone();
    assert_eq!((&last["verdict"], &last["exit_code"]), (&"interrupted".into(), &3.into()));
    drop(lock);
}

/// What happens in one tick.
#[derive(Clone, Copy)]
enum Tick {
    Good,
    /// A person's run holds the lock, and the agent's run does not wait.
    Busy,
    /// The run is killed while it waits for the lock.
    Killed,
    /// The settings are wrong.
    Failed,
}

/// The process of the agent's run.
fn child_of(agent: u32) -> Option<Pid> {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let is_child = |number: &i32| {
        let status = fs::read_to_string(format!("/proc/{number}/status")).unwrap_or_default();
        status.lines().any(|line| line.strip_prefix("PPid:").is_some_and(|parent| parent.trim() == agent.to_string()))
    };
    numbers.filter(is_child).map(Pid::from_raw).next()
}

/// The program's own weeks; `host/agent/tests/weeks.rs` has as many runs as a week and a half by a fast clock.
#[test]
fn failures_locks_and_kills_leave_nothing_in_the_agent() {
    const ROUNDS: [Tick; 6] = [Tick::Good, Tick::Busy, Tick::Good, Tick::Killed, Tick::Failed, Tick::Good];
    let program = Program::new().unwrap();
    let settings = program.configuration().join("wrun.toml");
    let state = StateDirectory::open(&program.state()).unwrap();
    let lock = || {
        let (began, wait) = (SystemTime::now(), Duration::from_secs(60));
        let (interrupted, waiting) = (&|| false, &mut |_: Option<&state::Holder>| {});
        state.lock(LockRequest { command: "a person's run", began, wait, interrupted, waiting }).unwrap()
    };
    let waits = || fs::read_to_string(log(&program)).unwrap().matches("a person's run").count();
    let service = Service::start(&program, &["--interval", "1h", "--splay", "0s"], &[]);
    service.hear("STATUS=the run succeeded");
    let mut tenth = None;
    for number in 0..60 {
        let tick = ROUNDS[number % ROUNDS.len()];
        let (text, told) = match tick {
            Tick::Good => ("", "STATUS=the run succeeded"),
            Tick::Busy => ("lock_timeout = 0\n", "STATUS=the run did not begin: another run was under way"),
            Tick::Killed => ("lock_timeout = 3600\n", "STATUS=the run "),
            Tick::Failed => ("lock_timeout = \"x\"\n", "STATUS=the run failed (exit code 43)"),
        };
        fs::write(&settings, text).unwrap();
        let held = matches!(tick, Tick::Busy | Tick::Killed).then(lock);
        let before = waits();
        service.signal(Signal::SIGUSR1);
        if matches!(tick, Tick::Killed) {
            while waits() == before {
                std::thread::yield_now();
            }
            kill(child_of(service.agent.id()).unwrap(), Signal::SIGKILL).unwrap();
        }
        service.hear(told);
        drop(held);
        if matches!(tick, Tick::Killed) {
            assert_eq!(status_of_broken(&program)["status"]["last"]["signal"], 9);
        }
        if number == 9 {
            tenth = Some(service.holds());
        }
    }
    let ((memory, open), (later, open_later)) = (tenth.unwrap(), service.holds());
    assert!(open_later == open && later < memory + 256, "{memory} then {later} KiB, {open} then {open_later} files");
    assert!(later < MEMORY_AT_REST, "{later} KiB");
    assert_eq!(service.end(Signal::SIGTERM).code(), Some(0));
}

#[test]
fn a_pause_outlives_the_agent_and_is_in_every_report() {
    let program = Program::new().unwrap();
    let (code, said) = says(&program, &["pause", "--for", "2h", "--because", ""]);
    assert!(code == 43 && said.contains("a pause needs a reason"), "{said}");
    let (code, said) = says(&program, &["pause", "--for", "2h", "--because", "the disk is being replaced"]);
    assert!(code == 0 && said.contains("paused until ") && said.contains(": the disk is being replaced"), "{said}");
    for _ in 0..2 {
        let service = Service::start(&program, &["--splay", "0s"], &[]);
        service.hear("STATUS=paused until ");
        let (code, said) = says(&program, &["run-now"]);
        assert!(code == 43 && said.contains("the disk is being replaced") && said.contains("agent resume"), "{said}");
        let (_, said) = says(&program, &["status"]);
        assert!(said.contains("The next run begins when the pause has ended"), "{said}");
        drop(service);
    }
    let root = program.configuration().join("root").display().to_string();
    let policies = fixtures().display().to_string();
    let fixed = ["converge", "-N", "n1", "--allow-all", "--policy-name", "empty", "--root", &root];
    let run = |more: &[&str]| program.run(&[&fixed[..], &["--policies", &policies], more].concat()).unwrap();
    let shown = run(&[]).expect_code(0).unwrap();
    assert!(shown.stdout.contains("The agent is paused until"), "{}", shown.text());
    let json: Value = serde_json::from_str(&run(&["-F", "json"]).stdout).unwrap();
    assert_eq!(json["paused"]["because"], "the disk is being replaced");
    let skipped = run(&["--unless-paused"]).expect_code(0).unwrap();
    assert!(skipped.stdout.is_empty() && skipped.stderr.contains("No run is made"), "{}", skipped.text());
    let json: Value = serde_json::from_str(&run(&["--unless-paused", "-F", "json"]).stdout).unwrap();
    assert_eq!(json["outcome"], "paused");
    let (code, said) = says(&program, &["resume"]);
    assert!(code == 0 && said.contains("ended: paused until"), "{said}");
    let service = Service::start(&program, &["--splay", "0s"], &[]);
    service.hear("STATUS=the run succeeded");
    let json: Value = serde_json::from_str(&run(&["-F", "json"]).stdout).unwrap();
    assert_eq!(json["paused"], Value::Null);
}

#[test]
fn runs_that_would_do_the_same_are_left_out_unless_somebody_asks() {
    let program = Program::new().unwrap();
    let started = || {
        let service = Service::start(&program, &["--splay", "0s", "--skip-unchanged", "4h"], &[]);
        service.hear("STATUS=the run ");
        (service, status(&program)["status"]["last"].clone())
    };
    let (first, last) = started();
    assert_eq!(last["skipped"], Value::Null);
    drop(first);
    let (second, again) = started();
    assert_eq!(again["skipped"], last["run_id"]);
    let (_, said) = says(&program, &["status"]);
    assert!(said.contains("had nothing to do: nothing has changed since run "), "{said}");
    second.signal(Signal::SIGUSR1);
    second.hear("STATUS=the run succeeded");
    assert_eq!(status(&program)["status"]["last"]["skipped"], Value::Null);
}

/// The units of the package, with the program where the tests have it.
#[test]
fn systemd_finds_nothing_wrong_with_the_units() {
    let program = Program::new().unwrap();
    let units = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../packaging/systemd");
    let mut files = Vec::new();
    for entry in fs::read_dir(units).unwrap() {
        let unit = entry.unwrap().path();
        let text = fs::read_to_string(&unit).unwrap();
        let file = program.configuration().join(unit.file_name().unwrap());
        fs::write(&file, text.replace("/usr/bin/wrun", &program.executable().display().to_string())).unwrap();
        files.push(file);
    }
    assert_eq!(files.len(), 3);
    let output = Command::new("systemd-analyze").args(["verify", "--man=no"]).args(&files).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.is_empty(), "{said}");
    // The commands of the units are commands of the program.
    for words in [&["agent", "--help"][..], &["converge", "--unless-paused", "--help"]] {
        let _ = program.run(words).unwrap().expect_code(0).unwrap();
    }
}
