//! Tests that two builds of the same sources give the same runtime, and that it imports only the contract.

mod support;

use ruby_runtime::Library;

#[test]
fn two_builds_are_the_same_bytes() {
    let first = support::make(Library::Frozen);
    let second = support::make_anew(Library::Frozen);
    assert_eq!(first.len(), second.len());
    assert!(first == second, "the runtimes differ");
    author::build::encode::check_component(&first).unwrap();
}
