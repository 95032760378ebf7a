//! The policies of a node's last runs, for `wrun node show`.

use super::status::age;
use crate::printer::{Printer, Tone};
use crate::settings::Settings;
use crate::table::Table;
use assemble::Records;
use report::{Record, RecordedPolicy};
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

/// The most runs that are looked at.
const MAX_RUNS: usize = 50;

/// The keys of a record that are read.
const KEYS: [&str; 8] =
    ["run_id", "node_name", "why_run", "start_time", "outcome", "interrupted", "policies", "releases"];

/// What a run says of a policy.
struct Row {
    group: String,
    revision: String,
    artifact: String,
    outcome: String,
    began: u64,
    run: String,
}

impl Row {
    /// The group is in the record where a repository was asked, and in the saved node (`saved`) of the policies in it.
    fn of(record: &Record, policy: RecordedPolicy<'_>, saved: &Value) -> Self {
        let name = policy.name.unwrap_or_default();
        let releases = record.json().pointer("/releases/policies").and_then(Value::as_array);
        let is_its = |release: &&Value| release.get("policy").is_some_and(|policy| policy == name);
        let released = releases.into_iter().flatten().find(is_its);
        let part = released.or_else(|| saved.get("policies")?.get(name));
        let group = part.and_then(|part| part.get("group")?.as_str()).unwrap_or("no group");
        let outcome = if policy.name.is_some() { policy.outcome() } else { record.outcome() };
        Self {
            group: group.to_owned(),
            revision: policy.revision().to_owned(),
            artifact: policy.artifact().to_owned(),
            outcome: outcome.to_owned(),
            began: record.began().and_then(|began| u64::try_from(began).ok()).unwrap_or_default(),
            run: record.id().unwrap_or_default().to_owned(),
        }
    }
}

/// Returns the policies of the node's last real run, in its order. If no record can be read, these are the policies of the
/// saved node.
pub(super) fn of_last(settings: &Settings, node: &str, saved: &Value) -> Vec<String> {
    let newest = |records: Records| {
        let mut runs = records.runs().iter().take(MAX_RUNS).filter_map(|run| run.read_part(&KEYS).ok().flatten());
        let record = runs.find(|record| !record.is_dry() && record.node_name() == node)?;
        let policies = record.policies().into_iter().filter_map(|policy| policy.name.map(str::to_owned));
        Some(policies.collect())
    };
    let of_saved = || {
        let names = saved.get("policy_name").and_then(Value::as_array).into_iter().flatten();
        names.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    Records::find(&settings.run).ok().and_then(newest).unwrap_or_else(of_saved)
}

/// Prints a row for each policy that one of the node's last real runs had: its newest run. `saved` is the node as JSON.
pub(super) fn print(settings: &Settings, node: &str, saved: &Value, printer: Printer) {
    // The node is shown whether or not records can be read.
    let Ok(records) = Records::find(&settings.run) else { return };
    let mut rows: BTreeMap<String, Row> = BTreeMap::new();
    for run in records.runs().iter().take(MAX_RUNS) {
        let Ok(Some(record)) = run.read_part(&KEYS) else { continue };
        if record.is_dry() || record.node_name() != node {
            continue;
        }
        for policy in record.policies().into_iter().filter(|policy| policy.outcome() != "not-run") {
            let name = policy.shown_name().to_owned();
            rows.entry(name).or_insert_with(|| Row::of(&record, policy, saved));
        }
    }
    if rows.is_empty() {
        return;
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    printer.line(Tone::Heading, "Policies of the last runs:");
    let mut table = Table::new();
    for (name, row) in &rows {
        let tone = if row.outcome == "success" { Tone::Plain } else { Tone::Error };
        let versions = match text::versions(&row.revision, &row.artifact) {
            versions if versions.is_empty() => "cookbooks in folders".to_owned(),
            versions => versions,
        };
        let ago = format!("{} ago", age(now.saturating_sub(row.began)));
        table.row(tone, [&format!("  {name}"), &row.group, &versions, &row.outcome, &ago, &row.run]);
    }
    table.print(printer);
}
