//! What is going on right now, on a terminal, for work that takes longer than a blink.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::Duration;

/// A line at the bottom of the terminal; nothing at all where nobody watches.
pub(crate) struct Progress(Option<ProgressBar>);

impl Progress {
    pub(crate) fn new(watched: bool) -> Self {
        if !watched {
            return Self(None);
        }
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(5));
        if let Ok(style) = ProgressStyle::with_template("{spinner} [{elapsed}] {pos}/{len} {msg}") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(200));
        Self(Some(bar))
    }

    /// So many actions are ahead.
    pub(crate) fn expect(&self, more: u64) {
        if let Some(bar) = &self.0 {
            bar.inc_length(more);
        }
    }

    /// This one begins.
    pub(crate) fn begin(&self, what: &str) {
        if let Some(bar) = &self.0 {
            bar.set_message(what.to_owned());
        }
    }

    /// One is done.
    pub(crate) fn advance(&self) {
        if let Some(bar) = &self.0 {
            bar.inc(1);
        }
    }

    /// Prints something above the line.
    pub(crate) fn above<T>(&self, print: impl FnOnce() -> T) -> T {
        match &self.0 {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }

    /// The end: the line goes away.
    pub(crate) fn finish(&self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}
