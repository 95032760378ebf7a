//! The machine's name and time zone.

use super::{check, children, text};
use crate::support::Bench;
use contract::{Providers as _, Purpose, Test, Wanted};
use providers::MachineProviders;
use serde_json::json;
use std::sync::Arc;

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
