//! Roles: a run list and attributes under a name, and the source of roles.

use std::collections::HashMap;

use errors::ErrorKind;
use serde_json::{Map, Value};
use thiserror::Error;

use node::object::DEFAULT_ENVIRONMENT;
use node::run_list::{RunList, RunListError};

/// A role as its JSON file gives it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Role {
    /// The role's name, as run lists use it.
    pub name: String,
    /// The run list for environments without one of their own.
    pub run_list: RunList,
    /// Run lists of single environments.
    pub env_run_lists: HashMap<String, RunList>,
    /// Attributes for the `role_default` level.
    pub default_attributes: Map<String, Value>,
    /// Attributes for the `role_override` level.
    pub override_attributes: Map<String, Value>,
    /// The path of its file, for the origin of attributes; `None` if unknown.
    pub file: Option<String>,
}

/// The reasons why a JSON document is not a valid role.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RoleError {
    /// A key holds the wrong kind of value.
    #[error("role {role}: {key} must be {expected}")]
    WrongKind {
        /// The name of the role with the wrong value.
        role: String,
        /// The key, such as `default_attributes`.
        key: String,
        /// What it must be.
        expected: &'static str,
    },
    /// A run list in it is invalid.
    #[error("{reason}")]
    RunList {
        /// The name of the role with the invalid run list.
        role: String,
        /// The key, such as `run_list`.
        key: String,
        /// What is wrong with it. Part of the message, hence no `source`.
        reason: RunListError,
    },
}

impl RoleError {
    /// Returns what went wrong, as the kind of the failure that it becomes.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::WrongKind { .. } => ErrorKind::InvalidValue,
            Self::RunList { reason, .. } => reason.kind(),
        }
    }
}

impl Role {
    /// Reads a role's JSON: `name`, `run_list`, `env_run_lists`, `default_attributes`, `override_attributes`, each optional.
    /// `name` is the role's name if its JSON does not have one.
    ///
    /// # Errors
    /// A key of the wrong kind, or an invalid run list.
    pub fn from_json(name: &str, json: &Value) -> Result<Self, RoleError> {
        let wrong = |key: &str, expected| RoleError::WrongKind { role: name.to_owned(), key: key.to_owned(), expected };
        let object = json.as_object().ok_or_else(|| wrong("the whole role", "an object"))?;
        let list = |key: &str, value: &Value| {
            RunList::from_json(&with_brackets(value)).map_err(|reason| RoleError::RunList {
                role: name.to_owned(),
                key: key.to_owned(),
                reason,
            })
        };
        let attributes = |key: &str| match object.get(key) {
            None | Some(Value::Null) => Ok(Map::new()),
            Some(Value::Object(attributes)) => Ok(attributes.clone()),
            Some(_) => Err(wrong(key, "an object")),
        };
        let mut env_run_lists = HashMap::new();
        match object.get("env_run_lists") {
            None | Some(Value::Null) => {}
            Some(Value::Object(lists)) => {
                for (environment, value) in lists {
                    env_run_lists.insert(environment.clone(), list("env_run_lists", value)?);
                }
            }
            Some(_) => return Err(wrong("env_run_lists", "an object")),
        }
        Ok(Self {
            name: object.get("name").and_then(Value::as_str).unwrap_or(name).to_owned(),
            run_list: object.get("run_list").map_or_else(|| Ok(RunList::default()), |value| list("run_list", value))?,
            env_run_lists,
            default_attributes: attributes("default_attributes")?,
            override_attributes: attributes("override_attributes")?,
            file: None,
        })
    }

    /// The run list to use in an environment: its own, else the role's.
    pub fn run_list_for(&self, environment: &str) -> &RunList {
        let own = |name: &str| self.env_run_lists.get(name);
        own(environment).or_else(|| own(DEFAULT_ENVIRONMENT)).unwrap_or(&self.run_list)
    }
}

/// Returns a role's items as Chef's local mode does: an item that is neither a recipe nor a role becomes a recipe of that
/// name, and is refused later.
fn with_brackets(list: &Value) -> Value {
    let Value::Array(items) = list else { return list.clone() };
    let explicit = |text: &str| ["recipe[", "role["].iter().any(|kind| text.starts_with(kind) && text.ends_with(']'));
    let item = |item: &Value| match item.as_str() {
        Some(text) if !explicit(text) => Value::from(format!("recipe[{text}]")),
        _ => item.clone(),
    };
    items.iter().map(item).collect()
}

/// A source of roles. The crates that read files implement it.
pub trait RoleSource {
    /// Returns the role with this name, or `None` if it does not exist.
    fn role(&self, name: &str) -> Option<&Role>;
}

impl RoleSource for HashMap<String, Role> {
    fn role(&self, name: &str) -> Option<&Role> {
        self.get(name)
    }
}

/// A source without roles, for policies, whose run lists do not have any.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoRoles;

impl RoleSource for NoRoles {
    fn role(&self, _name: &str) -> Option<&Role> {
        None
    }
}
