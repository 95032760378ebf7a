//! The JSON form of all errors: `{version, policy, class, message, backtrace[], origin, resource?, excerpt?, hint?,
//! causes[]}`, in the run's JSON and in `STATE/runs/ID/error.json`.

mod excerpt;
mod unplaced;

use crate::json::bounded_error;
use contract::{ActionRecord, CookbookFiles, ErrorKind, Failure, Place};
use converge::{PolicyOutcome, PolicyReport, RunReport};
use errors::chef;
use node::origin::Origin;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The version of this shape.
pub const VERSION: u32 = 1;

/// Selects the frames of a backtrace that are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Frames {
    /// Those that have a file and a line.
    WithPlaces,
    /// All frames, for debugging.
    All,
}

/// Returns the error of each policy of a run that failed, by policy. `files` has the policies' sources, for excerpts.
pub fn of_run(
    report: &RunReport,
    files: &BTreeMap<String, Arc<dyn CookbookFiles>>,
    frames: Frames,
) -> Vec<(String, Value)> {
    let failed = report.policies.iter().filter_map(|policy| match &policy.outcome {
        PolicyOutcome::Failed(failure) => Some((policy, failure)),
        _ => None,
    });
    failed
        .map(|(policy, failure)| {
            let files = files.get(&policy.name).map(AsRef::as_ref);
            (policy.name.clone(), json(policy, failure, files, frames))
        })
        .collect()
}

/// Returns a policy's failure as JSON. The excerpt comes from the source in the artifact, if it has one.
pub fn json(
    report: &PolicyReport,
    failure: &Failure,
    files: Option<&dyn CookbookFiles>,
    frames_shown: Frames,
) -> Value {
    // The failure of a recipe that ended early is not the failure of an action, even if actions that a dry run examines
    // afterwards fail too. The run may have added a hint to it.
    let is_of_recipe = report.ended_recipes.iter().any(|ended| is_same(&ended.failure, failure));
    // A dry run also examines a policy that a real run would not start.
    let is_of_policy = *failure.kind() == ErrorKind::NotStarted;
    let record = innermost(&report.records).filter(|_| !is_of_recipe && !is_of_policy);
    let origin = record.map(|record| Origin::clone(&record.origin));
    let raised = || place(failure).map(|place| with_recipe(place, failure));
    let origin = origin.or_else(raised).or_else(|| recipe(failure)).unwrap_or_default();
    let calls = files.map(|files| unplaced::calls(failure, &origin, files)).unwrap_or_default();
    let hints = failure.hint().map(str::to_owned).into_iter().chain(unplaced::hint(&calls)).collect::<Vec<_>>();
    let hint = (!hints.is_empty()).then(|| hints.join("\n"));
    let called = match calls.as_slice() {
        [only] => Some(only.clone()),
        _ => None,
    };
    let origin = if let (Some(called), None) = (&called, origin.line) { called.clone() } else { origin };
    // The place that raised the error is more useful than the declaration of the resource. Sources around sensitive resources
    // are not shown, because they may contain the secret.
    let shown = files.filter(|_| !record.is_some_and(|record| record.sensitive));
    let sensitive: Vec<_> = report.records.iter().filter(|record| record.sensitive).map(|one| &*one.origin).collect();
    let excerpt = shown.and_then(|files| {
        let raised = place(failure).or(called).and_then(|place| excerpt::around(&place, files, &sensitive));
        raised.or_else(|| excerpt::around(&origin, files, &sensitive))
    });
    let causes: Vec<_> = match failure {
        Failure::Many(all) => causes(all, report, frames_shown),
        _ => vec![],
    };
    bounded_error(json!({
        "version": VERSION,
        "policy": report.name,
        "class": failure.class(),
        "message": failure.to_string(),
        "backtrace": frames(failure, frames_shown),
        "origin": origin_json(&report.name, &origin),
        "resource": record.map(resource_json),
        "excerpt": excerpt.map(|excerpt| json!({ "file": excerpt.file, "line": excerpt.line, "lines": excerpt.lines })),
        "hint": hint,
        "causes": causes,
    }))
}

/// Returns the reason why a run did not begin, as JSON.
pub fn not_begun(message: &str, causes: &[String]) -> Value {
    let class = chef::class(&ErrorKind::NotBegun);
    let cause = |message: &String| json!({ "class": class, "message": message });
    json!({
        "version": VERSION,
        "policy": null,
        "class": class,
        "message": message,
        "backtrace": [],
        "origin": null,
        "causes": causes.iter().map(cause).collect::<Vec<_>>(),
    })
}

/// Prefix of places in Rust's own libraries.
const STANDARD_LIBRARY: &str = "/rustc/";

fn origin_json(policy: &str, origin: &Origin) -> Value {
    json!({
        "policy": policy,
        "cookbook": origin.cookbook,
        "recipe": origin.recipe,
        "file": origin.file,
        "line": origin.line,
    })
}

fn resource_json(record: &ActionRecord) -> Value {
    json!({ "type": &*record.kind, "name": record.name, "action": record.action })
}

/// Returns each of several failures, with the action that it ended.
fn causes(all: &[(Place, Failure)], report: &PolicyReport, frames_shown: Frames) -> Vec<Value> {
    let mut rest = report.records.as_slice();
    let each = all.iter().map(|(phase, failure)| {
        let ended = |record: &ActionRecord| {
            !record.ignored && record.failure.as_ref().is_some_and(|other| is_same(other, failure))
        };
        let record = rest.iter().position(ended).and_then(|at| {
            let (_, from) = rest.split_at_checked(at)?;
            rest = from.get(1..)?;
            innermost(from)
        });
        let origin = record.map(|record| Origin::clone(&record.origin)).or_else(|| place(failure)).unwrap_or_default();
        json!({
            "class": failure.class(),
            "message": failure.to_string(),
            "in": phase.to_string(),
            "backtrace": frames(failure, frames_shown),
            "origin": origin_json(&report.name, &origin),
            "resource": record.map(resource_json),
            "hint": failure.hint(),
        })
    });
    each.collect()
}

