//! The content of a file in any language, with the line of each key.

use std::fmt;

use serde_json::{Map, Value};
use thiserror::Error;

/// The largest file, in bytes.
pub const MAX_FILE: usize = 4 << 20;

/// Values in one file; objects and lists count as one each.
const MAX_VALUES: usize = 200_000;

/// Largest total size of texts and keys that are copied within a document or come from another source, in bytes.
const MAX_BYTES: usize = 16 << 20;

/// Largest depth of objects and lists in a file.
const MAX_DEPTH: usize = 64;

/// Bytes of one key.
const MAX_KEY: usize = 4096;

/// A value with the lines of the keys in it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Node {
    /// Neither an object nor a list.
    Plain(Value),
    /// A list. Lines in it are not kept.
    List(Vec<Self>),
    /// An object, its members in the order of the file.
    Object(Vec<Member>),
}

/// One key of an object.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Member {
    pub(crate) key: String,
    /// The line of the key, from 1; 0 where it is not known.
    pub(crate) line: u32,
    pub(crate) node: Node,
}

/// An error at a place in a file.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) struct DocumentError {
    /// The line, from 1; 0 where it is not known.
    pub(crate) line: u32,
    /// The reason, as a clause.
    pub(crate) reason: String,
}

impl fmt::Display for DocumentError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => out.write_str(&self.reason),
            line => write!(out, "line {line}: {}", self.reason),
        }
    }
}

impl DocumentError {
    pub(crate) fn new(line: u32, reason: impl Into<String>) -> Self {
        Self { line, reason: reason.into() }
    }
}

impl Node {
    /// Makes a document of values whose lines are not known.
    pub(crate) fn of_value(value: Value) -> Self {
        match value {
            Value::Object(members) => Self::Object(
                members.into_iter().map(|(key, value)| Member { key, line: 0, node: Self::of_value(value) }).collect(),
            ),
            Value::Array(all) => Self::List(all.into_iter().map(Self::of_value).collect()),
            plain => Self::Plain(plain),
        }
    }

    /// Returns the value, and adds the line of each member to `lines`: a member before those below it, lists left out.
    pub(crate) fn into_value(self, lines: Option<&mut Vec<u32>>) -> Value {
        match self {
            Self::Plain(value) => value,
            Self::List(all) => Value::Array(all.into_iter().map(|node| node.into_value(None)).collect()),
            Self::Object(members) => Value::Object(into_members(members, lines)),
        }
    }

    /// Returns what the value is, in words.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Plain(Value::Null) => "nothing",
            Self::Plain(Value::Bool(_)) => "a boolean",
            Self::Plain(Value::Number(_)) => "a number",
            Self::Plain(_) => "text",
            Self::List(_) => "a list",
            Self::Object(_) => "an object",
        }
    }
}

fn into_members(members: Vec<Member>, mut lines: Option<&mut Vec<u32>>) -> Map<String, Value> {
    let mut object = Map::new();
    for Member { key, line, node } in members {
        if let Some(lines) = lines.as_deref_mut() {
            lines.push(line);
        }
        let value = node.into_value(lines.as_deref_mut());
        object.insert(key, value);
    }
    object
}

/// Counts the values of a document while it is read, so that a small file cannot expand to a large document.
#[derive(Debug, Default)]
pub(crate) struct Budget {
    values: usize,
    /// Bytes of copied texts and keys.
    bytes: usize,
}

impl Budget {
    /// Counts a value at a depth.
    pub(crate) fn take(&mut self, depth: usize, line: u32) -> Result<(), DocumentError> {
        self.values += 1;
        if self.values > MAX_VALUES {
            return Err(DocumentError::new(line, format!("the file has more than {MAX_VALUES} values")));
        }
        if depth > MAX_DEPTH {
            return Err(DocumentError::new(line, format!("the file is nested deeper than {MAX_DEPTH} levels")));
        }
        Ok(())
    }

    /// Counts an existing value, with all values below it, before it is copied.
    pub(crate) fn take_all(&mut self, node: &Node, depth: usize, line: u32) -> Result<(), DocumentError> {
        self.take(depth, line)?;
        match node {
            Node::Plain(Value::String(text)) => self.take_bytes(text.len(), line),
            Node::Plain(_) => Ok(()),
            Node::List(all) => all.iter().try_for_each(|node| self.take_all(node, depth + 1, line)),
            Node::Object(members) => members.iter().try_for_each(|member| {
                self.take_bytes(member.key.len(), line)?;
                self.take_all(&member.node, depth + 1, line)
            }),
        }
    }

    fn take_bytes(&mut self, bytes: usize, line: u32) -> Result<(), DocumentError> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > MAX_BYTES {
            return Err(DocumentError::new(line, format!("the file stands for more than {MAX_BYTES} bytes of text")));
        }
        Ok(())
    }
}

/// The members of an object that is being read.
#[derive(Debug, Default)]
pub(crate) struct Members {
    all: Vec<Member>,
    keys: std::collections::HashSet<String>,
}

impl Members {
    /// Adds a member.
    ///
    /// # Errors
    /// The key is there already, is empty or too long, or means something to the host.
    pub(crate) fn add(&mut self, key: String, line: u32, node: Node) -> Result<(), DocumentError> {
        if key.is_empty() || key.len() > MAX_KEY || key.contains('\0') {
            let reason = "a key must be text of 1 to 4096 bytes without the character NUL";
            return Err(DocumentError::new(line, reason));
        }
        if !self.keys.insert(key.clone()) {
            return Err(DocumentError::new(line, format!("the key {key:?} is there twice")));
        }
        self.all.push(Member { key, line, node });
        Ok(())
    }

    /// Returns the object with all its members.
    pub(crate) fn into_node(self) -> Node {
        Node::Object(self.all)
    }
}
