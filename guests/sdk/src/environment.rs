//! Environment variables of the host, as far as the policy is granted them (`environment` in the grants).

use crate::bindings::wrun::machine::environment as host;

/// Returns the value of a variable of wrun's own process. `None`: it is not set, or the policy is not granted it.
pub fn get(name: &str) -> Option<String> {
    host::get(name)
}
