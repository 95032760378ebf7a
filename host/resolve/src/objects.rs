//! Checks roles, environments and data bag items that operators write and change. A document is read with its lines, checked
//! as a whole, and written in Chef's order of keys.

use std::fmt;

use node::layers::LayerFormat;
use node::run_list::{RunList, RunListEdit, RunListError};
use serde_json::{Map, Value, json};
use thiserror::Error;

use crate::layers::document::{Budget, DocumentError, MAX_FILE, Member, Node};
use crate::layers::{LayerSource, json_file, layer_of_ruby, read_layer};

/// Bytes of a name.
const MAX_NAME: usize = 255;

/// Keys of a role, in the order in which they are written.
const ROLE_KEYS: [&str; 8] = [
    "name",
    "description",
    "json_class",
    "chef_type",
    "default_attributes",
    "override_attributes",
    "run_list",
    "env_run_lists",
];

/// Keys of an environment, in the order in which they are written. Those of layers may follow.
const ENVIRONMENT_KEYS: [&str; 7] = [
    "name",
    "description",
    "cookbook_versions",
    "json_class",
    "chef_type",
    "default_attributes",
    "override_attributes",
];

/// The kind of object that a document describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ObjectKind {
    /// A role of a Chef repository.
    Role,
    /// An environment of a Chef repository.
    Environment,
    /// An item of a data bag.
    Item,
}

impl ObjectKind {
    /// Returns the kind in words, for messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Role => "role",
            Self::Environment => "environment",
            Self::Item => "data bag item",
        }
    }

    /// The key that holds the name.
    pub fn name_key(self) -> &'static str {
        if self == Self::Item { "id" } else { "name" }
    }
}

impl fmt::Display for ObjectKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}

/// The reason why a document cannot be used, with its file and line.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{}{}: {reason}", file, match line { 0 => String::new(), line => format!(":{line}") })]
pub struct ObjectFault {
    /// The path of the file.
    pub file: String,
    /// The line, from 1; 0 where it is not known.
    pub line: u32,
    /// The reason and a remedy.
    pub reason: String,
}

/// Checks the name of a role or an environment.
///
/// # Errors
/// The name has other characters than Chef allows.
pub fn check_object_name(kind: ObjectKind, name: &str) -> Result<(), String> {
    let fits = |one: char| one.is_ascii_alphanumeric() || matches!(one, '-' | '_');
    if !name.is_empty() && name.len() <= MAX_NAME && name.chars().all(fits) {
        return Ok(());
    }
    let name: String = name.chars().take(MAX_NAME).collect();
    Err(format!("{name:?} cannot be the name of a {kind}: use up to {MAX_NAME} letters, digits and the characters - _"))
}

/// Reads a document in JSON and checks it. `name`: the name that it must have; `None`: any name. Returns the name, and the
/// document in the form in which it is written.
///
/// # Errors
/// The document is not JSON, has another name, or says something that such an object does not have.
pub fn read_object(
    kind: ObjectKind,
    file: &str,
    name: Option<&str>,
    text: &str,
) -> Result<(String, Value), ObjectFault> {
    let fault = |error: DocumentError| ObjectFault { file: file.to_owned(), line: error.line, reason: error.reason };
    if text.len() > MAX_FILE {
        return Err(fault(DocumentError::new(0, format!("the file has more than {MAX_FILE} bytes"))));
    }
    let node = json_file::parse(text).map_err(fault)?;
    let (name, line) = named(kind, name, &node).map_err(fault)?;
    if kind == ObjectKind::Environment {
        let source = LayerSource { file, digest: "", stem: &name };
        read_layer(&source, LayerFormat::Json, text).map_err(|error| ObjectFault {
            file: error.file,
            line: error.line,
            reason: error.reason,
        })?;
    }
    let object = checked(kind, &name, line, node).map_err(fault)?;
    Ok((name, object))
}

/// Checks a document that is parsed already, such as the result of a file in Ruby.
///
/// # Errors
/// As [`read_object`]; lines are not known.
pub fn check_object(kind: ObjectKind, file: &str, name: &str, document: Value) -> Result<Value, ObjectFault> {
    let fault = |error: DocumentError| ObjectFault { file: file.to_owned(), line: error.line, reason: error.reason };
    if kind == ObjectKind::Environment {
        let source = LayerSource { file, digest: "", stem: name };
        layer_of_ruby(&source, document.clone()).map_err(|error| ObjectFault {
            file: error.file,
            line: error.line,
            reason: error.reason,
        })?;
    }
    let node = Node::of_value(document);
    Budget::default().take_all(&node, 1, 0).map_err(fault)?;
    let (name, line) = named(kind, Some(name), &node).map_err(fault)?;
    checked(kind, &name, line, node).map_err(fault)
}

/// Returns a new role or environment without anything in it.
pub fn empty_object(kind: ObjectKind, name: &str, description: &str) -> Value {
    match kind {
        ObjectKind::Item => json!({ "id": name }),
        kind => in_order(kind, name, Map::from_iter([("description".to_owned(), json!(description))])),
    }
}

