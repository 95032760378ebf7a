//! Denials as exceptions.

use contract::{ErrorKind, Raised, Resolved};
use grants::Denied;

/// A denial as an exception; its hint is what would allow it. Use with `map_err`.
pub fn denied(denial: Denied) -> Raised {
    let sentence = denial.to_string();
    let raised = Raised::new(ErrorKind::Denied, sentence.clone()).with_hint(denial.hint());
    let key = denial.capability.key();
    let resolved = denial.capability.is_path().then(|| Box::new(Resolved { path: denial.asked, key, sentence }));
    Raised { resolved, ..raised }
}
