//! Custom resources: types of a cookbook's own, made of other resources.
//!
//! ```ignore
//! pub fn site() -> CustomResource {
//!     CustomResource::new("web_site")
//!         .property(Property::text("root").required())
//!         .property(Property::integer("port").default(80))
//!         .action("create", |site| {
//!             directory(site.text("root")?).recursive(true).declare()?;
//!             Ok(())
//!         })
//! }
//!
//! custom("web_site", "shop").set("root", "/srv/shop").declare()?;
//! ```

mod property;

pub use property::Property;

use crate::bindings::wrun::resources::collection::{
    self as resources, Declaration, GuestType, NamedProperty, Property as HostProperty,
};
use crate::bindings::wrun::turns::turns::{ActionCall, Task};
use crate::bindings::wrun::types::types::Raised;
use crate::builder::{Builder, Declared, IntoProperty, kinds::Anything};
use crate::conversation::complete as complete_task;
use crate::error::{Error, Here as _, Result};
use crate::json::parse;
use crate::near::{did_you_mean, did_you_mean_type};
use crate::table::{Got, Made, Scope, scope, table, within};
use property::invalid;
use serde_json::Value;
use std::cell::{OnceCell, RefCell};
use std::panic::Location;
use std::rc::Rc;

type Action = Rc<dyn Fn(&Resource) -> Result>;
type Load = Rc<dyn Fn(&Resource) -> Result<Option<Value>>>;

/// A resource type that a cookbook makes of others.
pub struct CustomResource {
    name: &'static str,
    /// Whose it is: templates and files of its children are looked for there.
    cookbook: OnceCell<&'static str>,
    unified: bool,
    properties: Vec<Property>,
    actions: Vec<(&'static str, Action)>,
    load: Option<Load>,
}

impl CustomResource {
    /// A type without properties and actions. Its children converge where they are declared (Chef's `unified_mode`).
    pub fn new(name: &'static str) -> Self {
        Self { name, cookbook: OnceCell::new(), unified: true, properties: vec![], actions: vec![], load: None }
    }

    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    /// Whether it is a cookbook's: the type of blocks has no actions that are listed.
    pub(crate) fn has_actions(&self) -> bool {
        !self.actions.is_empty()
    }

    pub(crate) fn actions(&self) -> Vec<String> {
        self.actions.iter().map(|(name, _)| (*name).to_owned()).collect()
    }

    /// Has children converge after the action instead of where they are declared.
    #[must_use]
    pub fn without_unified_mode(mut self) -> Self {
        self.unified = false;
        self
    }

    /// Adds a property.
    #[must_use]
    pub fn property(mut self, property: Property) -> Self {
        self.properties.push(property);
        self
    }

    /// Says what is there now, as an object with the same properties; `None`: nothing is.
    #[must_use]
    pub fn load_current_value(mut self, load: impl Fn(&Resource) -> Result<Option<Value>> + 'static) -> Self {
        self.load = Some(Rc::new(load));
        self
    }

    /// Adds an action; the first is the default.
    #[must_use]
    pub fn action(mut self, name: &'static str, action: impl Fn(&Resource) -> Result + 'static) -> Self {
        self.actions.push((name, Rc::new(action)));
        self
    }
}

/// Begins a resource of a custom type.
#[track_caller]
pub fn custom(kind: &str, name: impl Into<String>) -> Custom {
    Custom(Builder::new(kind, name))
}

/// A resource of a custom type on its way to the host.
#[must_use = "a resource does nothing until it is declared"]
#[derive(Debug)]
pub struct Custom(pub(crate) Builder);

impl Custom {
    /// Sets a property.
    pub fn set(mut self, property: &str, value: impl IntoProperty<Anything>) -> Self {
        self.0.set(property, value.into_property());
        self
    }

    /// Adds an action; the first takes the default action's place.
    pub fn action(mut self, action: &str) -> Self {
        self.0.action(action);
        self
    }
}

crate::__common_methods!(Custom);

/// A custom resource whose action runs: its properties, and what was there before.
pub struct Resource {
    id: u32,
    name: String,
    custom: Rc<CustomResource>,
    context: u32,
    why_run: bool,
    made: Scope,
    current: RefCell<Option<Option<Value>>>,
}

impl Resource {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The resource itself, as others notify it.
    pub fn declared(&self) -> Declared {
        Declared { id: self.id }
    }

