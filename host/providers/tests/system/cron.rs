//! `cron`: a crontab that is really read and written, by a `crontab` that is as Debian's is called.

use crate::node::Node;
use serde_json::json;

/// Keeps crontabs in `/srv/crontabs`; like the real one it has none until one is written.
const CRONTAB: &str = r#"#!/bin/sh
case "$1 $2 $4" in
  "-l -u "*) file=/srv/crontabs/$3; [ -e "$file" ] || { echo "no crontab for $3" >&2; exit 1; }; cat "$file" ;;
  "-u $2 ") [ -e /srv/fail ] && { echo "errors in crontab file" >&2; exit 1; }
    mkdir -p /srv/crontabs; cat > "/srv/crontabs/$2" ;;
  *) echo "usage" >&2; exit 2 ;;
esac
"#;

fn prepared(node: Node) -> Node {
    node.root.write_program("/usr/bin/crontab", CRONTAB).unwrap();
    node
}

#[test]
fn a_job_is_added_corrected_and_removed() {
    let mut node = prepared(Node::new());
    let crontab = |node: &Node| node.root.read("/srv/crontabs/root").unwrap();
    node.root.write("/srv/crontabs/root", "MAILTO=me\n1 1 * * * mine\n").unwrap();
    let job = json!({"minute": "5", "hour": 4, "command": "/bin/true --x", "mailto": "ops", "environment": {"A": "b"}});
    let done = node.act("cron", "backup", "create", job.clone()).unwrap();
    assert_eq!(done, ["add crontab entry for cron[backup]"]);
    let entry = "# Chef Name: backup\nMAILTO=\"ops\"\nA=b\n5 4 * * * /bin/true --x\n";
    assert_eq!(crontab(&node), format!("MAILTO=me\n1 1 * * * mine\n{entry}"));
    assert_eq!(node.act("cron", "backup", "create", job).unwrap(), [""; 0]);
    let done = node.act("cron", "backup", "create", json!({"time": "daily", "command": "new"})).unwrap();
    assert_eq!(done, ["update crontab entry for cron[backup]"]);
    assert_eq!(crontab(&node), "MAILTO=me\n1 1 * * * mine\n# Chef Name: backup\n@daily new\n");
    assert_eq!(node.act("cron", "other", "delete", json!({})).unwrap(), [""; 0]);
    assert_eq!(node.act("cron", "backup", "delete", json!({})).unwrap(), ["remove backup from crontab"]);
    assert_eq!(crontab(&node), "MAILTO=me\n1 1 * * * mine\n");
    assert_eq!(node.act("cron", "backup", "delete", json!({})).unwrap(), [""; 0]);
}

#[test]
fn every_user_has_a_crontab() {
    let mut node = prepared(Node::new());
    let job = json!({"command": "x", "user": "daemon", "weekday": "mon-fri", "time_out": {"duration": "10", "foreground": "true"}});
    node.act("cron", "a", "create", job.clone()).unwrap();
    let text = "# Chef Name: a\n* * * * mon-fri timeout --foreground 10 x\n";
    assert_eq!(node.root.read("/srv/crontabs/daemon").unwrap(), text);
    assert_eq!(node.act("cron", "a", "create", job).unwrap(), [""; 0]);
    assert!(!node.root.exists("/srv/crontabs/root"));
}

#[test]
fn nothing_may_hold_another_job() {
    let mut node = prepared(Node::new());
    for properties in [
        json!({"command": "x\n* * * * * evil"}),
        json!({"command": "x", "mailto": "a\nB=c"}),
        json!({"command": "x", "minute": "1 2"}),
        json!({"command": "x", "environment": {"A\n* * * * * evil #": "b"}}),
        json!({"command": "x", "environment": {"A": "b\nc"}}),
        json!({"command": " "}),
        json!({"command": "x", "user": "-u"}),
        json!({"command": "x", "user": "root daemon"}),
    ] {
        assert!(node.act("cron", "a", "create", properties.clone()).is_err(), "{properties}");
    }
    assert!(node.act("cron", "a\n* * * * * evil", "create", json!({"command": "x"})).is_err());
    assert!(!node.root.exists("/srv/crontabs"));
}

