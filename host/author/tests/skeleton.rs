//! A new policy builds as it is: the skeleton, the SDK and the build fit together.
//!
//! This compiles for WebAssembly. The target folder is the example policies', so that macros are compiled once; the policy's
//! name is one that no other policy built there has.

use std::path::Path;

use artifact::Artifact;
use author::build::{Settings, guest_compiler};
use author::{NoRuby, Options, SdkSource, Start};
use contract::CookbookFiles as _;

/// The policy's name.
const NAME: &str = "new-by-test";

#[test]
fn a_new_policy_builds() {
    let run_host = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).canonicalize().unwrap();
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join(NAME);
    author::create(&folder, NAME, &Start::Rust(SdkSource::Carried)).unwrap();
    // The guests' lock: the same crates, and nothing to fetch.
    std::fs::copy(run_host.join("guests/Cargo.lock"), folder.join("Cargo.lock")).unwrap();
    let mut compiler =
        || guest_compiler(&Settings::from_environment().unwrap(), &mut |sentence| println!("{sentence}"));
    // Relative to where wrun is started, and not to the policy.
    std::env::set_current_dir(&run_host).unwrap();
    let target = Path::new("target/guests/of/policies");
    let built = author::build(&folder, &Options::new(target), &mut NoRuby, &mut compiler).unwrap();
    let path = author::store(&built, &temporary.path().join("build")).unwrap();
    assert!(path.ends_with("build/new-by-test.wasm"));

    let artifact = artifact::find(&temporary.path().join("build"), NAME).unwrap();
    assert_eq!(artifact.digest(), built.digest());
    assert_eq!(artifact.read("new_by_test", "templates/hello.txt.j2").unwrap(), b"{{ greeting }}!\n");
    assert!(artifact.paths("new_by_test", "src").unwrap().contains(&"src/recipes.rs".to_owned()));
    assert!(!folder.join("target").exists(), "the target folder is where it was said to be");
    // Built again, it is the same to the last bit.
    let again: Artifact = author::build(&folder, &Options::new(target), &mut NoRuby, &mut compiler).unwrap();
    assert_eq!(again.digest(), artifact.digest());
}
