//! Counts how deep actions and recipes are nested.

use std::sync::Arc;

/// The number of actions and recipes that are open: one less than the owners of the value.
#[derive(Default)]
pub(super) struct Depth(Arc<()>);

/// One open action or recipe. It counts until it is dropped, so that an early return cannot leave the count wrong.
#[must_use]
pub(super) struct Nested(#[expect(dead_code, reason = "it is counted, not read")] Arc<()>);

impl Depth {
    /// Opens one more. `None` if `most` are open already.
    pub(super) fn enter(&self, most: u32) -> Option<Nested> {
        let open = Arc::strong_count(&self.0).saturating_sub(1);
        (open < most as usize).then(|| Nested(Arc::clone(&self.0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_early_return_closes_what_was_open() {
        let depth = Depth::default();
        let act = |is_failing: bool| -> Result<(), &str> {
            let _nested = depth.enter(2).ok_or("too deep")?;
            if is_failing { Err("failed") } else { Ok(()) }
        };
        let open = depth.enter(2).unwrap();
        for _ in 0..3 {
            assert_eq!((act(true), act(false)), (Err("failed"), Ok(())));
        }
        let second = depth.enter(2).unwrap();
        assert_eq!(act(false), Err("too deep"));
        drop((open, second));
        assert_eq!(act(false), Ok(()));
    }
}
