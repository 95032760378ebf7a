//! The record of an earlier run, read back. Its shape is that of [`crate::json`] (docs/run-json.md).
//!
//! Records contain unescaped texts of guests. Older versions wrote fewer keys, so an absent key is read as an empty text or
//! 0.

use crate::unseen::UnseenRecipe;
use crate::{hidden_reads, would};
use contract::Tally;
use grants::{Addition, Denial, Needs};
use serde::Deserialize as _;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;
use thiserror::Error;

/// The number of digits of a revision or a digest that people see.
const DIGITS: usize = 12;

/// The statuses of actions that had nothing to do.
const QUIET: [&str; 2] = ["up-to-date", "skipped"];

/// The name of the policy that cookbooks in folders make up: in the grants, in the state, and in what people read of a run.
pub const FOLDERS_POLICY: &str = "solo";

/// The record of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Record(Value);

/// The entries that a policy asked for in a recorded run.
#[derive(Debug, Clone, PartialEq)]
pub struct AskedFor {
    /// The entries, each list with the text that the record has of it.
    pub needs: Vec<(String, Needs)>,
    /// Whether the record has all that the policy asked for.
    pub is_complete: bool,
}

/// The reasons why a record cannot be used.
#[derive(Debug, Error)]
pub enum RecordError {
    /// A list of the record has an invalid item.
    #[error("its `{key}` are not those of a run")]
    Invalid {
        /// The key of the list in the record, such as `policies`.
        key: &'static str,
        /// The first mismatch, as the JSON reader found it.
        source: serde_json::Error,
    },
}

/// One policy's part of a record.
#[derive(Debug, Clone, Copy)]
pub struct RecordedPolicy<'a> {
    /// The policy's name. A run of cookbooks in folders has one policy without a name.
    pub name: Option<&'a str>,
    part: &'a Value,
}

impl Record {
    /// Takes the JSON of a run.
    pub fn new(json: Value) -> Self {
        Self(json)
    }

    /// Returns the whole record.
    pub fn json(&self) -> &Value {
        &self.0
    }

    /// Returns the value of a key, `null` if the record does not have it.
    fn value(&self, key: &str) -> &Value {
        self.0.get(key).unwrap_or(&Value::Null)
    }

    /// Returns the run's identifier, or `None` if the record does not name it.
    pub fn id(&self) -> Option<&str> {
        self.value("run_id").as_str()
    }

    /// Returns the node's name.
    pub fn node_name(&self) -> &str {
        text(&self.0, "node_name")
    }

    /// Tells whether the run was a dry one.
    pub fn is_dry(&self) -> bool {
        *self.value("why_run") == true
    }

    /// Returns `success`, `failure`, or `interrupted` if a signal ended the run before its time.
    pub fn outcome(&self) -> &str {
        // Older versions wrote `failure` then.
        if self.is_interrupted() { "interrupted" } else { text(&self.0, "outcome") }
    }

    /// Tells whether the run did not come to a good end.
    pub fn has_failed(&self) -> bool {
        matches!(self.outcome(), "failure" | "interrupted")
    }

    /// Tells whether the run was interrupted, by Ctrl-C or a signal.
    pub fn is_interrupted(&self) -> bool {
        self.value("interrupted") == true
    }

    /// Returns the time when the run began, in seconds since 1970.
    pub fn began(&self) -> Option<i64> {
        self.value("start_time").as_i64()
    }

    /// Keeps what a list of runs shows, the values of the run and of each policy without their lists, and drops the rest: a
    /// record may be large.
    #[must_use]
    pub fn headline(self) -> Self {
        let plain = |part: &mut Value| {
            if let Some(part) = part.as_object_mut() {
                part.retain(|key, value| key == "policies" || !(value.is_array() || value.is_object()));
            }
        };
        let Self(mut record) = self;
        record.get_mut("policies").and_then(Value::as_array_mut).into_iter().flatten().for_each(plain);
        plain(&mut record);
        Self(record)
    }

