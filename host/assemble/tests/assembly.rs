//! Whole runs without a command line: made ready, carried out and recorded by the library alone.
//!
//! The policy's artifact is damaged, which is the policy's failure and not the run's: every step is taken.

#![cfg(test)]

use assemble::{Assembly, DueNotifications, EndedRun, GrantsSource, Mode, Notice, Program, Request, Settings};
use contract::{Event, Meters, Observer, Stop, StopReason};
use converge::PolicyOutcome;
use serde_json::json;
use state::StateDirectory;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

/// Follows nothing.
struct Nobody;

impl DueNotifications for Nobody {
    fn due(&self, _: &str, _: &str, _: &str) {}
    fn done(&self, _: &str, _: &str, _: &str) {}
}

/// Keeps the names of the events that it hears.
#[derive(Clone, Default)]
struct Heard(Arc<Mutex<Vec<&'static str>>>);

impl Observer for Heard {
    fn notice(&mut self, event: &Event<'_>) {
        let name = match event {
            Event::RunStarted { .. } => "started",
            Event::PolicyFailed { .. } => "failed",
            Event::RunFinished { .. } => "finished",
            _ => return,
        };
        self.0.lock().unwrap().push(name);
    }
}

/// A node in a temporary folder, with one policy whose artifact is damaged.
struct Node {
    folder: tempfile::TempDir,
    settings: Settings,
    program: Program,
    notices: Arc<Mutex<Vec<Notice>>>,
    stop: Stop,
}

impl Node {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir(at("policies")).unwrap();
        std::fs::create_dir(at("root")).unwrap();
        std::fs::write(at("policies/web.wasm"), "not a component").unwrap();
        std::fs::write(at("facts.json"), json!({ "fqdn": "n.example", "platform": "debian" }).to_string()).unwrap();
        let settings = Settings {
            policies: at("policies"),
            root: at("root"),
            state_dir: at("state"),
            backup_dir: at("backup"),
            cache_dir: at("cache"),
            grants: at("grants.toml"),
            min_free: 0,
            ..Settings::default()
        };
        let program = Program {
            path: "/bin/false".into(),
            command_line: "a test".to_owned(),
            environment: vec![],
            meters: Meters::default(),
        };
        Self { folder, settings, program, notices: Arc::default(), stop: Stop::default() }
    }

    fn request(&self, mode: Mode) -> Request {
        let facts = Some(self.folder.path().join("facts.json"));
        Request { policies: vec!["web".to_owned()], facts, mode, ..Request::default() }
    }

    fn assembly<'a>(&'a self, request: &'a Request) -> Assembly<'a> {
        let notices = Arc::clone(&self.notices);
        Assembly {
            request,
            settings: &self.settings,
            program: &self.program,
            stop: &self.stop,
            notify: Arc::new(move |notice| notices.lock().unwrap().push(notice)),
            began: SystemTime::now(),
        }
    }

    fn run<'a>(&'a self, request: &'a Request, heard: &Heard) -> EndedRun<'a> {
        let ready = self.assembly(request).make_ready(Box::new(Nobody)).unwrap().unwrap();
        ready.open(vec![Box::new(heard.clone())], false).unwrap().carry_out()
    }

    fn has(&self, name: &str) -> bool {
        self.folder.path().join(name).exists()
    }
}

#[test]
fn a_dry_run_tells_watchers_and_changes_nothing() {
    let node = Node::new();
    let (request, heard) = (node.request(Mode::WhyRun), Heard::default());
    let ended = node.run(&request, &heard);
    assert_eq!(*heard.0.lock().unwrap(), ["started", "failed", "finished"]);
    assert!(ended.report.why_run);
    let [policy] = ended.report.policies.as_slice() else { panic!("{:?}", ended.report.policies) };
    let PolicyOutcome::Failed(failure) = &policy.outcome else { panic!("{:?}", policy.outcome) };
    assert_eq!(failure.class(), "Wrun::PolicyNotStarted");
    let notices = node.notices.lock().unwrap();
    let [Notice::NoGrants { file, is_of_folders: false }, Notice::Refused { policy, .. }] = notices.as_slice() else {
        panic!("{notices:?}")
    };
    assert_eq!((file, policy.as_str()), (&node.settings.grants, "web"));
    for made in ["state", "backup"] {
        assert!(!node.has(made), "{made}");
    }
    // Native code is kept for the next run.
    let kept = std::fs::read_dir(node.folder.path().join("cache")).unwrap();
    assert!(kept.flatten().all(|entry| entry.file_name() == "native-v2"));
}

