//! Values that may be secret and that debug output never shows.

use std::fmt;

/// Holds a value that may be secret. Its `Debug` output is the same whatever the value is.
#[derive(Clone, Default)]
pub(crate) struct Withheld<T>(pub(crate) T);

impl<T> fmt::Debug for Withheld<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("********")
    }
}
