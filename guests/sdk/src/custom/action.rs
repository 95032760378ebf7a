//! A running action: gives its method access to the run and reports changes.

use super::Resource;
use super::derive::{Definition, Properties, State, read};
use crate::bindings::wrun::resources::collection as resources;
use crate::bindings::wrun::turns::turns::Task;
use crate::builder::Declared;
use crate::conversation::complete;
use crate::error::{Error, Here as _, Result};
use crate::table::{Scope, table, within};
use serde_json::{Map, Value};
use std::cell::OnceCell;
use std::marker::PhantomData;
use std::panic::Location;
use std::rc::Rc;

/// The running action, the second parameter of an action's method.
///
/// ```no_run
/// # use wrun_sdk::prelude::*;
/// # #[derive(Resource)]
/// # #[resource(actions(set))]
/// # struct Limit { value: u32 }
/// impl Limit {
///     fn set(&self, action: &Action<Self>) -> Result {
///         action.converge_by(&format!("set the limit of {} to {}", action.name(), self.value), || {
///             execute("set the limit").command(format!("limit {}", self.value)).declare()
///         })
///     }
/// }
/// ```
pub struct Action<T> {
    running: Rc<Running>,
    of: PhantomData<fn(&T)>,
}

impl<T: Resource> Action<T> {
    pub(super) fn new(running: Rc<Running>) -> Self {
        Self { running, of: PhantomData }
    }

    /// Returns the name of the resource that acts.
    pub fn name(&self) -> &str {
        &self.running.name
    }

    /// Returns the handle of the resource, for notifications.
    pub fn declared(&self) -> Declared {
        Declared { id: self.running.id }
    }

    /// Returns true in a dry run. Declare child resources as usual. Only code that changes the machine by itself must test
    /// it.
    pub fn why_run(&self) -> bool {
        self.running.why_run
    }

    /// Returns the current state of the machine, from the method of `#[resource(current = METHOD)]`. Returns `None` if the
    /// thing does not exist yet, or without such a method.
    ///
    /// # Errors
    /// Those of the method.
    pub fn current(&self) -> Result<Option<Rc<T>>> {
        let state = self.running.current()?;
        Ok(state.and_then(|state| Rc::clone(&state.typed).downcast().ok()))
    }

    /// Runs the closure if a property with a value differs from the machine. The report names the differences. An empty list
    /// of names means all properties except the resource's name and those with `desired_state = false`. A dry run does not
    /// call the closure. Returns true if something differs.
    ///
    /// # Errors
    /// The type does not have one of the properties, or those of the closure and of the method `current`.
    #[track_caller]
    pub fn converge_if_changed(&self, names: &[&str], change: impl FnOnce() -> Result) -> Result<bool> {
        let running = &self.running;
        names.iter().try_for_each(|name| running.definition.property_named(name).map(drop)).here()?;
        let (wanted, current) = (running.wanted::<T>()?, running.current()?);
        let mut lines = Vec::new();
        for property in &running.definition.properties {
            let counts = match names {
                [] => property.desired_state && !property.is_name(),
                _ => names.contains(&property.name),
            };
            if !counts {
                continue;
            }
            let is_set = property.is_name() || resources::get_property(running.id, property.name).is_some();
            let wanted = wanted.get(property.name);
            match current {
                None if wanted.is_null() => {}
                None => {
                    let note = if is_set { "" } else { " (default value)" };
                    lines.push(format!("  set {} to {wanted}{note}", property.name));
                }
                Some(current) => {
                    let now = current.get(property.name);
                    // A property without a value in the declaration is not changed.
                    if is_set && now != wanted {
                        lines.push(format!("  set {} to {wanted} (was {now})", property.name));
                    }
                }
            }
        }
        if lines.is_empty() && current.is_some() && !table(|table| table.survey) {
            return Ok(false);
        }
        let verb = if current.is_some() { "update" } else { "create" };
        lines.insert(0, format!("{verb} {}", running.name));
        if resources::converge_by(running.id, &lines).here()? {
            change()?;
        }
        Ok(true)
    }

