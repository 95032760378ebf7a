//! Tests that components for earlier versions of the contract link and run. Components of 0.2 are supported until 1.0.0, and
//! later ones as long as their major version is. The first package freezes the contract.

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

/// The components of the folder, each with the number of its calls that succeed.
const RELEASED: [(&str, usize); 1] = [("released-0.2.0", 57)];

/// The calls that this test's host refuses. It has no matching cookbook files and no key of secrets. A named policy cannot
/// change the node's run list.
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
