//! Starts the threads of runs, which need a large stack.

use nix::sched::{CloneFlags, unshare};
use rustix::fs::Mode;
use std::io;
use std::thread::{Builder, JoinHandle};

/// The stack of a run's thread, in bytes: the runner nests guests' children on it; see `contract::MAX_DEPTH`.
const STACK: usize = 16 << 20;

/// The file mode creation mask of runs. So new files have the same modes as with Chef, whatever mask the user has.
const MASK: Mode = Mode::from_bits_retain(0o022);

/// Starts a thread for runs: it has the stack that they need, and a file mode creation mask of its own, which resources
/// set while they act. Other threads of the process keep theirs.
///
/// If the system does not allow a mask for one thread, as in some containers, the mask applies to the whole process.
///
/// # Errors
/// The system refuses another thread.
pub fn spawn<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> io::Result<JoinHandle<T>> {
    Builder::new().name("main".into()).stack_size(STACK).spawn(move || {
        if let Err(error) = unshare(CloneFlags::CLONE_FS) {
            tracing::debug!("the mask of this thread is that of the process: {error}");
        }
        rustix::process::umask(MASK);
        work()
    })
}