    /// Reports a change, then calls the closure. A dry run only reports.
    ///
    /// # Errors
    /// Those of the closure.
    #[track_caller]
    pub fn converge_by(&self, what: &str, change: impl FnOnce() -> Result) -> Result {
        self.running.converge_by(what, change).here()
    }

    /// Runs another action of the same resource here. Its child resources get a context of their own.
    ///
    /// # Errors
    /// The type does not have such an action, or it failed.
    #[track_caller]
    pub fn run_action(&self, name: &str) -> Result {
        let (place, running) = (Location::caller(), &self.running);
        let code = running.definition.find(name).map_err(|error| error.at(place))?;
        let context = resources::enter(running.id, running.context).here()?;
        table(|table| running.definition.unified && table.unified.insert(context));
        let inner = Rc::new(Running {
            id: running.id,
            name: running.name.clone(),
            definition: Rc::clone(&running.definition),
            context,
            why_run: running.why_run,
            made: running.made.clone(),
            wanted: OnceCell::new(),
            current: OnceCell::new(),
        });
        match within(inner.scope(name), || code(&inner)) {
            Ok(()) => complete(Task::CloseContext(context)),
            Err(error) => {
                complete(Task::AbandonContext(context))?;
                Err(error)
            }
        }
    }
}

/// The data of a running action, independent of its type.
pub(crate) struct Running {
    pub(super) id: u32,
    pub(super) name: String,
    pub(super) definition: Rc<Definition>,
    pub(super) context: u32,
    pub(super) why_run: bool,
    /// Where the resource was declared.
    pub(super) made: Scope,
    pub(super) wanted: OnceCell<State>,
    pub(super) current: OnceCell<Option<State>>,
}

impl Running {
    /// Returns the resource in its desired state.
    pub(super) fn resource<T: Resource>(&self) -> Result<Rc<T>> {
        let typed = Rc::clone(&self.wanted::<T>()?.typed);
        typed.downcast().map_err(|_| Error::text(format!("{} is of another type", self.name)))
    }

    /// Returns the desired state with the values of the properties. They are read once, and lazy values are computed then.
    fn wanted<T: Resource>(&self) -> Result<&State> {
        if let Some(state) = self.wanted.get() {
            return Ok(state);
        }
        let state = read::<T>(&Properties { id: self.id, name: &self.name, definition: &self.definition })?;
        Ok(self.wanted.get_or_init(|| state))
    }

    /// Returns the current state of the machine, which is read once.
    pub(super) fn current(&self) -> Result<Option<&State>> {
        if let Some(state) = self.current.get() {
            return Ok(state.as_ref());
        }
        let state = match &self.definition.current {
            Some(code) => code(self)?,
            None => None,
        };
        Ok(self.current.get_or_init(|| state).as_ref())
    }

    /// Returns the current state as a JSON object, for the report.
    pub(super) fn current_value(&self) -> Result<Option<Value>> {
        let object = |state: &State| {
            let present = state.values.iter().filter(|(_, value)| !value.is_null());
            Value::Object(present.map(|(name, value)| ((*name).to_owned(), value.clone())).collect::<Map<_, _>>())
        };
        Ok(self.current()?.map(object))
    }

    pub(super) fn converge_by(&self, what: &str, change: impl FnOnce() -> Result) -> Result {
        if resources::converge_by(self.id, &[what.to_owned()])? {
            change()?;
        }
        Ok(())
    }

    pub(super) fn scope(&self, action: &str) -> Scope {
        let own = self.definition.cookbook.get();
        let cookbook = own.map_or_else(|| self.made.cookbook.clone(), |name| (*name).to_owned());
        Scope { context: self.context, cookbook, recipe: format!("{} {action}", self.definition.name) }
    }
}