/// Tells whether two failures are the same, ignoring the resources that each has passed through.
fn is_same(one: &Failure, other: &Failure) -> bool {
    match (one, other) {
        (Failure::Raised(one), Failure::Raised(other)) => (&one.kind, &one.message) == (&other.kind, &other.message),
        _ => one == other,
    }
}

/// The frames of a failure. Frames without a file and a line do not help an author.
fn frames(failure: &Failure, shown: Frames) -> Vec<&String> {
    let all = shown == Frames::All;
    failure
        .backtrace()
        .iter()
        .filter(|frame| all || !(frame.starts_with("wasm: in ") || frame.starts_with(STANDARD_LIBRARY)))
        .collect()
}

/// Returns the first failed action, or the innermost action inside it that made it fail. A dry run goes on after a failure,
/// so later actions may have errors of their own.
fn innermost(records: &[ActionRecord]) -> Option<&ActionRecord> {
    let actions = records.iter().map(|record| (record.nesting, record.failure.is_some() && !record.ignored));
    records.get(innermost_failed(actions)?)
}

/// Returns the index of that action among actions in the order in which they began. Each is given by its nesting depth and
/// whether it failed.
fn innermost_failed(actions: impl Iterator<Item = (u32, bool)>) -> Option<usize> {
    let mut rest = actions.enumerate().skip_while(|(_, (_, has_failed))| !has_failed);
    let (mut found, (mut depth, _)) = rest.next()?;
    for (at, (nesting, has_failed)) in rest {
        if nesting <= depth {
            break;
        }
        if has_failed {
            (found, depth) = (at, nesting);
        }
    }
    Some(found)
}

/// Returns the first place of a backtrace: `COOKBOOK_FOLDER/../FILE:LINE: in NAME`.
pub fn place(failure: &Failure) -> Option<Origin> {
    // Frames of the standard library are skipped: they occur when it calls a function that was passed to it.
    place_of(failure.backtrace().iter().find(|frame| !frame.starts_with(STANDARD_LIBRARY))?)
}

/// All places of a backtrace in cookbooks, innermost first.
pub fn places(failure: &Failure) -> Vec<Origin> {
    let frames = failure.backtrace().iter().filter(|frame| !frame.starts_with(STANDARD_LIBRARY));
    frames.filter_map(|frame| place_of(frame)).collect()
}

/// The place of one frame of a backtrace.
fn place_of(frame: &str) -> Option<Origin> {
    let mut parts = frame.splitn(3, ':');
    let (file, line) = (parts.next()?, parts.next()?.trim().parse().ok()?);
    let inside = file.strip_prefix("cookbooks/").unwrap_or(file);
    let (cookbook, file) = inside.split_once('/')?;
    // The Rust SDK writes the recipe here; Ruby writes a block or a method.
    let name = parts.next().and_then(|rest| rest.trim().strip_prefix("in "));
    let recipe = name.and_then(|name| name.strip_prefix(cookbook)?.strip_prefix("::"));
    Some(Origin {
        cookbook: Some(cookbook.into()),
        recipe: recipe.map(Into::into),
        file: Some(file.into()),
        line: Some(line),
        ..Origin::default()
    })
}

/// Adds the recipe that was being compiled to a place in a crashed guest.
fn with_recipe(place: Origin, failure: &Failure) -> Origin {
    match recipe(failure) {
        Some(known) if place.recipe.is_none() && known.cookbook == place.cookbook => {
            Origin { recipe: known.recipe, ..place }
        }
        _ => place,
    }
}

/// Returns the recipe that was being compiled when the guest crashed.
fn recipe(failure: &Failure) -> Option<Origin> {
    let Failure::GuestLost(lost) = failure else { return None };
    let (cookbook, recipe) = lost.recipe.as_ref()?.name.split_once("::")?;
    Some(Origin { cookbook: Some(cookbook.into()), recipe: Some(recipe.into()), ..Origin::default() })
}

#[cfg(test)]
mod tests {
    use super::{innermost_failed, place};
    use contract::{ErrorKind, Failure, Raised};

    #[test]
    fn the_place_of_an_error_is_never_in_rusts_own_libraries() {
        let raised = |frames: &[&str]| {
            let backtrace = frames.iter().map(|frame| (*frame).to_owned()).collect();
            Failure::from(Raised { backtrace, ..Raised::new(ErrorKind::Denied, "no") })
        };
        let library = "/rustc/59/library/core/src/ops/function.rs:250: in ?";
        let found = place(&raised(&[library, "redis/src/recipes.rs:9: in redis::default"])).unwrap();
        assert_eq!(
            (found.cookbook.as_deref(), found.file.as_deref(), found.line),
            (Some("redis"), Some("src/recipes.rs"), Some(9))
        );
        assert!(place(&raised(&[library])).is_none());
    }

    #[test]
    fn an_error_belongs_to_the_first_action_that_failed() {
        let found = |actions: &[(u32, bool)]| innermost_failed(actions.iter().copied());
        assert_eq!(found(&[(0, false), (1, false)]), None);
        assert_eq!(found(&[(0, false), (0, true), (1, false), (1, true), (2, true)]), Some(4));
        // A dry run goes on after a failure: a later and deeper failure is not the cause of the first one.
        assert_eq!(found(&[(0, true), (1, true), (1, true), (2, true), (0, true), (1, true)]), Some(1));
        assert_eq!(found(&[(0, true), (0, true), (1, true)]), Some(0));
    }
}
