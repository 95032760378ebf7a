//! A guest that says anything in any order, in a real sandbox: the host ends or answers it, and the next policy runs as
//! ever.

#[path = "../../../../host/sandbox/tests/support/mod.rs"]
mod support;

use std::fmt::Write as _;
use support::{Guest, run};

/// The most bytes of a script.
const MAX_BYTES: usize = 8 << 10;

/// Gives the bytes to the guest as its script, in a real run or a dry run.
pub(super) fn hold(data: &[u8]) {
    if data.len() > MAX_BYTES {
        return;
    }
    let (choice, script) = super::choice(data);
    let mut digits = String::with_capacity(script.len() * 2);
    script.iter().for_each(|byte| write!(digits, "{byte:02x}").unwrap());
    let guest = Guest::new("anything", &["default"]).with("script", digits);
    let ran = run(vec![guest, Guest::new("empty", &["default"])], choice % 2 == 1);
    assert_eq!(ran.failure("empty"), "", "the next policy is harmed; the first: {}", ran.failure("anything"));
}
