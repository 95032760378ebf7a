//! Components that were built against earlier versions of the contract must link and run: those of 0.2 until 1.0.0, which the
//! first package freezes, and later ones as long as their major version lasts.

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
use support::{Guest, run};

/// Every component of the folder, and how many calls of the contract it makes that are answered well.
const RELEASED: [(&str, usize); 1] = [("released-0.2.0", 57)];

/// The calls that this test's host refuses: it has no cookbook files and no key of secrets, and a policy with a name cannot
/// change the node's run list. The component understands the refusal.
const REFUSED: [&str; 5] = ["set-run-list", "cookbooks.paths", "cookbooks.read", "cookbooks.locate", "bag-secret"];

#[test]
fn components_of_released_contracts_run() {
    for (name, well) in RELEASED {
        let ran = run(vec![Guest::new(name, &["default"])], false);
        assert_eq!(ran.failure(name), "", "{name}: {:#?}", ran.heard);
        let ended = |how: &str| -> Vec<String> {
            let lines = ran.heard.iter().filter_map(|line| line.strip_prefix("info: ")?.strip_suffix(how));
            lines.map(str::to_owned).collect()
        };
        assert_eq!((ended(": well").len(), ended(": refused")), (well, REFUSED.map(str::to_owned).to_vec()), "{name}");
    }
}

#[test]
fn no_released_component_is_forgotten() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/released");
    let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let found: BTreeSet<_> = names.filter_map(|name| name.strip_suffix(".wasm").map(str::to_owned)).collect();
    let expected: BTreeSet<_> = RELEASED.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(found, expected);
}
