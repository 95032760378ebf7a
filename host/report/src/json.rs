//! Writes a run as JSON, for `--format json` and `STATE/runs/ID/run.json`. The form is stable and documented in
//! docs/run-json.md.

mod bounds;

pub(crate) use bounds::bounded_error;

use crate::paused::Paused;
use crate::unseen::UnseenRecipe;
use bounds::{ASKED, ESCAPED, Fitting, LIST, NODE, RESOURCES, serialize_whole};
use contract::{
    ActionRecord, Claimant, Conflict, Fingerprint, GuestCommand, GuestWrite, HiddenRead, ValueChange, dotted_path,
};
use converge::{PolicyOutcome, PolicyReport, RunReport, SharedCookbook};
use grants::{Denial, Journal};
use node::origin::Origin;
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

/// The version of this shape. It grows when the meaning of a key changes or a key is removed, but not for new keys.
const VERSION: u32 = 1;

/// The parts of the run's JSON.
pub struct Parts<'a> {
    pub report: &'a RunReport,
    /// The name of the node that was converged.
    pub node: &'a str,
    /// Each failed policy's error, by policy, in the shape of [`crate::error`].
    pub errors: &'a [(String, Value)],
    /// The denials of all policies, as many as are kept.
    pub denials: &'a [Denial],
    /// How many more things were denied.
    pub denials_left_out: usize,
    /// The recipes that a dry run did not compile to their end.
    pub unseen: &'a [UnseenRecipe],
    /// What the policies asked of their grants.
    pub asked: Value,
    /// The layers of environment files, in order.
    pub layers: &'a Value,
    /// The signed releases that the policies were taken from, or `null`.
    pub releases: &'a Value,
    /// The absolute path of the file of grants. `None` if the run needed none.
    pub grants: Option<&'a Path>,
    /// The pause of the agent during the run, if there is one.
    pub paused: Option<Paused>,
    /// The earlier run that makes this one unnecessary, if this one was skipped: `run_id`, `age` in seconds.
    pub skipped: Option<Value>,
    /// The lines of the log, in order.
    pub log: Value,
    /// Whether the run has a run list instead of policies: then its keys are at the top level.
    pub without_policies: bool,
    /// Seconds that were spent on compiling native code, before the run or during it.
    pub compile_seconds: f64,
    /// Whether later runs find the compiled native code. It is not kept without a usable cache folder.
    pub compiled_is_kept: bool,
}

/// Returns what the policies asked of their grants, by policy.
pub fn asked(journal: &Journal) -> Value {
    let asked = journal.asked().into_iter();
    asked
        .map(|(policy, entries, complete)| (policy, json!({ "complete": complete, "entries": entries })))
        .collect::<Map<_, _>>()
        .into()
}

/// Returns the record of a survey: which policies were looked at, and what each asked for.
pub fn survey(parts: &Parts<'_>, journal: &Journal) -> Value {
    let policies = parts.report.policies.iter().map(|policy| {
        json!({
            "name": policy.name,
            "revision": policy.revision,
            "artifact": policy.artifact,
            "outcome": policy.outcome.name(),
        })
    });
    let mut record = Map::from_iter([
        ("version".to_owned(), json!(VERSION)),
        ("run_id".to_owned(), json!(parts.report.run_id)),
        ("node_name".to_owned(), json!(parts.node)),
        ("why_run".to_owned(), json!(true)),
        ("survey".to_owned(), json!(true)),
        ("start_time".to_owned(), json!(parts.report.started.seconds)),
        ("asked".to_owned(), asked(journal)),
    ]);
    if !parts.without_policies {
        record.insert("policies".into(), policies.collect());
    }
    Value::Object(record)
}

/// The whole run. It is serialized piece by piece, so that a run with thousands of actions does not exist a second time in
/// memory.
pub struct Run<'a>(pub &'a Parts<'a>);

