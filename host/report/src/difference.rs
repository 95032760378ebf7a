//! Compares two runs: their policies, and the actions that they took.

use crate::record::{Record, RecordedPolicy, short, status, text};
use crate::shortened;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};

/// The version of the JSON form. It grows when the meaning of a key changes or a key is removed.
const VERSION: u32 = 1;

/// The text of a side without a value.
const ABSENT: &str = "(absent)";

/// The values of both runs under one name: the older run's, then the newer run's.
type Sides<T> = (Option<T>, Option<T>);

/// An action in a run: policy, resource, action, and its place among equal ones.
type Key = (String, String, String, usize);

/// The differences between two runs.
#[derive(Debug)]
pub struct Difference<'a> {
    older: &'a Record,
    newer: &'a Record,
    policies: Vec<(String, Sides<Value>)>,
    actions: Vec<(Key, Sides<Value>)>,
}

impl<'a> Difference<'a> {
    /// Compares two runs, of which each is read from its record.
    pub fn between(older: &'a Record, newer: &'a Record) -> Self {
        let policies = different(policies(older), policies(newer));
        let actions = different(actions(older), actions(newer));
        Self { older, newer, policies, actions }
    }

    /// Tells whether the runs do not differ.
    pub fn is_empty(&self) -> bool {
        self.policies.is_empty() && self.actions.is_empty()
    }

    /// Returns a line for each difference. Texts of guests in it are not escaped.
    pub fn lines(&self) -> impl Iterator<Item = String> {
        let (from_dry, to_dry) = (self.older.is_dry(), self.newer.is_dry());
        let policies = self.policies.iter().map(|(name, sides)| format!("policy {name}: {}", policy_arrow(sides)));
        let actions = self.actions.iter().map(move |((policy, resource, action, _), sides)| {
            format!("{policy}: {resource} {action}: {}", action_arrow(sides, from_dry, to_dry))
        });
        policies.chain(actions)
    }

    /// Returns the JSON form: `{version, from, from_why_run, to, to_why_run, policies, resources}`. `from` and `to` are the
    /// runs' identifiers.
    pub fn json(&self, from: &str, to: &str) -> Value {
        json!({
            "version": VERSION,
            "from": from,
            "from_why_run": self.older.is_dry(),
            "to": to,
            "to_why_run": self.newer.is_dry(),
            "policies": self.policies.iter().map(|(name, sides)| side_by_side(json!({ "name": name }), sides)).collect::<Vec<_>>(),
            "resources": self.actions.iter().map(|((policy, resource, action, _), sides)| {
                side_by_side(json!({ "policy": policy, "resource": resource, "action": action }), sides)
            }).collect::<Vec<_>>(),
        })
    }
}

/// Returns the policies by name, with the values that are compared. Two policies are equal if their artifacts and their errors
/// are.
fn policies(record: &Record) -> BTreeMap<String, Value> {
    let keys = ["revision", "artifact", "outcome"];
    let part = |policy: &RecordedPolicy<'_>| {
        let values = keys.into_iter().map(|key| (key.to_owned(), policy.json()[key].clone()));
        values.chain(error(&policy.json()["error"]).filter(|error| !is_of_action(policy, error))).collect::<Value>()
    };
    record.policies().into_iter().map(|policy| (policy.shown_name().to_owned(), part(&policy))).collect()
}

/// Returns the message of an error as the entry `error`.
fn error(error: &Value) -> Option<(String, Value)> {
    Some(("error".to_owned(), error.get("message").filter(|message| message.is_string())?.clone()))
}

/// Tells whether the error of a policy is that of one of its actions, which shows it.
fn is_of_action(policy: &RecordedPolicy<'_>, (_, message): &(String, Value)) -> bool {
    let message = message.as_str().unwrap_or_default();
    let mut errors = policy.list("resources").iter().filter_map(|action| action.pointer("/error/message")?.as_str());
    errors.any(|error| message.ends_with(error))
}

/// Returns the actions of a run with their results and changes.
fn actions(record: &Record) -> BTreeMap<Key, Value> {
    let mut found = BTreeMap::new();
    let mut times = HashMap::new();
    for policy in record.policies() {
        for action in policy.list("resources") {
            let resource = format!("{}[{}]", text(action, "type"), text(action, "name"));
            let (policy, action_name) = (policy.shown_name().to_owned(), text(action, "action").to_owned());
            let count = times.entry((policy.clone(), resource.clone(), action_name.clone())).or_insert(0);
            let key = (policy, resource, action_name, *count);
            *count += 1;
            let values = ["status", "updates"].into_iter().map(|key| (key.to_owned(), action[key].clone()));
            found.insert(key, values.chain(error(&action["error"])).collect());
        }
    }
    found
}

