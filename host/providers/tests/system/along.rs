//! Packages that apt changes along with the declared ones.

use crate::archive::{self, Package};
use crate::node::Node;
use crate::package::version;
use serde_json::json;

/// A root with `victim` 2 installed, and an archive that has a newer one, which `needy` needs, and an older one, which `antique`
/// needs. `bringer` needs a new package.
fn with_victim(grants: &str) -> Node {
    let node = Node::granting(grants);
    let scripts: &[(&str, &str)] = &[("conffiles", "/etc/victim.conf\n")];
    let victim = |version, files| Package { name: "victim", version, files, scripts, ..Package::default() };
    let older: &[(&str, &str, u32)] = &[("etc/victim.conf", "older\n", 0o644)];
    let newer: &[(&str, &str, u32)] = &[("etc/victim.conf", "newer\n", 0o644)];
    let plain = |name, fields| Package { name, version: "1", fields, ..Package::default() };
    archive::publish(
        &node.root,
        &[
            victim("1", older),
            victim("2", older),
            victim("3", newer),
            plain("needy", "Depends: victim (>= 3)\n"),
            plain("antique", "Depends: victim (= 1)\n"),
            plain("new", ""),
            plain("bringer", "Depends: new\n"),
            plain("wrun", ""),
            plain("host", "Depends: wrun\n"),
        ],
    );
    node.output("apt-get -q update && apt-get -q -y install victim=2 && echo mine > /etc/victim.conf");
    node
}

#[track_caller]
fn denies(node: &mut Node, name: &str, properties: serde_json::Value, part: &str) {
    let error = node.act("apt_package", name, "install", properties).unwrap_err();
    assert!(error.class() == "Wrun::Denied" && error.message.contains(part), "{error:?}");
}

#[test]
fn attack_apt_changes_no_package_that_is_denied_and_downgrades_none_that_is_not_granted() {
    let mut node = with_victim("packages = [\"*\"]\ndeny_packages = [\"victim\", \"new\"]\n");
    // apt goes to an older version by itself where the operator prefers that.
    let prefer = "printf 'Package: victim\nPin: version 1\nPin-Priority: 1001\n' > /etc/apt/preferences.d/older";
    denies(&mut node, "needy", json!({}), "`victim`");
    denies(&mut node, "bringer", json!({}), "`new`");
    denies(&mut node, "host", json!({}), "`wrun`");
    node.output(prefer);
    denies(&mut node, "antique", json!({}), "`victim`");
    let mut node = node.again(Some("packages = [\"antique\", \"needy\", \"bringer\", \"host\"]\n"));
    denies(&mut node, "antique", json!({}), "`victim`");
    node.output("rm /etc/apt/preferences.d/older");
    denies(&mut node, "host", json!({}), "`wrun`");
    denies(&mut node, "needy", json!({"overwrite_config_files": true}), "`victim`");
    assert_eq!(version(&node, "victim"), "installed 2");
    // What a granted package needs comes along: it acts as root anyway.
    let done = node.act("apt_package", "needy", "install", json!({})).unwrap();
    assert_eq!(done, ["install version 1 of package needy", "upgrade package victim from 2 to 3 along with it"]);
    assert_eq!(
        (version(&node, "victim").as_str(), node.output("cat /etc/victim.conf")),
        ("installed 3", "mine".into())
    );
    let done = node.act("apt_package", "bringer", "install", json!({})).unwrap();
    assert_eq!(done, ["install version 1 of package bringer"]);
    node.output(&format!("apt-get -y -q purge needy; {prefer}"));
    let mut node = node.again(Some("packages = [\"antique\", \"victim\"]\n"));
    let done = node.act("apt_package", "antique", "install", json!({})).unwrap();
    assert_eq!(done, ["install version 1 of package antique", "downgrade package victim from 3 to 1 along with it"]);
}

#[test]
fn attack_another_release_needs_the_right_to_the_option() {
    let mut node = with_victim("packages = [\"needy\"]\n");
    let elsewhere = json!({"default_release": "sid"});
    denies(&mut node, "needy", elsewhere.clone(), "`--default-release=sid`");
    let rules = "packages = [\"needy\"]\npackage_options = [\"--default-release=sid\"]\n";
    let error = node.again(Some(rules)).act("apt_package", "needy", "install", elsewhere).unwrap_err();
    assert_ne!(error.class(), "Wrun::Denied", "{error:?}");
}