    /// Returns how long the run took, in seconds.
    pub fn seconds(&self) -> f64 {
        self.value("seconds").as_f64().unwrap_or_default()
    }

    /// Returns the number of actions of which it is not known what they would change.
    pub fn unknown(&self) -> u64 {
        self.value("unknown").as_u64().unwrap_or_default()
    }

    /// Returns `2 of 21 updated`, or of a dry run `3 would change, 2 unknown, 1 would fail (of 21)`.
    pub fn changes(&self) -> String {
        let count = |key: &str| usize::try_from(self.value(key).as_u64().unwrap_or_default()).unwrap_or(usize::MAX);
        let tally = Tally {
            updated: count("updated"),
            unknown: count("unknown"),
            failed: count("failed"),
            total: count("total"),
        };
        if self.is_dry() { would(tally) } else { format!("{} of {} updated", tally.updated, tally.total) }
    }

    /// Returns the counts of [`changes`](Self::changes) in short form, without actions that had nothing to do: `2 updated`,
    /// `3 change, 2 unknown, 1 fail`.
    pub fn changes_in_short(&self) -> String {
        let words = match self.is_dry() {
            true => [("updated", "change"), ("unknown", "unknown"), ("failed", "fail")].as_slice(),
            false => [("updated", "updated")].as_slice(),
        };
        let counts = words.iter().map(|(key, word)| (self.value(key).as_u64().unwrap_or_default(), word));
        let told = counts.filter(|(count, word)| *count > 0 || matches!(**word, "change" | "updated"));
        told.map(|(count, word)| format!("{count} {word}")).collect::<Vec<_>>().join(", ")
    }

    /// Tells whether cookbooks ran from folders. Such a run has no policies; its record has their keys at the top.
    pub fn is_of_folders(&self) -> bool {
        !self.value("policies").is_array()
    }

