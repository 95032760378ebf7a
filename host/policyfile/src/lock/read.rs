//! Reads a lock. Locks are untrusted, so every field is checked.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use text::check_json_values;
use thiserror::Error;

use super::{CookbookLock, CookbookPlace, IncludedLock, Lock, Misstatement, SolutionDependencies};
use crate::constraint::Constraint;

/// The most values of a lock, and of the other documents of cookbooks and policies.
pub const MAX_VALUES: usize = 250_000;

/// The most characters of a wrong value that a message shows.
const MAX_SHOWN: usize = 200;

/// The longest cookbook or recipe name in an item of a run list.
const MAX_NAME: usize = 255;

/// The reasons why a text is not a valid lock.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum InvalidLock {
    /// It is not JSON.
    #[error("the lock is not valid JSON: {reason}")]
    Json {
        /// The error of the JSON parser, with line and column.
        reason: String,
    },
    /// The text has an unresolved merge conflict of git.
    #[error("line {line}: {CONFLICT}")]
    Conflict {
        /// The line, from 1.
        line: usize,
    },
    /// A field is missing or invalid.
    #[error("{what}")]
    Field {
        /// The field and what is wrong with it.
        what: String,
    },
    /// The lock contradicts itself, as with a wrong revision.
    #[error("{}", found.iter().map(Misstatement::to_string).collect::<Vec<_>>().join("; "))]
    Misstated {
        /// All contradictions that were found.
        found: Vec<Misstatement>,
    },
}

impl InvalidLock {
    /// Returns the errors, each with its line from 1, if it is known.
    #[must_use]
    pub fn lines(&self) -> Vec<(Option<usize>, String)> {
        match self {
            Self::Json { .. } | Self::Field { .. } => vec![(None, self.to_string())],
            Self::Conflict { line } => vec![(Some(*line), CONFLICT.to_owned())],
            Self::Misstated { found } => found.iter().map(|one| (one.line, one.what.clone())).collect(),
        }
    }
}

/// The message about a merge conflict.
const CONFLICT: &str = "git has left a merge conflict here, and a lock cannot be merged line by line";

/// Reads a lock's text as JSON.
///
/// # Errors
/// It is not JSON, or has too many values.
pub fn document<Document: DeserializeOwned>(text: &str) -> Result<Document, InvalidLock> {
    check_json_values(text.as_bytes(), MAX_VALUES).map_err(|reason| InvalidLock::Json { reason })?;
    serde_json::from_str(text).map_err(|error| {
        // A line of JSON never begins like this.
        let conflict = text.lines().position(|line| line.starts_with("<<<<<<<"));
        match conflict {
            Some(at) => InvalidLock::Conflict { line: at.saturating_add(1) },
            None => InvalidLock::Json { reason: error.to_string() },
        }
    })
}

pub(super) fn wrong(what: impl Into<String>) -> InvalidLock {
    InvalidLock::Field { what: what.into() }
}

impl Lock {
    /// Reads a lock's text.
    ///
    /// # Errors
    /// The text is not JSON, has too many values, or a field is not what a lock has.
    pub fn parse(text: &str) -> Result<Self, InvalidLock> {
        Self::from_json(&document(text)?)
    }

    /// Reads a lock.
    ///
    /// # Errors
    /// A field is not what a lock has.
    pub fn from_json(value: &Value) -> Result<Self, InvalidLock> {
        let Value::Object(lock) = value else {
            return Err(wrong(format!("a lock must be an object, not {}", shown(value))));
        };
        Ok(Self {
            name: Some(name(lock)?),
            run_list: run_list("run_list", required(lock, "run_list")?)?,
            named_run_lists: named_run_lists(lock.get("named_run_lists"))?,
            included: included(lock.get("included_policy_locks"))?,
            cookbooks: object(lock, "cookbook_locks")?
                .iter()
                .map(|(name, entry)| Ok((cookbook_name(name)?, cookbook(name, entry)?)))
                .collect::<Result<_, _>>()?,
            default_attributes: object(lock, "default_attributes")?.clone(),
            override_attributes: object(lock, "override_attributes")?.clone(),
            dependencies: dependencies(object(lock, "solution_dependencies")?)?,
        })
    }
}

fn required<'a>(lock: &'a Map<String, Value>, key: &str) -> Result<&'a Value, InvalidLock> {
    lock.get(key).filter(|value| !value.is_null()).ok_or_else(|| wrong(format!("the lock does not have a `{key}`")))
}

