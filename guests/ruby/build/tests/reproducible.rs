//! Two builds of the same sources are the same runtime, and it imports the contract and nothing else.

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
