//! What resources ask of the run itself: that the node be started again, that facts be gathered anew.

use crate::support::{Bench, run};
use contract::{Providers as _, Stop, StopReason};
use providers::{MachineProviders, Reboots, Settings};
use serde_json::{Map, Value, json};
use std::path::Path;
use std::sync::Arc;

fn with_reboots(bench: &Bench, why_run: bool) -> (Settings, Reboots, Stop) {
    let settings = bench.settings(why_run);
    let (reboots, stop) = (settings.reboots.clone(), settings.stop.clone());
    (settings, reboots, stop)
}

fn act(settings: Settings, bench: &Bench, action: &str, properties: Value) -> Result<Vec<String>, contract::Raised> {
    let why_run = settings.why_run;
    let mut providers = MachineProviders::new(Arc::new(settings)).unwrap();
    let done = run(&mut providers, &bench.declaration("reboot", "later", properties), action, why_run)?;
    Ok(done.sentences().into_iter().map(str::to_owned).collect())
}

#[test]
fn a_start_is_requested_and_taken_back() {
    let bench = Bench::new("").unlimited();
    let (settings, reboots, stop) = with_reboots(&bench, false);
    let again = || Settings { reboots: reboots.clone(), stop: stop.clone(), ..bench.settings(false) };
    let done = act(settings, &bench, "request_reboot", json!({"delay_mins": 5, "reason": "kernel"})).unwrap();
    assert_eq!(done, ["request a system reboot to occur if the run succeeds"]);
    let all = reboots.all();
    assert!(
        matches!(all.as_slice(), [(policy, one)] if policy == "database" && one.minutes == 5 && one.reason == "kernel")
    );
    assert_eq!(stop.requested(), None);
    let done = act(again(), &bench, "cancel", json!({})).unwrap();
    assert_eq!(done, ["cancel any existing end-of-run reboot request"]);
    assert_eq!(reboots.carry_out(Path::new("/")), Ok(None));
    let done = act(again(), &bench, "reboot_now", json!({})).unwrap();
    assert_eq!(done, ["rebooting the system immediately"]);
    assert_eq!((reboots.all().len(), stop.requested()), (1, Some(StopReason::Reboot)));
    assert_eq!(reboots.carry_out(&bench.root), Ok(Some(false)), "an image is not started");
}

#[test]
fn a_dry_run_requests_nothing_and_a_policy_needs_the_right() {
    let bench = Bench::new("").unlimited();
    let (settings, reboots, stop) = with_reboots(&bench, true);
    assert_eq!(act(settings, &bench, "reboot_now", json!({})).unwrap(), ["rebooting the system immediately"]);
    assert_eq!((reboots.all().len(), stop.requested()), (0, None));
    let bench = Bench::new("commands = [\"reboot\"]");
    for action in ["request_reboot", "reboot_now"] {
        let (settings, reboots, _) = with_reboots(&bench, false);
        let raised = act(settings, &bench, action, json!({})).unwrap_err();
        assert_eq!(raised.class(), "Wrun::Denied");
        assert!(raised.hint.unwrap().contains("reboot = true") && reboots.all().is_empty());
    }
    let bench = Bench::new("reboot = true");
    let (settings, reboots, _) = with_reboots(&bench, false);
    act(settings, &bench, "request_reboot", json!({})).unwrap();
    assert_eq!(reboots.all().len(), 1);
}

#[test]
fn facts_are_gathered_anew() {
    let bench = Bench::new("").unlimited();
    let gather = |key: Option<&str>| match key {
        Some("broken") => Err("nobody knows".to_owned()),
        Some(key) => Ok(Map::from_iter([(key.to_owned(), json!(1))])),
        None => Ok(Map::from_iter([("etc".to_owned(), json!({})), ("os".to_owned(), json!("linux"))])),
    };
    let settings = Settings { facts: Some(Arc::new(gather)), ..bench.settings(false) };
    let mut providers = MachineProviders::new(Arc::new(settings)).unwrap();
    let mut reload = |properties: Value| {
        let done = run(&mut providers, &bench.declaration("ohai", "x", properties), "reload", false);
        (done, providers.gathered())
    };
    let (done, facts) = reload(json!({}));
    assert_eq!(done.unwrap().sentences(), ["re-run ohai and merge results into node attributes"]);
    assert_eq!(facts.map(Value::Object), Some(json!({"etc": {}, "os": "linux"})));
    let (_, facts) = reload(json!({"plugin": "etc"}));
    assert_eq!(facts.map(Value::Object), Some(json!({"etc": 1})));
    let (failed, facts) = reload(json!({"plugin": "broken"}));
    assert_eq!((failed.unwrap_err().message, facts), ("nobody knows".to_owned(), None));
}

#[test]
fn the_settings_limit_backups_and_downloads() {
    let bench = Bench::whole("").unlimited();
    let settings = |backups: usize, bytes: u64| {
        let downloads = machine::download::Downloads { bytes, ..machine::download::Downloads::default() };
        Settings { backups, downloads, ..bench.settings(false) }
    };
    let act = |settings: Settings, kind: &str, name: &str, properties: Value| {
        let mut providers = MachineProviders::new(Arc::new(settings)).unwrap();
        run(&mut providers, &bench.declaration(kind, name, properties), "create", false)
    };
    for content in ["one", "two", "three", "four"] {
        act(settings(1, 9), "file", "ROOT/kept", json!({"content": content})).unwrap();
        act(settings(1, 9), "file", "ROOT/more", json!({"content": content, "backup": 2})).unwrap();
        act(settings(0, 9), "file", "ROOT/none", json!({"content": content})).unwrap();
    }
    let backups = |name: &str| {
        let folder = bench.directory.path().join("backup").join(bench.root.strip_prefix("/").unwrap());
        let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|entry| entry.starts_with(&format!("{name}.chef-"))).count()
    };
    assert_eq!((backups("kept"), backups("more"), backups("none")), (1, 2, 0));
    let server = crate::server::Server::start(|_| b"200 OK\r\n\r\n0123456789".to_vec());
    let source = json!({"source": server.url("/x")});
    let raised = act(settings(1, 9), "remote_file", "ROOT/file", source.clone()).unwrap_err();
    assert_eq!(raised.class(), "Wrun::TooLarge");
    act(settings(1, 10), "remote_file", "ROOT/file", source).unwrap();
    assert_eq!(bench.read("file"), "0123456789");
}
