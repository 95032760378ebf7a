//! Types whose actions are made of other resources: which ones, and what they say.

use crate::support::Bench;
use contract::{Composition, Declaration, Property, Providers as _, Raised, Wanted};
use serde_json::{Value, json};

/// The children of an action, in an empty root.
fn composition(kind: &str, name: &str, action: &str, properties: Value) -> Result<Composition, Raised> {
    let bench = Bench::new("").unlimited();
    let declaration = bench.declaration(kind, name, properties);
    let wanted = Wanted { resource: 0, declaration: &declaration, action, resolved: vec![], why_run: false };
    bench.providers(false).compose(&wanted)
}

fn children(kind: &str, name: &str, action: &str, properties: Value) -> Result<Vec<Declaration>, Raised> {
    composition(kind, name, action, properties).map(|made| made.children)
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
    let made = check("sysctl", "net.ipv4.ip_forward", "apply", properties, &rows);
    assert_eq!(text(&made[2], "content"), "# routes\nnet.ipv4.ip_forward = 1\n");
    let words = Property::Plain(json!(["sysctl", "-w", "net.ipv4.ip_forward=1"]));
    assert_eq!(made[0].property("command"), Some(&words));
    let rows = ["execute[Load sysctl values] nothing", &format!("file[{path}] delete")];
    check("sysctl", "net.ipv4.ip_forward", "remove", json!({}), &rows);
    for (key, value) in [("-a", "1"), ("a b", "1"), ("", "1"), ("a", "1\n2")] {
        assert!(children("sysctl", "x", "apply", json!({ "key": key, "value": value })).is_err(), "{key} {value}");
    }
}

#[test]
fn sudo_is_a_file_that_only_root_reads() {
    let rows = ["directory[/etc/sudoers.d/] create", "file[/etc/sudoers.d/ops] create"];
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
    let rows = ["package[tzdata] install", "link[/etc/localtime] create"];
    let made = check("timezone", "Europe/Berlin", "set", json!({}), &rows);
    assert_eq!(text(&made[1], "to"), "/usr/share/zoneinfo/Europe/Berlin");
    for zone in ["../../etc/shadow", "/etc/shadow", "-x", "Europe/", "a b", "Europe/../x"] {
        assert!(children("timezone", zone, "set", json!({})).unwrap_err().message.contains("time zone"), "{zone}");
    }
}

#[test]
fn a_preference_of_apt_is_a_file_that_apt_reads() {
    let path = "/etc/apt/preferences.d/libx_y.pref";
    let rows = ["directory[/etc/apt/preferences.d] create", &format!("file[{path}] create")];
    let properties = json!({ "pin": "version 1.2*", "pin_priority": 700 });
    let made = check("apt_preference", "libx.y", "add", properties, &rows);
    assert_eq!(text(&made[1], "content"), "Package: libx.y\nPin: version 1.2*\nPin-Priority: 700\n");
    check("apt_preference", "libx.y", "remove", json!({}), &[&format!("file[{path}] delete")]);
    let injected = json!({ "pin": "version 1\n\nPackage: *", "pin_priority": 1 });
    assert!(children("apt_preference", "x", "add", injected).unwrap_err().message.contains("control characters"));
}

#[test]
fn limits_of_a_user_are_a_file() {
    let path = "/etc/security/limits.d/ann_limits.conf";
    let properties = json!({ "filehandle_limit": 100, "process_soft_limit": 5, "virt_limit": 7 });
    let made = check("user_ulimit", "ann", "create", properties, &[&format!("file[{path}] create")]);
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
