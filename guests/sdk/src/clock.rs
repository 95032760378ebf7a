//! Time. Without the grant `clock` it stands still, so that a plan that is made twice is the same plan.

use crate::bindings::wrun::clock::clock as host;
use std::time::Duration;

/// What time it is, since 1970 UTC; without the grant, when the run began.
pub fn now() -> Duration {
    let now = host::now();
    Duration::new(u64::try_from(now.seconds).unwrap_or_default(), now.nanoseconds)
}

/// Waits, at most a minute. Returns at once in a dry run.
pub fn sleep(time: Duration) {
    host::sleep(u32::try_from(time.as_millis()).unwrap_or(u32::MAX));
}
