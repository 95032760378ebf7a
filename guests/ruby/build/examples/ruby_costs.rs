//! What Ruby costs inside the sandbox, as JSON: for `cargo xtask bench`.
//!
//! Whole-process figures hide these: how long a Ruby policy takes from nothing to its first line, and what a thousand
//! resources cost to compile, and to converge with providers that do nothing.

#![expect(clippy::print_stdout, clippy::indexing_slicing, reason = "it prints what it measured")]

#[path = "../tests/support/mod.rs"]
mod support;

use std::time::Duration;
use support::{Ran, run_released};

/// How often each is measured; the median is reported.
const TIMES: usize = 15;

fn main() {
    let thousand: String = (0..1000).map(resource).collect();
    let _warm = run_released("");
    let costs = serde_json::json!({
        "ruby_store_and_instance_milliseconds": median("", |ran| ran.opened),
        "ruby_nothing_to_first_line_milliseconds": median("", |ran| ran.opened + ran.compiled),
        "ruby_1000_resources_compile_milliseconds": median(&thousand, |ran| ran.compiled),
        "ruby_1000_resources_converge_milliseconds": median(&thousand, |ran| ran.converged),
    });
    println!("{costs}");
}

fn resource(number: usize) -> String {
    format!(
        "file '/etc/app/{number}.conf' do\n  content 'value {number}'\n  owner 'root'\n  mode '0644'\n  \
         only_if {{ node['platform'] }}\nend\n"
    )
}

/// Milliseconds, to a hundredth.
fn median(recipe: &str, of: impl Fn(&Ran) -> Duration) -> f64 {
    let once = |_| {
        let ran = run_released(recipe);
        assert_eq!(ran.failure, None);
        of(&ran)
    };
    let mut all: Vec<Duration> = (0..TIMES).map(once).collect();
    all.sort();
    (all[TIMES / 2].as_secs_f64() * 1e5).round() / 100.0
}
