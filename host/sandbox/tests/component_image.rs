//! Tests that components with costly declarations are refused before compilation.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod support;

use sandbox::{Compiler, Limits, NativeCache, Sandbox, examine};
use support::{finish, fixture, services};

/// The policy's memory limit in these tests, in bytes.
const MEMORY: usize = 64 << 20;

#[track_caller]
fn check(component: &str, says: &str) {
    check_bytes(&wat::parse_str(component).unwrap(), says);
}

#[track_caller]
fn check_bytes(bytes: &[u8], says: &str) {
    let refused = examine(bytes, MEMORY).expect_err("it was let in");
    assert!(refused.contains(says), "{refused}");
    // The sandbox makes the same check before it compiles.
    let sandbox = Sandbox::new(None, Compiler::Here).unwrap();
    let limits = Limits { memory: MEMORY, ..Limits::default() };
    let opened = finish(sandbox.open("evil", bytes, &limits, services("evil")));
    let error = opened.map(drop).expect_err("it was opened").to_string();
    assert!(error.contains("policy `evil` is not a valid component") && error.contains(says), "{error}");
    assert_eq!(sandbox.compile_time(), std::time::Duration::ZERO, "it was compiled");
}

/// Returns a component with `count` core modules of this content.
fn modules(count: usize, content: &str) -> String {
    format!("(component {})", format!("(core module {content})").repeat(count))
}

/// Returns the text of a module with one byte of data at the beginning of its memory, and one at the end.
fn image(pages: usize) -> String {
    let last = (pages << 16) - 1;
    format!(r#"(memory {pages}) (data (i32.const 0) "a") (data (i32.const {last}) "b")"#)
}

#[test]
fn component_image_two_bytes_far_from_each_other() {
    check(&modules(1, &image(8000)), "500 MiB of memory at the start, more than the 64 MiB");
    // Where the memory is imported, its size says nothing.
    let far = r#"(import "a" "m" (memory 1)) (data (i32.const 0) "a") (data (i32.const 0x1fe00000) "b")"#;
    check(&modules(1, far), "between the first and the last byte of its memory images");
}

#[test]
fn component_image_in_each_of_many_modules() {
    check(&modules(4, &image(400)), "75 MiB of memory at the start");
    let far = r#"(import "a" "m" (memory 1)) (data (i32.const 0) "a") (data (i32.const 0x02000000) "b")"#;
    check(&modules(3, far), "65 MiB between the first and the last byte");
}

/// An image within the limit is compiled. The native code contains the two bytes, and not the space between them.
#[test]
fn component_image_within_the_limit_has_no_dense_code() {
    let folder = tempfile::tempdir().unwrap();
    let cache = NativeCache::new(folder.path(), [1; 32]).unwrap();
    let sandbox = Sandbox::new(Some(cache), Compiler::Here).unwrap();
    let text = format!(
        r#"(component
            (core module $m {} (func (export "serve")))
            (core instance $i (instantiate $m))
            (func (export "serve") (canon lift (core func $i "serve"))))"#,
        image(900)
    );
    let limits = Limits { memory: MEMORY, ..Limits::default() };
    let bytes = wat::parse_str(text).unwrap();
    finish(sandbox.open("team", &bytes, &limits, services("team"))).map(drop).unwrap();
    let sizes = std::fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().metadata().unwrap().len());
    let largest = sizes.max().unwrap();
    assert!(largest < 4 << 20, "the native code has {largest} bytes");
}

#[test]
fn component_compile_one_function_with_too_much_in_it() {
    check(&modules(1, &format!("(func (local {}))", "i64 ".repeat(10_001))), "10001 local variables in one function");
    check(&modules(1, &format!("(func {})", "(drop (i32.const 1))".repeat(200_000))), "bytes in one function");
}