fn different<K: Ord + Clone>(mut older: BTreeMap<K, Value>, newer: BTreeMap<K, Value>) -> Vec<(K, Sides<Value>)> {
    let mut all: Vec<(K, Sides<Value>)> = Vec::new();
    for (key, new) in newer {
        let old = older.remove(&key);
        if old.as_ref() != Some(&new) {
            all.push((key, (old, Some(new))));
        }
    }
    all.extend(older.into_iter().map(|(key, old)| (key, (Some(old), None))));
    all.sort_by(|(one, _), (other, _)| one.cmp(other));
    all
}

/// One entry of the JSON form: the keys that name it, and both sides.
fn side_by_side(named: Value, (from, to): &Sides<Value>) -> Value {
    let sides = [("from".to_owned(), json!(from)), ("to".to_owned(), json!(to))];
    named.as_object().cloned().unwrap_or_default().into_iter().chain(sides).collect()
}

/// Returns `old -> new` for a policy.
fn policy_arrow((from, to): &Sides<Value>) -> String {
    let side = |side: &Option<Value>| side.as_ref().map_or_else(|| ABSENT.to_owned(), policy_text);
    format!("{} -> {}", side(from), side(to))
}

/// Returns `old -> new` for an action, each in the words for its kind of run.
fn action_arrow((from, to): &Sides<Value>, from_dry: bool, to_dry: bool) -> String {
    let side = |side: &Option<Value>, dry: bool| {
        side.as_ref().map_or_else(|| ABSENT.to_owned(), |action| action_text(action, dry))
    };
    format!("{} -> {}", side(from, from_dry), side(to, to_dry))
}

fn policy_text(policy: &Value) -> String {
    let outcome = policy["outcome"].as_str().unwrap_or("run");
    let outcome = &with_error(outcome.to_owned(), policy);
    match (short(&policy["revision"]), short(&policy["artifact"])) {
        ("", _) => outcome.clone(),
        (revision, artifact) => format!("{outcome}, revision {revision}, artifact {artifact}"),
    }
}

fn action_text(action: &Value, is_dry: bool) -> String {
    let updates = action["updates"].as_array().into_iter().flatten().filter_map(Value::as_str);
    match shortened(updates).as_slice() {
        [] => with_error(status(action, is_dry).into_owned(), action),
        updates => with_error(format!("{} ({})", status(action, is_dry), updates.join("; ")), action),
    }
}

/// Adds the first line of an error.
fn with_error(text: String, of: &Value) -> String {
    match of["error"].as_str().and_then(|error| error.lines().next()) {
        Some(error) => format!("{text}: {error}"),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(revision: &str, statuses: &[&str]) -> Record {
        let action = |status: &&str| json!({ "type": "file", "name": "/a", "action": "create", "status": status });
        let actions: Vec<_> = statuses.iter().map(action).collect();
        Record::new(json!({
            "policies": [{ "name": "web", "revision": revision, "artifact": "d", "outcome": "success", "resources": actions }],
        }))
    }

    #[test]
    fn policies_and_actions_that_differ_are_told_side_by_side() {
        let (older, newer) = (run("1", &["updated", "updated"]), run("2", &["updated", "failed", "skipped"]));
        assert!(Difference::between(&older, &older).is_empty());
        let difference = Difference::between(&older, &newer);
        let expect = [
            "policy web: success, revision 1, artifact d -> success, revision 2, artifact d",
            "web: file[/a] create: updated -> failed",
            "web: file[/a] create: (absent) -> skipped",
        ];
        assert_eq!(difference.lines().collect::<Vec<_>>(), expect);
        let shown = difference.json("A", "B");
        assert_eq!((&shown["from"], &shown["resources"][1]["from"]), (&json!("A"), &Value::Null));
        assert_eq!(shown["resources"][1]["to"]["status"], "skipped");
    }

    #[test]
    fn attack_many_equal_actions_are_compared_one_by_one() {
        let many = run("1", &["updated"; 50_000]);
        assert!(Difference::between(&many, &many).is_empty());
    }

    #[test]
    fn errors_that_differ_are_told_once() {
        let failed = |of_policy: &str, of_action: Option<&str>| {
            let error = of_action.map(|message| json!({ "message": message }));
            let action =
                json!({ "type": "file", "name": "/a", "action": "create", "status": "failed", "error": error });
            let error = json!({ "message": of_policy });
            let policy = json!({ "name": "web", "outcome": "failure", "error": error, "resources": [action] });
            Record::new(json!({ "policies": [policy] }))
        };
        let lines = |older: &Record, newer: &Record| Difference::between(older, newer).lines().collect::<Vec<_>>();
        let (one, two) =
            (failed("file[/a]: no disk", Some("no disk")), failed("file[/a]: denied\nmore", Some("denied\nmore")));
        assert!(lines(&one, &one).is_empty());
        assert_eq!(lines(&one, &two), ["web: file[/a] create: failed: no disk -> failed: denied"]);
        let (one, two) = (failed("undefined a", None), failed("undefined b", None));
        assert_eq!(lines(&one, &two), ["policy web: failure: undefined a -> failure: undefined b"]);
        assert_eq!(Difference::between(&one, &two).json("A", "B")["policies"][0]["to"]["error"], "undefined b");
    }
}
