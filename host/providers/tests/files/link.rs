use super::support::{Asked, Machine, resource};
use serde_json::{Value, json};
use std::os::unix::fs::MetadataExt;

fn link(path: &str, action: &str, properties: Value) -> Asked {
    resource("link", path, action, properties)
}

#[test]
fn symbolic_links() {
    let mut machine = Machine::open();
    machine.check(&link("/etc/l", "create", json!({ "to": "/srv/x" })), &["create symlink at /etc/l to /srv/x"]);
    assert_eq!(std::fs::read_link(machine.at("/etc/l")).unwrap().to_str(), Some("/srv/x"));
    let replaced = ["unlink existing symlink to file at /etc/l", "create symlink at /etc/l to ../y"];
    machine.check(&link("/etc/l", "create", json!({ "to": "../y" })), &replaced);
    machine.write("/etc/file", "x");
    machine.check(
        &link("other", "create", json!({ "target_file": "/etc/file", "to": "l", "owner": "web" })),
        &[
            "unlink existing symlink to file at /etc/file",
            "create symlink at /etc/file to l",
            "change owner from 'root' to 'web'",
        ],
    );
    assert_eq!(machine.owner("/etc/file"), (1001, 0));
    machine.check(
        &link("/etc/file", "create", json!({ "to": "l", "group": "www" })),
        &["change group from 'root' to 'www'"],
    );
    machine.check(&link("/etc/l", "create", json!({ "to": "../y", "owner": "nobody-there" })), &[]);
    machine.check(&link("/etc/l", "delete", json!({})), &["delete link to file at /etc/l"]);
    assert_eq!(machine.names("/etc"), ["file", "group", "passwd"]);
}

#[test]
fn hard_links() {
    let mut machine = Machine::open();
    machine.write("/srv/x", "x");
    let asked = link("/etc/h", "create", json!({ "to": "/srv/x", "link_type": "hard" }));
    machine.check(&asked, &["create hard link at /etc/h to /srv/x"]);
    assert_eq!(std::fs::metadata(machine.at("/etc/h")).unwrap().nlink(), 2);
    machine.write("/srv/y", "y");
    machine.check(
        &link("/etc/h", "create", json!({ "to": "/srv/y", "link_type": "hard" })),
        &["unlink existing symlink to file at /etc/h", "create hard link at /etc/h to /srv/y"],
    );
    machine.check(
        &link("/etc/h", "delete", json!({ "to": "/srv/y", "link_type": "hard" })),
        &["delete link to file at /etc/h"],
    );
    // A symbolic link has further names, too: it is not followed.
    machine.check(&link("/srv/s", "create", json!({ "to": "/srv/y" })), &["create symlink at /srv/s to /srv/y"]);
    machine.check(
        &link("/etc/h", "create", json!({ "to": "/srv/s", "link_type": "hard" })),
        &["create hard link at /etc/h to /srv/s"],
    );
    assert_eq!(std::fs::read_link(machine.at("/etc/h")).unwrap().to_str(), Some("/srv/y"));
}

#[test]
fn a_hard_link_makes_nothing_readable() {
    let mut machine = Machine::granted("paths = [\"/srv/**\"]\ndeny_read_paths = [\"/srv/key\"]");
    machine.write("/srv/key", "secret");
    let asked = link("/srv/open", "create", json!({ "to": "/srv/key", "link_type": "hard" }));
    assert_eq!(machine.run(&asked).unwrap_err().class(), "Wrun::Denied");
    assert_eq!(machine.names("/srv"), ["key"]);
}

#[test]
fn failures_have_chefs_classes_and_sentences() {
    let mut machine = Machine::open();
    machine.write("/etc/file", "x");
    for (path, action, properties, class, message) in [
        ("/etc/l", "create", json!({}), "TypeError", "no implicit conversion of nil into String"),
        (
            "/etc/l",
            "create",
            json!({ "to": "" }),
            "Chef::Exceptions::Link",
            "Cannot create link[/etc/l] without specifying 'to'.",
        ),
        (
            "/etc/file",
            "delete",
            json!({ "to": "/srv/x" }),
            "Chef::Exceptions::Link",
            "Cannot delete link[/etc/file] at /etc/file! Not a symbolic link.",
        ),
        ("/etc/file", "delete", json!({}), "TypeError", "no implicit conversion of nil into String"),
        (
            "/none/l",
            "create",
            json!({ "to": "x" }),
            "Errno::ENOENT",
            "No such file or directory @ rb_file_s_symlink - (x, /none/l)",
        ),
        ("/srv", "create", json!({ "to": "x" }), "Errno::EISDIR", "/srv"),
        (
            "/etc/h",
            "create",
            json!({ "to": "/srv/none", "link_type": "hard" }),
            "Errno::ENOENT",
            "No such file or directory @ rb_file_s_link - (/srv/none, /etc/h)",
        ),
    ] {
        machine.fails(&link(path, action, properties), class, message);
    }
    assert_eq!(machine.names("/etc"), ["file", "group", "passwd"]);
}

/// A link may say anything; whoever goes over it is checked then. A hard link is the file itself.
#[test]
fn a_link_is_no_right_to_what_it_leads_to() {
    let mut machine = Machine::granted("paths = [\"/srv/**\"]");
    machine.write("/etc/shadow", "secret");
    machine
        .check(&link("/srv/l", "create", json!({ "to": "/etc/shadow" })), &["create symlink at /srv/l to /etc/shadow"]);
    machine.denies(&resource("file", "/srv/l", "create", json!({ "content": "mine" })));
    machine.denies(&resource("file", "/srv/l", "create", json!({ "mode": "0644" })));
    machine.denies(&link("/srv/h", "create", json!({ "to": "/etc/shadow", "link_type": "hard" })));
    machine.denies(&link("/srv/h", "create", json!({ "to": "/srv/../etc/shadow", "link_type": "hard" })));
    machine.denies(&link("/etc/l", "create", json!({ "to": "/srv/x" })));
    machine.denies(&link("/etc/shadow", "delete", json!({})));
    assert_eq!((machine.read("/etc/shadow"), machine.names("/srv")), ("secret".into(), vec!["l".to_owned()]));
}
