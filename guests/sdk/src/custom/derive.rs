//! Functions for the code that `#[derive(Resource)]` generates.

use super::action::{Action, Running};
use super::{PropertyType, Resource};
use crate::bindings::wrun::resources::collection::{self as resources, Property as HostProperty};
use crate::error::{Error, Result};
use crate::from_value::{FromValue, Mismatch};
use crate::json::parse;
use crate::near::did_you_mean;
use crate::table::{Got, table};
use serde_json::Value;
use std::any::Any;
use std::cell::OnceCell;
use std::rc::Rc;

pub(super) type ActionCode = Rc<dyn Fn(&Rc<Running>) -> Result>;
type CurrentCode = Rc<dyn Fn(&Running) -> Result<Option<State>>>;

/// The state of a resource: the desired one, or the one on the machine.
pub(crate) struct State {
    /// The value of the cookbook's own type.
    pub(super) typed: Rc<dyn Any>,
    /// The same values by the properties' names.
    pub(super) values: Vec<(&'static str, Value)>,
}

impl State {
    fn of<T: Resource>(value: T) -> Self {
        Self { values: value.to_values(), typed: Rc::new(value) }
    }

    /// Returns the value of a property, or null if it is absent.
    pub(super) fn get(&self, name: &str) -> &Value {
        self.values.iter().find(|(known, _)| *known == name).map_or(&Value::Null, |(_, value)| value)
    }
}

/// A resource type that a cookbook defines: its properties and the code of its actions.
pub struct Definition {
    pub(super) name: &'static str,
    /// The cookbook that defines the type. Child resources find their templates and files there.
    pub(super) cookbook: OnceCell<&'static str>,
    pub(super) unified: bool,
    pub(super) properties: Vec<Property>,
    actions: Vec<(&'static str, ActionCode)>,
    pub(super) current: Option<CurrentCode>,
}

impl Definition {
    /// Creates a type without properties and actions.
    pub fn new(name: &'static str, unified: bool) -> Self {
        Self { name, cookbook: OnceCell::new(), unified, properties: vec![], actions: vec![], current: None }
    }

    /// Adds a property to the type.
    #[must_use]
    pub fn property(mut self, property: Property) -> Self {
        self.properties.push(property);
        self
    }

    /// Adds an action. The first one is the default.
    #[must_use]
    pub fn action<T: Resource, Form>(
        mut self,
        name: &'static str,
        method: impl ActionMethod<T, Form> + 'static,
    ) -> Self {
        let code = move |running: &Rc<Running>| {
            let resource = running.resource::<T>()?;
            method.call(&resource, &Action::new(Rc::clone(running)))
        };
        self.actions.push((name, Rc::new(code)));
        self
    }

    /// Sets the method that returns the current state of the machine.
    #[must_use]
    pub fn current<T: Resource>(mut self, method: impl Fn(&T) -> Result<Option<T>> + 'static) -> Self {
        let code = move |running: &Running| Ok(method(&*running.resource::<T>()?)?.map(State::of));
        self.current = Some(Rc::new(code));
        self
    }

    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    /// Returns true for a cookbook's type. The internal type of blocks does not list actions.
    pub(crate) fn has_actions(&self) -> bool {
        !self.actions.is_empty()
    }

    pub(crate) fn actions(&self) -> Vec<String> {
        self.actions.iter().map(|(name, _)| (*name).to_owned()).collect()
    }

    pub(super) fn default_action(&self) -> Option<&'static str> {
        self.actions.first().map(|(name, _)| *name)
    }

    pub(super) fn find(&self, action: &str) -> Result<ActionCode> {
        let found = self.actions.iter().find(|(name, _)| *name == action).map(|(_, action)| Rc::clone(action));
        found.ok_or_else(|| {
            let known: Vec<_> = self.actions.iter().map(|(name, _)| *name).collect();
            let message = format!("{} does not have the action `{action}`; it has: {}", self.name, known.join(", "));
            hinted(invalid(message), did_you_mean(action, known))
        })
    }

    pub(super) fn property_named(&self, name: &str) -> Result<&Property> {
        self.properties.iter().find(|property| property.name == name).ok_or_else(|| {
            let known: Vec<_> = self.properties.iter().map(|property| property.name).collect();
            let list = if known.is_empty() {
                "it does not have any".to_owned()
            } else {
                format!("it has: {}", known.join(", "))
            };
            let message = format!("{} does not have the property `{name}`; {list}", self.name);
            hinted(Error::new("NoMethodError", message), did_you_mean(name, known))
        })
    }
}

/// A method that runs an action: `fn(&self) -> Result`, or `fn(&self, &Action<Self>) -> Result`.
#[diagnostic::on_unimplemented(
    message = "this method cannot carry out an action of `{T}`",
    note = "an action is `fn NAME(&self) -> Result`, or `fn NAME(&self, action: &Action<Self>) -> Result`"
)]
pub trait ActionMethod<T, Form> {
    /// Runs the action.
    ///
    /// # Errors
    /// The error that the method returns.
    fn call(&self, resource: &T, action: &Action<T>) -> Result;
}

impl<T, F: Fn(&T) -> Result> ActionMethod<T, fn(&T)> for F {
    fn call(&self, resource: &T, _: &Action<T>) -> Result {
        self(resource)
    }
}

