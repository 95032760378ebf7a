//! Random numbers. Without the grant `random` there are none.

use crate::bindings::wrun::random::random as host;

/// So many random bytes, at most 65,536; none without the grant.
pub fn bytes(count: u32) -> Option<Vec<u8>> {
    host::bytes(count)
}
