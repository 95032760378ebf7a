//! `guest_block`: code of the cookbook's own, run in its turn during converge (Chef's `ruby_block`).

use super::GuestBlock;
use crate::error::Result;

impl GuestBlock {
    /// The code. It runs once per action, and not at all in a dry run.
    pub fn block(mut self, block: impl Fn() -> Result + 'static) -> Self {
        self.0.set_block(block);
        self
    }
}
