//! `guest_block`: runs code of the cookbook during converge (Chef's `ruby_block`).

use super::GuestBlock;
use crate::error::Result;

impl GuestBlock {
    /// Sets the code. It runs once per action, and never in a dry run.
    pub fn block(mut self, block: impl Fn() -> Result + 'static) -> Self {
        self.0.set_block(block);
        self
    }
}
