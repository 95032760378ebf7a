//! `service`.

/// What is known of the root's service manager.
#[derive(Debug, Default)]
pub(crate) struct ServiceCache {}
