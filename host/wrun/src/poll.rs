//! Finishing a future that waits for nobody: the engine's fibers suspend only to hand the turn to the runner, in the same
//! thread. No executor is needed.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

/// Polls a future to its end.
pub(crate) fn finish<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(value) => return value,
            // Not reached; were it, waiting burns time and loses nothing.
            Poll::Pending => std::thread::yield_now(),
        }
    }
}