impl Serialize for Run<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Parts { report, node, errors, denials, denials_left_out, unseen, asked, log, without_policies, .. } =
            self.0;
        let (compile_seconds, layers) = (&self.0.compile_seconds, self.0.layers);
        let mut shown = serializer.serialize_map(None)?;
        shown.serialize_entry("version", &VERSION)?;
        shown.serialize_entry("run_id", &report.run_id)?;
        shown.serialize_entry("node_name", node)?;
        shown.serialize_entry("outcome", report.outcome())?;
        shown.serialize_entry("interrupted", &report.is_interrupted())?;
        shown.serialize_entry("why_run", &report.why_run)?;
        shown.serialize_entry("start_time", &report.started.seconds)?;
        shown.serialize_entry("seconds", &report.seconds)?;
        shown.serialize_entry("compile_seconds", compile_seconds)?;
        let tally = report.tally();
        shown.serialize_entry("updated", &tally.updated)?;
        shown.serialize_entry("unknown", &tally.unknown)?;
        shown.serialize_entry("failed", &tally.failed)?;
        shown.serialize_entry("total", &tally.total)?;
        shown.serialize_entry("error", &errors.first().map(|(_, error)| error))?;
        shown.serialize_entry("layers", layers)?;
        shown.serialize_entry("releases", self.0.releases)?;
        shown.serialize_entry("grants", &self.0.grants)?;
        shown.serialize_entry("skipped", &self.0.skipped)?;
        shown.serialize_entry("paused", &self.0.paused.as_ref().map(|paused| &paused.json))?;
        match report.policies.as_slice() {
            [only] if *without_policies => outcome(only, &mut shown)?,
            policies => {
                let policies: Vec<_> = policies
                    .iter()
                    .map(|one| Policy { report: one, outcome: report.outcome_of(one), errors })
                    .collect();
                shown.serialize_entry("policies", &policies)?;
            }
        }
        let conflicts = Fitting::of(report.conflicts.iter().map(conflict), LIST).without(report.conflicts_left_out);
        conflicts.serialize_entry("conflicts", &mut shown)?;
        Fitting::of(report.shared_cookbooks.iter().map(notice), LIST).serialize_entry("notices", &mut shown)?;
        Fitting::of(hidden_reads(report), LIST).serialize_entry("hidden_reads", &mut shown)?;
        shown.serialize_entry("denials", denials)?;
        if *denials_left_out > 0 {
            shown.serialize_entry("denials_left_out", denials_left_out)?;
        }
        if !unseen.is_empty() {
            Fitting::of(*unseen, LIST).serialize_entry("unseen_recipes", &mut shown)?;
        }
        serialize_whole("asked", asked, ASKED, &mut shown)?;
        shown.serialize_entry("log", log)?;
        shown.end()
    }
}

struct Policy<'a> {
    report: &'a PolicyReport,
    outcome: &'static str,
    errors: &'a [(String, Value)],
}

impl Serialize for Policy<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { report, outcome: word, errors } = self;
        let mut shown = serializer.serialize_map(None)?;
        shown.serialize_entry("name", &report.name)?;
        shown.serialize_entry("revision", &report.revision)?;
        shown.serialize_entry("artifact", &report.artifact)?;
        shown.serialize_entry("outcome", word)?;
        shown.serialize_entry("seconds", &report.seconds)?;
        outcome(report, &mut shown)?;
        if matches!(report.outcome, PolicyOutcome::Failed(_)) {
            let error = errors.iter().find(|(name, _)| *name == report.name).map(|(_, error)| error);
            shown.serialize_entry("error", &error)?;
        }
        shown.end()
    }
}

/// Two policies that want one thing differently.
fn conflict(conflict: &Conflict) -> Value {
    let claimant = |one: &Claimant| {
        let claim = json!({ "policy": one.policy, "resource": one.resource, "action": one.action });
        with(claim, place(&one.origin))
    };
    json!({
        "kind": conflict.identity.kind,
        "name": conflict.identity.name,
        "aspects": conflict.aspects,
        "earlier": claimant(&conflict.earlier),
        "later": claimant(&conflict.later),
    })
}

/// Returns a notice for the operator that is not an error.
fn notice(shared: &SharedCookbook) -> Value {
    json!({ "kind": "shared-cookbook", "cookbook": shared.cookbook, "policies": shared.policies })
}

