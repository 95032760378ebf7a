//! Deliveries to files, and to a small server on the loopback.

use super::*;
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::SystemTime;

/// A state directory, and a folder `log` that does not exist yet.
struct Bench {
    folder: tempfile::TempDir,
    settings: Settings,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let settings = Settings { state_dir: folder.path().join("state"), min_free: 0, ..Settings::default() };
        Self { folder, settings }
    }

    fn log(&self) -> PathBuf {
        self.folder.path().join("log")
    }

    fn to_file(&self) -> Destination {
        destination(Place::File(self.log().join("runs.ndjson")))
    }

    /// The reports in the file.
    fn lines(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.log().join("runs.ndjson")).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Delivers the report of a new run, and returns its name and the warnings.
    fn deliver(&self, destinations: &[Destination], resources: usize) -> (RunId, Vec<String>) {
        let run = new_run();
        let warnings = deliver(destinations, &self.settings, &run, false, &report(&run, resources));
        (run, warnings)
    }

    fn queue(&self, destination: &Destination) -> Outbox {
        destination.outbox(&self.settings).unwrap()
    }
}

fn destination(place: Place) -> Destination {
    Destination { place, time: Duration::from_secs(30), queue: 1 << 20, dry_runs: false }
}

/// A run that began after all earlier ones, and before now.
fn new_run() -> RunId {
    static SECONDS: AtomicU64 = AtomicU64::new(0);
    let later = Duration::from_secs(SECONDS.fetch_add(1, Ordering::Relaxed));
    RunId::new(SystemTime::now() - Duration::from_secs(24 * 3600) + later).unwrap()
}

/// A report with so many resources, of a thousand bytes each.
fn report(run: &RunId, resources: usize) -> Value {
    let resource = json!({ "name": "x".repeat(990) });
    json!({ "run_id": run.as_str(), "denials": [{ "policy": "p" }], "resources": vec![resource; resources] })
}

/// Starts a server that takes reports of at most so many bytes. Where it is asked first, it ends the connection without
/// reading a larger one. Each request is told with its number of bytes, and as JSON if it was taken.
fn collector(limit: usize) -> (Destination, Receiver<(usize, Value)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/runs?key=secret", listener.local_addr().unwrap());
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            if sender.send(answer(&stream.unwrap(), limit)).is_err() {
                return;
            }
        }
    });
    (destination(Place::Address { url, token_file: None }), receiver)
}

fn answer(mut stream: &TcpStream, limit: usize) -> (usize, Value) {
    let mut reader = BufReader::new(stream);
    let (mut length, mut asks) = (0, false);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        let line = line.trim_end().to_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(text) = line.strip_prefix("content-length: ") {
            length = text.parse().unwrap();
        }
        asks |= line == "expect: 100-continue";
    }
    let mut body = vec![0; length];
    let fits = length <= limit;
    if asks && fits {
        stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").unwrap();
    }
    if fits || !asks {
        reader.read_exact(&mut body).unwrap();
    }
    let status = if fits { 200 } else { 413 };
    let head = format!("HTTP/1.1 {status} Answer\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    (length, if fits { serde_json::from_slice(&body).unwrap() } else { Value::Null })
}

#[test]
fn a_report_that_is_too_large_for_its_server_arrives_reduced() {
    // A server is asked first whether it takes more than a mebibyte.
    for resources in [50, 1_100] {
        let bench = Bench::new();
        let (destination, requests) = collector(20_000);
        let (run, warnings) = bench.deliver(std::slice::from_ref(&destination), resources);
        let [warning] = warnings.as_slice() else { panic!("{warnings:?}") };
        assert!(
            warning.contains("does not take the whole report of run ") && warning.contains("(status 413)"),
            "{warning}"
        );
        assert!(warning.contains("/runs?..") && !warning.contains("secret"), "{warning}");
        let (bytes, refused) = requests.recv().unwrap();
        assert!(bytes > resources * 1_000 && refused.is_null());
        let (_, taken) = requests.recv().unwrap();
        let expected = json!({
            "run_id": run.as_str(),
            "denials": [{ "policy": "p" }],
            "resources": [],
            "resources_left_out": resources,
            "reduced": true,
        });
        assert_eq!(taken, expected);
        assert!(bench.queue(&destination).waiting().unwrap().is_empty());
        // It holds up nobody.
        assert_eq!(bench.deliver(std::slice::from_ref(&destination), 1).1, [""; 0]);
        assert_eq!(requests.recv().unwrap().1["resources"].as_array().unwrap().len(), 1);
    }
}

#[test]
fn a_report_that_its_server_never_takes_is_dropped() {
    let bench = Bench::new();
    let (destination, _requests) = collector(10);
    let (_, warnings) = bench.deliver(std::slice::from_ref(&destination), 1);
    assert!(warnings.len() == 1 && warnings[0].contains("was dropped") && warnings[0].contains("413"), "{warnings:?}");
    assert!(bench.queue(&destination).waiting().unwrap().is_empty());
}

#[test]
fn a_report_that_cannot_wait_is_sent_all_the_same() {
    let mut bench = Bench::new();
    let destinations = [bench.to_file()];
    let (first, warnings) = bench.deliver(&destinations, 1);
    assert!(warnings.len() == 1 && warnings[0].starts_with("1 report waits for "), "{warnings:?}");
    // From now on the disk has too little space that is free.
    bench.settings.min_free = u64::MAX;
    let (_, warnings) = bench.deliver(&destinations, 1);
    let [waits, lost] = warnings.as_slice() else { panic!("{warnings:?}") };
    assert!(waits.starts_with("1 report waits for "), "{waits}");
    assert!(lost.contains(" is lost: it was not taken (") && lost.contains("`min_free_mib`"), "{lost}");
    fs::create_dir(bench.log()).unwrap();
    let (last, warnings) = bench.deliver(&destinations, 1);
    assert_eq!(warnings, [""; 0]);
    assert_eq!(bench.lines(), [report(&first, 1), report(&last, 1)], "what waited comes first");
    assert!(bench.queue(&destinations[0]).waiting().unwrap().is_empty());
}

