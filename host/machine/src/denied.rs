//! Converts denials to exceptions.

use contract::{ErrorKind, Raised, Resolved};
use grants::Denied;

/// Converts a denial to an exception whose hint is the grant that would allow it. For use with `map_err`.
pub fn denied(denial: Denied) -> Raised {
    let sentence = denial.to_string();
    let raised = Raised::new(ErrorKind::Denied, sentence.clone()).with_hint(denial.hint());
    let key = denial.capability.key();
    let resolved = denial.capability.is_path().then(|| Box::new(Resolved { path: denial.asked, key, sentence }));
    Raised { resolved, ..raised }
}
