//! Someone who owns a directory swaps it for a link, over and over, while resources are managed below it.

use super::support::{Machine, resource};
use serde_json::json;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// How long the race goes on at least.
const RACE: Duration = Duration::from_secs(2);

/// How long it goes on at most, where the machine gives the two few turns.
const LONGEST: Duration = Duration::from_secs(900);

/// How often each of the things that can happen must have happened.
const ENOUGH: u32 = 20;

/// Swaps a directory and a link over and over, and stays a while, each time another, with the one and with the other.
struct Swapper {
    directory: PathBuf,
    aside: PathBuf,
    victim: PathBuf,
    swaps: AtomicU32,
    stop: AtomicBool,
}

impl Swapper {
    fn swap_until_stopped(&self) {
        let mut turn = 0u64;
        while !self.stop.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_micros(turn * 37 % 1009));
            turn += 1;
            if std::fs::rename(&self.directory, &self.aside).is_err() {
                continue;
            }
            let linked = symlink(&self.victim, &self.directory).is_ok();
            std::thread::sleep(Duration::from_micros(turn * 53 % 1013));
            if linked {
                std::fs::remove_file(&self.directory).unwrap();
                self.swaps.fetch_add(1, Ordering::Relaxed);
            }
            // A recursive action may have made the directory anew, and have filled it, in the meantime.
            while std::fs::rename(&self.aside, &self.directory).is_err() {
                let _being_filled = std::fs::remove_dir_all(&self.directory);
            }
        }
    }
}

#[test]
fn nothing_outside_the_grant_changes() {
    let mut machine = Machine::granted("paths = [\"/srv/**\"]");
    std::fs::create_dir(machine.at("/srv/app")).unwrap();
    std::fs::create_dir(machine.at("/etc/app")).unwrap();
    for name in ["config", "old"] {
        machine.write(&format!("/etc/app/{name}"), "theirs");
    }
    let paths = ["/etc/app", "/etc/app/config", "/etc/app/old"].map(|path| machine.at(path));
    let look = || paths.clone().map(|path| facts(&path));
    let before = look();
    let swapper = Arc::new(Swapper {
        directory: machine.at("/srv/app"),
        aside: machine.at("/srv/aside"),
        victim: machine.at("/etc/app"),
        swaps: AtomicU32::new(0),
        stop: AtomicBool::new(false),
    });
    let swapping = std::thread::spawn({
        let swapper = Arc::clone(&swapper);
        move || swapper.swap_until_stopped()
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
    let enough = |done: u32, refused: u32| done.min(refused).min(swapper.swaps.load(Ordering::Relaxed)) >= ENOUGH;
    while begun.elapsed() < RACE || (begun.elapsed() < LONGEST && !enough(done, refused)) {
        for asked in &resources {
            match machine.run(asked) {
                Ok(_) => done += 1,
                Err(_) => refused += 1,
            }
        }
    }
    swapper.stop.store(true, Ordering::Relaxed);
    swapping.join().unwrap();
    assert!(enough(done, refused), "{:?} swaps, {done} done, {refused} refused", swapper.swaps);
    assert_eq!(machine.names("/etc/app"), ["config", "old"]);
    assert_eq!(machine.read("/etc/app/config"), "theirs");
    assert_eq!(look(), before);
}

/// What must not change: mode, owner, and when it was last changed in any way.
fn facts(path: &Path) -> (u32, u32, u32, i64, i64) {
    let metadata = std::fs::symlink_metadata(path).unwrap();
    (metadata.mode(), metadata.uid(), metadata.gid(), metadata.ctime(), metadata.ctime_nsec())
}

/// A reader sees the whole old content or the whole new one, never less.
#[test]
fn a_file_is_its_old_or_its_new_self() {
    let mut machine = Machine::open();
    let content = |letter: char| letter.to_string().repeat(300_000);
    machine.write("/srv/file", &content('a'));
    let (stop, seen) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU32::new(0)));
    let reader = std::thread::spawn({
        let (stop, seen, path) = (Arc::clone(&stop), Arc::clone(&seen), machine.at("/srv/file"));
        move || {
            while !stop.load(Ordering::Relaxed) {
                let text = std::fs::read(&path).unwrap();
                assert_eq!(text.len(), 300_000);
                assert!(text.iter().all(|byte| Some(byte) == text.first()));
                seen.fetch_add(1, Ordering::Relaxed);
            }
        }
    });
    for (written, letter) in ['b', 'c'].into_iter().cycle().enumerate() {
        machine
            .run(&resource("file", "/srv/file", "create", json!({ "content": content(letter), "backup": 0 })))
            .unwrap();
        if reader.is_finished() || (written >= 100 && seen.load(Ordering::Relaxed) >= 100) {
            break;
        }
    }
    stop.store(true, Ordering::Relaxed);
    reader.join().unwrap();
}
