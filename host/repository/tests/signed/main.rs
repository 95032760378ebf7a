//! Signed releases: what is pushed is run, what is attacked is not.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod attacks;
mod confusion;
mod deciding;
mod maintaining;
mod place;
mod prefetching;
mod recovering;
mod releasing;
mod renewing;
mod strangers;
