//! The same on Debian's own packages, from the mirror that the root was made from.

use crate::node::Node;
use serde_json::json;

/// A root whose packages start nothing by themselves; a daemon of it ends with it.
struct Quiet(Node);

const POLICY: &str = "/usr/sbin/policy-rc.d";

impl Quiet {
    fn new() -> Self {
        let node = Node::new();
        node.root.write_program(POLICY, "#!/bin/sh\nexit 101\n").unwrap();
        Self(node)
    }

    /// From here on services may be started.
    fn wake(&self) {
        std::fs::remove_file(self.0.root.path().join(POLICY.trim_start_matches('/'))).unwrap();
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        // A daemon that a failed test leaves behind is in this root, and in no other.
        let root = self.0.root.path().canonicalize().unwrap();
        for process in std::fs::read_dir("/proc").unwrap().flatten() {
            let is_ours = std::fs::read_link(process.path().join("root")).is_ok_and(|at| at == root);
            if is_ours && let Some(pid) = process.file_name().to_str() {
                let _gone = std::process::Command::new("kill").arg(pid).status();
            }
        }
    }
}

#[test]
fn debians_packages_are_installed_and_their_service_runs() {
    let mut quiet = Quiet::new();
    let node = &mut quiet.0;
    let names = json!({"package_name": ["hello", "cron"]});
    let done = node.act("package", "hello, cron", "install", names.clone()).unwrap_or_else(|error| panic!("{error:?}"));
    assert_eq!(done.len(), 3, "{done:?}");
    assert_eq!(node.act("package", "hello, cron", "upgrade", names).unwrap(), [""; 0]);
    assert_eq!(node.output("hello -t"), "hello, world");
    quiet.wake();
    let node = &mut quiet.0;
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
