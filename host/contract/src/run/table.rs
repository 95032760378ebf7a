//! The table of built-in types for a run's checks.
//!
//! A run is moved between the host and its guests, which leaves an empty run behind. Each check of the empty run fails,
//! because a check without a table must not pass.

use super::{Amendment, Declaration, Property};
use crate::{Failure, Outcome, Types};
use errors::ErrorKind;
use std::ops::Deref;
use std::sync::Arc;

/// A table of types. The default refuses everything.
pub(super) struct Table(pub(super) Arc<dyn Types>);

impl Default for Table {
    fn default() -> Self {
        Self(Arc::new(NoTypes))
    }
}

impl Deref for Table {
    type Target = dyn Types;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

/// The table of a run that was moved away.
struct NoTypes;

impl NoTypes {
    fn refuse() -> Failure {
        Failure::raised(ErrorKind::NoTypes, "a resource cannot be checked: this run has no table of resource types")
    }
}

impl Types for NoTypes {
    fn default_action(&self, _kind: &str) -> Option<&str> {
        None
    }

    fn check(&self, _declaration: &mut Declaration) -> Outcome {
        Err(Self::refuse())
    }

    fn check_own(&self, _declaration: &Declaration) -> Outcome {
        Err(Self::refuse())
    }

    fn check_own_amendment(&self, _declaration: &Declaration, _amendment: &Amendment) -> Outcome {
        Err(Self::refuse())
    }

    fn check_required(&self, _kind: &str, _action: &str, _is_set: &dyn Fn(&str) -> bool) -> Outcome {
        Err(Self::refuse())
    }

    fn uses(&self, _kind: &str, _action: &str, _name: &str) -> bool {
        true
    }

    fn check_property(&self, _kind: &str, _name: &str, _property: Property) -> Result<Property, Failure> {
        Err(Self::refuse())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Run;
    use serde_json::json;

    #[test]
    fn a_run_without_its_types_checks_nothing_as_good() {
        let mut run = Run::default();
        let property = || Property::Plain(json!(1));
        assert!(run.check_property("file", "mode", property()).is_err());
        assert!(run.declare(Declaration { kind: "file".into(), name: "x".into(), ..Declaration::default() }).is_err());
        let table = Table::default();
        let mut declaration = Declaration::default();
        let amendment = Amendment::Property("mode".into(), property());
        assert!(table.check(&mut declaration).is_err() && table.check_own(&declaration).is_err());
        assert!(table.check_own_amendment(&declaration, &amendment).is_err());
        assert!(table.check_required("file", "create", &|_| true).is_err());
    }
}
