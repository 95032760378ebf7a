//! Claims: the state that an action wants for a thing on the machine. wrun compares them to find policies that contradict
//! each other.

use node::origin::Origin;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A thing on the machine, under its canonical name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Identity {
    /// `path`, `package`, `gem`, `unit`, `user`, `group`, `mount`, `cron`, or the name of a composite resource type.
    pub kind: &'static str,
    /// The real path inside the root, the package's name, the unit without `.service`, the account's name.
    pub name: String,
}

/// The state that an action wants for a thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// The identity of the thing.
    pub identity: Identity,
    /// The wanted value of each aspect that the action sets, as in `mode`: `644`. `None` means that the value is not known
    /// before the action. Values are compared but never shown, and secrets and contents are digests.
    pub aspects: BTreeMap<&'static str, Option<String>>,
    /// For an action that removes everything below a path: the real paths there that it keeps. `None` for all other actions.
    pub kept_below: Option<BTreeSet<String>>,
}

/// The kind of things that are named by a real path.
pub const PATH: &str = "path";

/// The aspect for the whole content of a file.
pub const CONTENT: &str = "content";

/// The aspect for single lines of a file that belongs to several resources, such as `/etc/fstab`. It stands against
/// [`CONTENT`] alone.
pub const LINES: &str = "lines";

/// The aspect for the existence of the thing.
pub const PRESENCE: &str = "presence";

/// The value of [`PRESENCE`] for a thing that should not exist. Then the claim has no other aspects.
pub const ABSENT: &str = "absent";

impl Claim {
    /// Creates a claim without aspects.
    pub fn of(kind: &'static str, name: impl Into<String>) -> Self {
        Self { identity: Identity { kind, name: name.into() }, aspects: BTreeMap::new(), kept_below: None }
    }

    /// Adds the wanted value of an aspect.
    #[must_use]
    pub fn with(mut self, aspect: &'static str, value: impl Into<String>) -> Self {
        self.aspects.insert(aspect, Some(value.into()));
        self
    }

    /// Adds an aspect whose value is not known before the action.
    #[must_use]
    pub fn with_unknown(mut self, aspect: &'static str) -> Self {
        self.aspects.insert(aspect, None);
        self
    }

    /// Adds that the action removes everything below the path, except for these real paths.
    #[must_use]
    pub fn keeping_below(mut self, kept: BTreeSet<String>) -> Self {
        self.kept_below = Some(kept);
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
    /// The place of the resource's declaration.
    pub origin: Arc<Origin>,
}

/// Two policies that want different states of one thing.
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
