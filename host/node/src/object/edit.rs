//! Changes that an operator makes to a node: its run list, environment, tags, attributes and layers.
//!
//! A change is a value, which can wait on the disk until a run has ended and is applied to the node then.

use serde_json::{Map, Value, json};
use thiserror::Error;

use super::normal::{TAGS, list};
use super::{NodeObject, ObjectError};
use crate::attributes::guest_values::mentions_guest_values;
use crate::layers::{Layer, LayerFormat, LayerListError, Place, TreeError};
use crate::run_list::{RunList, RunListError};

/// Steps of an attribute's path.
const MAX_STEPS: usize = 64;

/// A change of a node.
#[derive(Debug, Clone, PartialEq)]
pub enum NodeEdit {
    /// Replaces the run list.
    SetRunList(Vec<String>),
    /// Adds items to the run list.
    AddToRunList {
        /// The items.
        items: Vec<String>,
        /// The place of the first one; those that are in the list already stay where they are.
        place: Place,
    },
    /// Removes items from the run list.
    RemoveFromRunList(Vec<String>),
    /// Sets the environment.
    SetEnvironment(String),
    /// Adds tags.
    AddTags(Vec<String>),
    /// Removes tags.
    RemoveTags(Vec<String>),
    /// Sets a `normal` attribute.
    SetAttribute {
        /// The keys that lead to it.
        path: Vec<String>,
        /// Its value.
        value: Value,
    },
    /// Removes a `normal` attribute.
    UnsetAttribute {
        /// The keys that lead to it.
        path: Vec<String>,
    },
    /// Replaces what an operator may change of the node: see [`NodeObject::editable`].
    Replace {
        /// What the node must still have; `None`: whatever it has.
        expected: Option<Box<Value>>,
        /// What the node gets.
        new: Box<Value>,
    },
    /// Adds a layer.
    AddLayer {
        /// The layer.
        layer: Box<Layer>,
        /// Its place.
        place: Place,
    },
    /// Puts another layer in the place of one.
    ReplaceLayer {
        /// The name of the old one.
        name: String,
        /// The new one.
        layer: Box<Layer>,
    },
    /// Moves a layer.
    MoveLayer {
        /// The layer's name.
        name: String,
        /// Its new place.
        place: Place,
    },
    /// Removes a layer.
    RemoveLayer {
        /// The layer's name.
        name: String,
    },
    /// Sets an attribute of a layer.
    SetInLayer {
        /// The layer's name.
        name: String,
        /// Whether it is an override attribute.
        overrides: bool,
        /// The keys that lead to it.
        path: Vec<String>,
        /// Its value.
        value: Value,
        /// The digest of the layer after the change.
        digest: String,
    },
}

/// The reasons why a node cannot be changed so.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum EditError {
    /// The node's run lists are its policies'.
    #[error("the node {node} runs policies, and each has its own run list; a policy's run list is in its policy.toml")]
    RunListOfPolicies {
        /// The node.
        node: String,
    },
    /// The environment of a node with policies is their group.
    #[error(
        "the node {node} runs policies, so it has no environment; add the environment's file as a layer: \
         `wrun layer add FILE`"
    )]
    EnvironmentOfPolicies {
        /// The node.
        node: String,
    },
    /// An item cannot be in a run list.
    #[error(transparent)]
    RunList(#[from] RunListError),
    /// An item is not in the run list.
    #[error("{item} is not in the run list of {node}{}", known(items))]
    NotInRunList {
        /// The item.
        item: String,
        /// The node.
        node: String,
        /// The items of the run list.
        items: Vec<String>,
    },
    /// The node is not as it was when somebody began to change it.
    #[error("the node {node} has changed meanwhile")]
    ChangedMeanwhile {
        /// The node.
        node: String,
    },
    /// A document of a node has something wrong in it.
    #[error(transparent)]
    Document(ObjectError),
    /// The path of an attribute cannot be one.
    #[error("an attribute is named by 1 to {MAX_STEPS} keys, none of them empty, as in `ntp.servers`")]
    BadPath,
    /// The attribute is not there.
    #[error("{node} has no normal attribute {}", path.join("."))]
    NoAttribute {
        /// The node.
        node: String,
        /// The keys.
        path: Vec<String>,
    },
    /// The value holds what only a running guest may store.
    #[error("the value holds a key that begins with the character NUL")]
    GuestValue,
    /// Tags are changed by commands of their own.
    #[error("tags are changed with `wrun node tag`")]
    Tags,
    /// A tag is empty.
    #[error("a tag is text that is not empty")]
    EmptyTag,
    /// A layer in Ruby cannot be changed in part.
    #[error(
        "layer {layer} was written in Ruby, so a value cannot be set in it: change the file and run \
         `wrun layer replace {layer} FILE`, or add a layer after it"
    )]
    LayerInRuby {
        /// The layer.
        layer: String,
    },
    /// The list of layers cannot be changed.
    #[error(transparent)]
    Layers(#[from] LayerListError),
    /// A layer's attribute cannot be set.
    #[error("layer {layer}: {reason}")]
    InLayer {
        /// The layer.
        layer: String,
        /// What is wrong. Part of the message, hence no `source`.
        reason: TreeError,
    },
    /// The environment's name is invalid.
    #[error(transparent)]
    Environment(ObjectError),
    /// What was kept is not a change.
    #[error("this is not a change of a node: {0}")]
    NotAnEdit(String),
}

