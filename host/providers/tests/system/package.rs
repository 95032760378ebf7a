//! `package`, `apt_package` and `dpkg_package`, with apt and dpkg.

use crate::archive::{self, Package};
use crate::node::{Foreseen, Node, REFRESH};
use serde_json::json;

/// A root whose archive holds `tool` 1.0 and 2.0 with a configuration file, and some more.
fn node() -> Node {
    stocked(Node::new())
}

fn stocked(node: Node) -> Node {
    let conffiles: &[(&str, &str)] = &[("conffiles", "/etc/tool.conf\n")];
    let tool = |version, files| Package { name: "tool", version, files, scripts: conffiles, ..Package::default() };
    let plain = |name, fields| Package { name, version: "1.0", fields, ..Package::default() };
    archive::publish(
        &node.root,
        &[
            tool("1.0", &[("usr/bin/tool", "#!/bin/sh\necho 1\n", 0o755), ("etc/tool.conf", "a=1\n", 0o644)]),
            tool("2.0", &[("usr/bin/tool", "#!/bin/sh\necho 2\n", 0o755), ("etc/tool.conf", "a=2\n", 0o644)]),
            plain("other", "Depends: tool\n"),
            plain("rival", "Conflicts: tool\n"),
            plain("mailer", "Provides: mail-agent, post-agent\n"),
            plain("poster", "Provides: post-agent\n"),
            plain("usurper", "Conflicts: mailer\nReplaces: mailer\n"),
            Package {
                name: "broken",
                version: "1.0",
                scripts: &[("postinst", "#!/bin/sh\ntest -e /srv/repaired\n")],
                ..Package::default()
            },
        ],
    );
    node
}

pub(crate) fn version(node: &Node, name: &str) -> String {
    node.output(&format!("dpkg-query -W -f '${{db:Status-Status}} ${{Version}}' {name} 2>/dev/null || true"))
}

#[test]
fn packages_are_installed_upgraded_removed_and_purged() {
    let mut node = node();
    let mut act = |name: &str, action: &str, properties, expect: &[&str]| {
        let done = node.act("package", name, action, properties).unwrap();
        assert_eq!(done, expect, "{action} {name}");
    };
    // The lists are missing: they are fetched once, and then it is known what there is.
    act("tool", "install", json!({"version": "1.0"}), &[REFRESH, "install version 1.0 of package tool"]);
    act("tool", "install", json!({"version": "1.0"}), &[]);
    act("tool", "install", json!({}), &[]);
    act("tool", "upgrade", json!({}), &["upgrade package tool from 1.0 to 2.0"]);
    act("tool", "upgrade", json!({}), &[]);
    act("tool", "install", json!({"version": "1.0"}), &["install version 1.0 of package tool"]);
    act("tool", "remove", json!({"version": "2.0"}), &[]);
    act("tool", "remove", json!({}), &["remove package tool"]);
    act("tool", "remove", json!({}), &[]);
    act("tool", "purge", json!({}), &["purge package tool"]);
    act("tool", "purge", json!({}), &[]);
    assert_eq!(version(&node, "tool"), "");
    assert!(!node.root.exists("/etc/tool.conf"));
}

#[test]
fn several_packages_are_one_transaction() {
    let mut node = node();
    let names = json!({"package_name": ["tool", "mailer"], "version": ["1.0", null]});
    let done = node.act("package", "tool, mailer", "install", names.clone()).unwrap();
    assert_eq!(done, [REFRESH, "install version 1.0 of package tool", "install version 1.0 of package mailer"]);
    assert_eq!(node.output("grep -c ^Commandline: /var/log/apt/history.log"), "1");
    assert_eq!(node.act("package", "tool, mailer", "install", names).unwrap(), [""; 0]);
    let upgrade = json!({"package_name": ["tool", "mailer", "other"]});
    let done = node.act("package", "all", "upgrade", upgrade).unwrap();
    assert_eq!(done, ["upgrade package tool from 1.0 to 2.0", "upgrade package other from uninstalled to 1.0"]);
}

