//! Changes of a node as JSON. They are stored so until the current run has ended.

use serde_json::{Value, json};

use super::{EditError, NodeEdit};
use crate::layers::{Layer, Place};
use crate::policy_in_group::PolicyInGroup;

impl NodeEdit {
    /// Returns the change as JSON.
    pub fn to_json(&self) -> Value {
        match self {
            Self::SetRunList(items) => json!({ "edit": "set_run_list", "items": items }),
            Self::AddToRunList { items, place } => {
                json!({ "edit": "add_to_run_list", "items": items, "place": place_to_json(place) })
            }
            Self::RemoveFromRunList(items) => json!({ "edit": "remove_from_run_list", "items": items }),
            Self::SetEnvironment(name) => json!({ "edit": "set_environment", "name": name }),
            Self::SetPolicies(policies) => json!({ "edit": "set_policies", "items": names(policies) }),
            Self::AddTags(tags) => json!({ "edit": "add_tags", "items": tags }),
            Self::RemoveTags(tags) => json!({ "edit": "remove_tags", "items": tags }),
            Self::SetAttribute { path, value } => json!({ "edit": "set_attribute", "path": path, "value": value }),
            Self::UnsetAttribute { path } => json!({ "edit": "unset_attribute", "path": path }),
            Self::Replace { expected, new } => json!({ "edit": "replace", "expected": expected, "new": new }),
            Self::AddLayer { layer, place } => {
                json!({ "edit": "add_layer", "layer": layer.to_json(), "place": place_to_json(place) })
            }
            Self::ReplaceLayer { name, layer } => {
                json!({ "edit": "replace_layer", "name": name, "layer": layer.to_json() })
            }
            Self::MoveLayer { name, place } => {
                json!({ "edit": "move_layer", "name": name, "place": place_to_json(place) })
            }
            Self::RemoveLayer { name } => json!({ "edit": "remove_layer", "name": name }),
            Self::SetInLayer { name, overrides, path, value, digest } => json!({
                "edit": "set_in_layer", "name": name, "overrides": overrides, "path": path, "value": value,
                "digest": digest,
            }),
        }
    }

    /// Reads a change back.
    ///
    /// # Errors
    /// A part is missing or of the wrong kind.
    pub fn from_json(json: &Value) -> Result<Self, EditError> {
        let wrong = |key: &str| EditError::NotAnEdit(format!("`{key}` is missing or of the wrong kind"));
        let text = |key: &str| json.get(key).and_then(Value::as_str).map(str::to_owned).ok_or_else(|| wrong(key));
        let texts = |key: &str| {
            let all = json.get(key).and_then(Value::as_array).ok_or_else(|| wrong(key))?;
            all.iter()
                .map(|one| one.as_str().map(str::to_owned).ok_or_else(|| wrong(key)))
                .collect::<Result<Vec<_>, _>>()
        };
        let value = || json.get("value").cloned().ok_or_else(|| wrong("value"));
        let place = || place_from_json(json.get("place")).ok_or_else(|| wrong("place"));
        let layer = || {
            let layer = json.get("layer").cloned().ok_or_else(|| wrong("layer"))?;
            Layer::from_json(layer).map(Box::new).map_err(|error| EditError::NotAnEdit(error.to_string()))
        };
        Ok(match text("edit")?.as_str() {
            "set_run_list" => Self::SetRunList(texts("items")?),
            "add_to_run_list" => Self::AddToRunList { items: texts("items")?, place: place()? },
            "remove_from_run_list" => Self::RemoveFromRunList(texts("items")?),
            "set_environment" => Self::SetEnvironment(text("name")?),
            "set_policies" => {
                let items = texts("items")?;
                Self::SetPolicies(items.iter().map(|item| item.parse()).collect::<Result<_, _>>()?)
            }
            "add_tags" => Self::AddTags(texts("items")?),
            "remove_tags" => Self::RemoveTags(texts("items")?),
            "set_attribute" => Self::SetAttribute { path: texts("path")?, value: value()? },
            "unset_attribute" => Self::UnsetAttribute { path: texts("path")? },
            "replace" => Self::Replace {
                expected: json.get("expected").filter(|expected| !expected.is_null()).cloned().map(Box::new),
                new: Box::new(json.get("new").cloned().ok_or_else(|| wrong("new"))?),
            },
            "add_layer" => Self::AddLayer { layer: layer()?, place: place()? },
            "replace_layer" => Self::ReplaceLayer { name: text("name")?, layer: layer()? },
            "move_layer" => Self::MoveLayer { name: text("name")?, place: place()? },
            "remove_layer" => Self::RemoveLayer { name: text("name")? },
            "set_in_layer" => Self::SetInLayer {
                name: text("name")?,
                overrides: json.get("overrides").and_then(Value::as_bool).ok_or_else(|| wrong("overrides"))?,
                path: texts("path")?,
                value: value()?,
                digest: text("digest")?,
            },
            other => return Err(EditError::NotAnEdit(format!("there is no change {other:?}"))),
        })
    }
}

fn names(policies: &[PolicyInGroup]) -> Vec<String> {
    policies.iter().map(ToString::to_string).collect()
}

fn place_to_json(place: &Place) -> Value {
    match place {
        Place::Last => json!("last"),
        Place::Before(name) => json!({ "before": name }),
        Place::After(name) => json!({ "after": name }),
        Place::At(place) => json!({ "at": place }),
    }
}

fn place_from_json(json: Option<&Value>) -> Option<Place> {
    let json = json?;
    let text = |key: &str| json.get(key).and_then(Value::as_str).map(str::to_owned);
    if json == "last" {
        return Some(Place::Last);
    }
    let at = || Some(Place::At(usize::try_from(json.get("at")?.as_u64()?).ok()?));
    text("before").map(Place::Before).or_else(|| text("after").map(Place::After)).or_else(at)
}