fn object<'a>(lock: &'a Map<String, Value>, key: &str) -> Result<&'a Map<String, Value>, InvalidLock> {
    let value = required(lock, key)?;
    value.as_object().ok_or_else(|| wrong(format!("the lock's `{key}` must be an object, not {}", shown(value))))
}

fn name(lock: &Map<String, Value>) -> Result<String, InvalidLock> {
    match required(lock, "name")? {
        Value::String(name) if name.is_empty() => Err(wrong("the lock's `name` must not be empty")),
        Value::String(name) => Ok(name.clone()),
        other => Err(wrong(format!("the lock's `name` must be a string, not {}", shown(other)))),
    }
}

fn run_list(key: &str, value: &Value) -> Result<Vec<String>, InvalidLock> {
    let Value::Array(items) = value else {
        return Err(wrong(format!("the lock's `{key}` must be an array of run list items, not {}", shown(value))));
    };
    let text = |item: &Value| match item.as_str().filter(|item| is_full_item(item)) {
        Some(item) => Ok(item.to_owned()),
        None => Err(wrong(format!(
            "an item of the lock's `{key}` must have the form recipe[COOKBOOK::RECIPE]; {} does not",
            shown(item)
        ))),
    };
    items.iter().map(text).collect()
}

/// Whether an item names a recipe in full: `recipe[COOKBOOK::RECIPE]`.
fn is_full_item(item: &str) -> bool {
    let names = item.strip_prefix("recipe[").and_then(|item| item.strip_suffix(']')).and_then(|it| it.split_once("::"));
    let is_name = |name: &str| {
        let length = name.chars().count();
        (1..=MAX_NAME).contains(&length)
            && !name.contains(|character: char| character == ':' || character.is_whitespace())
    };
    names.is_some_and(|(cookbook, recipe)| is_name(cookbook) && is_name(recipe))
}

fn named_run_lists(value: Option<&Value>) -> Result<Vec<(String, Vec<String>)>, InvalidLock> {
    match value {
        None => Ok(vec![]),
        Some(Value::Object(lists)) => lists
            .iter()
            .map(|(name, list)| Ok((name.clone(), run_list(&format!("named_run_lists.{name}"), list)?)))
            .collect(),
        Some(other) => Err(wrong(format!("the lock's `named_run_lists` must be an object, not {}", shown(other)))),
    }
}

fn included(value: Option<&Value>) -> Result<Vec<IncludedLock>, InvalidLock> {
    let entries = match value {
        None | Some(Value::Null) => return Ok(vec![]),
        Some(Value::Array(entries)) => entries,
        Some(other) => {
            return Err(wrong(format!("the lock's `included_policy_locks` must be an array, not {}", shown(other))));
        }
    };
    let read = |entry: &Value| {
        let field = |key: &str| {
            entry.get(key).filter(|value| !value.is_null()).ok_or_else(|| {
                wrong(format!(
                    "an entry of the lock's `included_policy_locks` does not have a `{key}`: {}",
                    shown(entry)
                ))
            })
        };
        let name = field("name")?;
        let name = name.as_str().ok_or_else(|| {
            wrong(format!("a `name` in the lock's `included_policy_locks` must be a string, not {}", shown(name)))
        })?;
        let (revision_id, source_options) = (field("revision_id")?.clone(), field("source_options")?.clone());
        Ok(IncludedLock { name: name.to_owned(), revision_id, source_options })
    };
    entries.iter().map(read).collect()
}

/// Checks a cookbook's name, because it becomes part of paths.
fn cookbook_name(name: &str) -> Result<String, InvalidLock> {
    let is_sound = !name.is_empty()
        && name.len() <= MAX_NAME
        && !matches!(name, "." | "..")
        && !name.contains(|character: char| character == '/' || character == '\0' || character.is_control());
    is_sound.then(|| name.to_owned()).ok_or_else(|| {
        wrong(format!("{} in the lock's `cookbook_locks` cannot be a cookbook's name", shown(&Value::from(name))))
    })
}

