//! Someone who owns a directory swaps it for a link, over and over, while resources are managed below it.

use super::support::{Machine, resource};
use serde_json::json;
use std::os::unix::fs::symlink;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How long each race goes on.
const RACE: Duration = Duration::from_secs(2);

#[test]
fn nothing_outside_the_grant_changes() {
    let mut machine = Machine::granted("paths = [\"/srv/**\"]");
    std::fs::create_dir(machine.at("/srv/app")).unwrap();
    std::fs::create_dir(machine.at("/etc/app")).unwrap();
    for name in ["config", "old"] {
        machine.write(&format!("/etc/app/{name}"), "theirs");
    }
    let before = std::fs::metadata(machine.at("/etc/app")).unwrap().modified().unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let swapper = std::thread::spawn({
        let stop = Arc::clone(&stop);
        let (app, aside, victim) = (machine.at("/srv/app"), machine.at("/srv/aside"), machine.at("/etc/app"));
        move || {
            let mut swaps = 0u32;
            while !stop.load(Ordering::Relaxed) {
                if std::fs::rename(&app, &aside).is_ok() {
                    let _ = symlink(&victim, &app);
                    std::thread::sleep(Duration::from_micros(swaps.into()).min(Duration::from_millis(1)));
                    let _ = std::fs::remove_file(&app);
                    let _ = std::fs::rename(&aside, &app);
                    swaps += 1;
                }
            }
            swaps
        }
    });
    let resources = [
        resource("file", "/srv/app/config", "create", json!({ "content": "mine", "mode": "0666", "owner": "web" })),
        resource("file", "/srv/app/config", "create", json!({ "content": "mine too", "mode": "0600" })),
        resource("directory", "/srv/app/new", "create", json!({ "mode": "0777" })),
        resource("directory", "/srv/app/new", "delete", json!({ "recursive": true })),
        resource("link", "/srv/app/link", "create", json!({ "to": "x" })),
        resource("link", "/srv/app/link", "delete", json!({})),
        resource("remote_directory", "/srv/app/site", "create", json!({ "source": "site", "purge": true })),
        resource("remote_directory", "/srv/app/site", "delete", json!({})),
        resource("file", "/srv/app/old", "delete", json!({})),
    ];
    let (mut done, mut refused) = (0u32, 0u32);
    let begun = Instant::now();
    while begun.elapsed() < RACE {
        for asked in &resources {
            match machine.run(asked) {
                Ok(_) => done += 1,
                Err(_) => refused += 1,
            }
        }
    }
    stop.store(true, Ordering::Relaxed);
    let swaps = swapper.join().unwrap();
    assert!(swaps > 10 && done > 10 && refused > 10, "{swaps} swaps, {done} done, {refused} refused");
    assert_eq!(machine.names("/etc/app"), ["config", "old"]);
    assert_eq!((machine.read("/etc/app/config"), machine.mode("/etc/app/config")), ("theirs".into(), 0o644));
    assert_eq!(machine.owner("/etc/app/config"), (0, 0));
    assert_eq!(std::fs::metadata(machine.at("/etc/app")).unwrap().modified().unwrap(), before);
}

/// A reader sees the whole old content or the whole new one, never less.
#[test]
fn a_file_is_its_old_or_its_new_self() {
    let mut machine = Machine::open();
    let content = |letter: char| letter.to_string().repeat(300_000);
    machine.write("/srv/file", &content('a'));
    let stop = Arc::new(AtomicBool::new(false));
    let reader = std::thread::spawn({
        let (stop, path) = (Arc::clone(&stop), machine.at("/srv/file"));
        move || {
            let mut seen = 0u32;
            while !stop.load(Ordering::Relaxed) {
                let text = std::fs::read(&path).unwrap();
                assert_eq!(text.len(), 300_000);
                assert!(text.iter().all(|byte| Some(byte) == text.first()));
                seen += 1;
            }
            seen
        }
    });
    let begun = Instant::now();
    for letter in ['b', 'c'].into_iter().cycle() {
        machine
            .run(&resource("file", "/srv/file", "create", json!({ "content": content(letter), "backup": 0 })))
            .unwrap();
        if begun.elapsed() > Duration::from_secs(1) {
            break;
        }
    }
    stop.store(true, Ordering::Relaxed);
    assert!(reader.join().unwrap() > 10);
}
