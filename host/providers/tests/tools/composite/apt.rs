//! apt's lists, preferences and repositories.

use super::{check, check_denied, children, files_of, text};
use crate::support::Bench;
use contract::Property;
use serde_json::json;
use std::os::unix::fs::MetadataExt as _;

#[test]
fn a_preference_of_apt_is_a_file_that_apt_reads() {
    let path = "/etc/apt/preferences.d/libx_y.pref";
    let rows = ["directory[/etc/apt/preferences.d] create", &format!("file[{path}] create")];
    let properties = json!({ "pin": "version 1.2*", "pin_priority": 700 });
    let made = check("apt_preference", "libx.y", "add", properties, &rows);
    assert_eq!(text(&made[1], "content"), "Package: libx.y\nPin: version 1.2*\nPin-Priority: 700\n");
    check("apt_preference", "libx.y", "remove", json!({}), &[]);
    let injected = json!({ "pin": "version 1\n\nPackage: *", "pin_priority": 1 });
    assert!(children("apt_preference", "x", "add", injected).unwrap_err().message.contains("control characters"));
}

#[test]
fn lists_of_packages_are_fetched_by_apt() {
    let rows = [
        "directory[/var/lib/apt/periodic] create",
        "directory[/etc/apt/apt.conf.d] create",
        "file[/etc/apt/apt.conf.d/15update-stamp] create_if_missing",
        "execute[apt-get -q update] run",
    ];
    check("apt_update", "", "update", json!({}), &rows);
    check("apt_update", "", "periodic", json!({ "frequency": 60 }), &rows);
    assert!(children("apt_update", "", "periodic", json!({ "frequency": "soon" })).is_err());
}

/// apt's settings name commands, which `apt-get update` runs as root.
#[test]
fn attack_the_right_to_update_lists_is_no_right_to_settings_of_apt() {
    let (settings, update) = ("/etc/apt/apt.conf.d/15update-stamp", "commands = [\"apt-get -q update\"]\n");
    let bench = Bench::new(update);
    for folder in ["etc/apt", "var/lib/apt"] {
        std::fs::create_dir_all(bench.path(folder)).unwrap();
    }
    files_of(&bench, "apt_update", "", "update", json!({})).unwrap();
    assert!(bench.read(settings).starts_with("APT::Update::Post-Invoke-Success {\"touch /var/lib/apt/periodic/"));
    let mode = |path: &str| std::fs::metadata(bench.path(path)).unwrap().mode() & 0o7777;
    assert_eq!((mode(settings), mode("var/lib/apt/periodic")), (0o644, 0o755));
    for (kind, action) in [("file", "create"), ("file", "delete"), ("file", "touch"), ("directory", "create")] {
        let path = if kind == "file" { settings } else { "/etc/apt/apt.conf.d" };
        check_denied(bench.run(kind, path, action, json!({})), path);
    }
    check_denied(files_of(&Bench::new(""), "apt_update", "", "update", json!({})), "apt-get -q update");
    let refusing = Bench::new(&format!("{update}deny_paths = [\"/etc/apt/apt.conf.d/*\"]\n"));
    for folder in ["etc/apt", "var/lib/apt"] {
        std::fs::create_dir_all(refusing.path(folder)).unwrap();
    }
    check_denied(files_of(&refusing, "apt_update", "", "update", json!({})), settings);
    // Behind a link lies something else.
    std::fs::remove_dir_all(bench.path("etc/apt/apt.conf.d")).unwrap();
    std::fs::create_dir(bench.path("etc/other")).unwrap();
    std::os::unix::fs::symlink("/etc/other", bench.path("etc/apt/apt.conf.d")).unwrap();
    check_denied(files_of(&bench, "apt_update", "", "update", json!({})), "/etc/");
    assert_eq!(std::fs::read_dir(bench.path("etc/other")).unwrap().count(), 0);
}

#[test]
fn a_place_of_apts_is_a_line_and_keys_in_a_ring() {
    let list = "file[/etc/apt/sources.list.d/thing.list] create";
    let base = ["execute[apt-cache gencaches] nothing", "apt_update[thing] nothing"];
    let properties = json!({ "uri": "https://Example.org/debian", "distribution": "stable", "components": ["main"] });
    let made = check("apt_repository", "thing", "add", properties, &[base[0], base[1], list]);
    let ring = "/etc/apt/keyrings/thing.gpg";
    let line = format!("deb      [signed-by={ring}] https://example.org/debian stable main\n");
    assert_eq!(text(&made[2], "content"), line);
    let properties = json!({ "uri": "http://a", "distribution": null, "key": ["https://a/key.asc"], "deb_src": true,
        "arch": "amd64", "trusted": true, "cache_rebuild": false });
    let import = format!("import {ring}");
    let rows = [
        base[0],
        base[1],
        "directory[/var/chef/cache/policies/database] create",
        "directory[/etc/apt/keyrings] create",
        "remote_file[/var/chef/cache/policies/database/https___a_key_asc] create",
        &format!("execute[{import}] nothing"),
        &format!("file[{ring}] create"),
        list,
    ];
    let made = check("apt_repository", "thing", "add", properties, &rows);
    let about = format!("[arch=amd64 trusted=yes signed-by={ring}] http://a/ ");
    assert_eq!(text(&made[7], "content"), format!("deb      {about}\ndeb-src  {about}\n"));
    assert_eq!((made[6].notifications.len(), made[7].notifications.len()), (1, 1));
    let number = json!({ "uri": "http://a", "distribution": "x", "key": "0xABCDEF01", "signed_by": false });
    let made = check(
        "apt_repository",
        "thing",
        "add",
        number,
        &[base[0], base[1], "execute[install-key 0xABCDEF01] run", list],
    );
    let words = ["apt-key", "adv", "--no-tty", "--recv", "--keyserver", "hkp://keyserver.ubuntu.com:80", "0xABCDEF01"];
    assert_eq!(made[2].property("command"), Some(&Property::Plain(json!(words))));
    check("apt_repository", "thing", "remove", json!({}), &[]);
    for (wrong, expected) in [
        (json!({}), "uri is a required property"),
        (json!({ "uri": "ppa:a/b" }), "for cookbooks in Ruby only"),
        (json!({ "uri": "http://a\ndeb http://evil x main" }), "control characters"),
        (json!({ "uri": "http://a", "options": ["x] http://evil y main # ["] }), "brackets"),
        (json!({ "uri": "http://a", "repo_name": ".." }), "is not the name of a file"),
        (json!({ "uri": "http://a", "key": ["nosuch.asc"] }), "Cannot locate key file: nosuch.asc"),
        (json!({ "uri": "http://a", "key": "ABCDEF01", "keyserver": "a --x" }), "is not one word"),
        (json!({ "uri": ["http://a"] }), "uri must be a text"),
    ] {
        let message = children("apt_repository", "thing", "add", wrong.clone()).unwrap_err().message;
        assert!(message.contains(expected), "{wrong}: {message}");
    }
}