fn cookbook(name: &str, entry: &Value) -> Result<CookbookLock, InvalidLock> {
    let Value::Object(fields) = entry else {
        return Err(wrong(format!("the lock of cookbook {name} must be an object, not {}", shown(entry))));
    };
    let needed = ["version", "identifier", "dotted_decimal_identifier", "cache_key", "source_options"];
    let missing: Vec<_> = needed.into_iter().filter(|key| !fields.contains_key(*key)).collect();
    if !missing.is_empty() {
        return Err(wrong(format!("the lock of cookbook {name} does not have {}", missing.join(", "))));
    }
    let is_not = |key: &str, kind: &str| {
        let value = fields.get(key).unwrap_or(&Value::Null);
        wrong(format!("`{key}` in the lock of cookbook {name} must be {kind}, not {}", shown(value)))
    };
    let text =
        |key: &str| fields.get(key).and_then(Value::as_str).map(str::to_owned).ok_or_else(|| is_not(key, "a string"));
    let (version, identifier) = (text("version")?, text("identifier")?);
    let place = match fields.get("cache_key") {
        None | Some(Value::Null) => CookbookPlace::Local {
            source: text("source")?,
            scm_info: fields.get("scm_info").cloned().unwrap_or(Value::Null),
        },
        Some(_) => CookbookPlace::Cached {
            cache_key: text("cache_key")?,
            origin: fields.get("origin").cloned().unwrap_or(Value::Null),
        },
    };
    let source_options = fields.get("source_options").and_then(Value::as_object);
    Ok(CookbookLock {
        version,
        identifier,
        dotted_decimal_identifier: fields.get("dotted_decimal_identifier").cloned().unwrap_or(Value::Null),
        place,
        source_options: source_options.cloned().ok_or_else(|| is_not("source_options", "an object"))?,
    })
}

fn dependencies(found: &Map<String, Value>) -> Result<SolutionDependencies, InvalidLock> {
    let (Some(policyfile), Some(cookbooks)) = (found.get("Policyfile"), found.get("dependencies")) else {
        let found = shown(&Value::Object(found.clone()));
        return Err(wrong(format!(
            "the lock's `solution_dependencies` must have `Policyfile` and `dependencies`: {found}"
        )));
    };
    let Value::Object(cookbooks) = cookbooks else {
        let found = shown(cookbooks);
        return Err(wrong(format!(
            "`dependencies` in the lock's `solution_dependencies` must be an object, not {found}"
        )));
    };
    let mut of_cookbooks = BTreeMap::new();
    for (key, list) in cookbooks {
        of_cookbooks.insert(name_and_version(key)?, demands("dependencies", list)?);
    }
    Ok(SolutionDependencies { policyfile: demands("Policyfile", policyfile)?, cookbooks: of_cookbooks })
}

/// Splits a key of the form `NAME (VERSION)`.
fn name_and_version(key: &str) -> Result<(String, String), InvalidLock> {
    let parts = key.split_once(" (").and_then(|(name, rest)| Some((name, rest.strip_suffix(')')?)));
    let is_word = |text: &str| !text.is_empty() && !text.contains(char::is_whitespace);
    match parts.filter(|(name, version)| is_word(name) && is_word(version)) {
        Some((name, version)) => Ok((name.to_owned(), version.to_owned())),
        None => Err(wrong(format!(
            "a key of `dependencies` in the lock's `solution_dependencies` must have the form NAME (VERSION); {} does not",
            shown(&Value::from(key))
        ))),
    }
}

fn demands(key: &str, value: &Value) -> Result<Vec<(String, Constraint)>, InvalidLock> {
    let of = || format!("`{key}` in the lock's `solution_dependencies`");
    let Value::Array(entries) = value else {
        return Err(wrong(format!("{} must be an array, not {}", of(), shown(value))));
    };
    let read = |entry: &Value| {
        let pair = entry.as_array().and_then(|pair| match pair.as_slice() {
            [name, constraint] => Some((name.as_str()?, constraint.as_str()?)),
            _ => None,
        });
        let (name, constraint) =
            pair.filter(|(name, constraint)| !name.is_empty() && !constraint.is_empty()).ok_or_else(|| {
                wrong(format!("an entry of {} must be [COOKBOOK, CONSTRAINT]; {} is not", of(), shown(entry)))
            })?;
        let constraint = Constraint::parse(constraint).map_err(|error| wrong(format!("{}: {error}", of())))?;
        Ok((name.to_owned(), constraint))
    };
    entries.iter().map(read).collect()
}

/// A wrong value, shortened.
fn shown(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() <= MAX_SHOWN { text } else { text.chars().take(MAX_SHOWN).chain("..".chars()).collect() }
}