#[test]
fn a_package_that_nobody_offers_is_chefs_error() {
    let mut node = node();
    let error = node.act("package", "wrun-no-such", "install", json!({})).unwrap_err();
    assert_eq!(error.class(), "Chef::Exceptions::Package");
    assert_eq!(error.message, "No candidate version available for wrun-no-such");
    let error = node.act("package", "tool", "install", json!({"version": "9"})).unwrap_err();
    assert_eq!(error.message, "No candidate version available for tool");
    node.act("package", "tool", "install", json!({})).unwrap();
    let error = node.act("package", "tool", "install", json!({"version": "9"})).unwrap_err();
    assert_eq!(error.message, "No version specified, and no candidate version available for tool");
    // Names that mean something else to apt are refused before it sees them.
    for name in ["tool/sid", "tool=1.0", "too*", "-y", "--purge"] {
        for action in ["install", "remove"] {
            let error = node.act("package", name, action, json!({})).unwrap_err();
            assert_eq!(error.class(), "Wrun::Denied", "{name}");
        }
    }
    for name in ["tool-", "tool^", "TOOL.", "tool:amd64:x"] {
        let error = node.act("package", name, "install", json!({})).unwrap_err();
        assert_eq!(error.message, format!("No candidate version available for {name}"));
        assert_eq!(node.act("package", name, "remove", json!({})).unwrap(), [""; 0]);
    }
    assert_eq!(version(&node, "tool"), "installed 2.0");
}

#[test]
fn a_dry_run_changes_nothing_and_says_what_it_takes_for_granted() {
    let mut node = node().dry();
    let before = node.root.tree("/").unwrap();
    let foreseen = node.foresee("package", "tool", "install", json!({})).unwrap();
    let unknown = vec![
        "whether tool can be had is not known: the lists of available packages are missing or old, and a real run \
         refreshes them first"
            .to_owned(),
    ];
    assert_eq!(foreseen, Foreseen { status: contract::Status::Unknown, unknown, ..Foreseen::default() });
    unchanged(&node, &before);
    node.output("apt-get -q update");
    let before = node.root.tree("/").unwrap();
    let foreseen = node.foresee("package", "tool", "install", json!({})).unwrap();
    unchanged(&node, &before);
    assert_eq!(
        foreseen,
        Foreseen { changes: vec!["install version 2.0 of package tool".into()], ..Foreseen::default() }
    );
    // Lists that are there and new, and do not have it.
    node.output("touch /var/lib/apt/lists/other_Packages");
    let foreseen = node.foresee("package", "no-such-tool", "install", json!({})).unwrap();
    let assumed = vec!["Assuming a repository that offers no-such-tool would have been configured".to_owned()];
    assert_eq!(foreseen, Foreseen { assumed, ..Foreseen::default() });
    assert_eq!(version(&node, "tool"), "");
}

fn unchanged(node: &Node, before: &specs::Tree) {
    let now = node.root.tree("/").unwrap();
    let (now, before) = (format!("{now:#?}"), format!("{before:#?}"));
    let new = || now.lines().filter(|line| !before.contains(line)).collect::<Vec<_>>();
    assert!(now == before, "something was changed: {:?}", new());
}

#[test]
fn configuration_that_was_changed_on_the_node_is_kept() {
    let mut node = node();
    node.act("package", "tool", "install", json!({"version": "1.0"})).unwrap();
    node.root.write("/etc/tool.conf", "a=mine\n").unwrap();
    node.act("package", "tool", "upgrade", json!({})).unwrap();
    assert_eq!(node.root.read("/etc/tool.conf").unwrap(), "a=mine\n");
    node.act("package", "tool", "install", json!({"version": "1.0", "overwrite_config_files": true})).unwrap();
    assert_eq!(node.root.read("/etc/tool.conf").unwrap(), "a=1\n");
}

#[test]
fn virtual_packages_are_their_only_provider() {
    let mut node = node();
    node.output("apt-get -q update");
    let done = node.act("package", "mail-agent", "install", json!({})).unwrap();
    assert_eq!(done, ["install version 1.0 of package mail-agent"]);
    assert_eq!(version(&node, "mailer"), "installed 1.0");
    assert_eq!(node.act("package", "mail-agent", "install", json!({})).unwrap(), [""; 0]);
    let error = node.act("package", "post-agent", "install", json!({})).unwrap_err();
    let expect = "post-agent is a virtual package provided by multiple packages, you must explicitly select one";
    assert_eq!(error.message, expect);
    assert_eq!(error.hint.unwrap(), "post-agent is provided by: mailer, poster");
}

