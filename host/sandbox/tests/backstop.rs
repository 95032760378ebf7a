//! Tests the last limit of host memory, for the case that a charge is forgotten. Here accounts charge nothing. A policy that
//! makes the process grow must still end. The test has its own program, because it measures the memory of the whole process.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod support;

use std::time::Duration;
use support::{Guest, run};

#[test]
fn a_policy_ends_that_makes_the_host_grow() {
    for way in ["cost_content", "cost_json", "cost_names", "cost_notifications", "cost_changes"] {
        let mut hostile = Guest::new("hostile", &[way]);
        hostile.limits.guest_time = Duration::from_secs(30);
        hostile.host_memory = Some(8 << 20);
        hostile.resident = Some(sandbox::resident_memory);
        let ran = run(vec![hostile, Guest::new("everything", &["default"])], false);
        let failure = ran.failure("hostile");
        assert!(failure.starts_with("policy `hostile` made wrun's memory grow by "), "{way}: {failure}");
        assert!(failure.contains("(`limits.host_memory_mib` in its grants)"), "{failure}");
        assert_eq!(ran.report.policies[0].account.usage().host_memory, 0, "{way}: something was charged");
        assert_eq!(ran.failure("everything"), "", "{way}");
    }
}
