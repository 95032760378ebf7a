//! Values that no output for debugging shows, since they may be secret.

use std::fmt;

/// Holds a value that may be secret. Its `Debug` output is the same whatever the value is.
#[derive(Clone, Default)]
pub(crate) struct Withheld<T>(pub(crate) T);

impl<T> fmt::Debug for Withheld<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("********")
    }
}