#[test]
fn a_real_run_holds_the_lock_until_it_is_recorded() {
    let node = Node::new();
    let request = node.request(Mode::Real);
    let mut ended = node.run(&request, &Heard::default());
    assert!(!ended.report.why_run && node.has("state") && node.has("backup") && node.has("cache"));

    // A second run that is asked to stop waits for the first one no longer.
    let second = Node { stop: Stop::default(), notices: Arc::default(), ..Node::new() };
    let second = Node { settings: node.settings.clone(), ..second };
    second.stop.request(StopReason::Signal(15));
    let wanted = node.request(Mode::Real);
    let error = second.assembly(&wanted).make_ready(Box::new(Nobody)).err().unwrap();
    assert!(error.is_interrupted(), "{error}");
    let waits =
        |notice: &Notice| matches!(notice, Notice::Waiting { holder: Some(holder) } if holder.command == "a test");
    assert!(second.notices.lock().unwrap().iter().any(waits));

    ended.ending.record(&json!({ "outcome": "failure" }), Some(&json!({ "class": "E" }))).unwrap();
    let state = StateDirectory::open_existing(&node.settings.state_dir).unwrap().unwrap();
    let runs = state.runs().unwrap();
    let [id] = runs.as_slice() else { panic!("{runs:?}") };
    assert_eq!(id.to_string(), ended.report.run_id);
    assert_eq!(state.record(id).unwrap().unwrap()["outcome"], "failure");
    // Recorded, it holds the lock no longer.
    assert!(node.assembly(&request).make_ready(Box::new(Nobody)).unwrap().is_some());
}

#[test]
fn wrong_input_is_an_error_before_anything_is_made() {
    let node = Node::new();
    let refused = |request: &Request| {
        let error = node.assembly(request).make_ready(Box::new(Nobody)).err().unwrap();
        assert!(!node.has("state"), "{error}");
        text::error_chain(&error)
    };
    let real = || node.request(Mode::Real);
    assert!(refused(&Request { policies: vec![], ..real() }).starts_with("which policies? "));
    let twice = Request { policies: vec!["web".into(), "db".into(), "web".into()], ..real() };
    assert_eq!(refused(&twice), "policy web is named twice, the second time as number 3");
    let unknown = refused(&Request { policies: vec!["mail".into()], ..real() });
    assert!(unknown.starts_with("there is no policy \"mail\" in "), "{unknown}");
    let named = refused(&Request { grants: GrantsSource::NamedFile, ..real() });
    assert_eq!(
        named,
        format!(
            "the grants file {} does not exist: there is no {} in {}; `wrun grants suggest --write FILE` makes one",
            node.settings.grants.display(),
            node.settings.grants.file_name().unwrap().display(),
            node.settings.grants.parent().unwrap().display()
        )
    );
    let list = refused(&Request { override_run_lists: vec!["db=recipe[a]".into()], ..real() });
    assert_eq!(list, "--override-runlist db=recipe[a]: there is no policy db in this run (web)");
    std::fs::write(node.folder.path().join("node.json"), "{\n  oops").unwrap();
    let attributes = Some(node.folder.path().join("node.json"));
    let json = refused(&Request { json_attributes: attributes, ..real() });
    assert!(json.contains("/node.json:2: "), "{json}");
}

#[test]
fn the_mask_of_a_runs_thread_is_its_own() {
    let mask = || {
        let status = std::fs::read_to_string(Path::new("/proc/thread-self/status")).unwrap();
        status.lines().find_map(|line| Some(line.strip_prefix("Umask:")?.trim().to_owned())).unwrap()
    };
    let before = mask();
    let inside = assemble::spawn(move || {
        let first = mask();
        rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o027));
        (first, mask())
    });
    let inside = inside.unwrap().join().unwrap();
    assert_eq!(inside, ("0022".to_owned(), "0027".to_owned()));
    assert_eq!(mask(), before);
}

#[test]
fn of_many_runs_with_one_beginning_the_number_is_told() {
    let ambiguous =
        |more| assemble::RecordsError::Ambiguous { wanted: "2026".into(), ids: vec!["20260101".into()], more };
    assert_eq!(ambiguous(0).to_string(), "several runs begin with \"2026\"; say which: 20260101");
    let expect = "several runs begin with \"2026\"; say which: 20260101 and 10 more; `wrun run list` lists them";
    assert_eq!(ambiguous(10).to_string(), expect);
}
