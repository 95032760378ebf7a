//! Properties of custom resources, and what they must be.

use crate::error::{Error, Result};
use serde_json::Value;

/// A property of a custom resource.
pub struct Property {
    pub(super) name: &'static str,
    kind: Kind,
    pub(super) default: Option<Value>,
    pub(super) required: bool,
    pub(super) is_name: bool,
    one_of: Vec<Value>,
    pub(super) desired_state: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Text,
    Integer,
    Boolean,
    List,
    Map,
    Any,
}

impl Property {
    fn new(name: &'static str, kind: Kind) -> Self {
        Self { name, kind, default: None, required: false, is_name: false, one_of: vec![], desired_state: true }
    }

    /// A text.
    pub fn text(name: &'static str) -> Self {
        Self::new(name, Kind::Text)
    }

    /// A whole number.
    pub fn integer(name: &'static str) -> Self {
        Self::new(name, Kind::Integer)
    }

    /// True or false.
    pub fn boolean(name: &'static str) -> Self {
        Self::new(name, Kind::Boolean)
    }

    /// A list.
    pub fn list(name: &'static str) -> Self {
        Self::new(name, Kind::List)
    }

    /// An object.
    pub fn map(name: &'static str) -> Self {
        Self::new(name, Kind::Map)
    }

    /// Anything.
    pub fn any(name: &'static str) -> Self {
        Self::new(name, Kind::Any)
    }

    /// What it is if nobody sets it.
    #[must_use]
    pub fn default(mut self, value: impl Into<Value>) -> Self {
        self.default = Some(value.into());
        self
    }

    /// It must be set.
    #[must_use]
    pub fn required(mut self) -> Self {
        self.required = true;
        self
    }

    /// It is the resource's name unless it is set.
    #[must_use]
    pub fn name_property(mut self) -> Self {
        self.is_name = true;
        self
    }

    /// It must be one of these.
    #[must_use]
    pub fn one_of<T: Into<Value>>(mut self, values: impl IntoIterator<Item = T>) -> Self {
        self.one_of = values.into_iter().map(Into::into).collect();
        self
    }

    /// It says how to do something, and is no part of what there should be.
    #[must_use]
    pub fn no_desired_state(mut self) -> Self {
        self.desired_state = false;
        self
    }

    pub(super) fn check(&self, owner: &str, value: &Value) -> Result {
        let fits = match self.kind {
            Kind::Text => value.is_string(),
            Kind::Integer => value.is_i64() || value.is_u64(),
            Kind::Boolean => value.is_boolean(),
            Kind::List => value.is_array(),
            Kind::Map => value.is_object(),
            Kind::Any => true,
        };
        if !fits {
            let kind = match self.kind {
                Kind::Text => "a string",
                Kind::Integer => "a whole number",
                Kind::Boolean => "true or false",
                Kind::List => "a list",
                Kind::Map => "an object",
                Kind::Any => "any value",
            };
            return Err(invalid(format!("property `{}` of {owner} must be {kind}, not {value}", self.name)));
        }
        if !self.one_of.is_empty() && !self.one_of.contains(value) {
            let known = self.one_of.iter().map(Value::to_string).collect::<Vec<_>>().join(", ");
            return Err(invalid(format!("property `{}` of {owner} must be one of {known}, not {value}", self.name)));
        }
        Ok(())
    }
}

pub(super) fn invalid(message: String) -> Error {
    Error::new("Chef::Exceptions::ValidationFailed", message)
}
