//! Parts of the standard library that a sandbox does not have: files, sockets, processes, threads, clocks.
//!
//! The standard library only reports `operation not supported on this platform`. This module adds what to use instead.

use std::error::Error;
use std::io;

/// The advice for any call that the sandbox lacks.
pub(crate) const HINT: &str = "a policy cannot use files, sockets, processes, threads or clocks of the standard \
    library: declare a resource, or use `wrun_sdk::machine`, `wrun_sdk::clock` and `wrun_sdk::random`, within the \
    policy's grants";

/// The advice for `std::env::var`, which finds no variables in a policy.
const NO_VARIABLES: &str =
    "`std::env` is empty in a policy: `wrun_sdk::environment::get` reads a variable that the policy is granted";

/// Phrases of the standard library's errors about unsupported features.
const PHRASES: [&str; 4] = [
    "not supported on this platform",
    "not implemented on this platform",
    "unsupported on this platform",
    "kind: Unsupported",
];

/// Returns the advice if the error comes from the standard library and concerns a feature that the sandbox lacks.
pub(crate) fn advice_on(error: &(dyn Error + 'static)) -> Option<&'static str> {
    if error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::Unsupported) {
        return Some(HINT);
    }
    error.downcast_ref::<std::env::VarError>().map(|_| NO_VARIABLES)
}

/// Returns the advice if a panic's message or file shows that the sandbox lacks a feature.
pub(crate) fn advice(message: &str, file: &str) -> Option<&'static str> {
    if message.ends_with(": NotPresent") || file.contains("/library/std/src/sys/env/") {
        return Some(NO_VARIABLES);
    }
    let is_outside = PHRASES.iter().any(|phrase| message.contains(phrase))
        || (file.contains("/library/std/src/sys/") && file.ends_with("unsupported.rs"));
    is_outside.then_some(HINT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_sandbox_lacks_is_recognised() {
        let unsupported = io::Error::new(io::ErrorKind::Unsupported, "operation not supported on this platform");
        assert_eq!(advice_on(&unsupported), Some(HINT));
        assert_eq!(advice_on(&io::Error::from(io::ErrorKind::NotFound)), None);
        assert_eq!(advice_on(&std::env::VarError::NotPresent), Some(NO_VARIABLES));
        let panics = [
            ("time not implemented on this platform", "/rustc/1/library/std/src/sys/time/unsupported.rs"),
            ("called `Result::unwrap()` on an `Err` value: NotPresent", "src/lib.rs"),
            ("called `Result::unwrap()` on an `Err` value: Error { kind: Unsupported, message: \"x\" }", "src/lib.rs"),
        ];
        for (message, file) in panics {
            assert!(advice(message, file).is_some(), "{message}");
        }
        let variables = "/rustc/1/library/std/src/sys/env/unsupported.rs";
        assert_eq!(advice("not supported on this platform", variables), Some(NO_VARIABLES));
        assert_eq!(advice("index out of bounds", "src/lib.rs"), None);
    }
}
