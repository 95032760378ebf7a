//! The same on Debian's own packages, from the mirror that the root was made from.

use crate::node::Node;
use serde_json::json;

#[test]
fn debians_packages_are_installed_and_their_service_runs() {
    let mut node = Node::new();
    let names = json!({"package_name": ["hello", "cron"]});
    let done = node.act("package", "hello, cron", "install", names.clone()).unwrap_or_else(|error| panic!("{error:?}"));
    assert_eq!(done.len(), 3, "{done:?}");
    assert_eq!(node.act("package", "hello, cron", "upgrade", names).unwrap(), [""; 0]);
    assert_eq!(node.output("hello -t"), "hello, world");
    let mut service = |action: &str| node.act("service", "cron", action, json!({})).unwrap();
    assert_eq!(service("enable"), [""; 0]);
    assert_eq!(service("start"), ["start service service[cron]"]);
    assert_eq!(service("start"), [""; 0]);
    assert_eq!(service("restart"), ["restart service service[cron]"]);
    assert_eq!(service("stop"), ["stop service service[cron]"]);
    assert_eq!(service("stop"), [""; 0]);
    assert_eq!(service("disable"), ["disable service service[cron]"]);
    assert_eq!(node.act("package", "cron", "purge", json!({})).unwrap(), ["purge package cron"]);
    let error = node.act("package", "wrun-no-such-package", "install", json!({})).unwrap_err();
    assert_eq!(error.message, "No candidate version available for wrun-no-such-package");
}
