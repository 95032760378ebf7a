//! Provides a host for the tests: the real sandbox with real components, and a machine that only records actions.

#![allow(dead_code, unused_imports, reason = "each test file uses another part")]

mod providers;
mod run_host;
mod services;

pub(crate) use providers::{Acting, BuiltinTypes, Journal};
pub(crate) use run_host::{Guest, Ran, run};
pub(crate) use services::{all_services, services};

use sandbox::{Compiler, NativeCache, Sandbox};
use std::task::{Context, Poll, Waker};

/// Returns the component of a fixture, from `cargo xtask guests` or from the folder of released components.
pub(crate) fn fixture(name: &str) -> Vec<u8> {
    if name.starts_with("released-") {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/released").join(format!("{name}.wasm"));
        return std::fs::read(path).unwrap();
    }
    // Tests of other packages include this file, so the folder of the fixtures is searched upwards.
    let above = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let found = above.map(|folder| folder.join("target/fixtures")).find(|folder| folder.is_dir());
    let folder = std::env::var_os("WRUN_FIXTURES").map(std::path::PathBuf::from).or(found);
    let folder = folder.expect("`cargo xtask guests` makes the fixtures");
    let path = folder.join(format!("{name}.wasm")).display().to_string();
    std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}; run `cargo xtask guests`"))
}

/// Returns a sandbox that keeps native code between tests, so that each fixture is compiled once.
pub(crate) fn sandbox_with_cache() -> Sandbox {
    // Cargo sets this variable only for tests. Examples use the system's temporary folder.
    let folder =
        option_env!("CARGO_TARGET_TMPDIR").map_or_else(std::env::temp_dir, std::path::PathBuf::from).join("native");
    std::fs::create_dir_all(&folder).unwrap();
    Sandbox::new(Some(NativeCache::new(&folder, [7; 32]).unwrap()), Compiler::Here).unwrap()
}

/// Returns the value of a future that is ready at its first poll.
pub(crate) fn finish<T>(future: impl Future<Output = T>) -> T {
    match std::pin::pin!(future).as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("nothing here waits"),
    }
}
