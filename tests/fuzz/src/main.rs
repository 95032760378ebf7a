//! libFuzzer's program for all targets; `WRUN_FUZZ_TARGET` says which. `cargo xtask fuzz` builds it with coverage and runs it.

#![no_main]

mod targets;

use std::sync::OnceLock;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    static TARGET: OnceLock<targets::Target> = OnceLock::new();
    let target = TARGET.get_or_init(|| {
        let name = std::env::var("WRUN_FUZZ_TARGET").unwrap_or_default();
        let target = targets::TARGETS.iter().find(|(known, _)| *known == name);
        target.map(|(_, target)| *target).unwrap_or_else(|| panic!("WRUN_FUZZ_TARGET={name:?} does not name a target"))
    });
    target(data);
});
