//! Builds declarations of resources. The typed builders in [`crate::resources`] use it.

mod actions;
mod common;
mod declared;
mod values;

pub use crate::bindings::wrun::resources::collection::{Party, Timing};
#[doc(hidden)]
pub use common::{ActionByName, NamesAction};
pub use declared::{Declared, IntoTruth, Target, find};
pub use values::{IntoProperty, Lazy, Property, kinds, lazy};

use crate::bindings::wrun::resources::collection::{
    self as resources, Declaration, FailureMode, Guard, NamedProperty, Notification, Property as HostProperty, Test,
};
use crate::bindings::wrun::turns::turns::Task;
use crate::bindings::wrun::types::types::{Command, CommandLine};
use crate::conversation::complete;
use crate::error::Result;
use crate::table::{Closure, Got, Made, origin_in, scope, table};
use crate::template;
use serde_json::Value;
use std::fmt;
use std::panic::Location;
use std::rc::Rc;
use values::Given;

/// A resource that is not declared yet.
pub struct Builder {
    kind: String,
    name: String,
    place: &'static Location<'static>,
    actions: Vec<String>,
    properties: Vec<(String, Property)>,
    verify: Vec<Closure>,
    guards: Vec<(bool, Found)>,
    notifications: Vec<Notification>,
    retries: u32,
    retry_delay: u32,
    on_failure: FailureMode,
    sensitive: bool,
    umask: Option<u32>,
    block: Option<Rc<dyn Fn() -> Result>>,
}

/// Converts a value for the contract. A text is passed as it is, without JSON, because most values are texts and file
/// contents are long.
fn known(value: Value) -> HostProperty {
    match value {
        Value::String(text) => HostProperty::Text(text),
        value => HostProperty::Plain(value.to_string()),
    }
}

/// Returns a command with wrun's own user and environment.
pub(crate) fn command(line: CommandLine) -> Command {
    Command {
        line,
        user: None,
        group: None,
        cwd: None,
        environment: vec![],
        timeout: None,
        umask: None,
        interpreter: None,
        input: None,
    }
}

enum Found {
    Block(Closure),
    Command(Command),
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.key())?;
        f.debug_map()
            .entries(self.properties.iter().filter(|_| !self.sensitive).map(|(name, value)| (name, value)))
            .finish()
    }
}

impl Builder {
    /// Creates a builder for a resource type. The place of the declaration is the caller's line. This also accepts Chef's
    /// types that wrun cannot run, for policies that also run elsewhere. Their actions fail.
    #[track_caller]
    pub fn new(kind: &str, name: impl Into<String>) -> Self {
        Self {
            kind: kind.into(),
            name: name.into(),
            place: Location::caller(),
            actions: vec![],
            properties: vec![],
            verify: vec![],
            guards: vec![],
            notifications: vec![],
            retries: 0,
            retry_delay: 2,
            on_failure: FailureMode::Raise,
            sensitive: false,
            umask: None,
            block: None,
        }
    }

    /// Sets a property; the last call wins.
    pub fn set(&mut self, property: &str, value: Property) {
        if matches!(value.0, Given::Absent) {
            return;
        }
        match self.properties.iter_mut().find(|(name, _)| name == property) {
            Some((_, old)) => *old = value,
            None => self.properties.push((property.into(), value)),
        }
    }

    /// Adds a value to a property that collects the values of several calls.
    pub fn append(&mut self, property: &str, value: Property) {
        if matches!(value.0, Given::Absent) {
            return;
        }
        let items = |value: Property| match value.0 {
            Given::Plain(Value::Array(items)) => Ok(items),
            Given::Plain(item) => Ok(vec![item]),
            other => Err(Property(other)),
        };
        let at = self.properties.iter().position(|(name, _)| name == property);
        let before = at.map(|at| self.properties.remove(at).1);
        match (before.map(items).unwrap_or(Ok(vec![])), items(value)) {
            (Ok(mut all), Ok(more)) => {
                all.extend(more);
                self.properties.push((property.into(), Property(Given::Plain(Value::Array(all)))));
            }
            // A lazy list replaces the previous value.
            (_, Err(value)) | (Err(value), _) => self.properties.push((property.into(), value)),
        }
    }

    /// Adds an action. The first one replaces the default action.
    pub fn action(&mut self, action: &str) {
        self.actions.push(action.into());
    }

    pub(crate) fn set_block(&mut self, block: impl Fn() -> Result + 'static) {
        self.block = Some(Rc::new(block));
    }

    #[doc(hidden)]
    pub fn guard(&mut self, negated: bool, block: impl Fn() -> Result<bool> + 'static) {
        self.guards.push((negated, Found::Block(Rc::new(move |_| Ok(Got::Json(block()?.into()))))));
    }

    #[doc(hidden)]
    pub fn guard_command(&mut self, negated: bool, line: &str) {
        self.guards.push((negated, Found::Command(command(CommandLine::Text(line.into())))));
    }

    #[doc(hidden)]
    pub fn verify_block(&mut self, block: impl Fn(&str) -> Result<bool> + 'static) {
        self.verify.push(Rc::new(move |input| {
            let path = input.as_ref().and_then(Value::as_str).unwrap_or_default().to_owned();
            Ok(Got::Json(block(&path)?.into()))
        }));
    }

    #[doc(hidden)]
    pub fn notify(&mut self, subscribes: bool, timing: Timing, action: &str, other: &(impl Target + ?Sized)) {
        self.notifications.push(Notification { action: action.into(), other: other.party(), timing, subscribes });
    }

    #[doc(hidden)]
    pub fn retries(&mut self, retries: u32, delay: u32) {
        (self.retries, self.retry_delay) = (retries, delay);
    }

