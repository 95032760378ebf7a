//! Types whose actions are made of other resources: which ones, and what they say.

use crate::support::{Bench, run};
use contract::{
    Account, AccountLimits, ChildRow, Composition, Declaration, Meters, Property, Providers as _, Purpose, Raised,
    Test, Wanted,
};
use providers::{MachineProviders, Settings};
use serde_json::{Value, json};
use std::os::unix::fs::MetadataExt as _;
use std::sync::Arc;

/// The children of an action, in an empty root, whose kernel is another machine's.
fn composition(kind: &str, name: &str, action: &str, properties: Value) -> Result<Composition, Raised> {
    composed(kind, name, action, properties, Purpose::Action)
}

/// All that the action could need, on any machine.
fn survey(kind: &str, name: &str, action: &str, properties: Value) -> Composition {
    composed(kind, name, action, properties, Purpose::Survey).unwrap()
}

fn composed(kind: &str, name: &str, action: &str, properties: Value, purpose: Purpose) -> Result<Composition, Raised> {
    let bench = Bench::new("").unlimited();
    let declaration = bench.declaration(kind, name, properties);
    let wanted = Wanted { resource: 0, declaration: &declaration, action, resolved: vec![], why_run: false };
    bench.providers(false).compose(&wanted, purpose)
}

fn children(kind: &str, name: &str, action: &str, properties: Value) -> Result<Vec<Declaration>, Raised> {
    composition(kind, name, action, properties).map(|made| made.children.into_iter().map(|it| it.declaration).collect())
}

#[track_caller]
fn check(kind: &str, name: &str, action: &str, properties: Value, expected: &[&str]) -> Vec<Declaration> {
    let children = children(kind, name, action, properties).unwrap();
    let rows: Vec<_> = children.iter().map(|child| format!("{} {}", child.key(), child.actions.join(" "))).collect();
    assert_eq!(rows, expected);
    children
}

fn text<'a>(child: &'a Declaration, property: &str) -> &'a str {
    match child.property(property) {
        Some(Property::Plain(Value::String(text))) => text,
        other => panic!("{property}: {other:?}"),
    }
}

#[test]
fn a_kernel_parameter_is_set_and_kept_in_a_file() {
    let path = "/etc/sysctl.d/99-chef-net.ipv4.ip_forward.conf";
    let rows = [
        "execute[set net.ipv4.ip_forward] run",
        "directory[/etc/sysctl.d] create",
        &format!("file[{path}] create"),
        "execute[Load sysctl values] run",
    ];
    let properties = json!({ "value": "1", "comment": ["routes"] });
    // The kernel below another root is another machine's: only the file is written there.
    check("sysctl", "net.ipv4.ip_forward", "apply", properties.clone(), &rows[1..3]);
    let made = survey("sysctl", "net.ipv4.ip_forward", "apply", properties);
    let made: Vec<_> = made.children.into_iter().map(|child| child.declaration).collect();
    let keys = made.iter().map(|child| format!("{} {}", child.key(), child.actions.join(" ")));
    assert_eq!(keys.collect::<Vec<_>>(), rows);
    assert_eq!(text(&made[2], "content"), "# routes\nnet.ipv4.ip_forward = 1\n");
    let words = Property::Plain(json!(["sysctl", "-w", "net.ipv4.ip_forward=1"]));
    assert_eq!(made[0].property("command"), Some(&words));
    let rows: Vec<_> = survey("sysctl", "a", "apply", json!({ "value": 1 })).children;
    let rows: Vec<_> = rows.iter().map(|child| child.row).collect();
    assert_eq!(rows, [ChildRow::Never, ChildRow::RealRuns, ChildRow::RealRuns, ChildRow::RealRuns]);
    check("sysctl", "net.ipv4.ip_forward", "remove", json!({}), &[]);
    for (key, value) in [("-a", "1"), ("a b", "1"), ("", "1"), ("a", "1\n2")] {
        assert!(children("sysctl", "x", "apply", json!({ "key": key, "value": value })).is_err(), "{key} {value}");
    }
}

