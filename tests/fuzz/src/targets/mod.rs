//! What is fuzzed: each target takes any bytes and panics where a promise does not hold.
//!
//! `cargo xtask fuzz` looks for such bytes; the test `fuzz_corpora` tries all that were kept.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a target says by a panic that a promise does not hold"
)]

mod archive;
mod artifact;
mod conversation;
mod grants;
mod state;

/// Tries one input.
pub(crate) type Target = fn(&[u8]);

/// All targets by name; each has a folder of this name in `tests/fuzz/corpus`.
pub(crate) const TARGETS: [(&str, Target); 5] = [
    ("archive", archive::unpack),
    ("artifact", artifact::open),
    ("conversation", conversation::hold),
    ("grants", grants::read),
    ("state", state::read),
];

/// The first byte, which chooses among a target's ways, and the rest.
fn choice(data: &[u8]) -> (u8, &[u8]) {
    data.split_first().map_or((0, data), |(first, rest)| (*first, rest))
}
