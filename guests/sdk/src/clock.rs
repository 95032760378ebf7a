//! Reads the time. Without the grant `clock`, the time is constant, so that repeated plans are equal.

use crate::bindings::wrun::clock::clock as host;
use std::time::Duration;

/// Returns the time since 1970 UTC. Without the grant, returns the time at which the run began.
pub fn now() -> Duration {
    let now = host::now();
    Duration::new(u64::try_from(now.seconds).unwrap_or_default(), now.nanoseconds)
}

/// Waits for at most a minute. The time counts towards the policy's limit `pause_seconds`. Returns at once in a dry run.
pub fn sleep(time: Duration) {
    host::sleep(u32::try_from(time.as_millis()).unwrap_or(u32::MAX));
}