#[test]
fn sudo_is_a_file_that_only_root_reads() {
    let rows = ["directory[/etc/sudoers.d/] create", "template[/etc/sudoers.d/ops] create"];
    let made = check("sudo", "ops", "create", json!({ "users": ["ann"], "nopasswd": true }), &rows);
    assert_eq!(text(&made[1], "mode"), "0440");
    assert!(text(&made[1], "content").ends_with("ann ALL=(ALL) NOPASSWD:ALL\n"), "{:?}", made[1]);
    check("sudo", "ops", "remove", json!({}), &["file[/etc/sudoers.d/ops] delete"]);
    assert!(children("sudo", "ops", "create", json!({})).unwrap_err().message.contains("You must specify users"));
    assert!(children("sudo", "../x", "delete", json!({})).is_err());
    assert!(
        children("sudo", "ops", "create", json!({ "users": { "a": 1 } }))
            .unwrap_err()
            .message
            .contains("users must be")
    );
}

#[test]
fn a_hosts_name_is_set_kept_and_has_an_address() {
    let rows = [
        "ohai[reload hostname] nothing",
        "execute[set hostname to web1] run",
        "file[/etc/hosts] create",
        "file[/etc/hostname] create",
    ];
    let made = check("hostname", "web1", "set", json!({ "ipaddress": "10.0.0.5", "fqdn": "web1.example.org" }), &rows);
    assert_eq!(text(&made[2], "content"), "10.0.0.5 web1.example.org web1 web1\n");
    assert_eq!(text(&made[3], "content"), "web1\n");
    assert!(children("hostname", "a b", "set", json!({})).is_err());
}

#[test]
fn a_time_zone_is_a_link_where_systemd_does_not_run() {
    let rows = ["apt_package[tzdata] install", "link[/etc/localtime] create"];
    let made = check("timezone", "Europe/Berlin", "set", json!({}), &rows);
    assert_eq!(text(&made[1], "to"), "/usr/share/zoneinfo/Europe/Berlin");
    for zone in ["../../etc/shadow", "/etc/shadow", "-x", "Europe/", "a b", "Europe/../x"] {
        assert!(children("timezone", zone, "set", json!({})).unwrap_err().message.contains("time zone"), "{zone}");
    }
}

