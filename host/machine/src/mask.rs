//! The file mode creation mask of a run's thread.

use rustix::fs::Mode;

/// The file mode creation mask while a resource acts. It applies to files that wrun creates. Programs get the mask that was
/// granted for them.
pub struct Mask(Mode);

impl Mask {
    /// Sets the mask until this value is dropped. It sets the thread's own mask if the thread has one, else the mask of the
    /// process.
    #[must_use]
    pub fn set(mask: u32) -> Self {
        Self(rustix::process::umask(Mode::from_raw_mode(mask & 0o777)))
    }
}

impl Drop for Mask {
    fn drop(&mut self) {
        rustix::process::umask(self.0);
    }
}
