//! Counts the steps of a search and charges them to the caller.

/// Steps of matching that count as one unit of work.
const STEPS_PER_UNIT: u64 = 64;

/// Counts steps before they are made, and calls `pay` for each full unit. The search ends when `pay` fails.
pub(super) struct Meter<'a, E> {
    unpaid: u64,
    pay: &'a mut dyn FnMut(u64) -> Result<(), E>,
}

impl<'a, E> Meter<'a, E> {
    pub(super) fn new(pay: &'a mut dyn FnMut(u64) -> Result<(), E>) -> Self {
        Self { unpaid: 0, pay }
    }

    /// Pays for a number of steps.
    ///
    /// # Errors
    /// What whoever pays says.
    pub(super) fn step(&mut self, steps: u64) -> Result<(), E> {
        self.unpaid = self.unpaid.saturating_add(steps);
        let units = self.unpaid / STEPS_PER_UNIT;
        self.unpaid %= STEPS_PER_UNIT;
        if units > 0 { (self.pay)(units) } else { Ok(()) }
    }
}