/// `timedatectl` and `hostnamectl` start services of systemd, so a dry run that only looks may not run them. Here they are
/// programs that print nothing.
#[test]
fn attack_the_present_zone_and_name_are_read_without_starting_systemds_services() {
    let bench = Bench::whole("").unlimited();
    for folder in ["run/systemd/system", "usr/bin", "etc"] {
        std::fs::create_dir_all(bench.path(folder)).unwrap();
    }
    for program in ["usr/bin/timedatectl", "usr/bin/hostnamectl"] {
        std::fs::write(bench.path(program), "").unwrap();
    }
    std::fs::write(bench.path("etc/hostname"), "# The name.\n\nweb1\n").unwrap();
    let compose = |kind: &str, name: &str| {
        let declaration = bench.declaration(kind, name, json!({}));
        let wanted = Wanted { resource: 0, declaration: &declaration, action: "set", resolved: vec![], why_run: true };
        let settings = Arc::new(bench.settings(true));
        // Only the whole machine has a systemd of its own. For this thread, the folder is the whole machine.
        let compose = || {
            nix::sched::unshare(nix::sched::CloneFlags::CLONE_FS).unwrap();
            nix::unistd::chroot(&bench.root).unwrap();
            MachineProviders::new(settings).unwrap().compose(&wanted, Purpose::Action).unwrap()
        };
        std::thread::scope(|scope| scope.spawn(compose).join().unwrap())
    };
    let link = bench.path("etc/localtime");
    for (text, is_it) in [
        ("/usr/share/zoneinfo/Europe/Berlin", true),
        ("../usr/share/zoneinfo/Europe/Berlin", true),
        ("/usr/share/zoneinfo/Europe/Rome", false),
        ("/srv/Europe/Berlin", false),
    ] {
        std::os::unix::fs::symlink(text, &link).unwrap();
        assert_eq!(compose("timezone", "Europe/Berlin").children.is_empty(), is_it, "{text}");
        std::fs::remove_file(&link).unwrap();
    }
    assert!(compose("timezone", "UTC").children.is_empty());
    for (name, is_kept) in [("web1", true), ("web2", false)] {
        let kept = compose("hostname", name).children.pop().unwrap().declaration;
        assert_eq!(kept.key(), format!("execute[hostnamectl set-hostname {name}]"));
        let decided = kept.guards.iter().map(|guard| matches!(guard.test, Test::Decided(true)));
        assert_eq!(decided.collect::<Vec<_>>(), [is_kept], "{name}");
    }
}

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
fn limits_of_a_user_are_a_file() {
    let path = "/etc/security/limits.d/ann_limits.conf";
    let properties = json!({ "filehandle_limit": 100, "process_soft_limit": 5, "virt_limit": 7 });
    let made = check("user_ulimit", "ann", "create", properties, &[&format!("template[{path}] create")]);
    let content = text(&made[0], "content");
    assert!(content.contains("\nann - nofile 100\n\nann soft nproc 5\n\n"), "{content}");
    assert!(content.ends_with("\n  ann - as 7\n"), "{content}");
    check("user_ulimit", "ann", "delete", json!({}), &[&format!("file[{path}] delete")]);
    let wrong =
        [json!({ "filename": "../x.conf" }), json!({ "username": "ann root" }), json!({ "cpu_limit": "1\n* - x" })];
    for properties in wrong {
        assert!(children("user_ulimit", "ann", "create", properties.clone()).is_err(), "{properties}");
    }
}