#[test]
fn packages_are_held_and_let_go() {
    let mut node = node();
    node.act("package", "tool", "install", json!({"version": "1.0"})).unwrap();
    assert_eq!(node.act("package", "tool", "lock", json!({})).unwrap(), ["lock package tool"]);
    assert_eq!(node.act("package", "tool", "lock", json!({})).unwrap(), [""; 0]);
    assert_eq!(node.output("apt-mark showhold"), "tool");
    assert_eq!(node.act("package", "tool", "unlock", json!({})).unwrap(), ["unlock package tool"]);
    assert_eq!(node.act("package", "tool", "unlock", json!({})).unwrap(), [""; 0]);
}

/// Apt-mark: a name that apt does not know is a pattern to it, and holds other teams' packages.
#[test]
fn apt_mark() {
    let mut node = node();
    node.act("package", "tool", "install", json!({"version": "1.0"})).unwrap();
    for name in ["t.+", "to.l", "c.+", "g++", "mailer"] {
        let error = node.act("apt_package", name, "lock", json!({})).unwrap_err();
        let expect = format!("{name} cannot be locked: no package of exactly that name is installed");
        assert_eq!((error.class(), error.message.as_str()), ("Chef::Exceptions::Package", expect.as_str()));
        assert_eq!(node.act("apt_package", name, "unlock", json!({})).unwrap(), [""; 0]);
    }
    // One that is not known is not left out of several.
    let both = json!({"package_name": ["tool", "to.l"]});
    assert!(node.act("package", "both", "lock", both).is_err());
    assert_eq!(node.output("apt-mark showhold"), "");
    node.output("printf 'Package: t.+\\nStatus: hold ok not-installed\\n\\n' >> /var/lib/dpkg/status");
    node.output("echo 'tool hold' | dpkg --set-selections");
    let error = node.act("apt_package", "t.+", "unlock", json!({})).unwrap_err();
    assert_eq!(error.message, "t.+ cannot be unlocked: no package of exactly that name is installed");
    assert_eq!(node.output("apt-mark showhold | grep -x tool"), "tool", "the mark of another package stays");
}

#[test]
fn a_dry_run_takes_for_granted_that_a_package_to_lock_would_have_been_installed() {
    let node = node();
    node.output("apt-get -q update");
    let mut node = node.dry();
    node.foresee("package", "tool", "install", json!({})).unwrap();
    let foreseen = node.foresee("package", "tool", "lock", json!({})).unwrap();
    assert_eq!(foreseen.assumed, ["Assuming tool would have been installed"]);
    assert!(node.foresee("package", "mailer", "lock", json!({})).is_err());
}

#[test]
fn an_archive_that_moved_on_is_looked_up_again() {
    let mut node = node();
    node.output("apt-get -q update");
    // The lists name 2.0; by now there is only 2.1.
    std::fs::remove_file(node.root.at("/srv/archive/tool_2.0_all.deb").unwrap()).unwrap();
    Package { name: "tool", version: "2.1", ..Package::default() }.make(&node.root.at("/srv/archive").unwrap());
    archive::index(&node.root);
    let done = node.act("package", "tool", "install", json!({})).unwrap_or_else(|error| panic!("{error:?}"));
    assert_eq!(done, [REFRESH, "install version 2.1 of package tool"]);
}

#[test]
fn a_held_lock_is_waited_for_and_its_holder_named() {
    let mut node = node();
    node.output("apt-get -q update");
    // Another dpkg, at work until it is told to go on.
    let slow = "#!/bin/sh\ntouch /srv/begun\nuntil [ -e /srv/go ]; do sleep 0.05; done\n";
    let archive = node.root.at("/srv").unwrap();
    Package { name: "slow", version: "1", scripts: &[("preinst", slow)], ..Package::default() }.make(&archive);
    let mut other = std::process::Command::new("chroot");
    let other = other.arg(node.root.path()).args(["dpkg", "-i", "/srv/slow_1_all.deb"]);
    let mut other = other.stdout(std::process::Stdio::null()).spawn().unwrap();
    while !node.root.exists("/srv/begun") {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let error = node.act("package", "tool", "install", json!({})).unwrap_err();
    assert_eq!(error.class(), "Chef::Exceptions::Package");
    let expect = format!("/var/lib/dpkg/lock-frontend is held by process {} (dpkg)", other.id());
    assert!(error.message.starts_with(&expect), "{}", error.message);
    let mut node = node.patient();
    let go = node.root.at("/srv/go").unwrap();
    let teller = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(300));
        std::fs::write(go, "").unwrap();
    });
    assert_eq!(node.act("package", "tool", "install", json!({})).unwrap(), ["install version 2.0 of package tool"]);
    assert!(other.wait().unwrap().success());
    teller.join().unwrap();
    assert_eq!(version(&node, "slow"), "installed 1");
}