#[test]
fn a_large_report_waits_in_its_reduced_form_and_is_sent_whole() {
    let bench = Bench::new();
    let destinations = [bench.to_file()];
    // The queue has a mebibyte.
    let (large, _) = bench.deliver(&destinations, 200);
    let (small, _) = bench.deliver(&destinations, 100);
    fs::create_dir(bench.log()).unwrap();
    let (last, warnings) = bench.deliver(&destinations, 200);
    assert_eq!(warnings, [""; 0]);
    let lines = bench.lines();
    assert_eq!(
        (&lines[0]["run_id"], &lines[0]["reduced"], &lines[0]["resources_left_out"]),
        (&json!(large.as_str()), &json!(true), &json!(200))
    );
    assert_eq!(lines[1..], [report(&small, 100), report(&last, 200)]);
}

#[test]
fn an_unreadable_report_holds_up_no_other() {
    let bench = Bench::new();
    fs::create_dir(bench.log()).unwrap();
    let destinations = [bench.to_file()];
    let queue = bench.queue(&destinations[0]);
    let damaged = new_run();
    queue.put(&damaged, b"{\"half\":", "there").unwrap();
    let (run, warnings) = bench.deliver(&destinations, 1);
    assert!(
        warnings.len() == 1
            && warnings[0].starts_with(&format!("the report of run {damaged} for "))
            && warnings[0].contains("cannot be read")
            && warnings[0].contains(".damaged-"),
        "{warnings:?}"
    );
    assert_eq!(bench.lines(), [report(&run, 1)]);
    assert_eq!(bench.deliver(&destinations, 1).1, [""; 0], "it is told once");
}

#[test]
fn what_is_kept_is_sent_by_the_next_run() {
    let bench = Bench::new();
    fs::create_dir(bench.log()).unwrap();
    let destinations = [bench.to_file()];
    let ended = new_run();
    let keep = |is_dry| Destination::keep(&destinations, &bench.settings, &ended, is_dry, &report(&ended, 1));
    assert_eq!(keep(true), [""; 0], "the destination does not hear of dry runs");
    assert!(!bench.settings.state_dir.exists());
    assert_eq!(keep(false), [""; 0]);
    assert!(!bench.log().join("runs.ndjson").exists());
    let (next, warnings) = bench.deliver(&destinations, 1);
    assert_eq!(warnings, [""; 0]);
    assert_eq!(bench.lines(), [report(&ended, 1), report(&next, 1)]);
    // A run that was kept and is delivered is sent once.
    let both = new_run();
    let report = report(&both, 2);
    assert_eq!(Destination::keep(&destinations, &bench.settings, &both, false, &report), [""; 0]);
    assert_eq!(deliver(&destinations, &bench.settings, &both, false, &report), [""; 0]);
    assert_eq!(bench.lines().len(), 3);
}

#[test]
fn a_queue_without_a_destination_is_told_and_its_old_reports_go() {
    let bench = Bench::new();
    let old = bench.to_file();
    let (_, warnings) = bench.deliver(std::slice::from_ref(&old), 1);
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    let ancient = RunId::new(SystemTime::now() - Duration::from_secs(31 * 24 * 3600)).unwrap();
    bench.queue(&old).put(&ancient, b"{}\n", &old.place.shown()).unwrap();
    let (new, _requests) = collector(1 << 20);
    let said = |is_dry| deliver(std::slice::from_ref(&new), &bench.settings, &new_run(), is_dry, &json!({}));
    assert_eq!(said(true), [""; 0], "a dry run changes nothing");
    let warnings = said(false);
    let [removed, waits] = warnings.as_slice() else { panic!("{warnings:?}") };
    let place = old.place.shown();
    assert!(removed.starts_with(&format!("removed 1 report for {place}, older than 30 days")), "{removed}");
    let queue = bench.queue(&old).path();
    assert!(waits.starts_with(&format!("1 report waits for {place}, which no `[[report]]`")), "{waits}");
    assert!(waits.ends_with(&format!("drop it with `rm -r {}`", queue.display())), "{waits}");
    // All destinations are gone.
    assert_eq!(deliver(&[], &bench.settings, &new_run(), false, &json!({})).len(), 1);
    fs::remove_dir_all(queue).unwrap();
    assert_eq!(said(false), [""; 0]);
}

/// A user who owns the folder of the logs must not choose a file that root writes to.
#[test]
fn a_file_in_somebody_elses_folder_is_not_written_to() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let bench = Bench::new();
    fs::create_dir(bench.log()).unwrap();
    let victim = bench.folder.path().join("victim");
    fs::write(&victim, "victim\n").unwrap();
    std::os::unix::fs::symlink(&victim, bench.log().join("runs.ndjson")).unwrap();
    std::os::unix::fs::chown(bench.log(), Some(65534), None).unwrap();
    let (_, warnings) = bench.deliver(&[bench.to_file()], 1);
    assert!(warnings.len() == 1 && warnings[0].contains("/log belongs to user 65534"), "{warnings:?}");
    assert_eq!(fs::read_to_string(Path::new(&victim)).unwrap(), "victim\n");
}
