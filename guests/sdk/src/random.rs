//! Reads random bytes. They need the grant `random`.

use crate::bindings::wrun::random::random as host;

/// Returns `count` random bytes, at most 65,536, or `None` without the grant.
pub fn bytes(count: u32) -> Option<Vec<u8>> {
    host::bytes(count)
}
