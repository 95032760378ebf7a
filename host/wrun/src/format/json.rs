//! The run as JSON: printed by `--format json`, kept in `STATE/runs/ID/run.json`. Stable; documented in docs/run-json.md.

use converge::{ActionRecord, PolicyOutcome, PolicyReport, RunReport};
use serde_json::{Map, Value, json};

/// The version of this shape. It grows when a key changes its meaning or goes away; new keys do not count.
const VERSION: u32 = 1;

/// What the run's JSON is made of.
pub(crate) struct Parts<'a> {
    pub(crate) report: &'a RunReport,
    /// The node's name.
    pub(crate) node: &'a str,
    /// Each failed policy's error, by policy, in the shape of [`crate::errors`].
    pub(crate) errors: &'a [(String, Value)],
    /// The log's lines.
    pub(crate) log: Value,
    /// There is a run list instead of policies: its keys stand at the top.
    pub(crate) without_policies: bool,
}

/// The whole run.
pub(crate) fn run(parts: &Parts<'_>) -> Value {
    let Parts { report, errors, .. } = parts;
    let mut shown = Map::new();
    let mut set = |key: &str, value: Value| drop(shown.insert(key.into(), value));
    set("version", json!(VERSION));
    set("run_id", json!(report.run_id));
    set("node_name", json!(parts.node));
    set("outcome", json!(if report.failure().is_some() { "failure" } else { "success" }));
    set("why_run", json!(report.why_run));
    set("start_time", json!(report.started.seconds));
    set("seconds", json!(report.seconds));
    set("updated", json!(report.updated()));
    set("total", json!(report.total()));
    set("error", json!(errors.first().map(|(_, error)| error)));
    match report.policies.as_slice() {
        [only] if parts.without_policies => shown.extend(outcome(only)),
        policies => drop(shown.insert("policies".into(), policies.iter().map(|one| policy(one, errors)).collect())),
    }
    shown.insert("log".into(), parts.log.clone());
    Value::Object(shown)
}

fn policy(report: &PolicyReport, errors: &[(String, Value)]) -> Value {
    let error = errors.iter().find(|(name, _)| *name == report.name).map(|(_, error)| error);
    let mut shown = Map::new();
    shown.insert("name".into(), json!(report.name));
    shown.insert("revision".into(), json!(report.revision));
    shown.insert("outcome".into(), json!(report.outcome.name()));
    shown.extend(outcome(report));
    if matches!(report.outcome, PolicyOutcome::Failed(_)) {
        shown.insert("error".into(), json!(error));
    }
    Value::Object(shown)
}

/// What a policy, or a run list without one, came to.
fn outcome(report: &PolicyReport) -> Map<String, Value> {
    let mut shown = Map::new();
    let mut set = |key: &str, value: Value| drop(shown.insert(key.into(), value));
    set("recipes", json!(report.recipes));
    let state = report.node.clone().unwrap_or_default();
    set("expanded_run_list", if state.recipes.is_array() { state.recipes } else { json!([]) });
    set("roles", json!(state.roles));
    set("resources", report.records.iter().map(action).collect());
    if report.compiled_only {
        set("collection", json!(report.collection));
    }
    let mut node = state.levels;
    node.insert("chef_environment".into(), json!(state.chef_environment));
    node.insert("run_list".into(), json!(state.run_list));
    set("node", Value::Object(node));
    shown
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
