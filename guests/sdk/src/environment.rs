//! Reads environment variables of the host. Each variable needs a grant (`environment` in the grants).

use crate::bindings::wrun::machine::environment as host;

/// Returns the value of a variable of wrun's own process. Returns `None` if it is not set or the policy lacks the grant.
pub fn get(name: &str) -> Option<String> {
    host::get(name)
}
