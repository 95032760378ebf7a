//! The resources of a policy as its recipes declared them, for the policy's own tests.

use contract::{Declaration, FailureMode, Property, ROOT, ResourceRef, Run, Wish};
use serde_json::{Map, Value, json};

/// Returns the resources of a policy's recipes, in order: type, name, actions, properties, notifications, place.
///
/// A value that only the guest can compute is `{"lazy": true}`. Content that is not text is `{"bytes": LENGTH}`. Properties
/// of a sensitive resource are not shown.
pub(super) fn declared(run: &Run) -> Vec<Value> {
    let resources = run.all(ROOT).into_iter().filter_map(|id| run.known(id).ok());
    resources.map(|resource| one(run, &resource.declaration)).collect()
}

fn one(run: &Run, declaration: &Declaration) -> Value {
    let Declaration { kind, name, actions, origin, sensitive, .. } = declaration;
    let properties: Map<String, Value> = match sensitive {
        true => Map::new(),
        false => declaration.properties.iter().filter_map(|(name, one)| Some((name.clone(), value(one)?))).collect(),
    };
    let notifications: Vec<Value> = declaration.notifications.iter().map(|wish| notification(run, wish)).collect();
    json!({
        "type": kind,
        "name": name,
        "actions": actions,
        "properties": properties,
        "guards": declaration.guards.len(),
        "notifications": notifications,
        "retries": declaration.retries,
        "ignore_failure": declaration.on_failure != FailureMode::Raise,
        "sensitive": sensitive,
        "cookbook": origin.cookbook,
        "recipe": origin.recipe,
        "file": origin.file,
        "line": origin.line,
    })
}

/// Returns a property's value, or `None` for checks of content, which are code.
fn value(property: &Property) -> Option<Value> {
    match property {
        Property::Plain(value) => Some(value.clone()),
        Property::Bytes(bytes) => Some(match std::str::from_utf8(bytes) {
            Ok(text) => text.into(),
            Err(_) => json!({ "bytes": bytes.len() }),
        }),
        Property::Lazy(_) => Some(json!({ "lazy": true })),
        Property::Rendered(_) | Property::Verify(_) => None,
    }
}

fn notification(run: &Run, wish: &Wish) -> Value {
    let other = match &wish.other {
        ResourceRef::Key(key) => key.clone(),
        ResourceRef::Resource(id) => run.known(*id).map(|resource| resource.declaration.key()).unwrap_or_default(),
    };
    json!({ "action": wish.action, "resource": other, "timing": wish.timing.name(), "subscribes": wish.subscribes })
}