    #[doc(hidden)]
    pub fn ignore_failure(&mut self, quietly: bool) {
        self.on_failure = if quietly { FailureMode::IgnoreQuietly } else { FailureMode::Ignore };
    }

    #[doc(hidden)]
    pub fn sensitive(&mut self, sensitive: bool) {
        self.sensitive = sensitive;
    }

    #[doc(hidden)]
    pub fn umask(&mut self, umask: u32) {
        self.umask = Some(umask);
    }

    fn plain(&self, name: &str) -> Option<&Value> {
        self.properties.iter().find(|(other, _)| other == name).and_then(|(_, property)| match &property.0 {
            Given::Plain(value) => Some(value),
            _ => None,
        })
    }

    /// Adds the closure that renders a template's text right before the action.
    fn render_late(&mut self) {
        let has_content = self.properties.iter().any(|(name, _)| name == "content");
        if self.kind != "template" || has_content {
            return;
        }
        let text = |name: &str| self.plain(name).and_then(Value::as_str).map(str::to_owned);
        let sources = match self.plain("source") {
            Some(Value::String(source)) => vec![source.clone()],
            Some(Value::Array(sources)) => sources.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            _ => {
                let path = text("path").unwrap_or_else(|| self.name.clone());
                vec![format!("{}.j2", path.rsplit('/').next().unwrap_or(&path))]
            }
        };
        let cookbook = text("cookbook").unwrap_or_else(|| scope().cookbook);
        let at = self.properties.iter().position(|(name, _)| name == "variables");
        let variables = at.map(|at| self.properties.remove(at).1.0);
        let place = self.place;
        let render: Closure = Rc::new(move |_| {
            let variables = match &variables {
                Some(Given::Plain(value)) => value.clone(),
                Some(Given::Lazy(closure)) => match closure(None)? {
                    Got::Json(value) => value,
                    Got::Bytes(_) => Value::Null,
                },
                _ => Value::Null,
            };
            template::render(&cookbook, &sources, variables).map(Got::Bytes).map_err(|error| error.at(place))
        });
        self.properties.push(("content".into(), Property(Given::Rendered(render))));
    }

    /// Returns the key `type[name]`, by which notifications find the resource.
    fn key(&self) -> String {
        format!("{}[{}]", self.kind, self.name)
    }

    /// Declares the resource to the host.
    ///
    /// # Errors
    /// The host refuses the resource, for example for an unknown property or a wrong type. In unified mode, the resource
    /// converges at once and may fail.
    pub fn declare(self) -> Result {
        self.declared().map(drop)
    }

    /// Declares the resource to the host, as [`declare`](Self::declare) does, and returns its handle.
    ///
    /// # Errors
    /// Those of [`declare`](Self::declare).
    pub fn declared(self) -> Result<Declared> {
        let place = self.place;
        self.declare_as(false).map_err(|error| error.at(place))
    }

    /// Declares the resource outside of the collection, so that only [`Declared::run_action`] runs it. Returns its handle.
    ///
    /// # Errors
    /// The host refuses it.
    pub fn build(self) -> Result<Declared> {
        let place = self.place;
        self.declare_as(true).map_err(|error| error.at(place))
    }

    fn declare_as(mut self, detached: bool) -> Result<Declared> {
        self.render_late();
        self.notifications.iter().try_for_each(|one| actions::check(one, &self.kind))?;
        let scope = scope();
        let context = scope.context;
        let keep = |closure: Closure| table(|table| table.keep(context, closure));
        let mut properties: Vec<_> = std::mem::take(&mut self.properties)
            .into_iter()
            .filter_map(|(name, value)| {
                let value = match value.0 {
                    Given::Plain(value) => known(value),
                    Given::Bytes(bytes) => HostProperty::Bytes(bytes),
                    Given::Lazy(closure) => HostProperty::Lazy(keep(closure)),
                    Given::Rendered(closure) => HostProperty::Rendered(keep(closure)),
                    Given::Absent => return None,
                };
                Some(NamedProperty { name, value })
            })
            .collect();
        let checks = std::mem::take(&mut self.verify);
        let verify = |check| NamedProperty { name: "verify".into(), value: HostProperty::Verify(keep(check)) };
        properties.extend(checks.into_iter().map(verify));
        let guards = std::mem::take(&mut self.guards).into_iter().map(|(negated, found)| {
            let test = match found {
                Found::Block(closure) => Test::Block(keep(closure)),
                Found::Command(command) => Test::Command(command),
            };
            Guard { negated, test }
        });
        let made = self.block.is_some() || table(|table| table.types.contains_key(&self.kind));
        let made = made.then(|| Made {
            kind: self.kind.clone(),
            name: self.name.clone(),
            scope: scope.clone(),
            block: self.block,
        });
        let declaration = Declaration {
            context,
            kind: self.kind,
            name: self.name,
            origin: origin_in(&scope, self.place),
            actions: std::mem::take(&mut self.actions),
            properties,
            guards: guards.collect(),
            notifications: std::mem::take(&mut self.notifications),
            retries: self.retries,
            retry_delay: self.retry_delay,
            on_failure: self.on_failure,
            sensitive: self.sensitive,
            umask: self.umask,
            detached,
        };
        let declaration = crate::custom::complete(declaration)?;
        let id = resources::declare(&declaration)
            .map_err(|raised| crate::custom::explain(raised, &declaration.kind, &declaration.name))?;
        let settles = table(|table| {
            if let Some(made) = made {
                table.made(context, id, made);
            }
            table.unified.contains(&context) && !detached
        });
        if settles {
            complete(Task::Converge(id))?;
        }
        Ok(Declared { id })
    }
}
