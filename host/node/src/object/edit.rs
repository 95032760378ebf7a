//! Changes that an operator makes to a node: its run list, environment, tags, attributes and layers.
//!
//! A change is a value: it can be stored while a run is under way, and is applied to the node when the run has ended.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use thiserror::Error;

use super::normal::{TAGS, list};
use super::replacement::check_keys;
use super::{NodeObject, ObjectError};
use crate::attributes::AttributeError;
use crate::attributes::guest_values::mentions_guest_values;
use crate::attributes::limits::inspect;
use crate::layers::{Layer, LayerFormat, LayerListError, Place, TreeError};
use crate::policy_in_group::{PolicyInGroup, PolicyInGroupError};
use crate::run_list::{RunList, RunListEdit, RunListError};

/// Largest number of keys in an attribute's path.
pub(super) const MAX_STEPS: usize = 64;

/// A change of a node.
#[derive(Debug, Clone, PartialEq)]
pub enum NodeEdit {
    /// Replaces the run list.
    SetRunList(Vec<String>),
    /// Adds items to the run list.
    AddToRunList {
        /// The items to add, in order, such as `recipe[nginx]`.
        items: Vec<String>,
        /// The place of the first added item. Items that are in the list already stay where they are.
        place: Place,
    },
    /// Removes items from the run list.
    RemoveFromRunList(Vec<String>),
    /// Replaces the node's environment, by its name.
    SetEnvironment(String),
    /// Sets the policies that the node runs, in order. If the list is empty, the node runs the policies that the settings
    /// name.
    SetPolicies(Vec<PolicyInGroup>),
    /// Adds these tags to the node's own.
    AddTags(Vec<String>),
    /// Removes tags, where the node has them.
    RemoveTags(Vec<String>),
    /// Sets a `normal` attribute.
    SetAttribute {
        /// The keys that lead to it.
        path: Vec<String>,
        /// The value that replaces what is there.
        value: Value,
    },
    /// Removes a `normal` attribute.
    UnsetAttribute {
        /// The keys that lead to it.
        path: Vec<String>,
    },
    /// Replaces what an operator may change of the node: see [`NodeObject::editable`].
    Replace {
        /// The document that the node must still equal. `None`: the change is made in any case.
        expected: Option<Box<Value>>,
        /// The new document of the node.
        new: Box<Value>,
    },
    /// Adds a layer to the node's list.
    AddLayer {
        /// The layer that is added, already read from its file.
        layer: Box<Layer>,
        /// The place it gets in the list.
        place: Place,
    },
    /// Replaces a layer at its place in the list.
    ReplaceLayer {
        /// The name of the old one.
        name: String,
        /// The layer that takes its place, already read.
        layer: Box<Layer>,
    },
    /// Moves a layer to another place in the list.
    MoveLayer {
        /// The name of the layer to move.
        name: String,
        /// The place it gets in the list.
        place: Place,
    },
    /// Removes a layer from the node's list.
    RemoveLayer {
        /// The name of the layer to remove.
        name: String,
    },
    /// Sets an attribute of a layer.
    SetInLayer {
        /// The name of the layer to change.
        name: String,
        /// Whether it is an override attribute.
        overrides: bool,
        /// The keys that lead to it.
        path: Vec<String>,
        /// The value that replaces what is there.
        value: Value,
        /// The digest of the layer after the change.
        digest: String,
    },
}

