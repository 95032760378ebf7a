//! What the recipes ask for. `cargo test` needs the program `wrun`; see docs/testing.md.

use wrun_sdk::serde_json::json;
use wrun_sdk::testing::policy;

#[test]
fn every_plugin_has_a_file_and_those_that_are_off_have_none() {
    let run = policy().attribute("collectd.plugins.load", false).run().succeeded();
    assert!(run.file("/etc/collectd/plugins.d/cpu.conf").contains("LoadPlugin cpu"));
    assert_eq!(run.resource("collectd_plugin[load]")["actions"], json!(["unload"]));
}

#[test]
fn a_database_is_watched_where_there_is_one() {
    let plugin = "/etc/collectd/plugins.d/redis.conf";
    let run = policy().attribute("redis.port", 6380).run_list(&["collectd", "collectd::redis"]).run().succeeded();
    assert!(run.file(plugin).contains("Port \"6380\""), "{}", run.file(plugin));
    let without = policy().run_list(&["collectd", "collectd::redis"]).run().succeeded();
    assert_eq!(without.resource("collectd_plugin[redis]")["actions"], json!(["unload"]));
    assert!(without.log().iter().any(|line| line["message"] == "no database on this node, none is watched"));
}

#[test]
fn new_types_of_values_restart_the_daemon() {
    let run = policy().run().succeeded();
    assert_eq!(run.action("service[collectd]", "restart")["status"], "updated");
}