#[test]
fn a_value_of_another_kind_names_property_and_kind() {
    let raised = children("sysctl", "a", "apply", json!({ "value": { "a": 1 } })).unwrap_err();
    assert_eq!(raised.message, "value must be a text, not a map");
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

/// Composes an action with the grants of a bench, and carries its files and directories out.
fn files_of(bench: &Bench, kind: &str, name: &str, action: &str, properties: Value) -> Result<(), Raised> {
    let declaration = bench.declaration(kind, name, properties);
    let mut providers = bench.providers(false);
    let wanted = Wanted { resource: 0, declaration: &declaration, action, resolved: vec![], why_run: false };
    let made = providers.compose(&wanted, Purpose::Action)?;
    for child in made.children.into_iter().map(|child| child.declaration).filter(|child| child.kind != "execute") {
        // The mask of the composite's resource is that of its parts.
        let child = Declaration { umask: Some(0), ..child };
        run(&mut providers, &child, &child.actions[0], false)?;
    }
    Ok(())
}

#[track_caller]
pub(crate) fn check_denied(outcome: Result<impl std::fmt::Debug, Raised>, part: &str) {
    let raised = outcome.unwrap_err();
    assert!(raised.class() == "Wrun::Denied" && raised.message.contains(part), "{raised:?}");
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

/// Nothing changes a part between its declaration and its action. If something did, the part would have no right of its own.
#[test]
fn attack_a_changed_part_has_no_right_of_its_own() {
    let bench = Bench::new("kernel_modules = [\"nf-x\"]\ncommands = [\"modprobe nf_x\"]\n");
    let declaration = bench.declaration("kernel_module", "nf_x", json!({ "options": ["a=1"] }));
    let mut providers = bench.providers(false);
    let wanted = Wanted { resource: 0, declaration: &declaration, action: "install", resolved: vec![], why_run: false };
    let made = providers.compose(&wanted, Purpose::Action).unwrap();
    std::fs::create_dir_all(bench.path("etc/modprobe.d")).unwrap();
    let options = made.children.iter().map(|child| &child.declaration).find(|part| part.name.contains("options_"));
    let options = options.unwrap();
    let with = |name: &str, value: Value| {
        let mut part = options.clone();
        part.properties.retain(|(other, _)| other != name);
        part.properties.push((name.into(), Property::Plain(value)));
        part
    };
    let moved = Declaration { name: "/etc/modprobe.d/other.conf".into(), ..options.clone() };
    let elsewhere = with("path", json!("/etc/modprobe.d/other.conf"));
    for part in [with("content", json!("install nf_x /srv/x\n")), with("owner", json!("nobody")), moved, elsewhere] {
        check_denied(run(&mut providers, &part, "create", false), "/etc/modprobe.d/o");
    }
    run(&mut providers, options, "create", false).unwrap();
    assert_eq!(bench.read("etc/modprobe.d/options_nf_x.conf"), "options nf_x a=1\n");
}

/// Settings of `modprobe` name commands too.
#[test]
fn attack_the_right_to_a_kernel_module_is_no_right_to_other_settings_of_it() {
    let bench = Bench::new("kernel_modules = [\"nf-x\"]\ncommands = [\"modprobe nf_x\", \"modprobe -r nf_x\"]\n");
    std::fs::create_dir_all(bench.path("etc/modprobe.d")).unwrap();
    let act = |action: &str, properties: Value| files_of(&bench, "kernel_module", "nf_x", action, properties);
    act("install", json!({ "options": ["a=1"] })).unwrap();
    assert_eq!(bench.read("etc/modprobe.d/options_nf_x.conf"), "options nf_x a=1\n");
    assert_eq!(bench.read("etc/modules-load.d/nf_x.conf"), "nf_x\n");
    act("blacklist", json!({})).unwrap();
    act("disable", json!({})).unwrap();
    assert_eq!(bench.read("etc/modprobe.d/disable_nf_x.conf"), "install nf_x /bin/false");
    act("uninstall", json!({})).unwrap();
    act("enable", json!({})).unwrap();
    assert_eq!(std::fs::read_dir(bench.path("etc/modprobe.d")).unwrap().count(), 0);
    let evil = json!({ "content": "install nf_x touch /etc/owned" });
    check_denied(bench.run("file", "/etc/modprobe.d/disable_nf_x.conf", "create", evil), "disable_nf_x.conf");
    check_denied(files_of(&bench, "kernel_module", "other", "enable", json!({})), "kernel module `other`");
    check_denied(act("enable", json!({ "unload_dir": "/etc/elsewhere" })), "/etc/elsewhere/disable_nf_x.conf");
    // The rights to the paths were enough before.
    let paths = Bench::new("paths = [\"/etc/modprobe.d/disable_x.conf\"]\n");
    std::fs::create_dir_all(paths.path("etc/modprobe.d")).unwrap();
    std::fs::write(paths.path("etc/modprobe.d/disable_x.conf"), "").unwrap();
    files_of(&paths, "kernel_module", "x", "enable", json!({})).unwrap();
    assert_eq!(std::fs::read_dir(paths.path("etc/modprobe.d")).unwrap().count(), 0);
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

#[test]
fn yum_has_nothing_to_do_where_it_is_absent() {
    check("yum_repository", "thing", "create", json!({ "baseurl": "http://a" }), &[]);
}

/// The children of an action in a root that has some programs.
fn children_beside(programs: &[&str], kind: &str, name: &str, action: &str, properties: Value) -> Vec<Declaration> {
    let bench = Bench::new("").unlimited();
    std::fs::create_dir_all(bench.path("usr/bin")).unwrap();
    for program in programs {
        std::fs::write(bench.path("usr/bin").join(program), "").unwrap();
    }
    let declaration = bench.declaration(kind, name, properties);
    let wanted = Wanted { resource: 0, declaration: &declaration, action, resolved: vec![], why_run: false };
    let made = bench.providers(false).compose(&wanted, Purpose::Action).unwrap();
    made.children.into_iter().map(|child| child.declaration).collect()
}

#[test]
fn yum_is_told_to_look_again_where_apt_is_the_machines_tool() {
    for (programs, kind) in [(&["yum"][..], "package"), (&["yum", "apt-get"], "yum_package")] {
        let made = children_beside(programs, "yum_repository", "app", "create", json!({ "baseurl": "http://a" }));
        let reload = format!("{kind}[package-cache-reload-app]");
        assert_eq!(made.last().unwrap().key(), reload);
        let receivers: Vec<_> = made[0].notifications.iter().map(|wish| wish.other.clone()).collect();
        assert!(receivers.contains(&contract::ResourceRef::Key(reload)), "{receivers:?}");
    }
}

#[test]
fn attack_files_of_repositories_with_passwords_are_sensitive() {
    let yum = |properties: Value| children_beside(&["yum"], "yum_repository", "app", "create", properties);
    for secret in [
        json!({ "baseurl": "http://a", "password": "S3cret" }),
        json!({ "baseurl": "http://a", "proxy_password": "S3cret" }),
        json!({ "baseurl": "http://a", "options": { "password": "S3cret" } }),
        json!({ "baseurl": ["http://a", "http://team:S3cret@b"] }),
        json!({ "baseurl": "http://a", "content": "[app]\nbaseurl=http://team:S3cret@a\n" }),
    ] {
        assert!(yum(secret.clone())[0].sensitive, "{secret}");
    }
    let made = yum(json!({ "baseurl": "http://a", "username": "team" }));
    assert!(!made[0].sensitive && text(&made[0], "mode") == "0644");
    for (uri, sensitive) in [("http://team:S3cret@a/debian", true), ("http://a/debian", false)] {
        let properties = json!({ "uri": uri, "distribution": "x" });
        let made = children("apt_repository", "app", "add", properties).unwrap();
        assert_eq!(made.last().unwrap().sensitive, sensitive, "{uri}");
    }
}

#[test]
fn a_swap_file_is_made_by_steps_of_the_action_itself() {
    let made =
        composition("swap_file", "/swap", "create", json!({ "size": 2, "persist": true, "swappiness": 5 })).unwrap();
    let sentences: Vec<_> = made.changes.iter().map(|change| change.what.as_str()).collect();
    assert_eq!(
        sentences,
        [
            "create empty swapfile at /swap",
            "set permissions on /swap to 600",
            "make /swap swappable",
            "enable swap for /swap",
            "add `/swap swap swap defaults 0 0` to /etc/fstab"
        ]
    );
    let swapped_on =
        |made: &Composition| made.children.iter().any(|child| child.declaration.key() == "execute[swapon]");
    assert!(!swapped_on(&made), "nothing swaps below another root");
    let made = survey("swap_file", "/swap", "create", json!({ "size": 2, "persist": true, "swappiness": 5 }));
    assert!(swapped_on(&made));
    let rows: Vec<_> = made.children.iter().map(|child| (child.declaration.key(), child.row)).collect();
    let never = |key: &str| (key.to_owned(), ChildRow::Never);
    let sysctl = ("sysctl[vm.swappiness]".to_owned(), ChildRow::Always);
    let steps = ["file[/swap]", "execute[swapon]", "file[/etc/fstab]"];
    assert_eq!(rows, Vec::from_iter(steps.map(never).into_iter().chain([sysctl])));
    for (name, properties) in [("swap", json!({ "size": 1 })), ("/a b", json!({ "size": 1 })), ("/swap", json!({}))] {
        assert!(composition("swap_file", name, "create", properties).is_err(), "{name}");
    }
    assert!(composition("swap_file", "/swap", "create", json!({ "size": "large" })).is_err());
}

#[test]
fn a_host_that_is_asked_for_its_key_is_no_option() {
    for host in ["-f/etc/shadow", "-D", "a b", ""] {
        let made = composition("ssh_known_hosts_entry", "x", "create", json!({ "host": host }));
        assert!(made.is_err_and(|raised| raised.class().contains("Validation")), "{host}");
    }
}

/// Rights to `dd of=/srv/swap` and `mkswap /srv/swap` would reach every file, by a link at that path.
#[test]
fn attack_a_swap_file_needs_no_command_that_writes_where_a_link_leads() {
    let bench = Bench::new("commands = [\"swapon /srv/swap\", \"swapoff /srv/swap\"]\n");
    std::fs::create_dir_all(bench.path("srv")).unwrap();
    std::fs::write(bench.path("etc/shadow"), "kept").unwrap();
    let declaration = bench.declaration("swap_file", "/srv/swap", json!({ "size": 1 }));
    let mut providers = bench.providers(false);
    let wanted = |action, why_run| Wanted { resource: 0, declaration: &declaration, action, resolved: vec![], why_run };
    let everything = providers.compose(&wanted("create", false), Purpose::Survey).unwrap();
    let commands = everything.children.iter().filter(|child| child.declaration.kind == "execute");
    assert_eq!(commands.map(|child| child.declaration.name.as_str()).collect::<Vec<_>>(), ["swapon"]);
    let made = providers.compose(&wanted("create", false), Purpose::Action).unwrap();
    let file = &made.children[0].declaration;
    std::os::unix::fs::symlink("/etc/shadow", bench.path("srv/swap")).unwrap();
    run(&mut providers, file, "create", false).unwrap_err();
    assert_eq!(bench.read("etc/shadow"), "kept");
    std::fs::remove_file(bench.path("srv/swap")).unwrap();
    run(&mut providers, file, "create", false).unwrap();
    let content = std::fs::read(bench.path("srv/swap")).unwrap();
    assert_eq!(content.len(), 1 << 20);
    assert!(content[..1 << 17].windows(10).any(|bytes| bytes == b"SWAPSPACE2"), "it has the header of a swap file");
    let about = std::fs::metadata(bench.path("srv/swap")).unwrap();
    assert_eq!(about.mode() & 0o7777, 0o600);
    assert_eq!(about.blocks(), 2048, "it has no holes");
    assert!(!run(&mut providers, file, "create", false).unwrap().updated);
    // Its line in the table is a part of the right to use the file, and no right to other lines.
    let declaration = bench.declaration("swap_file", "/srv/swap", json!({ "size": 1, "persist": true }));
    std::fs::remove_file(bench.path("srv/swap")).unwrap();
    std::fs::write(bench.path("etc/fstab"), "tmpfs /tmp tmpfs").unwrap();
    let wanted = Wanted { resource: 0, declaration: &declaration, action: "create", resolved: vec![], why_run: false };
    let made = providers.compose(&wanted, Purpose::Action).unwrap();
    let table = &made.children.last().unwrap().declaration;
    run(&mut providers, table, "create", false).unwrap();
    assert_eq!(bench.read("etc/fstab"), "tmpfs /tmp tmpfs\n/srv/swap swap swap defaults 0 0\n");
    check_denied(bench.run("file", "/etc/fstab", "create", json!({ "content": "" })), "/etc/fstab");
    // Something else needs the right to its path, to be replaced or removed. What other processes swapped is not read.
    std::fs::write(bench.path("srv/swap"), "theirs").unwrap();
    let declaration = bench.declaration("swap_file", "/srv/swap", json!({ "size": 1 }));
    let wanted = |action| Wanted { resource: 0, declaration: &declaration, action, resolved: vec![], why_run: false };
    let removal = |providers: &mut MachineProviders| {
        let made = providers.compose(&wanted("remove"), Purpose::Action).unwrap();
        run(providers, &made.children[0].declaration, "delete", false)
    };
    check_denied(providers.compose(&wanted("create"), Purpose::Survey), "/srv/swap");
    check_denied(removal(&mut providers), "/srv/swap");
    assert_eq!(bench.read("srv/swap"), "theirs");
    std::fs::remove_file(bench.path("srv/swap")).unwrap();
    run(&mut providers, file, "create", false).unwrap();
    let read = json!({ "source": "file:///srv/swap" });
    check_denied(bench.run("remote_file", "/srv/copy", "create", read), "/srv");
    removal(&mut providers).unwrap();
    assert!(!bench.path("srv/swap").exists());
}

#[test]
fn a_swap_file_is_charged_and_takes_no_longer_than_it_may() {
    for (limits, properties, expected) in [
        (AccountLimits { disk: 1 << 20, ..AccountLimits::default() }, json!({ "size": 2 }), "Disk quota"),
        (AccountLimits::default(), json!({ "size": 2, "timeout": 0 }), "property `timeout`"),
    ] {
        let bench = Bench::new("").unlimited();
        let account = Account::new("database", limits, Meters::default());
        let settings = Settings { account, ..bench.settings(false) };
        let mut providers = MachineProviders::new(Arc::new(settings)).unwrap();
        let declaration = bench.declaration("swap_file", "/swap", properties);
        let wanted =
            Wanted { resource: 0, declaration: &declaration, action: "create", resolved: vec![], why_run: false };
        let made = providers.compose(&wanted, Purpose::Action).unwrap();
        let raised = run(&mut providers, &made.children[0].declaration, "create", false).unwrap_err();
        let said = format!("{} {}", raised.message, raised.hint.unwrap_or_default());
        assert!(said.contains(expected), "{said}");
        assert_eq!(std::fs::read_dir(&bench.root).unwrap().count(), 1, "nothing but /etc is there");
    }
}

/// Root's tools get the path as text, and would follow whatever link is there when they look.
#[test]
fn a_swap_file_lies_where_nobody_but_root_may_exchange_it() {
    let bench = Bench::new("").unlimited();
    for folder in ["app", "srv/own"] {
        std::fs::create_dir_all(bench.path(folder)).unwrap();
    }
    std::fs::write(bench.path("etc/shadow"), "kept").unwrap();
    let link = |to: &str, at: &str| std::os::unix::fs::symlink(to, bench.path(at)).unwrap();
    link("/etc/shadow", "srv/own/swap");
    link("/etc/absent", "srv/own/dangling");
    link("/srv/own", "srv/way");
    std::os::unix::fs::chown(bench.path("app"), Some(65534), None).unwrap();
    let compose = |name: &str, action: &str| {
        let declaration = bench.declaration("swap_file", name, json!({ "size": 1 }));
        let wanted = Wanted { resource: 0, declaration: &declaration, action, resolved: vec![], why_run: false };
        bench.providers(false).compose(&wanted, Purpose::Survey)
    };
    for name in ["/srv/own/swap", "/srv/own/dangling", "/srv/way/new", "/app/new", "/srv/own/../own/new", "/absent/new"]
    {
        for action in ["create", "remove"] {
            assert!(compose(name, action).is_err(), "{action} {name}");
        }
    }
    assert!(compose("/srv/own/new", "create").is_ok() && compose("/srv/own/new", "remove").is_ok());
}

#[test]
fn a_kernel_module_is_a_file_and_a_command() {
    let options = json!({ "options": ["max_loop=8"] });
    let made = composition("kernel_module", "loop", "install", options.clone()).unwrap();
    let is_command = |child: &contract::Child| child.declaration.kind == "execute";
    assert!(!made.children.iter().any(is_command), "the kernel below another root is another machine's");
    let made = survey("kernel_module", "loop", "install", options);
    let rows: Vec<_> = made.children.iter().map(|child| child.declaration.key()).collect();
    let expected = [
        "file[/etc/modprobe.d/disable_loop.conf]",
        "file[/etc/modprobe.d/options_loop.conf]",
        "execute[load kernel module loop]",
        "directory[/etc/modules-load.d]",
        "file[/etc/modules-load.d/loop.conf]",
    ];
    assert_eq!(rows, expected);
    assert_eq!(text(&made.children[1].declaration, "content"), "options loop max_loop=8\n");
    assert_eq!(made.shared[0].declaration.key(), "execute[update initramfs]");
    check("kernel_module", "loop", "unload", json!({}), &[]);
    for name in ["-r", "a b", "../x", ""] {
        assert!(children("kernel_module", name, "load", json!({})).is_err(), "{name:?}");
    }
    assert!(children("kernel_module", "loop", "install", json!({ "options": ["a\ninstall x y"] })).is_err());
}

#[test]
fn users_of_cron_and_known_hosts_share_a_file() {
    let made = composition("cron_access", "ann", "deny", json!({})).unwrap();
    assert_eq!(
        (made.shared[0].declaration.key(), made.shared[0].delayed),
        ("template[/etc/cron.deny]".into(), Some("create"))
    );
    assert_eq!(made.shared[0].line.as_ref().unwrap().line, "ann");
    assert!(composition("cron_access", "ann\nroot", "allow", json!({})).is_err());
    let made =
        composition("ssh_known_hosts_entry", "a.example", "create", json!({ "key": "AAA", "port": 2222 })).unwrap();
    assert_eq!(made.shared[0].line.as_ref().unwrap().line, "[a.example]:2222 ssh-rsa AAA");
    for (name, properties) in
        [("a b", json!({ "key": "A" })), ("-oX", json!({})), ("a", json!({ "key": "A\nb ssh-rsa B" }))]
    {
        assert!(composition("ssh_known_hosts_entry", name, "create", properties).is_err(), "{name}");
    }
}

#[test]
fn small_types_are_made_of_packages_files_and_commands() {
    let packages = "apt_package[autoconf, binutils-doc, bison, build-essential, flex, gettext, ncurses-dev] install";
    check("build_essential", "x", "install", json!({}), &[packages]);
    check("build_essential", "x", "upgrade", json!({}), &[]);
    let made = check(
        "ohai_hint",
        "ec2.json",
        "create",
        json!({ "content": { "a": 1 } }),
        &["directory[/etc/chef/ohai/hints] create", "file[/etc/chef/ohai/hints/ec2.json] create"],
    );
    assert_eq!(text(&made[1], "content"), "{\n  \"a\": 1\n}");
    assert!(children("ohai_hint", "../x", "create", json!({})).is_err());
    let row = "execute[adding alternative /usr/bin/java java /opt/a/java 100] run";
    let properties = json!({ "path": "/opt/a/java", "priority": 100 });
    let wrong = children("alternatives", "java", "install", properties).unwrap_err();
    assert_eq!(wrong.message, "Could not set alternatives for java, missing /opt/a/java", "{row}");
    for (name, properties) in
        [("--force", json!({ "path": "/a" })), ("java", json!({ "path": "a" })), ("java", json!({ "priority": 1 }))]
    {
        assert!(children("alternatives", name, "set", properties.clone()).is_err(), "{name} {properties}");
    }
    let refused = children("locale", "x", "update", json!({ "lang": "en_GB.UTF-8" })).unwrap_err();
    assert_eq!(refused.class(), "Chef::Exceptions::ProviderNotFound");
}

#[test]
fn attack_a_part_of_a_swap_file_has_its_right_only_as_it_was_chosen() {
    let made = survey("swap_file", "/swap", "create", json!({ "size": 1, "persist": true }));
    let files = made.children.into_iter().map(|child| child.declaration).filter(|part| part.kind == "file");
    let changed = files.map(|mut part| {
        assert!(part.own_part().is_some(), "{part:?}");
        part.properties.push(("mode".into(), Property::Plain(json!("0666"))));
        part.own_part().is_none()
    });
    assert_eq!(changed.collect::<Vec<_>>(), [true, true]);
}