/// The reasons why a change of a node is refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum EditError {
    /// The node runs policies, which have run lists of their own.
    #[error("the node {node} runs policies, and each has its own run list; a policy's run list is in its policy.toml")]
    RunListOfPolicies {
        /// The name of the node that runs policies.
        node: String,
    },
    /// The environment of a node with policies is their group.
    #[error(
        "the node {node} runs policies, so it has no environment; add the environment's file as a layer: \
         `wrun layer add FILE`"
    )]
    EnvironmentOfPolicies {
        /// The name of the node that runs policies.
        node: String,
    },
    /// An item cannot be in a run list.
    #[error(transparent)]
    RunList(#[from] RunListError),
    /// Somebody else changed the node after the document was read.
    #[error("the node {node} has changed meanwhile")]
    ChangedMeanwhile {
        /// The name of the node that changed.
        node: String,
    },
    /// The document of a node is invalid.
    #[error(transparent)]
    Document(ObjectError),
    /// The document has an unknown key, or one that cannot be changed.
    #[error("`{key}` cannot be changed in a node's document; it has {known}")]
    UnknownKey {
        /// The key, as written.
        key: String,
        /// The keys that the document may have.
        known: String,
    },
    /// The path of an attribute is invalid.
    #[error("an attribute is named by 1 to {MAX_STEPS} keys, none of them empty, as in `ntp.servers`")]
    BadPath,
    /// The attribute is not there.
    #[error("{node} has no normal attribute {}", path.join("."))]
    NoAttribute {
        /// The name of the node without the attribute.
        node: String,
        /// The path that was given.
        path: Vec<String>,
    },
    /// The value holds a marker of a guest value, which only a running guest may store.
    #[error("the value holds a key that begins with the character NUL")]
    GuestValue,
    /// An attribute cannot have the value.
    #[error(transparent)]
    Value(AttributeError),
    /// The change names `tags`, which other commands change.
    #[error("tags are changed with `wrun node tag`")]
    Tags,
    /// A tag is empty.
    #[error("a tag is text that is not empty")]
    EmptyTag,
    /// The layer is written in Ruby, so a single value of it cannot be set.
    #[error(
        "layer {layer} was written in Ruby, so a value cannot be set in it: change the file and run \
         `wrun layer replace {layer} FILE`, or add a layer after it"
    )]
    LayerInRuby {
        /// The name of the layer written in Ruby.
        layer: String,
    },
    /// The list of layers cannot be changed.
    #[error(transparent)]
    Layers(#[from] LayerListError),
    /// A layer's attribute cannot be set.
    #[error("layer {layer}: {reason}")]
    InLayer {
        /// The name of the layer to change.
        layer: String,
        /// What is wrong. Part of the message, hence no `source`.
        reason: TreeError,
    },
    /// The environment's name is invalid.
    #[error(transparent)]
    Environment(ObjectError),
    /// The name of a policy is invalid.
    #[error(transparent)]
    Policy(#[from] PolicyInGroupError),
    /// The stored JSON is not a valid change.
    #[error("this is not a change of a node: {0}")]
    NotAnEdit(String),
}

impl NodeEdit {
    /// Returns the `normal` attribute that the change sets or removes.
    pub fn attribute(&self) -> Option<&[String]> {
        match self {
            Self::SetAttribute { path, .. } | Self::UnsetAttribute { path } => Some(path),
            _ => None,
        }
    }
}

impl NodeObject {
    /// Tells whether the node runs policies. Then it has no run list and no environment of its own.
    pub fn has_policies(&self) -> bool {
        !self.assigned_policies.is_empty() || self.records.iter().any(|record| record.name.is_some())
    }

    /// The policies that the node is to run, as an operator assigned them.
    pub fn assigned_policies(&self) -> &[PolicyInGroup] {
        &self.assigned_policies
    }

    /// Sets the policies that the node is to run.
    pub fn set_assigned_policies(&mut self, policies: Vec<PolicyInGroup>) {
        self.is_saved &= self.assigned_policies == policies;
        self.assigned_policies = policies;
    }

    /// Changes the node. Returns whether anything is different now.
    ///
    /// # Errors
    /// The change is impossible. The node has not changed then.
    pub fn apply(&mut self, edit: &NodeEdit) -> Result<bool, EditError> {
        let mut changed = self.clone();
        changed.change(edit)?;
        let differs = changed.run_list != self.run_list
            || changed.assigned_policies != self.assigned_policies
            || changed.chef_environment != self.chef_environment
            || changed.normal != self.normal
            || changed.layers != self.layers;
        if differs {
            let ran: Vec<_> = self.records.iter().map(|record| record.name.clone().unwrap_or_default()).collect();
            let unseen_edits = Arc::make_mut(&mut changed.histories.unseen_edits);
            unseen_edits.note(self.normal.merged(), changed.normal.merged(), &ran);
            *self = changed;
            self.is_saved = false;
        }
        Ok(differs)
    }

    fn change(&mut self, edit: &NodeEdit) -> Result<(), EditError> {
        match edit {
            NodeEdit::SetRunList(items) => self.change_run_list(&RunListEdit::Set(items.clone()))?,
            NodeEdit::AddToRunList { items, place } => {
                self.change_run_list(&RunListEdit::Add { items: items.clone(), place: place.clone() })?;
            }
            NodeEdit::RemoveFromRunList(items) => self.change_run_list(&RunListEdit::Remove(items.clone()))?,
            NodeEdit::SetPolicies(policies) => self.assigned_policies.clone_from(policies),
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
                check_value(value, path)?;
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
                self.replace_editable(new, expected.is_some())?;
            }
            NodeEdit::AddLayer { layer, place } => self.layers.add((**layer).clone(), place)?,
            NodeEdit::ReplaceLayer { name, layer } => self.layers.replace(name, (**layer).clone())?,
            NodeEdit::MoveLayer { name, place } => self.layers.move_to(name, place)?,
            NodeEdit::RemoveLayer { name } => drop(self.layers.remove(name)?),
            NodeEdit::SetInLayer { name, overrides, path, value, digest } => {
                self.check_path(path)?;
                check_value(value, path)?;
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

    /// Changes the node to match a document. Parts that the document does not have stay as they are. Keys of a saved node
    /// that cannot be changed are ignored, unless a person has edited the document.
    fn replace_editable(&mut self, new: &Value, is_edited: bool) -> Result<(), EditError> {
        let wrong = |key: &str, expected| {
            EditError::Document(ObjectError::WrongKind { document: "node", key: key.to_owned(), expected })
        };
        let new = new.as_object().ok_or_else(|| wrong("the whole", "an object"))?;
        check_keys(new, is_edited)?;
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
            normal.iter().try_for_each(|(key, value)| check_value(value, &[key]))?;
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

    fn change_run_list(&mut self, edit: &RunListEdit) -> Result<(), EditError> {
        self.check_own_run_list()?;
        self.run_list = self.run_list.changed(edit)?;
        Ok(())
    }
}

/// Refuses a value that is nested too deeply to be read back, or that only a running policy may store.
fn check_value<Step: AsRef<str>>(value: &Value, path: &[Step]) -> Result<(), EditError> {
    if mentions_guest_values(value) {
        return Err(EditError::GuestValue);
    }
    inspect(value, path).map(drop).map_err(EditError::Value)
}

/// The value at a path.
fn value_at<'all>(all: &'all Map<String, Value>, path: &[String]) -> Option<&'all Value> {
    let (first, rest) = path.split_first()?;
    rest.iter().try_fold(all.get(first)?, |here, key| here.get(key))
}