/// Any user may lock debconf's files. debconf would fail at once, and leave the package half configured.
#[test]
fn attack_a_lock_on_debconfs_files_is_waited_for_and_its_holder_named() {
    let mut node = node();
    node.output("apt-get -q update");
    let path = "/var/cache/debconf/templates.dat";
    let file = std::fs::File::open(node.root.at(path).unwrap()).unwrap();
    rustix::fs::flock(&file, rustix::fs::FlockOperation::LockExclusive).unwrap();
    let error = node.act("package", "tool", "install", json!({})).unwrap_err();
    let expect = format!("{path} is held by process {} (", std::process::id());
    assert!(error.message.starts_with(&expect), "{}", error.message);
    assert_eq!(version(&node, "tool"), "");
    drop(file);
    assert_eq!(node.act("package", "tool", "install", json!({})).unwrap(), ["install version 2.0 of package tool"]);
}

#[test]
fn an_interrupted_dpkg_is_named() {
    let mut node = node();
    node.output("apt-get -q update");
    let error = node.act("package", "broken", "install", json!({})).unwrap_err();
    assert_eq!(error.class(), "Mixlib::ShellOut::ShellCommandFailed");
    // Now it is half-configured, and that is said before anything is tried.
    let error = node.act("package", "broken", "install", json!({})).unwrap_err();
    assert_eq!(error.message, "package broken is half-configured: dpkg was interrupted, so no package can be changed");
    assert!(error.hint.unwrap().contains("dpkg --configure -a"));
    let foreseen = node.foresee("package", "broken", "install", json!({})).unwrap();
    assert_eq!(foreseen.unknown.len(), 1);
    node.root.write("/srv/repaired", "").unwrap();
    node.output("dpkg --configure -a");
    assert_eq!(node.act("package", "broken", "install", json!({})).unwrap(), [""; 0]);
    // What dpkg leaves behind when it is killed: its journal.
    node.root.write("/var/lib/dpkg/updates/0001", "").unwrap();
    let error = node.act("package", "tool", "install", json!({})).unwrap_err();
    assert_eq!(error.message, "dpkg was interrupted, so no package can be changed");
}

#[test]
fn package_files_are_installed() {
    let mut node = node();
    let file = json!({"source": "/srv/archive/tool_1.0_all.deb"});
    let mut act = |action: &str, properties: &serde_json::Value, expect: &[&str]| {
        assert_eq!(node.act("dpkg_package", "tool", action, properties.clone()).unwrap(), expect, "{action}");
    };
    act("install", &file, &["install version 1.0 of package tool"]);
    act("install", &file, &[]);
    let newer = json!({"source": "/srv/archive/tool_2.0_all.deb"});
    act("install", &newer, &[]);
    act("upgrade", &newer, &["upgrade package tool from 1.0 to 2.0"]);
    act("upgrade", &json!({"source": "/srv/archive/tool_1.0_all.deb", "allow_downgrade": false}), &[]);
    act("remove", &json!({}), &["remove package tool"]);
    act("purge", &json!({}), &["purge package tool"]);
    act("purge", &json!({}), &[]);
    let done = node.act("dpkg_package", "/srv/archive/mailer_1.0_all.deb", "install", json!({})).unwrap();
    assert_eq!(done, ["install version 1.0 of package mailer"]);
    let error = node.act("dpkg_package", "tool", "install", json!({"source": "/srv/no.deb"})).unwrap_err();
    assert_eq!(error.message, "dpkg_package[tool] source file(s) do not exist: /srv/no.deb");
    let error = node.act("dpkg_package", "tool", "install", json!({})).unwrap_err();
    assert_eq!(error.message, "No candidate version available for tool");
    let error = node.act("package", "tool", "install", json!({"source": "/srv/x.deb"})).unwrap_err();
    assert_eq!(error.message, "apt package provider cannot handle source property. Use dpkg provider instead");
}

