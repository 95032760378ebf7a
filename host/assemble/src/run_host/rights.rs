//! What a policy may read and write of the node, for the sandbox.

use contract::{AttributeRights, HiddenRead, OutsideInput, ReadKind};
use grants::{Capability, GrantedAttribute, PolicyGrants};
use std::sync::Arc;

/// The rights of one policy.
pub(crate) struct Rights(pub(crate) Arc<PolicyGrants>);

impl AttributeRights for Rights {
    fn write(&self, path: &[String]) -> Result<GrantedAttribute, String> {
        self.0.write_attribute(path).map_err(|denied| format!("{denied}\n{}", denied.hint()))
    }

    fn read_grant(&self, kind: ReadKind, path: &[String]) -> String {
        match kind {
            ReadKind::Fact => self.0.fact_grant(path),
            ReadKind::Attribute => self.0.attribute_grant(path),
        }
    }

    fn uses(&self, kind: ReadKind, path: &[String]) {
        match kind {
            ReadKind::Fact => self.0.uses_fact(path),
            ReadKind::Attribute => self.0.uses_attribute(path),
        }
    }

    fn refuse_fact(&self, path: &[String], is_new: bool) -> Option<String> {
        self.0.refuse_fact(path, is_new).map(|denied| format!("{denied}\n{}", denied.hint()))
    }

    fn audit_hidden(&self, read: &HiddenRead) {
        let capability = match read.kind {
            ReadKind::Fact => Capability::Facts,
            ReadKind::Attribute => Capability::ReadAttributes,
        };
        self.0.audit_hidden(capability, &read.shown(), read.partly);
    }

    fn uses_outside(&self, what: OutsideInput<'_>) {
        match what {
            OutsideInput::Clock => self.0.uses_flag(Capability::Clock),
            OutsideInput::Random => self.0.uses_flag(Capability::Random),
            OutsideInput::Variable(name) => self.0.uses_variable(name),
        }
    }

    fn refuse_outside(&self, what: OutsideInput<'_>) {
        match what {
            OutsideInput::Random => self.0.refuse_random(),
            // An absent clock is the run's beginning, and an absent variable is nothing.
            OutsideInput::Clock | OutsideInput::Variable(_) => {}
        }
    }
}
