//! Checks the redundant values of a lock: its revision, and each identifier a second time in the form of a version. They
//! reveal manual changes and damage.

use std::fmt;

use artifact::lock::CookbookIdentifier;
use serde::Deserialize;
use serde::de::{MapAccess, Visitor};
use serde_json::Value;

use super::lines::line_of;
use super::read::wrong;
use super::{InvalidLock, Lock};

/// A redundant value of a lock that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misstatement {
    /// The line of the value, from 1.
    pub line: Option<usize>,
    /// The stated value and the computed one, as a sentence without a period.
    pub what: String,
}

impl fmt::Display for Misstatement {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(out, "line {line}: ")?;
        }
        out.write_str(&self.what)
    }
}

impl Lock {
    /// Reads a lock's text, and checks its redundant values.
    ///
    /// # Errors
    /// As [`Self::parse`], or a statement is wrong: all of them are named.
    pub fn parse_stated(text: &str) -> Result<Self, InvalidLock> {
        let lock = Self::parse(text)?;
        lock.check_statements(text)?;
        Ok(lock)
    }

    /// Checks the redundant values of a lock. `text`: the text that the lock was read from.
    ///
    /// # Errors
    /// The revision or an identifier is not that of the content: all such statements are named.
    pub fn check_statements(&self, text: &str) -> Result<(), InvalidLock> {
        let mut found = vec![];
        for (name, cookbook) in &self.cookbooks {
            let line = |key: &str| line_of(text, &["cookbook_locks", name, key]);
            let stated = &cookbook.identifier;
            let Some(identifier) = CookbookIdentifier::parse(stated) else {
                let what = format!("cookbook {name} has the identifier {stated:?}, which is not 40 hexadecimal digits");
                found.push(Misstatement { line: line("identifier"), what });
                continue;
            };
            let (expected, dotted) = (identifier.dotted_decimal(), &cookbook.dotted_decimal_identifier);
            if dotted.as_str() != Some(&expected) {
                let what = format!(
                    "cookbook {name} has the identifier {stated}, and so the dotted_decimal_identifier {expected}, not {}",
                    dotted.as_str().map_or_else(|| dotted.to_string(), str::to_owned)
                );
                found.push(Misstatement { line: line("dotted_decimal_identifier"), what });
            }
        }
        found.extend(self.misstated_revision(text)?);
        if found.is_empty() { Ok(()) } else { Err(InvalidLock::Misstated { found }) }
    }

    fn misstated_revision(&self, text: &str) -> Result<Option<Misstatement>, InvalidLock> {
        let stated: Stated = serde_json::from_str(text).map_err(|error| wrong(error.to_string()))?;
        let revision = self.revision_id().map_err(|error| wrong(error.to_string()))?;
        let is_so = |lock: &Self| lock.revision_id().is_ok_and(|revision| stated.revision_id == revision);
        // Chef's tools write a list twice if it is named by a symbol and by a text. The revision then covers both.
        if is_so(self) || is_so(&Self { named_run_lists: stated.named_run_lists.0, ..self.clone() }) {
            return Ok(None);
        }
        let shown = match &stated.revision_id {
            Value::Null => "does not state its revision_id".to_owned(),
            Value::String(text) => format!("states the revision_id {text}"),
            other => format!("states the revision_id {other}"),
        };
        let line = line_of(text, &["revision_id"]);
        Ok(Some(Misstatement { line, what: format!("the lock {shown}, and its content has {revision}") }))
    }
}

/// The fields in their written form, which parsed JSON does not keep.
#[derive(Deserialize)]
struct Stated {
    #[serde(default)]
    revision_id: Value,
    #[serde(default)]
    named_run_lists: AllLists,
}

/// Run lists with those whose name is written twice.
#[derive(Default)]
struct AllLists(Vec<(String, Vec<String>)>);

impl<'a> Deserialize<'a> for AllLists {
    fn deserialize<From: serde::Deserializer<'a>>(from: From) -> Result<Self, From::Error> {
        struct Lists;

        impl<'a> Visitor<'a> for Lists {
            type Value = AllLists;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("run lists by name")
            }

            fn visit_map<Map: MapAccess<'a>>(self, mut map: Map) -> Result<AllLists, Map::Error> {
                let mut lists = vec![];
                while let Some(list) = map.next_entry()? {
                    lists.push(list);
                }
                Ok(AllLists(lists))
            }
        }
        from.deserialize_map(Lists)
    }
}
