//! The throw-away roots themselves: what the other tests stand on.

use specs::{Answer, Kind, Network, Root, Server};

fn text(output: &std::process::Output) -> String {
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    format!("{stdout}{stderr}")
}

#[test]
fn a_fresh_root_is_debian_and_unchanged() {
    let root = Root::new().unwrap();
    assert!(root.read("etc/os-release").unwrap().contains("ID=debian"));
    assert!(root.changes().unwrap().is_empty());
    assert!(root.exists("usr/bin/dpkg"));
}

#[test]
fn what_is_written_in_one_root_is_seen_there_only_and_gone_with_it() {
    let (first, second) = (Root::new().unwrap(), Root::new().unwrap());
    first.write("/etc/motd", "hello\n").unwrap();
    std::fs::remove_file(first.at("etc/hostname").unwrap()).unwrap();
    assert_eq!(first.read("etc/motd").unwrap(), "hello\n");
    assert_ne!(second.read("etc/motd").unwrap_or_default(), "hello\n");
    let changes = first.changes().unwrap();
    let kinds: Vec<(&str, &Kind)> =
        changes.entries.iter().map(|(path, entry)| (path.to_str().unwrap(), &entry.kind)).collect();
    let written = Kind::Text("hello\n".to_owned());
    assert_eq!(kinds, [("etc", &Kind::Folder), ("etc/hostname", &Kind::Removed), ("etc/motd", &written)]);
    let path = first.path().to_owned();
    drop(first);
    assert!(!path.exists());
}

#[test]
fn paths_that_leave_the_root_are_refused() {
    let root = Root::new().unwrap();
    assert!(root.write("../outside", "").is_err());
    assert!(root.at("/etc/../../outside").is_err());
}

#[test]
fn processes_see_their_own_machine_only_and_live_as_long_as_it() {
    let root = Root::new().unwrap();
    let machine = root.machine(Network::Own).unwrap();
    let started = machine.run(&["sh", "-c", "sleep 1000 >/dev/null 2>&1 & echo $! >/run/sleep.pid"]).unwrap();
    assert!(started.status.success(), "{}", text(&started));
    let alive = ["sh", "-c", "kill -0 $(cat /run/sleep.pid) && ls /proc | grep -c '^[0-9]'"];
    let later = machine.run(&alive).unwrap();
    assert!(later.status.success(), "{}", text(&later));
    let processes: u32 = text(&later).trim().parse().unwrap();
    assert!(processes < 10, "the machine sees {processes} processes, so they are not its own");
    drop(machine);
    let next = root.machine(Network::Own).unwrap();
    // By its name: process numbers begin anew in each machine, and another process may have this one's.
    let (name, sleeps) = ("grep -qx sleep /proc/[0-9]*/comm", "(sleep 1000 >/dev/null 2>&1 &); sleep 0.1; ");
    assert!(!next.run(&["sh", "-c", name]).unwrap().status.success(), "the process has outlived its machine");
    let found = next.run(&["sh", "-c", &format!("{sleeps}{name}")]).unwrap();
    assert!(found.status.success(), "a process would be found: {}", text(&found));
}

#[test]
fn orphans_are_collected() {
    let root = Root::new().unwrap();
    let machine = root.machine(Network::Own).unwrap();
    // It is asked after for up to ten minutes: a busy machine takes its time.
    let orphan = "(sh -c 'echo $$ >/run/orphan.pid; exec sleep 0.1' &) >/dev/null 2>&1; \
                  for second in $(seq 600); do \
                    test -s /run/orphan.pid && ! kill -0 $(cat /run/orphan.pid) 2>/dev/null && exit 1; sleep 1; \
                  done";
    assert!(!machine.run(&["sh", "-c", orphan]).unwrap().status.success(), "a dead process still counts as alive");
}

#[test]
fn a_network_of_its_own_reaches_the_tests_server_and_nothing_else() {
    let root = Root::new().unwrap();
    let machine = root.machine(Network::Own).unwrap();
    let server = Server::start(&machine).unwrap();
    server.answer("/file", Answer::ok("content").with_entity_tag("\"1\""));
    // A minimal Debian has no HTTP client but apt's own, so the shell speaks for itself.
    let port = server.address("").rsplit(':').next().unwrap().to_owned();
    let script = format!(
        "exec 3<>/dev/tcp/127.0.0.1/{port}; printf 'GET /file HTTP/1.1\\r\\nIf-None-Match: \"2\"\\r\\n\\r\\n' >&3; cat <&3"
    );
    let answer = text(&machine.run(&["bash", "-c", &script]).unwrap());
    assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with("content"), "{answer}");
    let requests = server.requests();
    assert_eq!(requests.len(), 1);
    assert_eq!((requests[0].path.as_str(), requests[0].headers["if-none-match"].as_str()), ("/file", "\"2\""));
    let interfaces = text(&machine.run(&["cat", "/proc/net/dev"]).unwrap());
    assert_eq!(interfaces.lines().filter(|line| line.contains(':')).count(), 1, "{interfaces}");
}
