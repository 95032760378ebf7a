//! What the recipes ask for. `cargo test` needs the program `wrun`; see docs/testing.md.

use serde_json::json;
use wrun_sdk::serde_json;
use wrun_sdk::testing::policy;

#[test]
fn the_clock_is_set_only_by_machines_that_have_one() {
    let options = |init: &str| {
        let run = policy().fact("init_package", init).run().succeeded();
        run.file("/etc/default/chrony").to_owned()
    };
    assert!(options("systemd").contains("DAEMON_OPTS=\"-F 1\""));
    assert!(options("init").contains("DAEMON_OPTS=\"-F 1 -x\""));
}

#[test]
fn administrators_are_users_and_members_of_their_group() {
    let run = policy().attribute("sudoers.administrators.members", json!(["ada", "grace"])).run().succeeded();
    assert_eq!(run.resource("group[administrators]")["properties"]["members"], json!(["ada", "grace"]));
    assert!(run.has_resource("user[ada]") && run.has_resource("user[grace]"));
    assert!(run.file("/etc/motd").contains("ada, grace"), "{}", run.file("/etc/motd"));
}

#[test]
fn logs_are_forwarded_only_where_a_host_is_named() {
    let file = "template[/etc/rsyslog.d/30-forward.conf]";
    let without = policy().run().succeeded();
    assert_eq!(without.resource(file)["actions"], json!(["delete"]));
    let with = policy().attribute("syslog.forward_to", "logs.example").run().succeeded();
    assert_eq!(with.resource(file)["actions"], json!(["create"]));
    assert!(with.file("/etc/rsyslog.d/30-forward.conf").contains("logs.example"));
}
