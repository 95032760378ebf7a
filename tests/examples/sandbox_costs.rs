//! What the sandbox costs by itself, as JSON: for `cargo xtask bench`.
//!
//! Whole-process figures hide these: how long one more store and instance take, what one turn between host and guest
//! costs, what an attribute costs to read, and how much memory policies hold that are alive together.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    reason = "a measurement ends where it cannot be taken, and prints its result"
)]

#[path = "../../host/sandbox/tests/support/mod.rs"]
mod support;

use std::time::Instant;

use sandbox::{Compiler, Limits, Policy, Sandbox};
use support::{Guest, all_services, finish, fixture, run};

/// How often a cost is taken; the median is reported.
const RUNS: usize = 9;

/// Turns, reads and resources of one run, of which one is the difference of two runs' share.
const MANY: u32 = 10_000;
const FEW: u32 = 1_000;

fn main() {
    let sandbox = Sandbox::new(None, Compiler::Here).unwrap();
    let component = fixture("empty");
    open(&sandbox, &component);
    let opening = median((0..RUNS * 20).map(|_| seconds(|| drop(open(&sandbox, &component)))).collect());
    let memory = [1, 10, 100].map(|count| kilobytes_each(&sandbox, &component, count));
    let costs = serde_json::json!({
        "store_and_instance_microseconds": rounded(opening * 1e6),
        "turn_microseconds": rounded(one_of("turns") * 1e6),
        "attribute_read_microseconds": rounded(one_of("reads") * 1e6),
        "resource_microseconds": rounded(one_of("logs") * 1e6),
        "kilobytes_per_policy_of_1": rounded(memory[0]),
        "kilobytes_per_policy_of_10": rounded(memory[1]),
        "kilobytes_per_policy_of_100": rounded(memory[2]),
    });
    println!("{costs}");
}

fn open(sandbox: &Sandbox, component: &[u8]) -> Policy {
    let limits = Limits::default();
    finish(sandbox.open("empty", component, &limits, all_services("empty"))).unwrap()
}

/// Seconds for one more turn, read or resource of the guest `load`.
fn one_of(recipe: &str) -> f64 {
    let took = |count: u32| {
        let once = || {
            let ran = run(vec![Guest::new("load", &[recipe]).with("count", count)], false);
            assert_eq!(ran.failure("load"), "");
            ran.report.seconds
        };
        median((0..RUNS).map(|_| once()).collect())
    };
    (took(MANY) - took(FEW)) / f64::from(MANY - FEW)
}

/// The growth of the resident set per policy that stays alive.
fn kilobytes_each(sandbox: &Sandbox, component: &[u8], count: usize) -> f64 {
    let before = resident();
    let alive: Vec<Policy> = (0..count).map(|_| open(sandbox, component)).collect();
    let grown = resident() - before;
    drop(alive);
    grown / count as f64
}

fn resident() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

fn seconds(work: impl FnOnce()) -> f64 {
    let begin = Instant::now();
    work();
    begin.elapsed().as_secs_f64()
}

fn median(mut all: Vec<f64>) -> f64 {
    all.sort_by(f64::total_cmp);
    all[all.len() / 2]
}

fn rounded(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}
