//! The file mode creation mask of a run's thread.

use rustix::fs::Mode;

/// The file mode creation mask of a resource, while it acts: of the files that wrun makes. Programs get the mask that was
/// granted for them.
pub struct Mask(Mode);

impl Mask {
    /// Sets the mask until this is dropped. It is the thread's own where the thread has one, else the process's.
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
