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

/// The files below a folder, by their path in it, with their bytes.
fn files_below(top: &Path) -> Vec<(String, u64)> {
    let mut found = vec![];
    let mut folders = vec![top.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().map(Result::unwrap) {
            let (path, about) = (entry.path(), entry.metadata().unwrap());
            if about.is_dir() {
                folders.push(path);
            } else {
                found.push((path.strip_prefix(top).unwrap().display().to_string(), about.len()));
            }
        }
    }
    found
}

/// Backup: `backup 1` is one copy of each path, and a policy may think of as many paths as it likes, in each run others.
#[test]
fn backup() {
    const MOST: u64 = 300_000;
    let bench = Bench::new("").unlimited();
    let below = bench.directory.path().join("backup");
    for number in 0..12 {
        // A run of its own each: what earlier ones left counts.
        let settings = Settings { backups_size: MOST, ..bench.settings(false) };
        let mut providers = MachineProviders::new(Arc::new(settings)).unwrap();
        let (folder, path) = (format!("/etc/{number}"), format!("/etc/{number}/file"));
        run(&mut providers, &bench.declaration("directory", &folder, json!({})), "create", false).unwrap();
        let content = json!({ "content": "x".repeat(40_000), "backup": 1 });
        run(&mut providers, &bench.declaration("file", &path, content), "create", false).unwrap();
        let delete = bench.declaration("file", &path, json!({ "backup": 1 }));
        run(&mut providers, &delete, "delete", false).unwrap();
        let copies = files_below(&below);
        assert!(copies.iter().map(|(_, bytes)| bytes).sum::<u64>() <= MOST, "{copies:?}");
        let newest = format!("etc/{number}/file.chef-");
        assert!(copies.iter().any(|(path, _)| path.starts_with(&newest)), "{copies:?}");
    }
    let copies = files_below(&below);
    assert!((3..7).contains(&copies.len()), "{copies:?}");
    assert!(copies.iter().all(|(path, _)| !path.starts_with("etc/0/")), "the oldest have gone: {copies:?}");
    let folders = std::fs::read_dir(below.join("etc")).unwrap().count();
    assert_eq!(folders, copies.len(), "no empty folder is left");
    // A file that is larger than all may be is still kept: its change must be possible to take back.
    let settings = Settings { backups_size: 1, ..bench.settings(false) };
    let mut providers = MachineProviders::new(Arc::new(settings)).unwrap();
    for content in ["one", "two"] {
        let file = bench.declaration("file", "/etc/one", json!({ "content": content }));
        run(&mut providers, &file, "create", false).unwrap();
    }
    assert_eq!(files_below(&below).iter().map(|(_, bytes)| *bytes).collect::<Vec<_>>(), [3]);
}

/// Download-notes: a policy may download from as many addresses as it likes, and of each a note was kept for good.
#[test]
fn download_notes() {
    let bench = Bench::new("").unlimited();
    let notes = bench.directory.path().join("cache/remote_file");
    std::fs::create_dir_all(&notes).unwrap();
    for number in 0..2_500 {
        let note = std::fs::File::create(notes.join(format!("old-{number:04}.json"))).unwrap();
        note.set_modified(std::time::UNIX_EPOCH + std::time::Duration::from_secs(number)).unwrap();
    }
    let server = crate::server::Server::start(|_| b"200 OK\r\netag: \"x\"\r\n\r\n0123456789".to_vec());
    bench.run("remote_file", "/etc/file", "create", json!({ "source": server.url("/x") })).unwrap();
    let left = files_below(&notes);
    assert!(left.len() <= 2_048, "{} notes of 8 KiB in 16 MiB", left.len());
    assert!(!left.iter().any(|(name, _)| name == "old-0000.json"), "the oldest go first");
    assert!(left.iter().any(|(name, _)| name == "old-2499.json"));
    assert!(left.iter().any(|(name, _)| !name.starts_with("old-")), "the new one stays");
}
