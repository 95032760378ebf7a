use super::support::{Asked, Machine, resource};
use contract::Certainty;
use serde_json::{Value, json};
use std::os::unix::fs::symlink;

fn directory(path: &str, action: &str, properties: Value) -> Asked {
    resource("directory", path, action, properties)
}

#[test]
fn create_and_correct() {
    let mut machine = Machine::open();
    let asked = directory("/srv/one", "create", json!({ "mode": "0750", "owner": "web", "group": "www" }));
    machine.check(
        &asked,
        &[
            "create new directory /srv/one",
            "change mode from '' to '0750'",
            "change owner from '' to 'web'",
            "change group from '' to 'www'",
        ],
    );
    assert_eq!((machine.mode("/srv/one"), machine.owner("/srv/one")), (0o750, (1001, 1002)));
    machine.check(&directory("/srv/one", "create", json!({ "mode": "2770" })), &["change mode from '0750' to '02770'"]);
    let deep = directory("/srv/a/b/c", "create", json!({ "recursive": true, "mode": "0700" }));
    machine.check(&deep, &["create new directory /srv/a/b/c", "change mode from '' to '0700'"]);
    assert_eq!([machine.mode("/srv/a"), machine.mode("/srv/a/b"), machine.mode("/srv/a/b/c")], [0o755, 0o755, 0o700]);
    symlink("/srv/one", machine.at("/etc/link")).unwrap();
    machine
        .check(&directory("/etc/link", "create", json!({ "mode": "0700" })), &["change mode from '02770' to '0700'"]);
    assert_eq!(machine.mode("/srv/one"), 0o700);
    machine.check(&directory("/srv/slash/", "create", json!({})), &["create new directory /srv/slash/"]);
    machine.check(&directory("/", "create", json!({})), &[]);
}

#[test]
fn delete() {
    let mut machine = Machine::open();
    std::fs::create_dir_all(machine.at("/srv/a/b")).unwrap();
    machine.write("/srv/a/b/file", "x");
    machine.fails(
        &directory("/srv/a", "delete", json!({})),
        "Errno::ENOTEMPTY",
        "Directory not empty @ dir_s_rmdir - /srv/a",
    );
    machine.check(&directory("/srv/a", "delete", json!({ "recursive": true })), &["delete existing directory /srv/a"]);
    assert!(machine.names("/srv").is_empty());
    machine.check(&directory("/srv/none", "delete", json!({})), &[]);
    machine.check(&directory("/none/none", "delete", json!({})), &[]);
    machine.write("/srv/file", "x");
    machine.fails(
        &directory("/srv/file", "delete", json!({})),
        "RuntimeError",
        "Cannot delete directory[/srv/file] at /srv/file!",
    );
    // Of a link, the link.
    std::fs::create_dir(machine.at("/srv/kept")).unwrap();
    symlink("kept", machine.at("/srv/link")).unwrap();
    machine.fails(&directory("/srv/link", "delete", json!({})), "Errno::ENOTDIR", "/srv/link");
    machine.check(
        &directory("/srv/link", "delete", json!({ "recursive": true })),
        &["delete existing directory /srv/link"],
    );
    assert_eq!(machine.names("/srv"), ["file", "kept"]);
}

#[test]
fn failures_have_chefs_classes_and_sentences() {
    let mut machine = Machine::open();
    machine.write("/srv/file", "x");
    for (path, properties, class, message) in [
        (
            "/no/such/dir",
            json!({}),
            "Chef::Exceptions::EnclosingDirectoryDoesNotExist",
            "Parent directory /no/such does not exist, cannot create /no/such/dir",
        ),
        (
            "/srv/file/dir",
            json!({ "recursive": true }),
            "Chef::Exceptions::EnclosingDirectoryDoesNotExist",
            "Parent directory /srv/file does not exist",
        ),
        (
            "/srv/file",
            json!({}),
            "Chef::Exceptions::FileTypeMismatch",
            "Cannot create directory[/srv/file] at /srv/file because a file already exists at that path",
        ),
        ("/srv/x", json!({ "owner": "none" }), "Chef::Exceptions::UserIDNotFound", "'none'"),
    ] {
        machine.fails(&directory(path, "create", properties), class, message);
    }
}

