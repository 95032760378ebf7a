//! Measures Ruby's costs inside the sandbox and prints them as JSON, for `cargo xtask bench`.
//!
//! Measurements of the whole process hide these costs. They are a Ruby policy's time until its first line, and its time to
//! compile and converge a thousand resources. The providers do nothing.

#![expect(clippy::print_stdout, clippy::indexing_slicing, reason = "it prints what it measured")]

#[path = "../tests/support/mod.rs"]
mod support;

use std::time::Duration;
use support::{Ran, run_released};

/// The number of measurements of each value. The output has the median.
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

/// Returns the median in milliseconds, rounded to a hundredth.
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
