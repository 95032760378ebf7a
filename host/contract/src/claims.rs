//! What an action wants to be true of a thing of the machine, so that two policies that want it differently are found.

use node::origin::Origin;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A thing of the machine, under its canonical name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Identity {
    /// `path`, `package`, `gem`, `unit`, `user`, `group`, `mount` or `cron`, or a resource type that acts by its children.
    pub kind: &'static str,
    /// The real path inside the root, the package's name, the unit without `.service`, the account's name.
    pub name: String,
}

/// What an action wants to be true of a thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// The identity of the thing that the action is about.
    pub identity: Identity,
    /// The wanted value of each aspect that the action sets, as in `mode`: `644`; `None`: not known beforehand. Values are
    /// compared and never shown: secrets and contents are digests.
    pub aspects: BTreeMap<&'static str, Option<String>>,
}

/// The aspect that says whether the thing is there at all.
pub const PRESENCE: &str = "presence";

/// The value of [`PRESENCE`] for a thing that is not to be there: nothing else is wanted of it then.
pub const ABSENT: &str = "absent";

impl Claim {
    /// A claim without aspects.
    pub fn of(kind: &'static str, name: impl Into<String>) -> Self {
        Self { identity: Identity { kind, name: name.into() }, aspects: BTreeMap::new() }
    }

    /// The same with the wanted value of an aspect.
    #[must_use]
    pub fn with(mut self, aspect: &'static str, value: impl Into<String>) -> Self {
        self.aspects.insert(aspect, Some(value.into()));
        self
    }

    /// The same with an aspect that is set to a value not known beforehand.
    #[must_use]
    pub fn with_unknown(mut self, aspect: &'static str) -> Self {
        self.aspects.insert(aspect, None);
        self
    }
}

/// The action of a resource that makes a claim.
#[derive(Debug, Clone)]
pub struct Claimant {
    /// The name of the policy that declared the resource.
    pub policy: String,
    /// The resource with the action, as `type[name]`.
    pub resource: String,
    /// The name of the action, such as `create`.
    pub action: String,
    /// Where the resource was declared.
    pub origin: Arc<Origin>,
}

/// Two policies that want one thing differently.
#[derive(Debug, Clone)]
pub struct Conflict {
    /// The identity that both policies claim.
    pub identity: Identity,
    /// The aspects that they want differently, sorted.
    pub aspects: Vec<&'static str>,
    /// The claimant that ran first.
    pub earlier: Claimant,
    /// The claimant that ran later; its values are on the machine at the end.
    pub later: Claimant,
}