#[test]
fn later_resources_of_a_dry_run_know_what_would_be_there() {
    let mut machine = Machine::dry();
    let plan = machine.plan(&directory("/srv/a/b", "create", json!({ "recursive": true }))).unwrap();
    assert_eq!(plan.changes, ["create new directory /srv/a/b"]);
    assert_eq!(plan.certainty, []);
    let plan = machine.plan(&directory("/no/such/dir", "create", json!({}))).unwrap();
    assert_eq!(plan.changes, ["create new directory /no/such/dir"]);
    assert_eq!(plan.certainty, [Certainty::Assumed("assuming directory /no/such would have been created".into())]);
    let plan = machine.plan(&directory("/srv/a/b", "create", json!({ "recursive": true }))).unwrap();
    assert_eq!(plan.changes, ["create new directory /srv/a/b"]);
    assert_eq!(plan.certainty, [Certainty::Assumed("assuming directory /srv/a/b would have been created".into())]);
    let file = resource("file", "/srv/a/b/file", "create", json!({}));
    let plan = machine.plan(&file).unwrap();
    assert_eq!(plan.certainty, [Certainty::Assumed("assuming directory /srv/a/b would have been created".into())]);
    let plan = machine.plan(&directory("/srv/a/b", "delete", json!({}))).unwrap();
    assert_eq!(plan.certainty, [Certainty::Assumed("assuming directory /srv/a/b would have been created".into())]);
    assert!(machine.names("/srv").is_empty());
}

#[test]
fn only_granted_paths_are_managed() {
    let mut machine = Machine::granted("paths = [\"/srv/**\"]\ndeny_paths = [\"/srv/team/secret/**\"]");
    machine.check(&directory("/srv/a/b", "create", json!({ "recursive": true })), &["create new directory /srv/a/b"]);
    machine.denies(&directory("/etc/new", "create", json!({})));
    machine.denies(&directory("/etc/a/b", "create", json!({ "recursive": true })));
    machine.denies(&directory("/etc", "create", json!({ "mode": "0777" })));
    machine.denies(&directory("/etc", "delete", json!({ "recursive": true })));
    symlink("/etc", machine.at("/srv/link")).unwrap();
    machine.denies(&directory("/srv/link", "create", json!({ "mode": "0777" })));
    machine.denies(&directory("/srv/link/new", "create", json!({})));
    // Removing a tree needs the right to all of it.
    std::fs::create_dir_all(machine.at("/srv/team/secret")).unwrap();
    machine.write("/srv/team/secret/key", "x");
    machine.denies(&directory("/srv/team", "delete", json!({ "recursive": true })));
    assert!(machine.at("/srv/team/secret/key").exists() && machine.names("/etc").len() == 2);
}

/// Whoever pastes what would allow it is not denied the next parent in the next run.
#[test]
fn all_that_a_recursive_directory_lacks_is_denied_at_once() {
    for lines in ["", "paths = [\"/srv/a/b/c\"]"] {
        let mut machine = Machine::granted(lines);
        let asked = directory("/srv/a/b/c", "create", json!({ "recursive": true }));
        machine.denies(&asked);
        let mut denied = machine.denied();
        denied.sort();
        let expect = ["/srv/a", "/srv/a/b", "/srv/a/b/c"];
        assert_eq!(denied, expect.get(..if lines.is_empty() { 3 } else { 2 }).unwrap());
    }
}

