//! Who wrote what, kept from run to run.
//!
//! The saved node has no room for it, so it is a document of its own, which the room that keeps state stores beside
//! the node: `{"version": 1, "policies": {NAME: [RECORD, ..]}}`. It only ever explains: where it is lost or older than
//! the node, attributes are as they are.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::size::{MAX_HISTORY_BYTES, written_bytes};
use super::{NodeObject, ObjectError};
use crate::attributes::{Group, History, Level};
use crate::saved_filter::{LevelFilter, SavedFilters};

/// Version of the document.
const VERSION: u64 = 1;

const DOCUMENT: &str = "attribute history";

/// Key of the writes of a run without policies.
const WITHOUT_POLICY: &str = "";

/// The records of each policy's last successful run.
#[derive(Debug, Clone, Default)]
pub(super) struct Histories {
    pub(super) by_policy: Vec<(String, Arc<History>)>,
}

impl Histories {
    pub(super) fn put(&mut self, policy: Option<&str>, history: Arc<History>) {
        let policy = policy.unwrap_or(WITHOUT_POLICY);
        match self.by_policy.iter_mut().find(|(name, _)| name == policy) {
            Some((_, known)) => *known = history,
            None => self.by_policy.push((policy.to_owned(), history)),
        }
    }

    pub(super) fn of(&self, policy: Option<&str>) -> Option<&History> {
        let policy = policy.unwrap_or(WITHOUT_POLICY);
        self.by_policy.iter().find(|(name, _)| name == policy).map(|(_, history)| history.as_ref())
    }
}

/// As many of the newest records as there is room for.
fn fitting(records: Value) -> Value {
    if written_bytes(&records, MAX_HISTORY_BYTES).is_some() {
        return records;
    }
    let Value::Array(records) = records else { return records };
    let mut left = MAX_HISTORY_BYTES;
    let newest = records.into_iter().rev().map_while(|record| {
        left = left.checked_sub(written_bytes(&record, left)?)?;
        Some(record)
    });
    let mut newest: Vec<Value> = newest.collect();
    newest.reverse();
    Value::Array(newest)
}

impl NodeObject {
    /// The document to store beside the saved node. Of levels that are saved in part only, who wrote is kept and what
    /// was written is not.
    pub fn histories_to_json(&self, filters: &SavedFilters) -> Value {
        let is_withheld = |level: Level| {
            *match level.group() {
                Group::Default | Group::Inherited => &filters.default,
                Group::Normal => &filters.normal,
                Group::Override => &filters.r#override,
                Group::Automatic => &filters.automatic,
            } != LevelFilter::default()
        };
        let histories = self.histories.by_policy.iter();
        let policies: Map<String, Value> =
            histories.map(|(name, history)| (name.clone(), fitting(history.to_json(is_withheld)))).collect();
        json!({"version": VERSION, "policies": policies})
    }

    /// Takes the stored document back.
    ///
    /// # Errors
    /// Another version, or what is no such document. The node object has not changed then.
    pub fn set_histories_from_json(&mut self, json: &Value) -> Result<(), ObjectError> {
        let wrong = |key: &str, expected| ObjectError::WrongKind { document: DOCUMENT, key: key.to_owned(), expected };
        if json.get("version").and_then(Value::as_u64) != Some(VERSION) {
            return Err(wrong("version", "1"));
        }
        let policies = json.get("policies").and_then(Value::as_object);
        let mut by_policy = Vec::new();
        for (name, records) in policies.ok_or_else(|| wrong("policies", "an object"))? {
            let history = History::from_json(records).ok_or_else(|| wrong(name, "a list of records"))?;
            by_policy.push((name.clone(), Arc::new(history)));
        }
        self.histories = Histories { by_policy };
        Ok(())
    }
}