impl<T, F: Fn(&T, &Action<T>) -> Result> ActionMethod<T, fn(&T, &Action<T>)> for F {
    fn call(&self, resource: &T, action: &Action<T>) -> Result {
        self(resource, action)
    }
}

/// The description of a property of a type.
pub struct Property {
    pub(super) name: &'static str,
    check: fn(Value) -> std::result::Result<(), Mismatch>,
    default: Option<Value>,
    is_optional: bool,
    is_name: bool,
    one_of: Vec<Value>,
    pub(super) desired_state: bool,
}

impl Property {
    /// Creates a property. It must be set, unless its type has a value for an absent property.
    pub fn new<T: PropertyType>(name: &'static str) -> Self {
        Self {
            name,
            check: |value| T::from_value(value).map(drop),
            default: None,
            is_optional: T::from_absent().is_some(),
            is_name: false,
            one_of: vec![],
            desired_state: true,
        }
    }

    /// Sets the default value.
    #[must_use]
    pub fn default<T: PropertyType>(mut self, value: T) -> Self {
        self.default = Some(value.to_value());
        self
    }

    /// Makes the resource's name the default.
    #[must_use]
    pub fn name(mut self) -> Self {
        self.is_name = true;
        self
    }

    /// Limits the property to these values.
    #[must_use]
    pub fn one_of(mut self, values: impl IntoIterator<Item = Value>) -> Self {
        self.one_of = values.into_iter().collect();
        self
    }

    /// Excludes the property from the comparison with the machine.
    #[must_use]
    pub fn no_desired_state(mut self) -> Self {
        self.desired_state = false;
        self
    }

    pub(super) fn is_name(&self) -> bool {
        self.is_name
    }

    /// Returns true if a declaration without this property is invalid.
    pub(super) fn is_required(&self) -> bool {
        self.default.is_none() && !self.is_name && !self.is_optional
    }

    /// Checks a value. If the property is optional, null means an absent value.
    pub(super) fn check(&self, owner: &str, value: &Value) -> Result {
        if value.is_null() && self.is_optional {
            return Ok(());
        }
        (self.check)(value.clone()).map_err(|mismatch| self.wrong(owner, &mismatch))?;
        if !self.one_of.is_empty() && !self.one_of.contains(value) {
            let known = self.one_of.iter().map(Value::to_string).collect::<Vec<_>>().join(", ");
            return Err(invalid(format!("property `{}` of {owner} must be one of {known}, not {value}", self.name)));
        }
        Ok(())
    }

    fn wrong(&self, owner: &str, mismatch: &Mismatch) -> Error {
        invalid(format!("property `{}` of {owner} {mismatch}", mismatch.path_from(self.name)))
    }
}

/// The properties of a resource whose action runs.
pub struct Properties<'a> {
    pub(super) id: u32,
    pub(super) name: &'a str,
    pub(super) definition: &'a Definition,
}

impl Properties<'_> {
    /// Returns a property's value, or else its default.
    ///
    /// # Errors
    /// A required property is not set, the value is of another kind, or the lazy value failed.
    pub fn get<T: FromValue>(&self, name: &str) -> Result<T> {
        let (property, owner) = (self.definition.property_named(name)?, self.definition.name);
        let value = match set_value(self.id, name)? {
            Some(value) => {
                property.check(owner, &value)?;
                Some(value)
            }
            None if property.is_name => Some(self.name.into()),
            None => property.default.clone(),
        };
        match value {
            Some(value) => T::from_value(value).map_err(|mismatch| property.wrong(owner, &mismatch)),
            None => T::from_absent().ok_or_else(|| not_set(name, owner)),
        }
    }
}

/// Reads a resource's properties into the cookbook's struct.
pub(super) fn read<T: Resource>(properties: &Properties<'_>) -> Result<State> {
    T::from_properties(properties).map(State::of)
}

/// Returns the value that the declaration or a later change has set. It computes a lazy value.
fn set_value(id: u32, name: &str) -> Result<Option<Value>> {
    Ok(match resources::get_property(id, name) {
        Some(HostProperty::Text(text)) => Some(text.into()),
        Some(HostProperty::Plain(json)) => Some(parse(&json)?),
        Some(HostProperty::Bytes(bytes)) => Some(String::from_utf8_lossy(&bytes).into_owned().into()),
        Some(HostProperty::Lazy(number)) => {
            let closure = table(|table| table.closures.get(&number).cloned());
            match closure.map(|closure| closure(None)).transpose()? {
                Some(Got::Json(value)) => Some(value),
                _ => None,
            }
        }
        Some(HostProperty::Rendered(_) | HostProperty::Verify(_)) | None => None,
    })
}

pub(super) fn invalid(message: String) -> Error {
    Error::new("Chef::Exceptions::ValidationFailed", message)
}

pub(super) fn not_set(property: &str, owner: &str) -> Error {
    invalid(format!("property `{property}` of {owner} is required and not set"))
}

pub(super) fn hinted(error: Error, hint: Option<String>) -> Error {
    match hint {
        Some(hint) => error.with_hint(hint),
        None => error,
    }
}
