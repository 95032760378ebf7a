//! Answers the host's requests about resources of the policy's own types.

use super::action::Running;
use super::derive::{Definition, not_set};
use crate::bindings::wrun::resources::collection::{
    self as resources, Declaration, GuestType, NamedProperty, Property as HostProperty,
};
use crate::bindings::wrun::turns::turns::ActionCall;
use crate::bindings::wrun::types::types::Raised;
use crate::error::{Error, Result};
use crate::json::parse;
use crate::near::did_you_mean_type;
use crate::table::{Made, scope, table, within};
use serde_json::Value;
use std::cell::OnceCell;
use std::rc::Rc;

/// The error class with which the host refuses an unknown type.
const UNKNOWN_TYPE: &str = "NoMethodError";

/// The error class with which the host refuses a property's value.
const INVALID: &str = "Chef::Exceptions::ValidationFailed";

/// The type of resources whose action is a block of the cookbook.
const BLOCK: &str = "guest_block";

/// The part of a hint that explains how to register a resource type.
const NAMED: &str = "its cookbook names each type in `src/lib.rs`: `.resource::<TYPE>()`";

/// Adds the resource to the host's error about a declaration. For an unknown type, adds a hint with a similar name among this
/// policy's own types.
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
        None if table.types.is_empty() => {
            error.with_hint(format!("this policy does not have resource types of its own; {NAMED}"))
        }
        None => {
            let known = table.types.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
            error.with_hint(format!("this policy's own resource types are: {known}; {NAMED}"))
        }
    })
}

/// Announces a type to the host and stores it.
pub(crate) fn define(cookbook: &'static str, definition: &Rc<Definition>) -> Result {
    let name = definition.name;
    let twice = table(|table| table.types.get(name).and_then(|other| other.cookbook.get().copied()));
    if let Some(other) = twice.filter(|other| *other != cookbook) {
        let message = format!("the resource type {name} is in two cookbooks: {other} and {cookbook}");
        return Err(Error::text(message).with_hint("rename one of them"));
    }
    announce(name, definition.unified, definition.current.is_some())?;
    // An error is ignored: the policy is loaded once, and a second time would set the same name.
    let _ = definition.cookbook.set(cookbook);
    table(|table| table.types.insert(name.to_owned(), Rc::clone(definition)));
    Ok(())
}

fn announce(name: &str, unified_mode: bool, inspects: bool) -> Result {
    let guest_type = GuestType { name: name.to_owned(), unified_mode, inspects, bypassed_in_why_run: false };
    Ok(resources::define(&guest_type)?)
}

/// Checks a declaration of one of the policy's own types, and adds the default action, which the host does not know.
pub(crate) fn complete(mut declaration: Declaration) -> Result<Declaration> {
    if declaration.kind == BLOCK {
        // The guest runs this type's action, so it announces the type to the host with the first such resource.
        if !table(|table| table.types.contains_key(BLOCK)) {
            announce(BLOCK, true, false)?;
            table(|table| table.types.insert(BLOCK.to_owned(), Rc::new(Definition::new(BLOCK, true))));
        }
        if declaration.actions.is_empty() {
            declaration.actions.push("run".into());
        }
        return Ok(declaration);
    }
    let Some(definition) = table(|table| table.types.get(&declaration.kind).cloned()) else { return Ok(declaration) };
    if declaration.actions.is_empty() {
        declaration.actions.extend(definition.default_action().map(str::to_owned));
    }
    for action in declaration.actions.iter().filter(|action| *action != "nothing") {
        definition.find(action)?;
    }
    for NamedProperty { name, value } in &declaration.properties {
        let property = definition.property_named(name)?;
        match value {
            HostProperty::Text(text) => property.check(definition.name, &text.as_str().into())?,
            HostProperty::Plain(json) => property.check(definition.name, &parse(json)?)?,
            _ => {}
        }
    }
    let is_set = |name: &str| declaration.properties.iter().any(|other| other.name == name);
    let missing = definition.properties.iter().find(|property| property.is_required() && !is_set(property.name));
    match missing {
        None => Ok(declaration),
        Some(property) => Err(not_set(property.name, definition.name)),
    }
}

fn running(id: u32, context: u32, why_run: bool) -> Result<(Made, Rc<Running>)> {
    let found = table(|table| {
        let made = table.made.get(&id)?.clone();
        let definition = table.types.get(&made.kind).cloned()?;
        Some((made, definition))
    });
    let Some((made, definition)) = found else {
        return Err(Error::new("Wrun::GuestError", format!("resource {id} is not of this policy's own types")));
    };
    let (name, scope) = (made.name.clone(), made.scope.clone());
    let (wanted, current) = (OnceCell::new(), OnceCell::new());
    Ok((made, Rc::new(Running { id, name, definition, context, why_run, made: scope, wanted, current })))
}

/// Runs an action that the host requests.
pub(crate) fn act(call: &ActionCall) -> Result {
    let (made, running) = running(call.id, call.context, call.why_run)?;
    if let Some(block) = made.block {
        return running.converge_by(&format!("execute the block {}", made.name), || within(made.scope, || block()));
    }
    if made.kind == BLOCK {
        return Ok(());
    }
    let code = running.definition.find(&call.action)?;
    if running.definition.unified {
        table(|table| table.unified.insert(call.context));
    }
    within(running.scope(&call.action), || {
        if running.definition.current.is_some() {
            let state = running.current_value()?.map(|state| state.to_string());
            resources::observed(call.id, state.as_deref())?;
        }
        code(&running)
    })
}

/// Returns the current state of a resource, for the report.
pub(crate) fn current_value(id: u32) -> Result<Option<Value>> {
    let (_, running) = running(id, scope().context, true)?;
    within(running.scope("load_current_value"), || running.current_value())
}