#[test]
fn keys_are_not_removed_with_the_directory_they_are_in() {
    let mut machine = Machine::granted("paths = [\"/srv/**\"]");
    for (folder, file) in [("/srv/a/home/.ssh", "authorized_keys"), ("/srv/b", "x")] {
        std::fs::create_dir_all(machine.at(folder)).unwrap();
        machine.write(&format!("{folder}/{file}"), "k");
    }
    let delete = |path: &str| resource("directory", path, "delete", json!({ "recursive": true }));
    for path in ["/srv/a", "/srv/a/home"] {
        let raised = machine.run(&delete(path)).unwrap_err();
        assert_eq!(raised.class(), "Wrun::Denied", "{raised:?}");
        assert!(raised.message.contains("/srv/a/home/.ssh"), "{}", raised.message);
    }
    let over = resource("file", "/srv/a/home", "create", json!({ "content": "x", "force_unlink": true }));
    assert_eq!(machine.run(&over).unwrap_err().class(), "Wrun::Denied");
    assert_eq!(machine.read("/srv/a/home/.ssh/authorized_keys"), "k");
    machine.run(&delete("/srv/b")).unwrap();
    let over = resource("file", "/srv/b", "create", json!({ "content": "x", "force_unlink": true }));
    machine.run(&over).unwrap();
}

/// Whoever owns a directory, or may write in it, may give all that is in it other names: keys of a home, other policies' caches,
/// and what a rule refuses.
#[test]
fn a_directory_is_not_given_away_with_what_is_not_granted_in_it() {
    for (rules, folder, inside) in [
        ("paths = [\"/home/ann/**\"]", "/home/ann", "/home/ann/.ssh/authorized_keys"),
        ("paths = [\"/var/chef/**\"]", "/var/chef/cache", "/var/chef/cache/policies/victim/install.sh"),
        ("paths = [\"/srv/**\"]\ndeny_paths = [\"/srv/app/secret/**\"]", "/srv/app", "/srv/app/secret/f"),
        ("paths = [\"/srv/**\"]\ndeny_read_paths = [\"/srv/app/secret/**\"]", "/srv/app", "/srv/app/secret/f"),
        ("paths = [\"/srv/app\"]", "/srv/app", "/srv/app/others"),
    ] {
        let mut machine = Machine::granted(rules);
        std::fs::create_dir_all(machine.at(inside).parent().unwrap()).unwrap();
        machine.write(inside, "kept");
        for wish in [json!({"owner": "web"}), json!({"group": "www", "mode": "0775"}), json!({"mode": "0777"})] {
            let raised = machine.denies(&directory(folder, "create", wish.clone()));
            assert!(raised.hint.is_some(), "{rules} {wish}");
        }
        assert_eq!((machine.mode(folder), machine.owner(folder)), (0o755, (0, 0)), "{rules}");
        // Nobody gets anything by these.
        machine.check(&directory(folder, "create", json!({"mode": "0750"})), &["change mode from '0755' to '0750'"]);
        machine.run(&directory(folder, "create", json!({"owner": "root", "group": "www"}))).unwrap();
        // An empty one may be given away.
        std::fs::remove_dir_all(machine.at(folder)).unwrap();
        std::fs::create_dir(machine.at(folder)).unwrap();
        if folder.starts_with("/srv") {
            machine.run(&directory(folder, "create", json!({"owner": "web", "mode": "0775"}))).unwrap();
        }
    }
    let mut machine = Machine::granted("paths = [\"/srv/app/**\"]");
    std::fs::create_dir_all(machine.at("/srv/app/data")).unwrap();
    machine.write("/srv/app/data/f", "x");
    machine
        .check(&directory("/srv/app/data", "create", json!({"owner": "web"})), &["change owner from 'root' to 'web'"]);
}

#[test]
fn attack_the_way_to_what_is_mounted_at_boot_is_not_given_away() {
    let table = "/srv/own /srv/app/data none bind 0 0\n";
    let wish = json!({"owner": "web"});
    for (rules, denied) in [("paths = [\"/srv/**\"]", true), ("paths = [\"/srv/**\", \"/srv/app\"]", false)] {
        let mut machine = Machine::granted(rules);
        std::fs::create_dir_all(machine.at("/srv/app/data")).unwrap();
        machine.write("/etc/fstab", table);
        let asked = directory("/srv/app", "create", wish.clone());
        if denied {
            machine.denies(&asked);
        } else {
            machine.check(&asked, &["change owner from 'root' to 'web'"]);
        }
        // The place itself is no way to another one.
        let inside = directory("/srv/app/data", "create", wish.clone());
        machine.check(&inside, &["change owner from 'root' to 'web'"]);
    }
}
