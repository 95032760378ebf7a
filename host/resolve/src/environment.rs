//! Environments: attributes and constraints on cookbooks under a name.

use std::collections::BTreeMap;

use errors::ErrorKind;
use node::version_constraint::{VersionConstraint, VersionStyle};
use serde_json::{Map, Value};
use thiserror::Error;

/// An environment, as its JSON file gives it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Environment {
    /// The environment's name, such as `production`.
    pub name: String,
    /// Attributes for the `env_default` level.
    pub default_attributes: Map<String, Value>,
    /// Attributes for the `env_override` level.
    pub override_attributes: Map<String, Value>,
    /// Constraints on cookbooks' versions, such as `"ntp": "~> 2.0"`.
    pub cookbook_versions: BTreeMap<String, String>,
}

/// The reasons why a JSON document is not a valid environment.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum EnvironmentError {
    /// A constraint on a cookbook is invalid. As in Chef, the message shows all constraints.
    #[error("Option cookbook_versions's value {{{shown}}} should be a valid set of cookbook version requirements!")]
    InvalidConstraints {
        /// All constraints, as Ruby shows a hash, without braces.
        shown: String,
    },
}

impl EnvironmentError {
    /// Returns what went wrong, as the kind of the failure that it becomes.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::InvalidConstraints { .. } => ErrorKind::InvalidValue,
        }
    }
}

impl Environment {
    /// Returns an environment without attributes and constraints.
    pub fn empty(name: &str) -> Self {
        Self { name: name.to_owned(), ..Self::default() }
    }

    /// Reads an environment's JSON document. It checks all constraints, even those on cookbooks that are not needed.
    ///
    /// # Errors
    /// A constraint is invalid.
    pub fn from_json(name: &str, json: &Value) -> Result<Self, EnvironmentError> {
        let object = |key: &str| json.get(key).and_then(Value::as_object);
        let texts = object("cookbook_versions").into_iter().flatten();
        let cookbook_versions: BTreeMap<String, String> =
            texts.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned()))).collect();
        let is_valid = |text: &String| VersionConstraint::parse(text, VersionStyle::Cookbook).is_ok();
        if !cookbook_versions.values().all(is_valid) {
            let shown = cookbook_versions.iter().map(|(name, constraint)| format!("{name:?}=>{constraint:?}"));
            let shown = shown.collect::<Vec<_>>().join(", ");
            return Err(EnvironmentError::InvalidConstraints { shown });
        }
        Ok(Self {
            name: name.to_owned(),
            default_attributes: object("default_attributes").cloned().unwrap_or_default(),
            override_attributes: object("override_attributes").cloned().unwrap_or_default(),
            cookbook_versions,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_document_becomes_attributes_and_constraints() {
        let json = json!({ "default_attributes": { "a": 1 }, "cookbook_versions": { "ntp": "~> 2.0", "odd": 3 } });
        let environment = Environment::from_json("stage", &json).unwrap();
        assert_eq!(environment.name, "stage");
        assert_eq!(environment.default_attributes, *json!({ "a": 1 }).as_object().unwrap());
        assert!(environment.override_attributes.is_empty());
        assert_eq!(environment.cookbook_versions, BTreeMap::from([("ntp".to_owned(), "~> 2.0".to_owned())]));
    }

    #[test]
    fn an_invalid_constraint_is_refused_with_all_of_them() {
        let error = Environment::from_json("stage", &json!({ "cookbook_versions": { "a": "= 1.0", "b": "newest" } }));
        let error = error.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidValue);
        assert!(error.to_string().contains("{\"a\"=>\"= 1.0\", \"b\"=>\"newest\"}"), "{error}");
    }
}