fn known(items: &[String]) -> String {
    if items.is_empty() { "; it is empty".to_owned() } else { format!("; it has: {}", items.join(", ")) }
}

impl NodeEdit {
    /// Returns the `normal` attribute that the change sets or removes.
    pub fn attribute(&self) -> Option<&[String]> {
        match self {
            Self::SetAttribute { path, .. } | Self::UnsetAttribute { path } => Some(path),
            _ => None,
        }
    }

    /// Returns the change as JSON.
    pub fn to_json(&self) -> Value {
        match self {
            Self::SetRunList(items) => json!({ "edit": "set_run_list", "items": items }),
            Self::AddToRunList { items, place } => {
                json!({ "edit": "add_to_run_list", "items": items, "place": place_to_json(place) })
            }
            Self::RemoveFromRunList(items) => json!({ "edit": "remove_from_run_list", "items": items }),
            Self::SetEnvironment(name) => json!({ "edit": "set_environment", "name": name }),
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

impl NodeObject {
    /// Tells whether the node runs policies. Then it has no run list and no environment of its own.
    pub fn has_policies(&self) -> bool {
        self.records.iter().any(|record| record.name.is_some())
    }

    /// Changes the node. Returns whether anything is different now.
    ///
    /// # Errors
    /// The change is impossible. The node has not changed then.
    pub fn apply(&mut self, edit: &NodeEdit) -> Result<bool, EditError> {
        let mut changed = self.clone();
        changed.change(edit)?;
        let differs = changed.run_list != self.run_list
            || changed.chef_environment != self.chef_environment
            || changed.normal != self.normal
            || changed.layers != self.layers;
        if differs {
            *self = changed;
            self.is_saved = false;
        }
        Ok(differs)
    }

    fn change(&mut self, edit: &NodeEdit) -> Result<(), EditError> {
        match edit {
            NodeEdit::SetRunList(items) => {
                self.check_own_run_list()?;
                self.run_list = RunList::parse(items)?.without_repeats();
            }
            NodeEdit::AddToRunList { items, place } => self.add_to_run_list(items, place)?,
            NodeEdit::RemoveFromRunList(items) => self.remove_from_run_list(items)?,
            NodeEdit::SetEnvironment(name) => {
                if self.has_policies() {
                    return Err(EditError::EnvironmentOfPolicies { node: self.name.clone() });
                }
                self.set_chef_environment(name).map_err(EditError::Environment)?;
            }
            NodeEdit::AddTags(tags) => {
                if tags.iter().any(String::is_empty) {
                    return Err(EditError::EmptyTag);
                }
                let mut given = self.normal.given.get(TAGS).map(list).unwrap_or_default();
                let all = self.normal.merged().get(TAGS).map(list).unwrap_or_default();
                given.extend(tags.iter().map(|tag| json!(tag)).filter(|tag| !all.contains(tag)));
                self.normal.give(&[TAGS.to_owned()], Some(Value::Array(given)), false);
            }
            NodeEdit::RemoveTags(tags) => self.normal.remove_tags(tags),
            NodeEdit::SetAttribute { path, value } => {
                self.check_path(path)?;
                if mentions_guest_values(value) {
                    return Err(EditError::GuestValue);
                }
                self.normal.give(path, Some(value.clone()), true);
            }
            NodeEdit::UnsetAttribute { path } => {
                self.check_path(path)?;
                let missing = || EditError::NoAttribute { node: self.name.clone(), path: path.clone() };
                value_at(self.normal.merged(), path).ok_or_else(missing)?;
                self.normal.give(path, None, true);
            }
            NodeEdit::Replace { expected, new } => {
                if expected.as_ref().is_some_and(|expected| **expected != self.editable()) {
                    return Err(EditError::ChangedMeanwhile { node: self.name.clone() });
                }
                self.replace_editable(new)?;
            }
            NodeEdit::AddLayer { layer, place } => self.layers.add((**layer).clone(), place)?,
            NodeEdit::ReplaceLayer { name, layer } => self.layers.replace(name, (**layer).clone())?,
            NodeEdit::MoveLayer { name, place } => self.layers.move_to(name, place)?,
            NodeEdit::RemoveLayer { name } => drop(self.layers.remove(name)?),
            NodeEdit::SetInLayer { name, overrides, path, value, digest } => {
                self.check_path(path)?;
                if mentions_guest_values(value) {
                    return Err(EditError::GuestValue);
                }
                let layer = self.layers.get_mut(name)?;
                if layer.format == LayerFormat::Ruby {
                    return Err(EditError::LayerInRuby { layer: name.clone() });
                }
                let tree = if *overrides { &mut layer.override_attributes } else { &mut layer.default_attributes };
                let set = tree.set(path, value.clone());
                set.map_err(|reason| EditError::InLayer { layer: name.clone(), reason })?;
                layer.digest.clone_from(digest);
            }
        }
        Ok(())
    }

    /// Returns what an operator may change of the node: `{name, chef_environment, run_list, normal}`; of a node with policies
    /// `{name, normal}`.
    pub fn editable(&self) -> Value {
        let mut document = Map::from_iter([("name".to_owned(), json!(self.name))]);
        if !self.has_policies() {
            document.insert("chef_environment".to_owned(), json!(self.chef_environment));
            document.insert("run_list".to_owned(), self.run_list.to_json());
        }
        document.insert("normal".to_owned(), json!(self.normal.merged()));
        Value::Object(document)
    }

    /// Makes the node what a document says. A part that it does not have stays; other keys of a saved node are passed over.
    fn replace_editable(&mut self, new: &Value) -> Result<(), EditError> {
        let wrong = |key: &str, expected| {
            EditError::Document(ObjectError::WrongKind { document: "node", key: key.to_owned(), expected })
        };
        let new = new.as_object().ok_or_else(|| wrong("the whole", "an object"))?;
        let given = |key: &str| new.get(key).filter(|value| !value.is_null());
        match given("name") {
            None => {}
            Some(name) if *name == self.name => {}
            Some(_) => return Err(wrong("name", "the node's own name: create another node instead")),
        }
        if let Some(list) = given("run_list").filter(|list| **list != self.run_list.to_json()) {
            let is_empty = list.as_array().is_some_and(Vec::is_empty);
            if !(is_empty && self.has_policies()) {
                self.check_own_run_list()?;
                self.run_list = RunList::from_json(list)?.without_repeats();
            }
        }
        if let Some(name) = given("chef_environment").filter(|name| **name != self.chef_environment) {
            let name = name.as_str().ok_or_else(|| wrong("chef_environment", "text"))?;
            self.change(&NodeEdit::SetEnvironment(name.to_owned()))?;
        }
        if let Some(normal) = given("normal") {
            let normal = normal.as_object().ok_or_else(|| wrong("normal", "an object"))?;
            if mentions_guest_values(&Value::Object(normal.clone())) {
                return Err(EditError::GuestValue);
            }
            self.normal.become_given(normal);
        }
        Ok(())
    }

    fn check_own_run_list(&self) -> Result<(), EditError> {
        match self.has_policies() {
            true => Err(EditError::RunListOfPolicies { node: self.name.clone() }),
            false => Ok(()),
        }
    }

    fn check_path(&self, path: &[String]) -> Result<(), EditError> {
        let is_bad = |key: &String| key.is_empty() || key.contains('\0');
        if path.is_empty() || path.len() > MAX_STEPS || path.iter().any(is_bad) {
            return Err(EditError::BadPath);
        }
        if path.first().is_some_and(|first| first == TAGS) {
            return Err(EditError::Tags);
        }
        Ok(())
    }

    fn add_to_run_list(&mut self, items: &[String], place: &Place) -> Result<(), EditError> {
        self.check_own_run_list()?;
        let known = self.run_list.to_strings();
        let new: Vec<_> = RunList::parse(items)?.to_strings();
        let new = new.into_iter().filter(|item| !known.contains(item));
        let at = match place {
            Place::Last => known.len(),
            Place::At(place) => place.saturating_sub(1).min(known.len()),
            Place::Before(item) => self.position_in_run_list(item)?,
            Place::After(item) => self.position_in_run_list(item)? + 1,
        };
        let (before, after) = known.split_at_checked(at).unwrap_or((&known, &[]));
        let all = before.iter().cloned().chain(new).chain(after.iter().cloned());
        self.run_list = RunList::parse(all.collect::<Vec<_>>())?.without_repeats();
        Ok(())
    }

    fn remove_from_run_list(&mut self, items: &[String]) -> Result<(), EditError> {
        self.check_own_run_list()?;
        let gone = RunList::parse(items)?.to_strings();
        gone.iter().try_for_each(|item| self.position_in_run_list(item).map(drop))?;
        let rest: Vec<_> = self.run_list.to_strings().into_iter().filter(|item| !gone.contains(item)).collect();
        self.run_list = RunList::parse(rest)?;
        Ok(())
    }

    fn position_in_run_list(&self, item: &str) -> Result<usize, EditError> {
        let items = self.run_list.to_strings();
        let wanted = RunList::parse([item])?.to_strings();
        let at = items.iter().position(|known| wanted.contains(known));
        at.ok_or_else(|| EditError::NotInRunList { item: wanted.concat(), node: self.name.clone(), items })
    }
}

/// The value at a path.
fn value_at<'all>(all: &'all Map<String, Value>, path: &[String]) -> Option<&'all Value> {
    let (first, rest) = path.split_first()?;
    rest.iter().try_fold(all.get(first)?, |here, key| here.get(key))
}
