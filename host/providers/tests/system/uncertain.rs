//! Of every type: a dry run that is in doubt, and has no step, never says that nothing is to be done.

use crate::node::Node;
use contract::Status;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::net::SocketAddr;

/// A situation without a step: type, name, action, properties, what a dry run is to say.
type Situation = (&'static str, &'static str, &'static str, Value, Status);

/// What comes first in the same dry run, so that something is taken for granted.
const BEFORE: [(&str, &str, &str); 3] =
    [("file", "/srv/brought", "create"), ("directory", "/srv/made", "create"), ("apt_package", "brought", "install")];

/// Types that are sure of everything, or have a step wherever they are not.
const SURE: [&str; 21] = [
    "chef_sleep",
    "bash",
    "csh",
    "ksh",
    "perl",
    "python",
    "ruby",
    "script",
    "cron_d",
    "log",
    "notify_group",
    "ohai",
    "reboot",
    "remote_directory",
    "systemd_unit",
    // A gem travels with the policy, or is refused.
    "gem_package",
    "chef_gem",
    // What is missing would be mounted all the same.
    "mount",
    // An account that is not there is made up, so that there are sentences about it.
    "user",
    "linux_user",
    "group",
];

/// `gone` is an address that refuses connections.
fn situations(gone: SocketAddr) -> Vec<Situation> {
    let away = format!("http://{gone}/x");
    // A directory is in the way of a file, a file in that of a directory.
    vec![
        ("file", "/srv", "create", json!({"content": "x"}), Status::Updated),
        ("cookbook_file", "/srv", "create", json!({"source": "x"}), Status::Updated),
        ("template", "/srv/t", "create", json!({"source": "x", "content": null}), Status::Updated),
        ("remote_file", "/srv/r", "create", json!({"source": away}), Status::Unknown),
        ("directory", "/srv/made", "delete", json!({}), Status::Updated),
        ("link", "/srv/brought", "delete", json!({}), Status::Updated),
        ("execute", "x", "run", json!({"creates": "/srv/brought"}), Status::Unknown),
        ("package", "absent", "install", json!({}), Status::Unknown),
        ("apt_package", "absent", "install", json!({}), Status::Unknown),
        ("dpkg_package", "absent", "install", json!({"source": "/srv/absent.deb"}), Status::Updated),
        ("rpm_package", "absent", "install", json!({"source": "/srv/absent.rpm"}), Status::Updated),
        ("dnf_package", "absent", "install", json!({}), Status::Updated),
        ("yum_package", "absent", "install", json!({}), Status::Updated),
        ("service", "absent", "reload", json!({}), Status::Updated),
        ("archive_file", "/srv/brought", "extract", json!({"destination": "/srv/out"}), Status::Updated),
        ("cron", "job", "delete", json!({}), Status::Updated),
        ("git", "/srv/g", "sync", json!({"repository": format!("git://{gone}/x")}), Status::Updated),
        ("http_request", "x", "head", json!({"url": away}), Status::Unknown),
    ]
}

#[test]
fn no_doubt_without_a_step_is_up_to_date() {
    let node = Node::new();
    node.root.run(&["sh", "-c", "rm -rf /usr/bin/crontab /usr/bin/git /var/lib/apt/lists/*"]).unwrap();
    let mut node = node.dry();
    for (kind, name, action) in BEFORE {
        node.foresee(kind, name, action, json!({})).unwrap();
    }
    let mut tried: BTreeSet<&str> = SURE.into();
    let closed = specs::ClosedPort::new().unwrap();
    for (kind, name, action, properties, expect) in situations(closed.address().unwrap()) {
        tried.insert(kind);
        let foreseen = node.foresee(kind, name, action, properties);
        let foreseen = foreseen.unwrap_or_else(|raised| panic!("{kind}[{name}] {action}: {raised:?}"));
        let doubts = foreseen.assumed.len() + foreseen.unknown.len();
        assert!(doubts > 0 && foreseen.changes.is_empty(), "{kind}[{name}] {action}: {foreseen:?}");
        assert_eq!(foreseen.status, expect, "{kind}[{name}] {action}: {foreseen:?}");
    }
    let host = schema::builtin().filter(|one| matches!(one.implemented_by, schema::ImplementedBy::Host));
    // Composites are made of the others.
    let names = host.map(|one| one.name).filter(|kind| !schema::is_composite(kind));
    let forgotten: Vec<_> = names.filter(|kind| !tried.contains(kind)).collect();
    assert!(forgotten.is_empty(), "what do these say when they cannot look? {forgotten:?}");
}

/// Anybody may make names in `/tmp`: one that wrun needs there must not end the runs of others.
#[test]
fn attack_a_taken_name_in_tmp_hinders_nobody() {
    let verify = |node: &mut Node, command: &str| {
        node.foresee("file", "/srv/conf", "create", json!({"content": "new\n", "verify": [command]})).unwrap()
    };
    for squat in [
        "mkdir -p /tmp/.wrun-asked/conf",
        "mkdir /tmp/.wrun-asked; echo old >/tmp/.wrun-asked/conf; chown -R nobody /tmp/.wrun-asked",
        "ln -s /srv /tmp/.wrun-asked",
        "ln -s /nowhere /tmp/.wrun-asked",
        "touch /tmp/.wrun-asked",
        "true",
    ] {
        let node = Node::new();
        node.output(squat);
        let before = node.output("ls -lRa /tmp /srv");
        let mut node = node.dry();
        let foreseen = verify(&mut node, "grep -qx new %{path} && test $(ls -A $(dirname %{path})) = conf");
        assert_eq!((foreseen.changes.len(), foreseen.unknown), (2, vec![]), "{squat}");
        let foreseen = verify(&mut node, "grep -q old %{path}");
        assert!(format!("{foreseen:?}").contains("rejects the new content"), "{squat}: {foreseen:?}");
        assert_eq!(node.output("ls -lRa /tmp /srv"), before, "{squat}");
    }
}