/// Writes the outcome of a policy, or of a run list without a policy.
fn outcome<M: SerializeMap>(report: &PolicyReport, shown: &mut M) -> Result<(), M::Error> {
    shown.serialize_entry("recipes", &report.recipes)?;
    let state = report.node.clone().unwrap_or_default();
    let recipes = if state.recipes.is_array() { &state.recipes } else { &json!([]) };
    shown.serialize_entry("expanded_run_list", recipes)?;
    shown.serialize_entry("roles", &state.roles)?;
    let actions = report.records.iter().map(Action);
    Fitting::of_known(actions, RESOURCES, Action::at_most).serialize_entry("resources", shown)?;
    Fitting::of(report.writes.iter().map(write), LIST).serialize_entry("writes", shown)?;
    Fitting::of(report.commands.iter().map(command), LIST).serialize_entry("commands", shown)?;
    if report.compiled_only {
        Fitting::of(&report.collection, RESOURCES).serialize_entry("collection", shown)?;
    }
    shown.serialize_entry("limits", &limits(report))?;
    Fitting::of(paths(&report.reads.facts), LIST).serialize_entry("facts_read", shown)?;
    Fitting::of(paths(&report.reads.attributes), LIST).serialize_entry("attributes_read", shown)?;
    Fitting::of(paths(&report.reads.written), LIST).serialize_entry("attributes_written", shown)?;
    let mut node = state.levels;
    node.insert("chef_environment".into(), json!(state.chef_environment));
    node.insert("run_list".into(), json!(state.run_list));
    serialize_whole("node", &Value::Object(node), NODE, shown)
}

/// Returns a change that guest code made itself, without a resource.
fn write(write: &GuestWrite) -> Value {
    let GuestWrite { path, what, origin, resource, times } = write;
    with(json!({ "path": path, "what": what }), by_code(origin, resource.as_deref(), *times))
}

/// Returns a command that guest code ran itself, without a resource.
fn command(ran: &GuestCommand) -> Value {
    let GuestCommand { command, effect, origin, resource, times } = ran;
    with(json!({ "command": command, "effect": effect.name() }), by_code(origin, resource.as_deref(), *times))
}

/// Returns the guest code that made a change or ran a command itself: its place, the resource whose action ran, and the
/// number of repetitions.
fn by_code(origin: &Origin, resource: Option<&str>, times: u32) -> Value {
    with(place(origin), json!({ "resource": resource, "times": times }))
}

/// The place of guest code.
fn place(origin: &Origin) -> Value {
    json!({ "cookbook": origin.cookbook, "recipe": origin.recipe, "file": origin.file, "line": origin.line })
}

/// Appends the keys of another object.
fn with(mut object: Value, more: Value) -> Value {
    if let (Some(object), Value::Object(more)) = (object.as_object_mut(), more) {
        object.extend(more);
    }
    object
}

/// Returns a policy's use of its limits, under the names of the limits in the grants.
fn limits(report: &PolicyReport) -> Value {
    let (usage, limits) = (report.account.usage(), report.account.limits());
    let mebibytes = |bytes: u64| rounded(bytes as f64 / f64::from(1 << 20));
    let seconds = |time: Duration| rounded(time.as_secs_f64());
    json!({
        "host_memory_mib": { "used": mebibytes(usage.host_memory_peak), "limit": mebibytes(limits.host_memory) },
        "host_seconds": { "used": seconds(usage.host_time), "limit": seconds(limits.host_time) },
        "disk_mib": { "used": mebibytes(usage.disk), "limit": mebibytes(limits.disk) },
        "entries": { "used": usage.entries, "limit": limits.entries },
        "open_files": { "used": usage.open_files, "limit": limits.open_files },
        "processes": { "used": usage.processes, "limit": limits.processes },
        "accounts": { "used": usage.accounts, "limit": limits.accounts },
        "pause_seconds": { "used": seconds(usage.pauses), "limit": seconds(limits.pauses) },
        "wall_seconds": { "used": rounded(report.seconds), "limit": seconds(limits.wall) },
    })
}

/// A number with three places behind the point.
fn rounded(number: f64) -> f64 {
    (number * 1000.0).round() / 1000.0
}

/// Paths as rules of the grants have them.
fn paths(paths: &BTreeSet<Vec<String>>) -> Vec<String> {
    paths.iter().map(|path| dotted_path(path)).collect()
}

/// Returns the reads of hidden facts and attributes by all policies of the run, as one list without values.
fn hidden_reads(report: &RunReport) -> Vec<Value> {
    let of = |policy: &PolicyReport| -> Vec<Value> {
        policy.reads.hidden.iter().map(|read| hidden_read(&policy.name, read)).collect()
    };
    report.policies.iter().flat_map(of).collect()
}

/// One read of what a policy may not see.
pub fn hidden_read(policy: &str, read: &HiddenRead) -> Value {
    json!({
        "policy": policy,
        "kind": read.kind.name(),
        "owner": read.kind.owner(),
        "path": read.shown(),
        "partly": read.partly,
        "refused": read.refused,
        "origin": with(json!({ "policy": read.origin.policy }), place(&read.origin)),
        "grant": read.grant,
    })
}

