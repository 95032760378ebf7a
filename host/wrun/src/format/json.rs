//! The run as JSON: printed by `--format json`, kept in `STATE/runs/ID/run.json`. Stable; documented in docs/run-json.md.

use converge::{ActionRecord, PolicyOutcome, PolicyReport, RunReport};
use serde_json::{Map, Value, json};

/// The version of this shape. It grows when a key changes its meaning or goes away; new keys do not count.
const VERSION: u32 = 1;

/// The whole run. `errors`: each failed policy's error, by policy, in the shape of [`crate::errors`].
pub(crate) fn run(report: &RunReport, node: &str, errors: &[(String, Value)]) -> Value {
    let policies: Vec<_> = report.policies.iter().map(|one| policy(one, errors)).collect();
    json!({
        "version": VERSION,
        "run_id": report.run_id,
        "node": node,
        "outcome": if report.failure().is_some() { "failure" } else { "success" },
        "why_run": report.why_run,
        "start_time": report.started.seconds,
        "seconds": report.seconds,
        "updated": report.updated(),
        "total": report.total(),
        "policies": policies,
        "error": errors.first().map(|(_, error)| error),
    })
}

fn policy(report: &PolicyReport, errors: &[(String, Value)]) -> Value {
    let error = errors.iter().find(|(name, _)| *name == report.name).map(|(_, error)| error);
    let mut shown = Map::new();
    shown.insert("name".into(), json!(report.name));
    shown.insert("revision".into(), json!(report.revision));
    shown.insert("outcome".into(), json!(report.outcome.name()));
    shown.insert("recipes".into(), json!(report.recipes));
    shown.insert("resources".into(), report.records.iter().map(action).collect());
    if let Some(levels) = &report.levels {
        shown.insert("collection".into(), json!(report.collection));
        shown.insert("levels".into(), json!(levels));
    }
    if matches!(report.outcome, PolicyOutcome::Failed(_)) {
        shown.insert("error".into(), json!(error));
    }
    Value::Object(shown)
}

/// One action. What a sensitive resource changed is not in it.
fn action(record: &ActionRecord) -> Value {
    let mut shown = Map::new();
    let mut set = |key: &str, value: Value| drop(shown.insert(key.into(), value));
    set("type", json!(record.kind));
    set("name", json!(record.name));
    set("action", json!(record.action));
    set("status", json!(record.status.name()));
    set("cookbook", json!(record.origin.cookbook));
    set("recipe", json!(record.origin.recipe));
    set("file", json!(record.origin.file));
    set("line", json!(record.origin.line));
    set("nesting", json!(record.nesting));
    set("seconds", json!(record.seconds));
    if !record.changes.is_empty() {
        set("updates", record.changes.iter().map(|change| json!(change.what)).collect());
        let diffs: Vec<_> = record.changes.iter().filter_map(|change| change.diff.as_ref()).collect();
        if !diffs.is_empty() && !record.sensitive {
            set("diffs", json!(diffs));
        }
    }
    if !record.uncertain.is_empty() {
        set("uncertain", json!(record.uncertain));
    }
    if let Some(notified) = &record.notified {
        set("notified", json!({ "timing": notified.timing.name(), "by": notified.by }));
    }
    if record.forced_why_run {
        set("forced_why_run", json!(true));
    }
    if record.retried > 0 {
        set("retried", json!(record.retried));
    }
    if let Some(conditional) = &record.conditional {
        set("conditional", json!(conditional));
    }
    if let Some(failure) = &record.failure {
        set("error", json!({ "class": failure.class(), "message": failure.to_string() }));
    }
    if record.ignored {
        set("ignored", json!(true));
    }
    if let (Some(before), Some(after)) = (&record.before, &record.after) {
        set("before", before.clone());
        set("after", after.clone());
    }
    Value::Object(shown)
}
