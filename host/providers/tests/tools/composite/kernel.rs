//! Parameters and modules of the kernel.

use super::{check, check_denied, children, composition, files_of, survey, text};
use crate::support::{Bench, run};
use contract::{ChildRow, Declaration, Property, Providers as _, Purpose, Wanted};
use serde_json::{Value, json};

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
fn a_value_of_another_kind_names_property_and_kind() {
    let raised = children("sysctl", "a", "apply", json!({ "value": { "a": 1 } })).unwrap_err();
    assert_eq!(raised.message, "value must be a text, not a map");
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