/// One action. It does not contain the changes of a sensitive resource.
struct Action<'a>(&'a ActionRecord);

/// The bytes of an action's keys, numbers and white space, at most.
const ACTION: u64 = 512;

impl Action<'_> {
    /// Returns the largest size, in bytes, of an action that changed nothing. Returns `None` for other actions, whose size
    /// has to be measured.
    fn at_most(&self) -> Option<u64> {
        let record = self.0;
        let says_more = !record.changes.is_empty()
            || !record.uncertain.is_empty()
            || record.notified.is_some()
            || record.conditional.is_some()
            || record.failure.is_some()
            || record.before.is_some();
        if says_more {
            return None;
        }
        let origin = &record.origin;
        let texts = [&origin.cookbook, &origin.recipe, &origin.file].into_iter().flatten().map(String::len);
        let bytes = record.kind.len() + record.name.len() + record.action.len() + texts.sum::<usize>();
        Some(ACTION + ESCAPED * bytes as u64)
    }
}

impl Serialize for Action<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let record = self.0;
        let mut shown = serializer.serialize_map(None)?;
        shown.serialize_entry("type", &*record.kind)?;
        shown.serialize_entry("name", &record.name)?;
        shown.serialize_entry("action", &record.action)?;
        shown.serialize_entry("status", record.status.name())?;
        shown.serialize_entry("cookbook", &record.origin.cookbook)?;
        shown.serialize_entry("recipe", &record.origin.recipe)?;
        shown.serialize_entry("file", &record.origin.file)?;
        shown.serialize_entry("line", &record.origin.line)?;
        shown.serialize_entry("nesting", &record.nesting)?;
        shown.serialize_entry("seconds", &record.seconds)?;
        changes(record, &mut shown)?;
        if !record.uncertain.is_empty() {
            shown.serialize_entry("uncertain", &record.uncertain)?;
        }
        if let Some(notified) = &record.notified {
            let mut shown_notified = json!({ "timing": notified.timing.name(), "by": notified.by });
            if let (Some(since), Some(object)) = (&notified.since, shown_notified.as_object_mut()) {
                object.insert("due_since".into(), since.as_str().into());
            }
            shown.serialize_entry("notified", &shown_notified)?;
        }
        if record.forced_why_run {
            shown.serialize_entry("forced_why_run", &true)?;
        }
        if record.retried > 0 {
            shown.serialize_entry("retried", &record.retried)?;
        }
        if let Some(conditional) = &record.conditional {
            shown.serialize_entry("conditional", conditional)?;
        }
        if let Some(failure) = &record.failure {
            let error = json!({ "class": failure.class(), "message": failure.to_string() });
            shown.serialize_entry("error", &error)?;
        }
        if record.ignored {
            shown.serialize_entry("ignored", &true)?;
        }
        if let (Some(before), Some(after)) = (&record.before, &record.after) {
            shown.serialize_entry("before", before)?;
            shown.serialize_entry("after", after)?;
        }
        shown.end()
    }
}

fn changes<M: SerializeMap>(record: &ActionRecord, shown: &mut M) -> Result<(), M::Error> {
    if record.changes.is_empty() {
        return Ok(());
    }
    let updates: Vec<_> = record.changes.iter().map(|change| &change.what).collect();
    shown.serialize_entry("updates", &updates)?;
    if record.sensitive {
        return Ok(());
    }
    let diffs: Vec<_> = record.changes.iter().filter_map(|change| change.diff.as_ref()).collect();
    if !diffs.is_empty() {
        shown.serialize_entry("diffs", &diffs)?;
    }
    let values: Vec<_> = record.changes.iter().flat_map(|change| &change.values).map(value_change).collect();
    if !values.is_empty() {
        shown.serialize_entry("values", &values)?;
    }
    let fingerprints = record.changes.iter().filter_map(|change| change.planned_against.as_ref());
    let fingerprints: Vec<_> = fingerprints.map(Fingerprint::text).collect();
    if fingerprints.is_empty() { Ok(()) } else { shown.serialize_entry("planned_against", &fingerprints) }
}

/// A value before and after a change.
fn value_change(change: &ValueChange) -> Value {
    let ValueChange { of, aspect, before, after } = change;
    let mut shown = json!({ "aspect": aspect, "before": before, "after": after });
    if let (Some(of), Some(object)) = (of, shown.as_object_mut()) {
        object.insert("of".into(), of.as_str().into());
    }
    shown
}
