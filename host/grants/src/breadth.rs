//! How far a run's rights go beyond the rules of the operator's file.

use crate::denied::Capability;
use std::fmt;
use std::sync::Arc;

/// The rights of a run beyond the rules.
#[derive(Debug, Clone, Default)]
pub(crate) enum Breadth {
    /// The rules alone decide.
    #[default]
    Rules,
    /// The run is a survey (`wrun grants suggest`). It changes nothing, so it allows every change, and records it. The rules
    /// decide what a policy may learn and which commands are started, since suggestions and the machine's list of processes
    /// could tell others what the policy has learnt.
    Survey(OpenPaths),
    /// The operator allows everything on the command line.
    Everything,
}

impl Breadth {
    /// Tells whether the rules do not matter for a capability.
    pub(crate) fn covers(&self, capability: Capability) -> bool {
        match self {
            Self::Rules => false,
            Self::Survey(_) => !teaches(capability),
            Self::Everything => true,
        }
    }
}

/// Tells whether a policy with the capability learns something. The clock and random numbers tell it nothing about others.
fn teaches(capability: Capability) -> bool {
    matches!(
        capability,
        Capability::ReadPaths
            | Capability::ReadAttributes
            | Capability::Facts
            | Capability::DataBags
            | Capability::Search
            | Capability::Roles
            | Capability::Environments
            | Capability::Environment
    )
}

/// Tells which resolved paths, as seen from inside the root, every user of the machine may read.
#[derive(Clone)]
pub struct OpenPaths(Arc<dyn Fn(&str) -> bool + Send + Sync>);

impl OpenPaths {
    /// Wraps a function that looks at the machine. It returns false if it cannot tell.
    pub fn new(is_open: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(is_open))
    }

    pub(crate) fn contain(&self, path: &str) -> bool {
        (self.0)(path)
    }
}

impl fmt::Debug for OpenPaths {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("OpenPaths")
    }
}
