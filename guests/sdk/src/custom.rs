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

use crate::bindings::wrun::cookbook::resources::{self, Declaration, GuestType, Property as HostProperty};
use crate::bindings::wrun::cookbook::turns::{Call, Errand};
use crate::builder::{Builder, Declared, IntoProperty, kinds::Anything};
use crate::conversation::errand;
use crate::error::{Error, Result};
use crate::json::parse;
use crate::table::{Got, Made, Scope, scope, table, within};
use property::invalid;
use serde_json::Value;
use std::cell::{OnceCell, RefCell};
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

crate::builder::common_methods!(Custom);

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
    pub fn get(&self, name: &str) -> Result<Value> {
        let Some(property) = self.custom.properties.iter().find(|property| property.name == name) else {
            return Err(Error::new("NoMethodError", format!("{} has no property {name}", self.custom.name)));
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
        Ok(match resources::read(self.id, name) {
            Some(HostProperty::Plain(text)) => Some(parse(&text)?),
            Some(HostProperty::Bytes(bytes)) => Some(String::from_utf8_lossy(&bytes).into_owned().into()),
            Some(HostProperty::Lazy(number)) => {
                let closure = table(|table| table.closures.get(&number).cloned());
                match closure.map(|closure| closure(None)).transpose()? {
                    Some(Got::Json(value)) => Some(value),
                    _ => None,
                }
            }
            Some(HostProperty::Verify(_)) | None => None,
        })
    }

    /// A text.
    ///
    /// # Errors
    /// It is not set, or something else.
    pub fn text(&self, name: &str) -> Result<String> {
        let value = self.get(name)?;
        value
            .as_str()
            .map(str::to_owned)
            .ok_or_else(|| invalid(format!("{} of {} is no text: {value}", name, self.custom.name)))
    }

    /// A whole number.
    ///
    /// # Errors
    /// It is not set, or something else.
    pub fn integer(&self, name: &str) -> Result<i64> {
        let value = self.get(name)?;
        value.as_i64().ok_or_else(|| invalid(format!("{} of {} is no whole number: {value}", name, self.custom.name)))
    }

    /// True or false.
    ///
    /// # Errors
    /// It is not set, or something else.
    pub fn flag(&self, name: &str) -> Result<bool> {
        let value = self.get(name)?;
        value.as_bool().ok_or_else(|| invalid(format!("{} of {} is no boolean: {value}", name, self.custom.name)))
    }

    /// A list of texts.
    ///
    /// # Errors
    /// It is not set, or something else.
    pub fn list(&self, name: &str) -> Result<Vec<String>> {
        let value = self.get(name)?;
        let items =
            value.as_array().and_then(|items| items.iter().map(|item| item.as_str().map(str::to_owned)).collect());
        items.ok_or_else(|| invalid(format!("{} of {} is no list of texts: {value}", name, self.custom.name)))
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
        if lines.is_empty() && current.is_some() {
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
    pub fn run_action(&self, name: &str) -> Result {
        let action = self.custom.find(name)?;
        let context = resources::enter(self.id, self.context)?;
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
            Ok(()) => errand(Errand::Leave(context)),
            Err(error) => {
                errand(Errand::Abandon(context))?;
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
            let known = self.actions.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
            invalid(format!("{} has no action {action}; it has: {known}", self.name))
        })
    }
}

/// Announces a type to the host, and keeps it.
pub(crate) fn define(cookbook: &'static str, custom: &Rc<CustomResource>) -> Result {
    if custom.actions.is_empty() {
        return Err(Error::text(format!("the resource type {} of cookbook {cookbook} has no action", custom.name)));
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
    for (name, value) in &declaration.properties {
        let Some(property) = custom.properties.iter().find(|property| property.name == name) else {
            let known = custom.properties.iter().map(|property| property.name).collect::<Vec<_>>().join(", ");
            return Err(Error::new(
                "NoMethodError",
                format!("{} has no property {name}; it has: {known}", custom.name),
            ));
        };
        if let HostProperty::Plain(text) = value {
            property.check(custom.name, &parse(text)?)?;
        }
    }
    let missing = |property: &&Property| {
        property.required && !declaration.properties.iter().any(|(name, _)| name == property.name)
    };
    if let Some(property) = custom.properties.iter().find(missing) {
        return Err(invalid(format!("{} is a required property of {}", property.name, custom.name)));
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
pub(crate) fn act(call: &Call) -> Result {
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