#[test]
fn failures_have_chefs_class_and_words() {
    let mut node = Node::new();
    let raised = node.act("cron", "a", "create", json!({"command": "x"})).unwrap_err();
    let expect = "Error determining state of a, error: No such file or directory - crontab";
    assert_eq!((raised.class(), raised.message.as_str()), ("Chef::Exceptions::Cron", expect));
    let mut node = prepared(node.dry());
    let foreseen = node.foresee("cron", "a", "create", json!({"command": "x"})).unwrap();
    assert_eq!(foreseen.changes, ["add crontab entry for cron[a]"]);
    assert!(!node.root.exists("/srv/crontabs"));
    let mut node = node.again(None);
    node.root.write("/srv/fail", "").unwrap();
    let raised = node.act("cron", "a", "create", json!({"command": "x"})).unwrap_err();
    assert_eq!(raised.class(), "Chef::Exceptions::Cron");
    assert!(
        raised.message.starts_with("Error updating state of a, error: Expected process to exit with [0]"),
        "{raised:?}"
    );
    let both = json!({"command": "x", "mailto": "a", "environment": {"MAILTO": "b"}});
    let raised = node.act("cron", "a", "create", both).unwrap_err();
    assert!(raised.message.contains("Remove the variable from the environment property"), "{raised:?}");
}

#[test]
fn the_right_to_one_users_jobs_is_no_right_to_anothers() {
    let mut node = prepared(Node::granting("cron_users = [\"daemon\"]"));
    node.act("cron", "a", "create", json!({"command": "x", "user": "daemon"})).unwrap();
    for (action, user) in [("create", "backup"), ("create", "root"), ("delete", "root")] {
        let raised = node.act("cron", "a", action, json!({"command": "x", "user": user})).unwrap_err();
        assert_eq!(raised.class(), "Wrun::Denied", "{action} {user}");
        assert!(raised.hint.unwrap().contains(&format!("cron_users = [\"{user}\"]")));
    }
}

/// Whoever could write to the file may have it open still when it is root's alone again.
#[test]
fn a_file_of_jobs_that_others_may_write_is_no_file_of_one_users_jobs() {
    let mut node = prepared(Node::granting("cron_users = [\"daemon\"]"));
    let job = |mode: &str| json!({"command": "x", "user": "daemon", "mode": mode});
    for mode in ["0666", "0620", "0602"] {
        let raised = node.act("cron_d", "a", "create", job(mode)).unwrap_err();
        assert_eq!(raised.class(), "Wrun::Denied", "{mode}");
        assert!(raised.hint.unwrap().contains("/etc/cron.d/a"), "{mode}");
    }
    node.act("cron_d", "a", "create", job("0644")).unwrap();
    for spoil in ["chmod 666", "chown daemon", "chmod 620", "sh -c 'ln $0 /etc/cron.d/b'"] {
        let _done = node.output(&format!("{spoil} /etc/cron.d/a"));
        for mode in ["0600", "0644"] {
            assert_eq!(node.act("cron_d", "a", "create", job(mode)).unwrap_err().class(), "Wrun::Denied", "{spoil}");
        }
        let _done = node.output("rm -f /etc/cron.d/a /etc/cron.d/b");
        node.act("cron_d", "a", "create", job("0600")).unwrap();
    }
}

/// A machine without cron: `package 'cron'` brings `crontab`.
#[test]
fn a_dry_run_takes_the_program_of_an_earlier_package_for_granted() {
    let node = Node::new();
    node.root
        .run(&["sh", "-c", "rm -f /usr/bin/crontab; mkdir -p /var/lib/apt/lists; rm -rf /var/lib/apt/lists/*"])
        .unwrap();
    let mut node = node.dry();
    let job = json!({"command": "x"});
    let raised = node.foresee("cron", "a", "create", job.clone()).unwrap_err();
    assert!(raised.message.contains("crontab"), "without a package it would fail: {}", raised.message);
    let package = node.foresee("apt_package", "cron", "install", json!({})).unwrap();
    assert!(package.changes.is_empty() && package.unknown.len() == 1, "{package:?}");
    assert!(package.unknown.first().unwrap().contains("the lists of available packages are missing or old"));
    let foreseen = node.foresee("cron", "a", "create", job).unwrap();
    assert_eq!(foreseen.assumed, ["crontab is not there, assuming that a package of an earlier resource brings it"]);
}

#[test]
fn a_dry_run_says_which_job_it_would_add_where_a_package_will_bring_the_program() {
    let node = Node::new();
    node.root.run(&["rm", "-f", "/usr/bin/crontab"]).unwrap();
    let mut node = node.dry();
    node.foresee("package", "hello", "install", json!({})).unwrap();
    let foreseen = node.foresee("cron", "backup", "create", json!({"command": "x"})).unwrap();
    assert_eq!(foreseen.changes, ["add crontab entry for cron[backup]"]);
    assert!(foreseen.assumed.iter().any(|why| why.contains("crontab is not there")), "{foreseen:?}");
}

#[test]
fn a_missing_program_is_told_with_what_brings_it() {
    let mut node = Node::new();
    node.root.run(&["rm", "-f", "/usr/bin/crontab"]).unwrap();
    let raised = node.act("cron", "backup", "create", json!({"command": "x"})).unwrap_err();
    assert!(
        raised.hint.as_deref().is_some_and(|hint| hint.contains("install the package that has `crontab`")),
        "{raised:?}"
    );
}