    /// Returns the policies in the order of the run.
    pub fn policies(&self) -> Vec<RecordedPolicy<'_>> {
        match self.value("policies").as_array() {
            Some(policies) => {
                policies.iter().map(|part| RecordedPolicy { name: Some(text(part, "name")), part }).collect()
            }
            None => vec![RecordedPolicy { name: None, part: &self.0 }],
        }
    }

    /// Returns the part of a policy that began to run.
    pub fn policy_that_ran(&self, name: &str) -> Option<RecordedPolicy<'_>> {
        self.policies().into_iter().find(|policy| policy.shown_name() == name && policy.outcome() != "not-run")
    }

    /// Returns the names of the policies that failed, in the order of the run.
    pub fn failed_policies(&self) -> Vec<&str> {
        let has_failed = |policy: &RecordedPolicy<'_>| match policy.name {
            Some(_) => policy.part["error"].is_object(),
            None => self.has_failed(),
        };
        self.policies().into_iter().filter(has_failed).map(|policy| policy.shown_name()).collect()
    }

    /// Returns the denials of the run.
    ///
    /// # Errors
    /// The list is not that of a run.
    pub fn denials(&self) -> Result<Vec<Denial>, RecordError> {
        self.list("denials")
    }

    /// Returns the recipes that the run did not compile to their end.
    ///
    /// # Errors
    /// The list is not that of a run.
    pub fn unseen_recipes(&self) -> Result<Vec<UnseenRecipe>, RecordError> {
        self.list("unseen_recipes")
    }

    /// Returns the file of grants that the run used. `None`: it needed none, or the record is of an older version.
    pub fn grants(&self) -> Option<&Path> {
        self.json()["grants"].as_str().map(Path::new)
    }

    /// Returns the grants' entries for hidden facts and attributes that the run's policies, or the named ones, read without
    /// an error.
    pub fn hidden_read_additions(&self, policies: &[String]) -> Vec<Addition> {
        let reads = self.value("hidden_reads").as_array().map(Vec::as_slice).unwrap_or_default();
        let mut by_policy: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for read in reads.iter().filter(|read| read["refused"] == false) {
            let (Some(policy), Some(line)) = (read["policy"].as_str(), read["grant"].as_str()) else { continue };
            if policies.is_empty() || policies.iter().any(|named| named == policy) {
                by_policy.entry(policy).or_default().push(line);
            }
        }
        let entries = |(policy, lines): (&str, Vec<&str>)| hidden_reads::entries(policy, lines.into_iter());
        by_policy.into_iter().flat_map(entries).collect()
    }

    fn list<T: serde::de::DeserializeOwned>(&self, key: &'static str) -> Result<Vec<T>, RecordError> {
        let Some(list) = self.0.get(key) else { return Ok(vec![]) };
        Vec::deserialize(list).map_err(|source| RecordError::Invalid { key, source })
    }

    /// Returns the entries that a policy asked for, allowed and denied, with their text in the record. Returns `None` if the
    /// record does not have the object `asked`.
    pub fn asked(&self, policy: &str) -> Option<AskedFor> {
        let nothing = Value::Null;
        // A policy without any allowed request does not have entries.
        // What was too large is left out as a whole, and then nobody knows what was asked.
        let asked = self.0.get("asked")?.as_object().filter(|_| self.value("asked_left_out") != true)?;
        let entries = asked.get(policy).unwrap_or(&nothing);
        let is_complete = entries["complete"] != false;
        let allowed = Needs::from_json(entries["entries"].as_object().cloned().unwrap_or_default());
        let mut needs: Vec<_> = allowed.ok().map(|needs| (entries["entries"].to_string(), needs)).into_iter().collect();
        let text = self.denied_needs(policy);
        needs.extend(Needs::parse(&text, "denials").ok().map(|needs| (text, needs)));
        Some(AskedFor { needs, is_complete })
    }

    /// Returns the denials of a policy as the text of a `[needs]` table.
    fn denied_needs(&self, policy: &str) -> String {
        let mut denied: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        let denials = self.value("denials").as_array().into_iter().flatten();
        for denial in denials.filter(|denial| denial["policy"] == policy) {
            if let Some((key, value)) = denial["key"].as_str().zip(denial["value"].as_str()) {
                denied.entry(key).or_default().push(value);
            }
        }
        let lines = denied.iter().map(|(key, values)| match values.as_slice() {
            ["true"] => format!("{key} = true\n"),
            values => format!("{key} = [{}]\n", values.join(", ")),
        });
        format!("[needs]\n{}", lines.collect::<String>())
    }
}

impl<'a> RecordedPolicy<'a> {
    /// Returns the policy's name, or [`FOLDERS_POLICY`] for cookbooks in folders.
    pub fn shown_name(&self) -> &'a str {
        self.name.unwrap_or(FOLDERS_POLICY)
    }

    /// Returns the policy's part of the record.
    pub fn json(&self) -> &'a Value {
        self.part
    }

    /// Returns `success`, `failure`, `interrupted` or `not-run`.
    pub fn outcome(&self) -> &'a str {
        text(self.part, "outcome")
    }

    /// Returns the actions whose turn did not come: of resources that were declared before the policy ended.
    pub fn not_begun(&self) -> impl Iterator<Item = &'a Value> {
        self.list("resources").iter().filter(|action| action["status"] == "unprocessed" && action["error"].is_null())
    }

    /// Returns the first digits of the policy's revision; empty if it does not have one.
    pub fn revision(&self) -> &'a str {
        short(&self.part["revision"])
    }

    /// Returns the first digits of its artifact's digest; empty if it does not have one.
    pub fn artifact(&self) -> &'a str {
        short(&self.part["artifact"])
    }

    /// Returns the entries of a list, such as `resources`, `writes` or `commands`.
    pub fn list(&self, key: &str) -> &'a [Value] {
        self.part[key].as_array().map(Vec::as_slice).unwrap_or_default()
    }

    /// Tells whether any action changed something, would have changed something, or failed.
    pub fn is_busy(&self) -> bool {
        self.list("resources").iter().any(|action| !QUIET.iter().any(|quiet| action["status"] == *quiet))
    }
}

