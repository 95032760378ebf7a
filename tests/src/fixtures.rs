//! Paths of the guests that only tests use.

use std::path::PathBuf;

/// Returns the folder in which `cargo xtask guests` leaves the fixtures; `WRUN_FIXTURES` names another one.
pub fn fixtures() -> PathBuf {
    std::env::var_os("WRUN_FIXTURES")
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../target/fixtures")), PathBuf::from)
}

/// Returns the path of one fixture: `NAME.wasm`.
pub fn fixture(name: &str) -> PathBuf {
    fixtures().join(format!("{name}.wasm"))
}
