//! The attributes that a policy may read and write, for the sandbox.

use contract::{AttributeRights, HiddenRead, OutsideInput, ReadKind};
use grants::{Capability, GrantedAttribute, PolicyGrants};
use std::sync::Arc;

/// The rights of one policy's code.
pub(crate) struct Rights {
    pub(crate) grants: Arc<PolicyGrants>,
    /// Whether the code is a language runtime, which also reads the clock for its own purposes.
    pub(crate) is_runtime: bool,
    /// The names of wrun's own environment variables, in a survey. Empty in all other runs.
    pub(crate) variables: Arc<[String]>,
}

impl AttributeRights for Rights {
    fn write(&self, path: &[String]) -> Result<GrantedAttribute, String> {
        self.grants.write_attribute(path).map_err(|denied| format!("{denied}\n{}", denied.hint()))
    }

    fn write_unasked(&self, path: &[String]) -> Option<GrantedAttribute> {
        self.grants.write_attribute_unasked(path)
    }

    fn read_grant(&self, kind: ReadKind, path: &[String]) -> String {
        match kind {
            ReadKind::Fact => self.grants.fact_grant(path),
            ReadKind::Given | ReadKind::Attribute => self.grants.attribute_grant(path),
        }
    }

    fn uses(&self, kind: ReadKind, path: &[String]) {
        match kind {
            ReadKind::Fact => self.grants.uses_fact(path),
            ReadKind::Given => self.grants.uses_given(path),
            ReadKind::Attribute => self.grants.uses_attribute(path),
        }
    }

    fn refuse_read(&self, kind: ReadKind, path: &[String], is_new: bool) -> Option<String> {
        let denied = match kind {
            ReadKind::Fact => self.grants.refuse_fact(path, is_new),
            ReadKind::Given => self.grants.refuse_given(path, is_new),
            // Nobody hears of other policies.
            ReadKind::Attribute => None,
        };
        denied.map(|denied| format!("{denied}\n{}", denied.hint()))
    }

    fn audit_hidden(&self, read: &HiddenRead) {
        let capability = match read.kind {
            ReadKind::Fact => Capability::Facts,
            ReadKind::Given | ReadKind::Attribute => Capability::ReadAttributes,
        };
        self.grants.audit_hidden(capability, &read.shown(), read.partly);
    }

    fn uses_outside(&self, what: OutsideInput<'_>) {
        match what {
            OutsideInput::Clock => self.grants.uses_flag(Capability::Clock),
            OutsideInput::Random => self.grants.uses_flag(Capability::Random),
            OutsideInput::Variable(name) => self.grants.uses_variable(name),
        }
    }

    fn refuse_outside(&self, what: OutsideInput<'_>) {
        match what {
            OutsideInput::Random => self.grants.refuse_random(),
            OutsideInput::Clock if !self.is_runtime => self.grants.refuse_clock(),
            OutsideInput::Variable(name) => {
                if self.variables.iter().any(|variable| variable == name) {
                    self.grants.misses_variable(name);
                }
            }
            // Without a grant, the clock gives the start of the run.
            OutsideInput::Clock => {}
        }
    }
}
