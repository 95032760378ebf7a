use super::support::{Machine, resource, rows};
use contract::Providers as _;

use serde_json::json;
use std::os::unix::fs::symlink;

/// The sentence of a file that is written has the digest of its content, and its claim needs the same one.
#[test]
fn claims_take_the_digests_that_the_plan_has_computed() {
    let mut machine = Machine::open();
    let asked = resource("remote_directory", "/srv/site", "create", json!({ "source": "site" }));
    let claims = machine.providers.claims(&asked.wanted(false));
    assert_eq!((machine.reads(), claims.len()), (3, 4));
    let mut machine = Machine::open();
    machine.run(&asked).unwrap();
    let by_the_plan = machine.reads();
    assert_eq!(machine.providers.claims(&asked.wanted(false)), claims);
    assert_eq!(machine.reads(), by_the_plan);
}

#[test]
fn a_folder_with_all_that_is_in_it() {
    let mut machine = Machine::open();
    let properties = json!({
        "source": "site", "mode": "0750", "owner": "web", "files_mode": "0640", "files_group": "www", "files_backup": 0
    });
    let asked = resource("remote_directory", "/srv/www/site", "create", properties);
    let outcome = machine.run(&asked).unwrap();
    let said: Vec<&str> =
        outcome.changes.iter().filter(|what| what.starts_with("create")).map(String::as_str).collect();
    assert_eq!(
        said,
        [
            "create new directory /srv/www/site",
            "create new file /srv/www/site/index.html",
            "create new directory /srv/www/site/css",
            "create new file /srv/www/site/css/a.css",
            "create new directory /srv/www/site/css/deep",
            "create new file /srv/www/site/css/deep/main.css",
        ]
    );
    assert_eq!(
        outcome.parts,
        [
            "cookbook_file[/srv/www/site/index.html] create updated",
            "directory[/srv/www/site/css] create updated",
            "cookbook_file[/srv/www/site/css/a.css] create updated",
            "directory[/srv/www/site/css/deep] create updated",
            "cookbook_file[/srv/www/site/css/deep/main.css] create updated",
        ]
    );
    machine.write("/srv/www/site/css/a.css", "changed");
    let again = machine.run(&asked).unwrap();
    assert_eq!(
        again.parts,
        [
            "cookbook_file[/srv/www/site/index.html] create up-to-date",
            "cookbook_file[/srv/www/site/css/a.css] create updated",
            "cookbook_file[/srv/www/site/css/deep/main.css] create up-to-date",
        ],
        "directories that are there have no row"
    );
    assert_eq!(machine.run(&asked).unwrap().changes, Vec::<String>::new());
    assert_eq!(machine.read("/srv/www/site/css/deep/main.css"), "css");
    assert_eq!((machine.mode("/srv/www"), machine.mode("/srv/www/site/css/deep")), (0o755, 0o750));
    assert_eq!(machine.owner("/srv/www/site/css"), (1001, 0));
    assert_eq!(
        (machine.mode("/srv/www/site/index.html"), machine.owner("/srv/www/site/index.html")),
        (0o640, (0, 1002))
    );

    machine.write("/srv/www/site/index.html", "changed");
    let missing = resource("remote_directory", "/srv/www/site", "create_if_missing", json!({}));
    let outcome = machine.run(&missing).unwrap();
    assert_eq!(outcome.changes, Vec::<String>::new());
    assert_eq!(outcome.parts[0], "cookbook_file[/srv/www/site/index.html] create_if_missing up-to-date");
    let kept = resource("remote_directory", "/srv/www/site", "create", json!({ "overwrite": false }));
    assert_eq!(machine.run(&kept).unwrap().changes, Vec::<String>::new());
    machine.run(&asked).unwrap();
    assert_eq!(machine.read("/srv/www/site/index.html"), "index");
    machine
        .check(&resource("remote_directory", "/srv/www", "delete", json!({})), &["delete existing directory /srv/www"]);
}