#[test]
fn component_compile_too_much_of_everything() {
    check(&modules(33, ""), "33 core modules, more than the 32");
    check(&format!("(component {})", "(component)".repeat(65)), "65 nested components");
    check(&modules(1, &"(func)".repeat(100_001)), "100001 functions");
    let imports: String = (0..4000).map(|number| format!(r#"(import "a" "{number}" (func))"#)).collect();
    check(&modules(3, &imports), "12000 imports");
    let exports: String = (0..10_001).map(|number| format!(r#"(export "{number}" (func 0))"#)).collect();
    check(&modules(1, &format!("(func) {exports}")), "10001 exports");
    check(&modules(1, &"(global i32 (i32.const 0))".repeat(10_001)), "10001 globals");
    check(&modules(1, &r"(type (func (param i32)))".repeat(50_001)), "50001 types");
    check(&modules(1, "(table 100001 funcref)"), "100001 elements of a table");
    check(&modules(13, &"(table 1 funcref)".repeat(5)), "65 tables");
    check(&modules(3, "(memory 1) (memory 1) (memory 1)"), "9 memories");
    check(&modules(1, &format!("(memory 1) {}", r#"(data (i32.const 0) "a")"#.repeat(20_001))), "20001 segments");
    check_bytes(&much_code(33, 510_000), "bytes of code, more than the 16777216");
}

/// Regression test: validating such components cost gigabytes or hours. Validation copies the names of exports for each
/// instance. It compares all members of types for each instantiation.
#[test]
fn attack_names_and_instances_are_counted_at_all_levels() {
    let instances = "(instance (instantiate $c))".repeat(33);
    let level = format!("(component (alias outer 1 0 (component $c)) {instances})").repeat(4);
    check(&format!("(component $top (component $c) {level})"), "132 instances, more than the 128");
    let core = "(core instance (instantiate $m))".repeat(129);
    check(&format!("(component (core module $m) {core})"), "129 instances");
    let name = "a".repeat(90_000);
    let exports: String = (0..3).map(|at| format!(r#"(export "{name}{at}" (type 0))"#)).collect();
    check(&format!("(component (component (type u32) {exports}))"), "bytes of types, imports, aliases and exports");
    // Members of a type count as types of their own do.
    let members: String = (0..20_000).map(|at| format!(r#"(export "member-{at}" (type (eq 0)))"#)).collect();
    check(&format!("(component (component (type (instance (type u32) {members}))))"), "bytes of types, imports");
    let aliases = "(alias outer 1 0 (type))".repeat(70_000);
    check(&format!("(component (type u32) (component {aliases}))"), "bytes of types, imports");
}

/// Returns a component of one module with long functions that do nothing.
fn much_code(functions: usize, bytes: usize) -> Vec<u8> {
    let body = [vec![0], vec![1; bytes], vec![0x0b]].concat();
    let body = [number(body.len()), body].concat();
    let code = [number(functions), body.repeat(functions)].concat();
    let declared = [number(functions), vec![0; functions]].concat();
    let module = [b"\0asm\x01\0\0\0".to_vec(), section(1, &[1, 0x60, 0, 0]), section(3, &declared), section(10, &code)];
    [b"\0asm\x0d\0\x01\0".to_vec(), section(1, &module.concat())].concat()
}

fn section(kind: u8, content: &[u8]) -> Vec<u8> {
    [vec![kind], number(content.len()), content.to_vec()].concat()
}

/// Encodes a number as WebAssembly does, with seven bits per byte.
fn number(mut number: usize) -> Vec<u8> {
    let mut bytes = vec![];
    loop {
        let low = u8::try_from(number & 0x7f).unwrap();
        number >>= 7;
        bytes.push(if number == 0 { low } else { low | 0x80 });
        if number == 0 {
            return bytes;
        }
    }
}

#[test]
fn broken_artifact_code_that_is_invalid() {
    let valid = wat::parse_str(modules(1, "(func (result i32) (i32.const 1))")).unwrap();
    Compiler::Here.validate(&valid).unwrap();
    // The constant becomes one of 64 bits.
    let at = valid.windows(2).position(|pair| pair == [0x41, 1]).unwrap();
    let mut invalid = valid.clone();
    *invalid.get_mut(at).unwrap() = 0x42;
    let refused = Compiler::Here.validate(&invalid).unwrap_err();
    assert!(refused.contains("type mismatch") && refused.contains("at byte"), "{refused}");
    let sandbox = Sandbox::new(None, Compiler::Here).unwrap();
    let opened = finish(sandbox.open("evil", &invalid, &Limits::default(), services("evil")));
    let error = opened.map(drop).expect_err("it was opened").to_string();
    assert!(error.contains("policy `evil` is not a valid component") && error.contains("type mismatch"), "{error}");
    let module = wat::parse_str("(module)").unwrap();
    assert!(examine(&module, MEMORY).unwrap_err().contains("a core module"));
}

/// Several memories of one policy share its limit.
#[test]
fn many_memories_grow_within_one_limit() {
    let grow = "(drop (memory.grow 0 (i32.const 600))) (drop (memory.grow 1 (i32.const 600)))";
    let text = |start: &str| {
        let text = format!(
            r#"(component
                (core module $m (memory 1) (memory 1) (func $start {start}) (start $start) (func (export "serve")))
                (core instance $i (instantiate $m))
                (func (export "serve") (canon lift (core func $i "serve"))))"#
        );
        wat::parse_str(text).unwrap()
    };
    let sandbox = Sandbox::new(None, Compiler::Here).unwrap();
    let limits = Limits { memory: MEMORY, ..Limits::default() };
    let open = |start: &str| {
        let opened = finish(sandbox.open("team", &text(start), &limits, services("team")));
        opened.map(drop).map_err(|error| error.to_string())
    };
    open("(drop (memory.grow 0 (i32.const 600)))").unwrap();
    let refused = open(grow).unwrap_err();
    assert!(refused.contains("used up its memory"), "{refused}");
}

#[test]
fn what_teams_really_build_is_far_within_the_limits() {
    for name in ["empty", "load", "everything", "hostile", "vectors"] {
        examine(&fixture(name), 32 << 20).unwrap_or_else(|why| panic!("{name}: {why}"));
    }
}