/// Between the look at a file and its installation by root, its owner may put another one there.
#[test]
fn a_package_file_that_others_than_root_may_exchange_is_not_installed() {
    let mut node = node();
    node.output(
        "mkdir -p /srv/own /srv/app/deep /srv/shared /srv/plain; chmod 1777 /srv/shared; chmod 775 /srv/plain; chown nobody /srv/app; \
         for place in own/a app/deep/a shared/a shared/theirs plain/a own/theirs own/open; do \
         cp /srv/archive/tool_1.0_all.deb /srv/$place.deb; done; \
         chown nobody /srv/shared/theirs.deb /srv/own/theirs.deb; chmod 666 /srv/own/open.deb; ln -s /srv/app/deep /srv/own/way",
    );
    for place in ["app/deep/a", "shared/theirs", "plain/a", "own/theirs", "own/open", "own/way/a"] {
        let file = json!({"source": format!("/srv/{place}.deb")});
        let error = node.act("dpkg_package", "tool", "install", file).unwrap_err();
        assert!(error.message.contains("others than root may change"), "{place}: {}", error.message);
    }
    assert_eq!(version(&node, "tool"), "");
    for place in ["own/a", "shared/a"] {
        let file = json!({"source": format!("/srv/{place}.deb")});
        assert_eq!(node.act("dpkg_package", "tool", "install", file).unwrap().len(), 1, "{place}");
        node.act("dpkg_package", "tool", "purge", json!({})).unwrap();
    }
}

/// To read a file, dpkg unpacks a part of it: into a place of its own in a dry run, and not onto the machine.
#[test]
fn a_dry_run_reads_a_package_file_without_writing() {
    let node = node();
    node.root
        .write_program("/usr/bin/dpkg-deb", "#!/bin/sh\ntouch /srv/written /tmp/written\nprintf 'tool\\n1.0\\n'\n")
        .unwrap();
    let mut node = node.dry();
    let file = json!({"source": "/srv/archive/tool_1.0_all.deb"});
    let foreseen = node.foresee("dpkg_package", "tool", "install", file).unwrap();
    assert!(!node.root.exists("/srv/written") && !node.root.exists("/tmp/written"), "{foreseen:?}");
    assert_eq!(foreseen.unknown.len(), 1, "{foreseen:?}");
    node.root.write_program("/usr/bin/dpkg-deb", "#!/bin/sh\ntouch /tmp/written && printf 'tool\\n1.0\\n'\n").unwrap();
    let file = json!({"source": "/srv/archive/tool_1.0_all.deb"});
    let foreseen = node.foresee("dpkg_package", "tool", "install", file).unwrap();
    assert!(!node.root.exists("/tmp/written"), "{foreseen:?}");
    assert_eq!(foreseen.changes, ["install version 1.0 of package tool"]);
}

#[test]
fn response_files_answer_once() {
    let answers = "tool tool/colour string blue\n";
    let mut node = node().with_files(&[("files/tool.seed", answers)]);
    node.output("apt-get -q update");
    let seed = json!({"response_file": "tool.seed"});
    let done = node.act("package", "tool", "install", seed.clone()).unwrap();
    assert_eq!(done, ["preseed package tool", "install version 2.0 of package tool"]);
    let database = node.root.read("/var/cache/debconf/config.dat").unwrap();
    assert!(database.contains("Name: tool/colour") && database.contains("Value: blue"), "{database}");
    assert_eq!(node.act("package", "tool", "reconfig", seed).unwrap(), [""; 0]);
}

#[test]
fn response_files_answer_for_granted_packages_alone() {
    let mut kept = Some(node());
    let mut install = |answers: &str| {
        let node = kept.take().unwrap().with_granted_files(GRANTS, &[("files/tool.seed", answers)]);
        kept.insert(node).act("package", "tool", "install", json!({"response_file": "tool.seed"}))
    };
    for (answers, part) in [
        ("tool mailer/name string x\n", "mailer"),
        ("tool debconf/priority string low\n", "debconf"),
        ("d-i debconf/priority string low\n", "debconf"),
        ("to\\\nol-evil tool/colour string x\n", "tool-evil"),
    ] {
        let error = install(answers).unwrap_err();
        assert_eq!(error.class(), "Wrun::Denied", "{answers}: {error:?}");
        assert!(error.message.contains(part), "{error:?}");
    }
    assert!(install("tool tool/colour string blue\n").unwrap().iter().any(|done| done == "preseed package tool"));
}

const GRANTS: &str = "packages = [\"tool\", \"broken\"]\npackage_sources = [\"/srv/archive/tool_1.0_all.deb\"]\n";

