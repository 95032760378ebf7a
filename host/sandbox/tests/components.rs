//! Tests that the sandbox accepts components of this contract, and refuses all others.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test fails by panicking, and says what it counted"
)]

mod support;

use sandbox::{Compiler, Limits, NativeCache, Sandbox};
use std::time::Duration;
use support::{finish, fixture, sandbox_with_cache, services};

fn open(component: &[u8]) -> Result<(), String> {
    let sandbox = sandbox_with_cache();
    let limits = Limits { memory: 16 << 20, guest_time: Duration::from_millis(300), ..Limits::default() };
    let opened = finish(sandbox.open("team", component, &limits, services("team")));
    opened.map(drop).map_err(|error| error.to_string())
}

#[track_caller]
fn check(component: &[u8], expected: &str) {
    let refused = open(component).expect_err("it was let in");
    assert!(refused.contains("policy `team`") && refused.contains(expected), "{refused}");
}

#[test]
fn a_guest_imports_only_what_it_uses() {
    open(&fixture("empty")).unwrap();
    open(&fixture("load")).unwrap();
}

/// The check names the imported packages. It does not depend on grants, because the host checks each call.
#[test]
fn the_packages_that_a_component_imports_are_named() {
    let named = |name: &str| sandbox_with_cache().check("team", fixture(name).as_slice(), &Limits::default()).unwrap();
    let (everything, empty) = (named("everything"), named("empty"));
    for package in ["machine", "data", "clock", "random"] {
        assert!(everything.iter().any(|one| one == package), "{package}: {everything:?}");
        assert!(empty.iter().all(|one| one != package), "{package}: {empty:?}");
    }
}

#[test]
fn other_imports_are_refused() {
    let wasi = r#"(component (import "wasi:cli/environment@0.2.0" (instance
        (export "get-environment" (func (result (list (tuple string string)))))))) "#;
    check(&wat::parse_str(wasi).unwrap(), "wasi:cli/environment@0.2.0");
    let other = r#"(component (import "wrun:node/identity@9.0.0" (instance (export "name" (func (result string))))))"#;
    check(&wat::parse_str(other).unwrap(), "build the policy again");
    let function = r#"(component (import "exit" (func)))"#;
    check(&wat::parse_str(function).unwrap(), "exit");
    // The right name with another type.
    let shape = r#"(component (import "wrun:node/identity@0.2.0" (instance (export "name" (func (result u32))))))"#;
    check(&wat::parse_str(shape).unwrap(), "does not fit version 0.2.0 of the contract; build it again");
    let first = r#"(component (import "wrun:cookbook/node@0.1.0" (instance (export "name" (func (result string))))))"#;
    let sentence =
        "`wrun:cookbook/node@0.1.0`, but this wrun speaks version 0.2.0 of the contract; build the policy again";
    check(&wat::parse_str(first).unwrap(), sentence);
    let later = r#"(component (import "wrun:node/identity@0.2.1" (instance (export "name" (func (result string))))))"#;
    check(&wat::parse_str(later).unwrap(), "speaks version 0.2.0");
    let invented = r#"(component (import "wrun:machine/shell@0.2.0" (instance (export "run" (func)))))"#;
    check(&wat::parse_str(invented).unwrap(), "contract");
}

#[test]
fn without_the_export_it_is_no_policy() {
    check(&wat::parse_str("(component)").unwrap(), "contract");
}

#[test]
fn what_is_no_component_is_refused() {
    let empty = fixture("empty");
    for (what, bytes) in [
        ("nothing", vec![]),
        ("text", b"#!/bin/sh\nrm -rf /\n".to_vec()),
        ("native code", b"\x7fELF\x02\x01\x01".repeat(100)),
        ("a core module", wat::parse_str("(module (memory 1))").unwrap()),
        ("half a component", empty[..empty.len() / 2].to_vec()),
        ("only a header", b"\0asm\x0d\0\x01\0 and nonsense".to_vec()),
        ("too much", vec![0; 65 << 20]),
    ] {
        let refused = open(&bytes).expect_err(what);
        assert!(refused.contains("policy `team` is not a valid component"), "{what}: {refused}");
    }
}

/// Damages each byte in turn. Some damaged files are still valid components, but wrun never panics.
#[test]
fn damage_is_no_panic() {
    let good = component("nop");
    let sandbox = Sandbox::new(None, Compiler::Here).unwrap();
    let mut refused = 0;
    for at in 0..good.len() {
        let mut damaged = good.clone();
        damaged[at] ^= 0x55;
        let limits = Limits { memory: 16 << 20, guest_time: Duration::from_millis(300), ..Limits::default() };
        let opened = finish(sandbox.open("team", &damaged, &limits, services("team")));
        refused += u32::from(opened.is_err());
    }
    assert!(refused > 50, "only {refused} of {} were refused", good.len());
}

/// Returns a policy that only runs this start code.
fn component(start: &str) -> Vec<u8> {
    let text = format!(
        r#"(component
            (core module $m (memory 1) (func $start {start}) (start $start) (func (export "serve")))
            (core instance $i (instantiate $m))
            (func (export "serve") (canon lift (core func $i "serve"))))"#
    );
    wat::parse_str(text).unwrap()
}

/// Code that runs when a component is instantiated has the same limits.
#[test]
fn start_code_is_bounded() {
    open(&component("nop")).unwrap();
    check(&component("(loop br 0)"), "processor time");
    check(&component("unreachable"), "trapped");
    check(
        &component("(drop (memory.grow (i32.const 60000)))"),
        "used up its memory (`guest_memory_mib` of the settings, or `limits.memory_mib`",
    );
}

#[test]
fn native_code_that_is_not_ours_is_compiled_again() {
    let folder = std::env::temp_dir().join(format!("wrun-native-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let empty = fixture("empty");
    let open_with = |key: u8| {
        let sandbox = Sandbox::new(Some(NativeCache::new(&folder, [key; 32]).unwrap()), Compiler::Here).unwrap();
        finish(sandbox.open("team", &empty, &Limits::default(), services("team"))).map(drop).unwrap();
    };
    let files = || {
        let mut all: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        all.sort();
        all
    };
    open_with(1);
    let [kept, tags] = &files()[..] else { panic!("{:?}", files()) };
    let good = std::fs::read(kept).unwrap();
    // A changed byte, a truncated file, a foreign tag and a link all count as absent, and are replaced.
    for damage in ["code", "cut", "empty"] {
        let mut bytes = good.clone();
        match damage {
            "code" => {
                let middle = bytes.len() / 2;
                bytes[middle] ^= 1;
            }
            "cut" => bytes.truncate(100),
            _ => bytes.clear(),
        }
        std::fs::write(kept, &bytes).unwrap();
        open_with(1);
        assert_eq!(std::fs::read(kept).unwrap(), good, "{damage}");
    }
    let tag = std::fs::read(tags).unwrap();
    for changed in [vec![0; tag.len()], vec![]] {
        std::fs::write(tags, changed).unwrap();
        open_with(1);
        assert_eq!(std::fs::read(tags).unwrap().len(), tag.len());
        assert_ne!(std::fs::read(tags).unwrap(), vec![0; tag.len()]);
    }
    let elsewhere = folder.join("elsewhere");
    std::fs::rename(kept, &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, kept).unwrap();
    open_with(1);
    assert!(!kept.is_symlink(), "a link was followed");
    // Another installation's key makes other tags.
    let tag = std::fs::read(tags).unwrap();
    open_with(2);
    assert_ne!(std::fs::read(tags).unwrap(), tag);
    std::fs::remove_dir_all(&folder).unwrap();
}
