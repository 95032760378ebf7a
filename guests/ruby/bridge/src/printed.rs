//! Collects Ruby's printed output and writes it to the log in whole lines.

use crate::bindings::wrun::output::log::{self as output, Level};
use std::cell::RefCell;

/// Maximum length of a line in bytes. A longer line is written in pieces.
const LONGEST: usize = 64 << 10;

thread_local! {
    static UNFINISHED: RefCell<[Vec<u8>; 2]> = const { RefCell::new([Vec::new(), Vec::new()]) };
}

/// Appends printed text and writes the lines that it completes. An unfinished line of the other channel was printed before it,
/// so it is written first.
pub(crate) fn take(channel: u32, text: &[u8]) {
    let (slot, level) = slot_and_level(channel);
    flush_if(|other| other != slot);
    UNFINISHED.with_borrow_mut(|unfinished| {
        let Some(unfinished) = unfinished.get_mut(slot) else { return };
        for piece in text.split_inclusive(|byte| *byte == b'\n') {
            unfinished.extend_from_slice(piece);
            if unfinished.last() == Some(&b'\n') {
                unfinished.pop();
                output::note(level, unfinished);
                unfinished.clear();
            } else if unfinished.len() > LONGEST {
                output::note(level, unfinished);
                unfinished.clear();
            }
        }
    });
}

/// Writes unfinished lines. It runs before other log lines and before each turn of the host.
pub(crate) fn flush() {
    flush_if(|_| true);
}

fn flush_if(is_due: impl Fn(usize) -> bool) {
    UNFINISHED.with_borrow_mut(|both| {
        for (channel, unfinished) in (1..).zip(both) {
            let (slot, level) = slot_and_level(channel);
            if !unfinished.is_empty() && is_due(slot) {
                output::note(level, unfinished);
                unfinished.clear();
            }
        }
    });
}

fn slot_and_level(channel: u32) -> (usize, Level) {
    if channel == 2 { (1, Level::Warn) } else { (0, Level::Info) }
}