#[test]
fn what_is_not_granted_is_denied() {
    let mut node = stocked(Node::granting(GRANTS));
    let mut denied = |kind: &str, name: &str, action: &str, properties, part: &str| {
        let error = node.act(kind, name, action, properties).unwrap_err();
        assert_eq!(error.class(), "Wrun::Denied", "{error:?}");
        assert!(error.message.contains(part), "{error:?}");
        assert!(error.hint.is_some_and(|hint| !hint.is_empty()), "{part}");
    };
    denied("package", "mailer", "install", json!({}), "mailer");
    denied("package", "mailer", "remove", json!({}), "mailer");
    let names = json!({"package_name": ["tool", "mailer"]});
    denied("package", "tool, mailer", "install", names, "mailer");
    // A right to install is not a right to run commands as root.
    let hook = json!({"options": ["-o", "DPkg::Pre-Invoke::=touch /srv/owned"]});
    denied("package", "tool", "install", hook, "package option `-o`");
    denied("package", "tool", "install", json!({"environment": {"LD_PRELOAD": "/srv/evil.so"}}), "LD_PRELOAD");
    denied("dpkg_package", "tool", "install", json!({"source": "/srv/archive/tool_2.0_all.deb"}), "tool_2.0_all.deb");
    assert!(!node.root.exists("/srv/owned"));
    assert_eq!(
        node.act("package", "tool", "install", json!({"options": ["--no-install-recommends"]})).unwrap().len(),
        2
    );
}

#[test]
fn a_right_to_a_package_is_no_right_to_those_that_need_or_hinder_it() {
    let mut node = stocked(Node::granting("packages = [\"tool\", \"rival\"]\n"));
    node.output("apt-get -q update && apt-get -q -y install other");
    let error = node.act("package", "tool", "remove", json!({})).unwrap_err();
    assert!(error.class() == "Wrun::Denied" && error.message.contains("other"), "{error:?}");
    let error = node.act("package", "rival", "install", json!({})).unwrap_err();
    assert!(error.class() == "Wrun::Denied" && error.message.contains("other"), "{error:?}");
    assert_eq!(version(&node, "other"), "installed 1.0");
    let mut node = node.again(Some("packages = [\"tool\", \"rival\", \"other\"]\n"));
    let done = node.act("package", "tool", "remove", json!({})).unwrap();
    assert_eq!(done, ["remove package tool", "remove package other, which depends on it"]);
}

#[test]
fn a_package_file_is_judged_by_the_name_inside() {
    let mut node = stocked(Node::granting("packages = [\"tool\"]\npackage_sources = [\"/srv/archive/*\"]\n"));
    let source = node.root.at("/srv/archive").unwrap();
    std::fs::copy(source.join("mailer_1.0_all.deb"), source.join("tool_3.0_all.deb")).unwrap();
    let error =
        node.act("dpkg_package", "tool", "install", json!({"source": "/srv/archive/tool_3.0_all.deb"})).unwrap_err();
    assert!(error.class() == "Wrun::Denied" && error.message.contains("mailer"), "{error:?}");
}

#[test]
fn a_right_to_a_virtual_package_is_no_right_to_its_provider() {
    let mut node = stocked(Node::granting("packages = [\"mail-agent\"]\n"));
    node.output("apt-get -q update");
    let error = node.act("package", "mail-agent", "install", json!({})).unwrap_err();
    assert!(error.class() == "Wrun::Denied" && error.message.contains("`mailer`"), "{error:?}");
    assert_eq!(version(&node, "mailer"), "");
    let mut node = node.again(Some("packages = [\"mail-agent\", \"mailer\"]\n"));
    let done = node.act("package", "mail-agent", "install", json!({})).unwrap();
    assert_eq!(done, ["install version 1.0 of package mail-agent"]);
    // What is there already needs no right to anybody else's package.
    let mut node = node.again(Some("packages = [\"mail-agent\"]\n"));
    assert_eq!(node.act("package", "mail-agent", "install", json!({})).unwrap(), [""; 0]);
    let error = node.act("package", "mail-agent", "install", json!({"version": "0.9"})).unwrap_err();
    assert!(!error.message.is_empty(), "{error:?}");
    assert_eq!(version(&node, "mailer"), "installed 1.0");
}