#[test]
fn purge_removes_what_the_cookbook_does_not_have() {
    let mut machine = Machine::open();
    let asked = resource("remote_directory", "/srv/site", "create", json!({ "purge": true }));
    machine.run(&asked).unwrap();
    std::fs::create_dir_all(machine.at("/srv/site/old/deep")).unwrap();
    machine.write("/srv/site/old/deep/file", "x");
    machine.write("/srv/site/css/.hidden", "x");
    machine.write("/srv/kept", "x");
    symlink("/srv", machine.at("/srv/site/up")).unwrap();
    let outcome = machine.check(
        &asked,
        &[
            "delete file /srv/site/up",
            "delete file /srv/site/old/deep/file",
            "delete existing directory /srv/site/old/deep",
            "delete existing directory /srv/site/old",
            "delete file /srv/site/css/.hidden",
        ],
    );
    assert_eq!(
        outcome.parts[3..],
        [
            "file[/srv/site/up] delete updated",
            "file[/srv/site/old/deep/file] delete updated",
            "directory[/srv/site/old/deep] delete updated",
            "directory[/srv/site/old] delete updated",
            "file[/srv/site/css/.hidden] delete updated",
        ]
    );
    assert_eq!(machine.read("/srv/kept"), "x");
    assert_eq!(machine.names("/srv/site"), ["css", "index.html"]);
}

#[test]
fn failures_and_denials() {
    let mut machine = Machine::granted("paths = [\"/srv/site/**\"]\ndeny_paths = [\"/srv/site/css/**\"]");
    let none = resource("remote_directory", "/srv/site", "create", json!({ "source": "none" }));
    machine.fails(&none, "Chef::Exceptions::FileNotFound", "cookbook web has no directory files/default/none");
    machine.denies(&resource("remote_directory", "/srv/site", "create", json!({})));
    machine.denies(&resource("remote_directory", "/etc/site", "create", json!({ "source": "site" })));
    assert!(machine.names("/srv").is_empty(), "nothing is begun");
    let mut machine = Machine::granted("paths = [\"/srv/site/**\"]");
    symlink("/etc", machine.at("/srv/out")).unwrap();
    std::fs::create_dir(machine.at("/srv/site")).unwrap();
    symlink("/etc", machine.at("/srv/site/css")).unwrap();
    machine.denies(&resource("remote_directory", "/srv/site", "create", json!({})));
    assert_eq!(machine.names("/etc"), ["group", "passwd"]);
}

#[test]
fn all_that_is_lacking_is_denied_at_once() {
    let mut machine = Machine::granted("paths = [\"/srv/www/site/index.html\"]");
    let asked = resource("remote_directory", "/srv/www/site", "create", json!({}));
    let raised = machine.denies(&asked);
    assert!(raised.message.contains("`/srv/www/site`"), "the policy hears of the directory itself: {}", raised.message);
    let mut denied = machine.denied();
    denied.sort();
    let below = ["css", "css/a.css", "css/deep", "css/deep/main.css"].map(|name| format!("/srv/www/site/{name}"));
    assert_eq!(denied, [&["/srv/www".to_owned(), "/srv/www/site".to_owned()][..], &below].concat());
}

#[test]
fn a_dry_run_says_the_same() {
    let mut machine = Machine::dry();
    let asked = resource("remote_directory", "/srv/site", "create", json!({}));
    let plan = machine.plan(&asked).unwrap();
    assert_eq!(plan.changes.iter().filter(|what| what.starts_with("create")).count(), 6);
    assert_eq!(plan.certainty, []);
    assert_eq!(plan.parts.len(), 5, "all but the directory itself: {:?}", plan.parts);
    assert!(machine.names("/srv").is_empty());
}

#[test]
fn the_part_that_fails_is_the_last_that_is_reported() {
    let mut machine = Machine::open();
    let asked = resource("remote_directory", "/srv/site", "create", json!({}));
    machine.run(&asked).unwrap();
    std::fs::remove_dir_all(machine.at("/srv/site/css")).unwrap();
    let wanted = asked.wanted(false);
    let plan = machine.prepare(&wanted).expected().0.plan().unwrap();
    machine.write("/srv/site/css", "in the way");
    let raised = machine.providers.commit(&wanted, plan).unwrap_err();
    let parts = rows(&machine.providers.parts());
    assert_eq!(parts[0], "cookbook_file[/srv/site/index.html] create up-to-date");
    assert_eq!(parts[1..], [format!("directory[/srv/site/css] create {}", raised.class())]);
}
