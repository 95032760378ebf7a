//! Denials as exceptions.

use contract::{Raised, Resolved};
use grants::Denied;

/// The class of everything that an operator's file does not allow.
pub const DENIED: &str = "Wrun::Denied";

/// A denial as an exception; its hint is what would allow it. Use with `map_err`.
pub fn denied(denial: Denied) -> Raised {
    let sentence = denial.to_string();
    let raised = Raised::new(DENIED, sentence.clone()).with_hint(denial.hint());
    let key = denial.capability.key();
    let resolved = denial.capability.is_path().then(|| Box::new(Resolved { path: denial.asked, key, sentence }));
    Raised { resolved, ..raised }
}