/// Changes the run list of a role: its own, or that of an environment. Returns whether the role has changed.
///
/// # Errors
/// An item is invalid, or is not in the list where it must be.
pub fn change_run_list(role: &mut Value, environment: Option<&str>, edit: &RunListEdit) -> Result<bool, RunListError> {
    let Some(role) = role.as_object_mut() else { return Ok(false) };
    let lists = match environment {
        None => role,
        Some(_) => match role.entry("env_run_lists").or_insert_with(|| json!({})).as_object_mut() {
            Some(lists) => lists,
            None => return Ok(false),
        },
    };
    let key = environment.unwrap_or("run_list");
    let before = lists.get(key).map_or_else(|| Ok(RunList::default()), RunList::from_json)?;
    let after = before.changed(edit)?;
    let differs = before != after;
    // An empty list of an environment is kept: without it, the role's own list would apply there.
    if differs || environment.is_none() {
        lists.insert(key.to_owned(), after.to_json());
    }
    Ok(differs)
}

/// The name of a document, with its line.
fn named(kind: ObjectKind, wanted: Option<&str>, node: &Node) -> Result<(String, u32), DocumentError> {
    let key = kind.name_key();
    let Node::Object(members) = node else {
        return Err(DocumentError::new(1, format!("a {kind} is an object with keys, not {}", node.kind())));
    };
    let given = members.iter().find(|member| member.key == key);
    let (own, line) = match given {
        None => (None, 0),
        Some(Member { node: Node::Plain(Value::Null), line, .. }) => (None, *line),
        Some(Member { node: Node::Plain(Value::String(name)), line, .. }) => (Some(name.as_str()), *line),
        Some(member) => {
            return Err(DocumentError::new(member.line, format!("`{key}` must be text, not {}", member.node.kind())));
        }
    };
    match (wanted, own) {
        (Some(wanted), Some(own)) if wanted != own => {
            let reason =
                format!("`{key}` is {own:?}, and it must be {wanted:?}; create another {kind} for another name");
            Err(DocumentError::new(line, reason))
        }
        (None, None) => Err(DocumentError::new(line, format!("the {kind} has no `{key}`"))),
        (wanted, own) => Ok((wanted.or(own).unwrap_or_default().to_owned(), line)),
    }
}

fn checked(kind: ObjectKind, name: &str, line: u32, node: Node) -> Result<Value, DocumentError> {
    if kind != ObjectKind::Item {
        check_object_name(kind, name).map_err(|reason| DocumentError::new(line, reason))?;
    }
    let Node::Object(members) = node else { return Ok(Value::Null) };
    let mut object = Map::new();
    for Member { key, line, node } in members {
        if kind == ObjectKind::Role {
            check_role_key(&key, line, &node)?;
        }
        let value = node.into_value(None);
        object.insert(key, value);
    }
    Ok(in_order(kind, name, object))
}

fn check_role_key(key: &str, line: u32, node: &Node) -> Result<(), DocumentError> {
    let wrong = |expected: &str| DocumentError::new(line, format!("`{key}` must be {expected}, not {}", node.kind()));
    if matches!(node, Node::Plain(Value::Null)) && ROLE_KEYS.contains(&key) {
        return Ok(());
    }
    match key {
        "name" | "description" | "json_class" | "chef_type" => match node {
            Node::Plain(Value::String(_)) => Ok(()),
            _ => Err(wrong("text")),
        },
        "default_attributes" | "override_attributes" => match node {
            Node::Object(_) => Ok(()),
            _ => Err(wrong("an object")),
        },
        "run_list" => check_run_list(line, node),
        "env_run_lists" => match node {
            Node::Object(lists) => lists.iter().try_for_each(|list| check_run_list(list.line, &list.node)),
            _ => Err(wrong("an object of run lists, by the names of environments")),
        },
        key => {
            let known = ROLE_KEYS.join(", ");
            Err(DocumentError::new(line, format!("a role has no key {key:?}; it has: {known}")))
        }
    }
}

fn check_run_list(line: u32, node: &Node) -> Result<(), DocumentError> {
    let list = match node {
        Node::List(_) => node.clone().into_value(None),
        _ => return Err(DocumentError::new(line, format!("a run list must be a list of texts, not {}", node.kind()))),
    };
    RunList::from_json(&list).map(drop).map_err(|error| DocumentError::new(line, error.to_string()))
}

/// Returns the document in its written form: keys in order, with all keys that Chef writes.
fn in_order(kind: ObjectKind, name: &str, mut object: Map<String, Value>) -> Value {
    let keys: &[&str] = match kind {
        ObjectKind::Item => &["id"],
        ObjectKind::Role => &ROLE_KEYS,
        ObjectKind::Environment => &ENVIRONMENT_KEYS,
    };
    let mut ordered = Map::new();
    for key in keys {
        let given = object.shift_remove(*key).filter(|value| !value.is_null());
        let value = match (*key, kind) {
            ("id" | "name", _) => json!(name),
            ("json_class", ObjectKind::Role) => json!("Chef::Role"),
            ("json_class", _) => json!("Chef::Environment"),
            ("chef_type", kind) => json!(kind.as_str()),
            ("description", _) => given.unwrap_or_else(|| json!("")),
            ("run_list", _) => match given.map(|list| RunList::from_json(&list)) {
                Some(Ok(list)) => list.to_json(),
                _ => json!([]),
            },
            _ => given.unwrap_or_else(|| json!({})),
        };
        ordered.insert((*key).to_owned(), value);
    }
    ordered.extend(object);
    Value::Object(ordered)
}
