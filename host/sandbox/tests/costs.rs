//! Tests the limits of host memory, host time and pauses. Each attack ends with an error that names the limit, and the next
//! policy runs as usual. The last test checks that docs/calls.md has the cost of every function of the contract.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod support;

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;
use support::{Guest, Ran, run};

/// The host memory of the hostile policy, in bytes.
const HOST_MEMORY: u64 = 8 << 20;

fn attack(recipe: &str) -> Ran {
    let mut hostile = Guest::new("hostile", &[recipe]);
    hostile.limits.guest_time = Duration::from_secs(30);
    hostile.host_memory = Some(HOST_MEMORY);
    run(vec![hostile, Guest::new("everything", &["default"])], false)
}

#[track_caller]
fn check(recipe: &str, expected: &str) -> Ran {
    let ran = attack(recipe);
    let failure: String = ran.failure("hostile").chars().take(500).collect();
    assert!(failure.contains(expected) && !expected.is_empty() || failure == expected, "{recipe}: {failure}");
    assert_eq!(ran.failure("everything"), "", "{recipe}");
    ran
}

/// Uses up the host memory in each way that is open to a guest.
#[test]
fn host_memory() {
    let ways = [
        "cost_content",
        "cost_json",
        "cost_one_value",
        "cost_types",
        "cost_amended",
        "cost_names",
        "cost_origins",
        "cost_notifications",
        "cost_delayed",
        "cost_guards",
        "cost_includes",
        "cost_attributes",
        "cost_history",
        "cost_changes",
        "cost_observed",
        "cost_errors",
        "cost_log",
    ];
    for way in ways {
        let ran = check(way, "policy `hostile` used up its 8 MiB of the host's memory: it used ");
        let hostile = &ran.report.policies[0];
        let usage = hostile.account.usage();
        assert!(usage.host_memory_peak <= HOST_MEMORY, "{way}: {usage:?}");
        assert!(ran.failure("hostile").contains("(`limits.host_memory_mib` in its grants)"));
    }
}

#[test]
fn what_is_replaced_is_given_back() {
    // 100 times 100 kB for one property.
    check("cost_same_property", "");
}

#[test]
fn contexts_quadratic() {
    check("contexts", "more than 1000 contexts are open at a time");
}

#[test]
fn names_of_actions_are_bounded() {
    check("delayed_long", "an action's name has at most 1024 bytes");
}

#[test]
fn endless_pause() {
    check("pause_too_long", "retry_delay is 4000000000 s, which is more than the longest possible, 3600 s");
    // The first pause is more than all of them may be.
    let paused = check("pause", "policy `hostile` used up its 900 s of pauses: it used 0 s and asked for 3600 s more");
    assert!(paused.failure("hostile").contains("(`limits.pause_seconds` in its grants)"));
}

#[test]
fn sleeping_is_a_pause() {
    let mut sleeper = Guest::new("hostile", &["sleep"]);
    sleeper.pauses = Some(Duration::from_millis(100));
    let ran = run(vec![sleeper, Guest::new("everything", &["default"])], false);
    assert!(ran.failure("hostile").contains("of pauses"), "{}", ran.failure("hostile"));
    assert_eq!(ran.failure("everything"), "");
}

#[test]
fn a_guest_that_loops_ends_with_its_wall_time() {
    let mut looping = Guest::new("hostile", &["loop"]);
    (looping.limits.guest_time, looping.wall_time) = (Duration::from_secs(600), Duration::from_millis(200));
    let ran = run(vec![looping, Guest::new("everything", &["default"])], false);
    let expected = "policy `hostile` used up its 0.2 s of wall time (`limits.wall_seconds` in its grants)";
    assert!(ran.failure("hostile").starts_with(expected), "{}", ran.failure("hostile"));
    assert_eq!(ran.failure("everything"), "");
}

#[test]
fn host_time() {
    let worked = Duration::from_millis(60);
    let slow = Guest { slow: worked, host_time: Some(5 * worked), ..Guest::new("load", &["logs"]).with("count", 1000) };
    let ran = run(vec![slow, Guest::new("everything", &["default"])], false);
    let expected = "policy `load` used up its 0.3 s of the host's processor time: it used ";
    assert!(ran.failure("load").starts_with(expected), "{}", ran.failure("load"));
    assert!(ran.done.len() < 100, "{} actions of 60 ms in 300 ms", ran.done.len());
    assert_eq!(ran.failure("everything"), "");
}

/// Regression test: the cost of a policy's last action was not checked, because no later step did it.
#[test]
fn the_last_action_of_a_policy_counts_too() {
    let worked = Duration::from_millis(60);
    let slow = Guest { slow: worked, host_time: Some(worked / 2), ..Guest::new("load", &["logs"]).with("count", 1) };
    let ran = run(vec![slow, Guest::new("everything", &["default"])], false);
    let expected = "policy `load` used up its 0.03 s of the host's processor time: it used ";
    assert!(ran.failure("load").starts_with(expected), "{}", ran.failure("load"));
    assert_eq!(ran.failure("everything"), "");
}

/// Every function that a guest can call has one row in docs/calls.md, which says what it costs.
#[test]
fn every_import_says_what_it_costs() {
    let checkout = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let page = std::fs::read_to_string(checkout.join("docs/calls.md")).unwrap();
    let rows: Vec<(String, String)> = page
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once("` | "))
        .map(|(name, costs)| (name.to_owned(), costs.trim_end_matches(" |").to_owned()))
        .filter(|(name, _)| name.contains('.') && !name.contains(' ') && !name.starts_with("limits."))
        .collect();
    let mut wit = wit_parser::Resolve::new();
    let (package, _) = wit.push_dir(checkout.join("wit")).unwrap();
    let world = &wit.worlds[wit.packages[package].worlds["policy"]];
    let mut functions = BTreeSet::new();
    for (_, item) in &world.imports {
        let wit_parser::WorldItem::Interface { id, .. } = item else { panic!("the world imports interfaces") };
        let interface = &wit.interfaces[*id];
        let package = &wit.packages[interface.package.unwrap()].name;
        let name = format!("{}/{}", package.name, interface.name.as_deref().unwrap());
        functions.extend(interface.functions.keys().map(|function| format!("{name}.{function}")));
    }
    let documented: BTreeSet<String> = rows.iter().map(|(name, _)| name.clone()).collect();
    let missing: Vec<_> = functions.difference(&documented).collect();
    let gone: Vec<_> = documented.difference(&functions).collect();
    assert!(missing.is_empty() && gone.is_empty(), "docs/calls.md: no row for {missing:?}; no function {gone:?}");
    assert_eq!(rows.len(), documented.len(), "docs/calls.md has several rows for one function");
    let known = ["guest time", "host time", "host memory", "disk", "entries", "pauses"];
    for (name, costs) in &rows {
        let first = costs.split([',', ':', ';']).next().unwrap_or_default().trim();
        assert!(known.contains(&first), "docs/calls.md: {name} costs {first:?}, which is none of {known:?}");
    }
}
