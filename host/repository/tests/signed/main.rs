//! Signed releases: what is pushed is run, what is attacked is not.

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod attacks;
mod confusion;
mod maintaining;
mod place;
mod releasing;