    /// True in a dry run: declare children as ever, change nothing.
    pub fn why_run(&self) -> bool {
        self.why_run
    }

    /// A property: as it was set, else its default, else null.
    ///
    /// # Errors
    /// The type has no such property, or its lazy value failed or does not fit.
    #[track_caller]
    pub fn get(&self, name: &str) -> Result<Value> {
        self.found(name).here()
    }

    fn found(&self, name: &str) -> Result<Value> {
        let Some(property) = self.custom.properties.iter().find(|property| property.name == name) else {
            return Err(self.custom.no_property(name));
        };
        match self.own(name)? {
            Some(value) => {
                property.check(self.custom.name, &value)?;
                Ok(value)
            }
            None if property.is_name => Ok(self.name.clone().into()),
            None => Ok(property.default.clone().unwrap_or(Value::Null)),
        }
    }

    /// What was set, by the declaration or a later change.
    fn own(&self, name: &str) -> Result<Option<Value>> {
        Ok(match resources::get_property(self.id, name) {
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

    /// Returns a property as a string.
    ///
    /// # Errors
    /// It is not set or not a string.
    #[track_caller]
    pub fn text(&self, name: &str) -> Result<String> {
        self.typed(name, "a string", |value| value.as_str().map(str::to_owned)).here()
    }

    /// Returns a property as a whole number.
    ///
    /// # Errors
    /// It is not set or not a whole number.
    #[track_caller]
    pub fn integer(&self, name: &str) -> Result<i64> {
        self.typed(name, "a whole number", Value::as_i64).here()
    }

    /// Returns a property as a boolean.
    ///
    /// # Errors
    /// It is not set or not a boolean.
    #[track_caller]
    pub fn flag(&self, name: &str) -> Result<bool> {
        self.typed(name, "a boolean", Value::as_bool).here()
    }

    /// Returns a property as a list of strings.
    ///
    /// # Errors
    /// It is not set or not a list of strings.
    #[track_caller]
    pub fn list(&self, name: &str) -> Result<Vec<String>> {
        let texts = |value: &Value| value.as_array()?.iter().map(|item| item.as_str().map(str::to_owned)).collect();
        self.typed(name, "a list of strings", texts).here()
    }

    fn typed<T>(&self, name: &str, what: &str, take: impl FnOnce(&Value) -> Option<T>) -> Result<T> {
        let value = self.found(name)?;
        let wrong = || match value {
            Value::Null => invalid(format!("property `{name}` of {} is not set", self.custom.name)),
            _ => invalid(format!("property `{name}` of {} is not {what}: {value}", self.custom.name)),
        };
        take(&value).ok_or_else(wrong)
    }

    /// What `load_current_value` found; `None`: nothing is there.
    ///
    /// # Errors
    /// What it raised.
    pub fn current(&self) -> Result<Option<Value>> {
        if self.current.borrow().is_none() {
            let found = match &self.custom.load {
                Some(load) => load(self)?,
                None => None,
            };
            *self.current.borrow_mut() = Some(found);
        }
        Ok(self.current.borrow().clone().flatten())
    }

    /// Does something if one of the properties that are set differs from what is there; says what. Without names, all
    /// properties that are desired state count. In a dry run it only says what. True: something differs.
    ///
    /// # Errors
    /// What the code raised.
    pub fn converge_if_changed(&self, names: &[&str], change: impl FnOnce() -> Result) -> Result<bool> {
        let current = self.current()?;
        let mut lines = Vec::new();
        for property in &self.custom.properties {
            let counts = if names.is_empty() { property.desired_state } else { names.contains(&property.name) };
            if !counts || property.is_name {
                continue;
            }
            let (set, wanted) = (self.own(property.name)?, self.get(property.name)?);
            match &current {
                None if wanted.is_null() => {}
                None => {
                    let note = if set.is_none() { " (default value)" } else { "" };
                    lines.push(format!("  set {} to {wanted}{note}", property.name));
                }
                Some(now) => {
                    let now = now.get(property.name).unwrap_or(&Value::Null);
                    // What nobody asked for stays as it is.
                    if set.is_some() && *now != wanted {
                        lines.push(format!("  set {} to {wanted} (was {now})", property.name));
                    }
                }
            }
        }
        if lines.is_empty() && current.is_some() && !table(|table| table.survey) {
            return Ok(false);
        }
        let verb = if current.is_some() { "update" } else { "create" };
        lines.insert(0, format!("{verb} {}", self.name));
        if resources::converge_by(self.id, &lines)? {
            change()?;
        }
        Ok(true)
    }

    /// Says what is about to be changed, then does it; in a dry run it only says it.
    ///
    /// # Errors
    /// What the code raised.
    pub fn converge_by(&self, what: &str, change: impl FnOnce() -> Result) -> Result {
        if resources::converge_by(self.id, &[what.to_owned()])? {
            change()?;
        }
        Ok(())
    }

    /// Runs another action of the same resource here; its children converge by themselves.
    ///
    /// # Errors
    /// The type has no such action, or it failed.
    #[track_caller]
    pub fn run_action(&self, name: &str) -> Result {
        let place = Location::caller();
        let action = self.custom.find(name).map_err(|error| error.at(place))?;
        let context = resources::enter(self.id, self.context).here()?;
        table(|table| self.custom.unified && table.unified.insert(context));
        let inner = Self {
            id: self.id,
            name: self.name.clone(),
            custom: Rc::clone(&self.custom),
            context,
            why_run: self.why_run,
            made: self.made.clone(),
            current: RefCell::default(),
        };
        match within(inner.scope(name), || action(&inner)) {
            Ok(()) => complete_task(Task::CloseContext(context)),
            Err(error) => {
                complete_task(Task::AbandonContext(context))?;
                Err(error)
            }
        }
    }

    fn scope(&self, action: &str) -> Scope {
        let cookbook = self.custom.cookbook.get().map_or_else(|| self.made.cookbook.clone(), |name| (*name).to_owned());
        Scope { context: self.context, cookbook, recipe: format!("{} {action}", self.custom.name) }
    }
}

impl CustomResource {
    fn find(&self, action: &str) -> Result<Action> {
        let found = self.actions.iter().find(|(name, _)| *name == action).map(|(_, action)| Rc::clone(action));
        found.ok_or_else(|| {
            let known: Vec<_> = self.actions.iter().map(|(name, _)| *name).collect();
            let message = format!("{} does not have the action `{action}`; it has: {}", self.name, known.join(", "));
            hinted(invalid(message), did_you_mean(action, known))
        })
    }

    /// The error about a property that the type does not have.
    fn no_property(&self, name: &str) -> Error {
        let known: Vec<_> = self.properties.iter().map(|property| property.name).collect();
        let list = if known.is_empty() { "it has none".to_owned() } else { format!("it has: {}", known.join(", ")) };
        let message = format!("{} does not have the property `{name}`; {list}", self.name);
        hinted(Error::new("NoMethodError", message), did_you_mean(name, known))
    }
}

fn hinted(error: Error, hint: Option<String>) -> Error {
    match hint {
        Some(hint) => error.with_hint(hint),
        None => error,
    }
}

/// The host's error about a declaration, with the resource that it is about; where the host does not know the type, with the
/// near name among this policy's own.
pub(crate) fn explain(mut raised: Raised, kind: &str, name: &str) -> Error {
    if raised.class == INVALID {
        raised.message = format!("{kind}[{name}]: {}", raised.message);
    }
    let error = Error::from(raised);
    if error.class() != UNKNOWN_TYPE || error.hint().is_some() {
        return error;
    }
    table(|table| match did_you_mean_type(kind, table.types.keys().map(String::as_str)) {
        Some(hint) => error.with_hint(hint),
        None if table.types.is_empty() => error.with_hint("this policy does not have resource types of its own"),
        None => {
            let known = table.types.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
            error.with_hint(format!("this policy's own resource types are: {known}"))
        }
    })
}

/// The class under which the host refuses a type that it does not know.
const UNKNOWN_TYPE: &str = "NoMethodError";

/// The class under which the host refuses a property's value.
const INVALID: &str = "Chef::Exceptions::ValidationFailed";

/// Announces a type to the host, and keeps it.
pub(crate) fn define(cookbook: &'static str, custom: &Rc<CustomResource>) -> Result {
    if custom.actions.is_empty() {
        return Err(Error::text(format!("the resource type {} of cookbook {cookbook} has no action", custom.name)));
    }
    let twice = table(|table| table.types.get(custom.name).and_then(|other| other.cookbook.get().copied()));
    if let Some(other) = twice.filter(|other| *other != cookbook) {
        let message = format!("the resource type {} is in two cookbooks: {other} and {cookbook}", custom.name);
        return Err(Error::text(message).with_hint("rename one of them"));
    }
    announce(custom.name, custom.unified, custom.load.is_some())?;
    // The policy is loaded once; a second time it would be the same name.
    let _ = custom.cookbook.set(cookbook);
    table(|table| table.types.insert(custom.name.to_owned(), Rc::clone(custom)));
    Ok(())
}

fn announce(name: &str, unified_mode: bool, inspects: bool) -> Result {
    let guest_type = GuestType { name: name.to_owned(), unified_mode, inspects, bypassed_in_why_run: false };
    Ok(resources::define(&guest_type)?)
}

/// Checks a declaration of one of our own types, and fills in what the host cannot know.
pub(crate) fn complete(mut declaration: Declaration) -> Result<Declaration> {
    if declaration.kind == BLOCK {
        // Its action is guest code: the host learns of the type with its first resource.
        if !table(|table| table.types.contains_key(BLOCK)) {
            announce(BLOCK, true, false)?;
            table(|table| table.types.insert(BLOCK.to_owned(), Rc::new(CustomResource::new(BLOCK))));
        }
        if declaration.actions.is_empty() {
            declaration.actions.push("run".into());
        }
        return Ok(declaration);
    }
    let Some(custom) = table(|table| table.types.get(&declaration.kind).cloned()) else { return Ok(declaration) };
    if declaration.actions.is_empty() {
        declaration.actions.extend(custom.actions.first().map(|(name, _)| (*name).to_owned()));
    }
    for action in declaration.actions.iter().filter(|action| *action != "nothing") {
        custom.find(action)?;
    }
    for NamedProperty { name, value } in &declaration.properties {
        let Some(property) = custom.properties.iter().find(|property| property.name == name) else {
            return Err(custom.no_property(name));
        };
        match value {
            HostProperty::Text(text) => property.check(custom.name, &text.as_str().into())?,
            HostProperty::Plain(json) => property.check(custom.name, &parse(json)?)?,
            _ => {}
        }
    }
    let missing = |property: &&Property| {
        property.required && !declaration.properties.iter().any(|other| other.name == property.name)
    };
    if let Some(property) = custom.properties.iter().find(missing) {
        return Err(invalid(format!("property `{}` of {} is required and not set", property.name, custom.name)));
    }
    Ok(declaration)
}

/// The type of resources whose action is a block of the cookbook's.
const BLOCK: &str = "guest_block";

fn resource(id: u32, context: u32, why_run: bool) -> Result<(Made, Resource)> {
    let found = table(|table| {
        let made = table.made.get(&id)?.clone();
        let custom = table.types.get(&made.kind).cloned()?;
        Some((made, custom))
    });
    let Some((made, custom)) = found else {
        return Err(Error::new("Wrun::GuestError", format!("resource {id} is not of this policy's own types")));
    };
    let resource = Resource {
        id,
        name: made.name.clone(),
        custom,
        context,
        why_run,
        made: made.scope.clone(),
        current: RefCell::default(),
    };
    Ok((made, resource))
}

/// An action that the host asks for.
pub(crate) fn act(call: &ActionCall) -> Result {
    let (made, resource) = resource(call.id, call.context, call.why_run)?;
    if let Some(block) = made.block {
        return resource.converge_by(&format!("execute the block {}", made.name), || within(made.scope, || block()));
    }
    if made.kind == BLOCK {
        return Ok(());
    }
    let action = resource.custom.find(&call.action)?;
    if resource.custom.unified {
        table(|table| table.unified.insert(call.context));
    }
    within(resource.scope(&call.action), || {
        if resource.custom.load.is_some() {
            let state = resource.current()?.map(|state| state.to_string());
            resources::observed(call.id, state.as_deref())?;
        }
        action(&resource)
    })
}

/// What is there now of a resource, for the report.
pub(crate) fn current_value(id: u32) -> Result<Option<Value>> {
    let (_, resource) = resource(id, scope().context, true)?;
    within(resource.scope("load_current_value"), || resource.current())
}
