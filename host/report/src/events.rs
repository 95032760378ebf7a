//! Events of a run as JSON, one object each. The form is stable and documented in docs/events.md.

use crate::json::hidden_read;
use contract::{Event, Failure, HiddenRead, LogLevel, LogSource, Resource, Tally};
use node::origin::Origin;
use serde_json::{Value, json};

/// The version of these objects. It grows when the meaning of a key changes or a key is removed, but not for new keys and
/// events.
pub const VERSION: u32 = 1;

/// Returns an event as JSON. Returns `None` if the event is not part of the stream.
pub fn as_json(event: &Event<'_>) -> Option<Value> {
    let (name, mut shown) = match event {
        Event::RunStarted { run_id, node, policies, why_run } => {
            let about = json!({ "run_id": run_id, "node_name": node, "policies": policies, "why_run": why_run });
            ("run_started", about)
        }
        Event::PolicyStarted { policy, revision, artifact, recipes, cookbooks } => {
            let cookbook = |(name, version): &(String, String)| json!({ "name": name, "version": version });
            let cookbooks: Vec<_> = cookbooks.iter().map(cookbook).collect();
            let versions = json!({ "policy": policy, "revision": revision, "artifact": artifact });
            ("policy_started", with(versions, json!({ "recipes": recipes, "cookbooks": cookbooks })))
        }
        Event::RecipeStarted { recipe } => ("recipe_started", json!({ "recipe": recipe })),
        Event::CompileFinished { resources } => ("compile_finished", json!({ "resources": resources })),
        Event::ActionStarted { resource, action, nesting, notified, .. } => {
            let notified = notified.map(|notified| json!({ "by": notified.by, "timing": notified.timing.name() }));
            ("action_started", with(of_action(resource, action, *nesting), json!({ "notified": notified })))
        }
        Event::Changed { resource, change, why_run, nesting, code } => {
            let diff = change.diff.as_ref().filter(|_| !resource.declaration.sensitive);
            let changed = json!({ "what": change.what, "diff": diff, "why_run": why_run, "code": code.map(place) });
            ("changed", with(of_resource(resource, *nesting), changed))
        }
        Event::Written { write, why_run } => {
            let written = json!({ "path": write.path, "what": write.what, "why_run": why_run });
            ("written", with(written, place(&write.origin)))
        }
        Event::Ran { command } => {
            let ran = json!({ "command": command.command, "effect": command.effect.name() });
            ("ran", with(ran, place(&command.origin)))
        }
        Event::Output { bytes } => ("output", json!({ "text": String::from_utf8_lossy(bytes) })),
        Event::Assumed { resource, what, nesting } => {
            ("assumed", with(of_resource(resource, *nesting), json!({ "what": what })))
        }
        Event::Retrying { resource, action, left, failure, nesting, .. } => {
            let again = json!({ "left": left, "error": error(failure) });
            ("retrying", with(of_action(resource, action, *nesting), again))
        }
        Event::ActionFinished { resource, action, status, conditional, failure, ignored, nesting, .. } => {
            let ended = json!({
                "status": status.name(),
                "conditional": conditional,
                "error": failure.map(error),
                "ignored": ignored,
            });
            ("action_finished", with(of_action(resource, action, *nesting), ended))
        }
        Event::HandlersStarted { policy } => ("handlers_started", json!({ "policy": policy })),
        Event::Log { policy, source, level, line } if *level >= LogLevel::Info => {
            ("log", logged(*policy, source_name(*source), *level, line))
        }
        Event::Printed { policy, level, line } if *level >= LogLevel::Info => {
            ("log", logged(Some(policy), PRINTED, *level, line))
        }
        Event::PolicyFinished { policy, tally } => {
            ("policy_finished", with(json!({ "policy": policy }), counts(tally)))
        }
        Event::PolicyFailed { policy, failure } => {
            ("policy_failed", json!({ "policy": policy, "error": error(failure) }))
        }
        Event::HandlerFailed { policy, handler, failure } => {
            ("handler_failed", json!({ "policy": policy, "handler": handler, "error": error(failure) }))
        }
        Event::HiddenReads { policy, reads } => {
            let read = |read: &HiddenRead| hidden_read(policy, read);
            ("hidden_reads", json!({ "policy": policy, "reads": reads.iter().map(read).collect::<Vec<_>>() }))
        }
        Event::RunFinished { outcome, tally, seconds, .. } => {
            ("run_finished", with(json!({ "outcome": outcome, "seconds": seconds }), counts(tally)))
        }
        Event::Log { .. }
        | Event::Printed { .. }
        | Event::AttributeChanged { .. }
        | Event::PolicyLoaded { .. }
        | Event::RecipeCompiled { .. }
        | Event::ConvergeStarted
        | Event::ActionCompleted { .. }
        | Event::ConvergeFinished { .. }
        | Event::PolicyStatus { .. } => return None,
    };
    let mut event = json!({ "version": VERSION, "event": name });
    event = with(event, shown.take());
    Some(event)
}

/// The source of the lines that a policy's code prints.
pub(crate) const PRINTED: &str = "printed";

/// Returns the name of a log line's source.
pub(crate) fn source_name(source: LogSource) -> &'static str {
    match source {
        LogSource::Cookbook => "resource",
        LogSource::Host => "logger",
    }
}

/// Returns a line of the log. `policy` is the policy that the line is about, or `None` for the run as a whole.
pub(crate) fn logged(policy: Option<&str>, source: &str, level: LogLevel, line: &str) -> Value {
    json!({ "policy": policy, "source": source, "level": level.name(), "message": line })
}

fn place(origin: &Origin) -> Value {
    json!({ "cookbook": origin.cookbook, "recipe": origin.recipe, "file": origin.file, "line": origin.line })
}

/// Merges the keys of two objects.
fn with(mut one: Value, other: Value) -> Value {
    if let (Value::Object(one), Value::Object(other)) = (&mut one, other) {
        one.extend(other);
    }
    one
}

fn of_resource(resource: &Resource, nesting: u32) -> Value {
    let (declaration, origin) = (&resource.declaration, &resource.declaration.origin);
    json!({
        "type": &*resource.kind,
        "name": declaration.name,
        "cookbook": origin.cookbook,
        "recipe": origin.recipe,
        "file": origin.file,
        "line": origin.line,
        "nesting": nesting,
    })
}

fn of_action(resource: &Resource, action: &str, nesting: u32) -> Value {
    with(of_resource(resource, nesting), json!({ "action": action }))
}

fn error(failure: &Failure) -> Value {
    json!({ "class": failure.class(), "message": failure.to_string(), "hint": failure.hint() })
}

fn counts(tally: &Tally) -> Value {
    let Tally { updated, unknown, failed, total } = tally;
    json!({ "updated": updated, "unknown": unknown, "failed": failed, "total": total })
}