/// Returns the first digits of a revision or a digest; empty if the value is not a text.
pub(crate) fn short(value: &Value) -> &str {
    let text = value.as_str().unwrap_or_default();
    text.get(..DIGITS).unwrap_or(text)
}

/// Returns the text of a key, or an empty one if the key is absent or not a text.
pub(crate) fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

/// Returns the status of a recorded action in words. The record of a dry run has the status words of a real run, so they are
/// changed for a dry run.
pub fn status(action: &Value, is_dry: bool) -> Cow<'_, str> {
    match text(action, "status") {
        "updated" if is_dry => "would change".into(),
        "failed" if is_dry => "would fail".into(),
        status => status.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn record(json: Value) -> Record {
        Record::new(json)
    }

    #[test]
    fn cookbooks_in_folders_are_one_policy_without_a_name() {
        let of_folders = record(json!({ "outcome": "failure", "resources": [{ "status": "updated" }] }));
        assert!(of_folders.is_of_folders());
        let ran = of_folders.policy_that_ran(FOLDERS_POLICY).unwrap();
        assert_eq!((ran.name, ran.shown_name(), ran.is_busy()), (None, "solo", true));
        assert!(of_folders.policy_that_ran("web").is_none());
        assert_eq!(of_folders.failed_policies(), [FOLDERS_POLICY]);
        assert!(record(json!({ "outcome": "success" })).failed_policies().is_empty());
    }

    #[test]
    fn policies_that_did_not_begin_asked_for_nothing() {
        let run = record(json!({
            "policies": [
                { "name": "a", "outcome": "failure", "error": {}, "resources": [{ "status": "skipped" }] },
                { "name": "b", "outcome": "not-run" },
            ],
        }));
        assert!(run.policy_that_ran("a").is_some_and(|policy| !policy.is_busy()));
        assert!(run.policy_that_ran("b").is_none() && run.policy_that_ran("solo").is_none());
        assert_eq!(run.failed_policies(), ["a"]);
    }

    #[test]
    fn what_a_policy_asked_for_is_what_it_was_allowed_and_denied() {
        let run = record(json!({
            "asked": { "a": { "complete": true, "entries": { "packages": ["ntp"] } }, "b": { "complete": false } },
            "denials": [
                { "policy": "a", "key": "services", "value": "\"ntp\"" },
                { "policy": "a", "key": "random", "value": "true" },
                { "policy": "b", "key": "services", "value": "\"x\"" },
            ],
        }));
        let texts: Vec<_> = run.asked("a").unwrap().needs.into_iter().map(|(text, _)| text).collect();
        assert_eq!(texts, [r#"{"packages":["ntp"]}"#, "[needs]\nrandom = true\nservices = [\"ntp\"]\n"]);
        assert!(!run.asked("b").unwrap().is_complete);
        assert!(record(json!({})).asked("a").is_none());
    }

    #[test]
    fn lists_that_no_run_wrote_are_refused_by_name() {
        let run = record(json!({ "denials": 3 }));
        assert_eq!(run.denials().unwrap_err().to_string(), "its `denials` are not those of a run");
        assert!(run.unseen_recipes().unwrap().is_empty());
    }

    #[test]
    fn a_dry_run_tells_what_it_would_have_done() {
        let run = |why_run: bool| {
            record(json!({ "why_run": why_run, "updated": 2, "unknown": 1, "failed": 0, "total": 9 })).changes()
        };
        assert_eq!((run(false), run(true)), ("2 of 9 updated".into(), "2 would change, 1 unknown (of 9)".into()));
        let short = |why_run: bool| {
            record(json!({ "why_run": why_run, "updated": 3, "unknown": 2, "failed": 1, "total": 14 }))
                .changes_in_short()
        };
        assert_eq!((short(false), short(true)), ("3 updated".into(), "3 change, 2 unknown, 1 fail".into()));
        let failed = json!({ "status": "failed" });
        assert_eq!((status(&failed, false), status(&failed, true)), ("failed".into(), "would fail".into()));
    }
}
