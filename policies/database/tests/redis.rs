//! What the recipes ask for, on machines of every kind. `cargo test` needs the program `wrun`; see docs/testing.md.

use wrun_sdk::testing::{Case, debian_13, policy};

fn database() -> Case {
    policy().fact("memory.total", "4194304kB")
}

#[test]
fn a_quarter_of_the_memory_is_for_the_data() {
    let run = database().run().succeeded();
    assert!(run.file("/etc/redis/redis.conf").contains("maxmemory 1024mb\n"));
    let small = database().fact("memory.total", "20000kB").run().succeeded();
    assert!(small.file("/etc/redis/redis.conf").contains("maxmemory 16mb\n"));
}

#[test]
fn the_policy_sets_the_port_and_nobody_opens_the_server() {
    let run = database().attribute("redis.bind", vec!["0.0.0.0"]).run().succeeded();
    let configuration = run.file("/etc/redis/redis.conf");
    assert!(configuration.contains("port 6380\nbind 127.0.0.1\n"), "{configuration}");
}

#[test]
fn data_are_saved_before_a_restart_if_the_server_answers() {
    let case = database().command("redis-cli -p 6380 ping", 0, "PONG\n");
    let run = case.run().succeeded();
    assert_eq!(run.action("execute[save the data]", "run")["notified"]["timing"], "before");
    assert_eq!(run.action("service[redis-server]", "restart")["status"], "updated");
    let stopped = database().command("redis-cli -p 6380 ping", 1, "").run().succeeded();
    assert_eq!(stopped.action("execute[save the data]", "run")["status"], "skipped");
}

#[test]
fn kernel_settings_are_loaded_only_where_systemd_runs() {
    let kernel = |init: &str| database().run_list(&["redis::kernel"]).fact("init_package", init).run().succeeded();
    assert_eq!(kernel("systemd").action("execute[load kernel settings]", "run")["status"], "updated");
    assert_eq!(kernel("init").action("execute[load kernel settings]", "run")["status"], "skipped");
}

#[test]
fn backups_are_the_backup_users_alone() {
    let run = database().facts(debian_13()).fact("memory.total", "4194304kB").run().succeeded();
    let directory = run.resource("directory[/var/backups/redis]");
    assert_eq!(directory["properties"]["owner"], "redisbackup");
    assert_eq!(directory["properties"]["mode"], "0750");
    assert!(run.file("/usr/local/sbin/redis-backup").contains("redis-cli -p 6380 --rdb"));
}

#[test]
fn the_grants_that_operators_have_are_enough() {
    let run = database().grants(include_str!("../../grants.toml")).run().succeeded();
    assert!(run.denials().is_empty(), "{:?}", run.denials());
}

#[test]
fn without_a_grant_the_error_names_what_is_missing() {
    let error = database().grants("").run().error().expect("nothing is granted");
    assert!(error.contains("database"), "{error}");
}