#[test]
fn dpkg_conflict_a_package_file_removes_no_package_that_is_not_granted() {
    let usurper = json!({"source": "/srv/archive/usurper_1.0_all.deb"});
    let rules = "packages = [\"usurper\"]\npackage_sources = [\"/srv/archive/**\"]\n";
    let mut node = stocked(Node::granting(rules));
    node.output("dpkg -i /srv/archive/mailer_1.0_all.deb");
    let error = node.act("dpkg_package", "usurper", "install", usurper.clone()).unwrap_err();
    assert!(error.class() == "Wrun::Denied" && error.message.contains("`mailer`"), "{error:?}");
    assert_eq!(version(&node, "mailer"), "installed 1.0");
    let mut node = node.again(Some(&rules.replace("[\"usurper\"]", "[\"usurper\", \"mailer\"]")));
    let done = node.act("dpkg_package", "usurper", "install", usurper).unwrap();
    assert_eq!(done, ["install version 1.0 of package usurper", "remove package mailer, which conflicts with it"]);
    assert_eq!(version(&node, "mailer"), "not-installed");
}

/// Whoever had a file open before it became root's writes another package into it after it was looked at.
#[test]
fn debfd_what_is_installed_is_what_was_looked_at() {
    let mut node = stocked(Node::granting("packages = [\"tool\"]\npackage_sources = [\"/srv/own.deb\"]\n"));
    node.output("cp /srv/archive/tool_1.0_all.deb /srv/own.deb");
    let file = json!({"source": "/srv/own.deb"});
    let error = node.act_after(("dpkg_package", "tool", "install"), file.clone(), |root| {
        let other = std::fs::read(root.at("/srv/archive/mailer_1.0_all.deb").unwrap()).unwrap();
        std::fs::write(root.at("/srv/own.deb").unwrap(), other).unwrap();
    });
    assert!(error.unwrap_err().message.contains("holds another package"));
    assert_eq!((version(&node, "tool").as_str(), version(&node, "mailer").as_str()), ("", ""));
    // The same name and version, and a package that would have to go.
    node.output("cp /srv/archive/tool_1.0_all.deb /srv/own.deb; dpkg -i /srv/archive/mailer_1.0_all.deb");
    let error = node.act_after(("dpkg_package", "tool", "install"), file.clone(), |root| {
        let fields = "Conflicts: mailer\nReplaces: mailer\n";
        let made =
            Package { name: "tool", version: "1.0", fields, ..Package::default() }.make(&root.at("/srv").unwrap());
        std::fs::rename(root.at("/srv").unwrap().join(made), root.at("/srv/own.deb").unwrap()).unwrap();
    });
    assert!(error.unwrap_err().message.contains("holds another package"));
    assert_eq!((version(&node, "tool").as_str(), version(&node, "mailer").as_str()), ("", "installed 1.0"));
    // dpkg gets a copy of wrun's own, of which nothing stays.
    node.output("cp /srv/archive/tool_1.0_all.deb /srv/own.deb; mv /usr/bin/dpkg /usr/bin/dpkg.real");
    let script = "#!/bin/sh\nfor last; do :; done; [ $1 != -i ] || stat -c '%u %a %n' \"$last\" > /srv/told\nexec dpkg.real \"$@\"\n";
    node.root.write_program("/usr/bin/dpkg", script).unwrap();
    assert_eq!(node.act("dpkg_package", "tool", "install", file).unwrap(), ["install version 1.0 of package tool"]);
    let told = node.root.read("/srv/told").unwrap();
    assert!(told.starts_with("0 600 /var/cache/wrun/packages/"), "{told}");
    assert_eq!(node.output("ls -A /var/cache/wrun/packages"), "");
}

#[test]
fn attack_a_dry_run_asks_no_tool_with_options_that_start_programs() {
    let mut node = node().dry();
    node.output("apt-get -q update");
    let before = node.root.tree("/").unwrap();
    for options in ["-o AptCli::Hooks::Install::=/srv/hook", "-o APT::Solver=sh", "-o Dir::Bin::dpkg=/srv/hook"] {
        let foreseen = node.foresee("apt_package", "tool", "install", json!({"options": options})).unwrap();
        assert!(foreseen.unknown.iter().any(|why| why.contains("options that may start programs")), "{foreseen:?}");
    }
    let plain = node.foresee("apt_package", "tool", "install", json!({"options": "--no-install-recommends"})).unwrap();
    assert_eq!(plain.unknown, [""; 0]);
    unchanged(&node, &before);
}
