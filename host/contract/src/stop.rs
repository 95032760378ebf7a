//! How a run is asked to end before its end, in three steps: after the running action, at once, and without waiting for
//! anything.

use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The signals that ask the run to end, shared with whoever receives them.
///
/// After the first nothing is begun, and what has begun is finished. After the second no command is started, and those
/// that run are ended, except package managers, which leave a broken machine if they are cut off: they are held. After
/// the third nothing is waited for.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<Asked>);

#[derive(Debug, Default)]
struct Asked {
    /// The first signal; 0: none.
    signal: AtomicI32,
    /// The second; 0: none.
    at_once: AtomicI32,
    without_waiting: AtomicBool,
    held: Mutex<Option<String>>,
}

impl Stop {
    /// No signal, but a resource that ended the run so that the node is started again.
    pub const REBOOT: i32 = -1;

    /// Asks the run to end after what it is doing.
    pub fn request(&self, signal: i32) {
        self.0.signal.store(signal, Ordering::Relaxed);
    }

    /// The signal, if the run is to end.
    pub fn requested(&self) -> Option<i32> {
        Some(self.0.signal.load(Ordering::Relaxed)).filter(|signal| *signal != 0)
    }

    /// Asks the run to end at once, and to die of this signal.
    pub fn request_at_once(&self, signal: i32) {
        self.0.at_once.store(signal, Ordering::Relaxed);
    }

    /// The signal that the run is to end at once for.
    pub fn requested_at_once(&self) -> Option<i32> {
        Some(self.0.at_once.load(Ordering::Relaxed)).filter(|signal| *signal != 0)
    }

    /// Asks the run to wait for nothing any more, not even for a process that is held.
    pub fn request_without_waiting(&self) {
        self.0.without_waiting.store(true, Ordering::Relaxed);
    }

    /// Whether the run is to wait for nothing any more.
    pub fn is_without_waiting(&self) -> bool {
        self.0.without_waiting.load(Ordering::Relaxed)
    }

    /// Tells that a process is left to finish, as `apt-get (process 123)`; `None`: it has ended.
    pub fn hold(&self, process: Option<String>) {
        *self.0.held.lock().unwrap_or_else(PoisonError::into_inner) = process;
    }

    /// The process that the run waits for although it is to end at once.
    pub fn held(&self) -> Option<String> {
        self.0.held.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
