//! `wrun run diff`: how two runs differ, in policies and in the resources that they brought about.

use super::{Runs, is_dry, policies, record, short, status, text};
use crate::arguments::DiffArguments;
use crate::exit::Exit;
use crate::printer::{Printer, Tone};
use crate::settings::View;
use report::shortened;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use text::escape_line;

/// The version of the JSON form; it grows when a key changes its meaning or goes away.
const VERSION: u32 = 1;

/// What two runs have, or do not have, under one name: the older run's, the newer run's.
type Sides<T> = (Option<T>, Option<T>);

/// An action in a run: policy, resource, action, and which of several equal ones it is.
type Key = (String, String, String, usize);

pub(super) fn run(arguments: &DiffArguments, printer: Printer) -> anyhow::Result<Exit> {
    let settings = crate::commands::settings(arguments.common.config.as_deref(), arguments.common.layer())?;
    let runs = Runs::find(&settings)?;
    let from = runs.choose(&settings, arguments.from.as_deref(), 1)?;
    let to = runs.choose(&settings, arguments.to.as_deref(), 0)?;
    let (older, newer) = (record(from)?, record(to)?);
    let (policies, actions) = (different_policies(&older, &newer), different_actions(&older, &newer));
    if arguments.format == View::Json {
        let shown = json!({
            "version": VERSION,
            "from": from.0.as_str(),
            "from_why_run": is_dry(&older),
            "to": to.0.as_str(),
            "to_why_run": is_dry(&newer),
            "policies": policies.iter().map(|(name, sides)| side_by_side(json!({ "name": name }), sides)).collect::<Vec<_>>(),
            "resources": actions.iter().map(|((policy, resource, action, _), sides)| {
                side_by_side(json!({ "policy": policy, "resource": resource, "action": action }), sides)
            }).collect::<Vec<_>>(),
        });
        printer.json(&serde_json::to_string_pretty(&shown)?);
        return Ok(Exit::Done);
    }
    // Of two runs of one kind nobody has to be told which.
    let kind = |record: &Value| match (is_dry(&older) == is_dry(&newer), is_dry(record)) {
        (true, _) => "",
        (false, true) => "  (dry run: what it would have changed)",
        (false, false) => "  (real run)",
    };
    printer.line(Tone::Heading, &format!("--- {}{}\n+++ {}{}", from.0, kind(&older), to.0, kind(&newer)));
    for (name, sides) in &policies {
        printer.line(Tone::Plain, &escape_line(&format!("policy {name}: {}", policy_arrow(sides))));
    }
    for ((policy, resource, action, _), sides) in &actions {
        let line = format!("{policy}: {resource} {action}: {}", action_arrow(sides, is_dry(&older), is_dry(&newer)));
        printer.line(Tone::Plain, &escape_line(&line));
    }
    if policies.is_empty() && actions.is_empty() {
        printer.line(Tone::Quiet, "no difference");
    }
    Ok(Exit::Done)
}

/// The policies that are not the same one, or ended in another way. Two policies are the same one if their artifact is.
fn different_policies(older: &Value, newer: &Value) -> Vec<(String, Sides<Value>)> {
    let of = |record: &Value| -> BTreeMap<String, Value> {
        let part = |policy: &Value| {
            let keys = ["revision", "artifact", "outcome"];
            keys.into_iter().map(|key| (key.to_owned(), policy[key].clone())).collect::<Value>()
        };
        policies(record).into_iter().map(|(name, policy)| (name.into_owned(), part(policy))).collect()
    };
    different(of(older), of(newer))
}

/// The actions that ended in another way, or did something else.
fn different_actions(older: &Value, newer: &Value) -> Vec<(Key, Sides<Value>)> {
    let of = |record: &Value| -> BTreeMap<Key, Value> {
        let mut found = BTreeMap::new();
        for (policy, part) in policies(record) {
            for resource in part["resources"].as_array().into_iter().flatten() {
                let name = format!("{}[{}]", text(resource, "type"), text(resource, "name"));
                let mut key = (policy.to_string(), name, text(resource, "action").into_owned(), 0);
                while found.contains_key(&key) {
                    key.3 += 1;
                }
                let keys = ["status", "updates"];
                found.insert(key, keys.into_iter().map(|key| (key.to_owned(), resource[key].clone())).collect());
            }
        }
        found
    };
    different(of(older), of(newer))
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

/// One entry of the JSON form: what it is about, and both sides.
fn side_by_side(about: Value, (from, to): &Sides<Value>) -> Value {
    let sides = [("from".to_owned(), json!(from)), ("to".to_owned(), json!(to))];
    about.as_object().cloned().unwrap_or_default().into_iter().chain(sides).collect()
}

/// The text of a side without a value.
const ABSENT: &str = "(absent)";

/// `old -> new` of a policy.
fn policy_arrow((from, to): &Sides<Value>) -> String {
    let side = |side: &Option<Value>| side.as_ref().map_or_else(|| ABSENT.to_owned(), policy_text);
    format!("{} -> {}", side(from), side(to))
}

/// `old -> new` of an action, each in the words of its run.
fn action_arrow((from, to): &Sides<Value>, from_dry: bool, to_dry: bool) -> String {
    let side = |side: &Option<Value>, dry: bool| {
        side.as_ref().map_or_else(|| ABSENT.to_owned(), |action| action_text(action, dry))
    };
    format!("{} -> {}", side(from, from_dry), side(to, to_dry))
}

fn policy_text(policy: &Value) -> String {
    let outcome = match &policy["outcome"] {
        Value::String(outcome) => outcome.as_str(),
        _ => "run",
    };
    match (short(&policy["revision"]), short(&policy["artifact"])) {
        ("", _) => outcome.to_owned(),
        (revision, artifact) => format!("{outcome}, revision {revision}, artifact {artifact}"),
    }
}

fn action_text(action: &Value, is_dry: bool) -> String {
    let updates = action["updates"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let updates = shortened(updates);
    match updates.as_slice() {
        [] => status(action, is_dry).into_owned(),
        updates => format!("{} ({})", status(action, is_dry), updates.join("; ")),
    }
}
