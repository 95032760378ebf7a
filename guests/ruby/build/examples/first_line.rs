//! Measures how long a Ruby policy takes: from nothing to its first line, and for a thousand resources.
//! `cargo run --release --package ruby-runtime --example first_line`.

#![expect(clippy::print_stdout, clippy::indexing_slicing, reason = "it prints what it measured")]

#[path = "../tests/support/mod.rs"]
mod support;

use std::time::Duration;
use support::{Ran, run_released};

/// How often each is measured.
const TIMES: usize = 15;

fn main() {
    let thousand: String = (0..1000).map(resource).collect();
    let _warm = run_released("");
    print("store and instance", "", |ran| ran.opened);
    print("load and an empty recipe", "", |ran| ran.compiled);
    print("nothing to first line", "", |ran| ran.opened + ran.compiled);
    print("a thousand resources, compile", &thousand, |ran| ran.compiled);
    print("a thousand resources, converge", &thousand, |ran| ran.converged);
}

fn resource(number: usize) -> String {
    format!(
        "file '/etc/app/{number}.conf' do\n  content 'value {number}'\n  owner 'root'\n  mode '0644'\n  \
         only_if {{ node['platform'] }}\nend\n"
    )
}

/// Prints the median.
fn print(what: &str, recipe: &str, of: impl Fn(&Ran) -> Duration) {
    let mut all: Vec<Duration> = (0..TIMES)
        .map(|_| {
            let ran = run_released(recipe);
            assert_eq!(ran.failure, None, "{what}");
            of(&ran)
        })
        .collect();
    all.sort();
    println!("{what}: {:.2} ms (best {:.2})", all[TIMES / 2].as_secs_f64() * 1e3, all[0].as_secs_f64() * 1e3);
}
