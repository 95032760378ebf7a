//! `wrun run show`.

mod denials;

use crate::arguments::ShowRunArguments;
use crate::exit::Exit;
use crate::printer::{Printer, Tone};
use crate::settings::{Settings, View};
use assemble::{Records, RunState, Started};
use grants::Denial;
use report::{Record, RecordedPolicy, hidden_reads, recap, sentence, shortened, status};
use serde_json::{Value, json};
use text::{counted, escape, escape_line};

pub(super) fn run(arguments: &ShowRunArguments, printer: Printer) -> anyhow::Result<Exit> {
    let settings = crate::commands::settings(arguments.common.config.as_deref(), arguments.common.layer())?;
    let records = Records::find(&settings.run)?;
    let run = records.choose(arguments.run.as_deref(), 0)?;
    let (started, word) = match run.state()? {
        RunState::Finished(record) => return finished(&record, arguments, &settings, printer),
        RunState::Running(started) => (started, "running"),
        RunState::Died(started) => (started, "died"),
    };
    unfinished(run.id.as_str(), started.as_ref(), word, arguments.format, printer)
}

/// Shows a run that is under way, or whose process died: what it noted when it began.
fn unfinished(id: &str, started: Option<&Started>, word: &str, format: View, printer: Printer) -> anyhow::Result<Exit> {
    if format == View::Json {
        let known = started.map_or_else(|| json!({ "run_id": id, "outcome": word }), |started| started.json(word));
        printer.json(&serde_json::to_string_pretty(&known)?);
        return Ok(Exit::Done);
    }
    let node = started.map(|started| format!(" on {}", started.node_name)).unwrap_or_default();
    printer.line(Tone::Heading, &escape_line(&format!("Run {id}{node}")));
    let began = started.map(|started| (started, jiff::Timestamp::from_second(started.start_time).unwrap_or_default()));
    let process = began.map(|(started, began)| format!("process {}, began {began}: {}", started.pid, started.command));
    let process = process.map(|process| format!(": {process}")).unwrap_or_default();
    let tone = if word == "died" { Tone::Error } else { Tone::Plain };
    printer.prose(tone, &escape_line(&format!("  {word}{process}")));
    if let Some(started) = started {
        printer.prose(Tone::Plain, &escape_line(&format!("  policies: {}", started.shown_policies())));
    }
    let note = match word {
        "died" => {
            "the process was killed or the machine lost its power, so nothing else is recorded; the next run does what is left to do"
        }
        _ => "the run is recorded when it ends",
    };
    printer.note(Tone::Quiet, note);
    Ok(Exit::Done)
}

/// Shows a run that left its record.
fn finished(
    record: &Record,
    arguments: &ShowRunArguments,
    settings: &Settings,
    printer: Printer,
) -> anyhow::Result<Exit> {
    if arguments.format == View::Json {
        printer.json(&serde_json::to_string_pretty(record.json())?);
        return Ok(Exit::Done);
    }
    heading(record, printer);
    let denied = denials::of(record);
    for policy in record.policies() {
        let of_this: Vec<_> = denied.iter().filter(|denial| denial.policy == policy.shown_name()).collect();
        of_policy(policy, &record.json()["releases"], &of_this, record.is_dry(), arguments.all, printer);
        if record.is_interrupted() && !arguments.all {
            not_begun(policy, printer);
        }
    }
    hidden_reads::recorded_blocks(record.json()).into_iter().for_each(|block| printer.block(block));
    denials::block(record, &denied, settings, arguments).into_iter().for_each(|block| printer.block(block));
    conflicts(record.json(), printer);
    Ok(Exit::Done)
}

/// The statuses of actions that are shown without `--all`.
const BUSY: [&str; 4] = ["updated", "unknown", "failed", "interrupted"];

/// The most actions that are listed of those whose turn did not come.
const MAX_NOT_BEGUN: usize = 20;

fn heading(record: &Record, printer: Printer) {
    let dry = if record.is_dry() { " (dry run)" } else { "" };
    let (id, node) = (record.id().unwrap_or_default(), record.node_name());
    printer.line(Tone::Heading, &escape_line(&format!("Run {id} on {node}{dry}")));
    let began = record.began().and_then(|seconds| jiff::Timestamp::from_second(seconds).ok());
    let began = began.map(|moment| moment.to_string()).unwrap_or_default();
    let so_far = if record.is_interrupted() { ", of those declared so far" } else { "" };
    let (outcome, what, seconds) = (record.outcome(), record.changes() + so_far, record.seconds());
    let tone = if record.has_failed() { Tone::Error } else { Tone::Plain };
    printer.prose(tone, &escape_line(&format!("  {outcome}: {what}, began {began}, took {seconds:.2} s")));
}

/// Returns the text about the signature of a policy's artifact. `releases`: the record's data about the repository, or `null`
/// without a repository.
fn signature(releases: &Value, policy: &str) -> String {
    let releases = releases["policies"].as_array().map_or(&[][..], Vec::as_slice);
    match releases.iter().find(|release| release["policy"] == policy) {
        Some(release) => format!("signed by team {}", text(release, "team")),
        None => "not signed".to_owned(),
    }
}

fn of_policy(
    policy: RecordedPolicy<'_>,
    releases: &Value,
    denied: &[&Denial],
    is_dry: bool,
    all: bool,
    printer: Printer,
) {
    let (name, outcome) = (policy.shown_name(), policy.outcome());
    if outcome == "not-run" {
        printer.prose(Tone::Warning, &escape_line(&format!("Policy {name}: did not run")));
        return;
    }
    let (revision, artifact) = (policy.revision(), policy.artifact());
    let versions = match text::versions(revision, artifact) {
        versions if versions.is_empty() => versions,
        versions if artifact.is_empty() => format!(" ({versions})"),
        versions => {
            let name = policy.json()["name"].as_str().unwrap_or_default();
            format!(" ({versions}, {})", signature(releases, name))
        }
    };
    printer.prose(Tone::Heading, &escape_line(&format!("Policy {name}: {outcome}{versions}")));
    let is_shown = |resource: &&Value| all || BUSY.iter().any(|status| resource["status"] == *status);
    let error = &policy.json()["error"];
    for resource in policy.list("resources").iter().filter(is_shown) {
        of_resource(resource, error, is_dry, printer);
    }
    for write in policy.list("writes") {
        let (mark, what) = (format!("{:12}", "by code"), text(write, "what"));
        printer.prose(Tone::Change, &escape_line(&format!("  {mark}  {what}{}", place(write))));
    }
    let is_own = |command: &&Value| command["resource"].is_null() && command["effect"] != "looked";
    for command in policy.list("commands").iter().filter(is_own) {
        let (mark, line) = (format!("{:12}", "by code"), text(command, "command"));
        let end = if command["effect"] == "unknown" { ": not known what it changes" } else { "" };
        printer.prose(Tone::Change, &escape_line(&format!("  {mark}  run {line}{end}{}", place(command))));
    }
    if denied.iter().any(|denial| denial.is_told_in(text(error, "message"))) {
        // The block of denials has the sentence, the place and the cure.
        printer.prose(Tone::Error, "  denied, see below");
    } else if error.is_object() {
        of_error(error, policy.list("resources"), printer);
        if let Some(hint) = error["hint"].as_str() {
            printer.prose(Tone::Warning, &escape(&format!("  hint: {}", hint.replace('\n', "\n    "))));
        }
    }
}

/// The resources of an interrupted policy whose turn did not come.
fn not_begun(policy: RecordedPolicy<'_>, printer: Printer) {
    for resource in policy.not_begun().take(MAX_NOT_BEGUN) {
        let (kind, name, action) = (text(resource, "type"), text(resource, "name"), text(resource, "action"));
        let line = format!("  {:12}  {kind}[{name}] {action}{}", "did not run", place(resource));
        printer.line(Tone::Warning, &escape_line(&line));
    }
    let more = policy.not_begun().count().saturating_sub(MAX_NOT_BEGUN);
    if more > 0 {
        printer.line(Tone::Warning, &format!("  {} more did not run; --all lists them", counted(more, "action")));
    }
}

/// Prints the conflicts between policies.
fn conflicts(run: &Value, printer: Printer) {
    let conflicts = run["conflicts"].as_array().map_or(&[][..], Vec::as_slice);
    if conflicts.is_empty() {
        return;
    }
    printer.line(Tone::Warning, "Wanted differently by several policies; the later one has the last word:");
    for conflict in conflicts {
        let aspects = conflict["aspects"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let aspects = aspects.collect::<Vec<_>>().join(", ");
        let thing = format!("  {} {} ({aspects})", text(conflict, "kind"), text(conflict, "name"));
        printer.prose(Tone::Plain, &escape_line(&thing));
        for one in ["earlier", "later"].map(|which| &conflict[which]) {
            let who = format!("    {}  {} {}", text(one, "policy"), text(one, "resource"), text(one, "action"));
            printer.prose(Tone::Quiet, &escape_line(&format!("{who}{}", place(one))));
        }
    }
}

/// Prints an error with its place. For several errors at once, it prints each one. It omits errors of failed resources, which
/// are already shown above.
fn of_error(error: &Value, resources: &[Value], printer: Printer) {
    let causes = error["causes"].as_array().filter(|causes| causes.len() > 1);
    let each = causes.map_or_else(|| std::slice::from_ref(error), Vec::as_slice);
    if causes.is_some() {
        printer.line(Tone::Error, &format!("  {} errors:", each.len()));
    }
    let is_above =
        |place: &str| resources.iter().any(|one| one["status"] == "failed" && place_of(one).as_deref() == Some(place));
    let file = ["/excerpt/file", "/origin/file"].into_iter().find_map(|path| error.pointer(path)?.as_str());
    for one in each {
        let phase = one["in"].as_str().filter(|phase| *phase != "converge").map(|phase| format!(" in a {phase}"));
        let sentence = sentence::of_recorded(text(one, "class"), text(one, "message"), file);
        let (first, rest) = sentence.split_once('\n').unwrap_or((&sentence, ""));
        let place = place_of(&one["origin"]);
        let untold = place.filter(|place| !is_above(place) && !recap::names_place(&sentence, place));
        let place = untold.map(|place| in_parentheses(&place)).unwrap_or_default();
        let heading = format!("  error{}: {first}{place}", phase.unwrap_or_default());
        printer.prose(Tone::Error, &escape_line(&heading));
        rest.lines().for_each(|line| printer.prose(Tone::Plain, &escape_line(&format!("    | {line}"))));
    }
}

/// Returns the place of a resource, a change, or an error.
fn place_of(of: &Value) -> Option<String> {
    let (file, line) = (of["file"].as_str()?, of["line"].as_u64()?);
    // The path of another cookbook's file begins with `../`.
    let path = file.strip_prefix("../").map_or_else(|| format!("{}/{file}", text(of, "cookbook")), str::to_owned);
    Some(format!("{path}:{line}"))
}

/// Returns the place as the end of a line, or an empty text.
fn place(of: &Value) -> String {
    place_of(of).map(|place| in_parentheses(&place)).unwrap_or_default()
}

fn in_parentheses(place: &str) -> String {
    format!("  ({place})")
}

/// Prints a resource with its changes. Its error is omitted if the policy's error, which follows, contains the same text.
fn of_resource(resource: &Value, of_policy: &Value, is_dry: bool, printer: Printer) {
    let place = place(resource);
    let tone = match text(resource, "status") {
        "updated" => Tone::Change,
        "failed" => Tone::Error,
        "unknown" => Tone::Warning,
        _ => Tone::Quiet,
    };
    let status = status(resource, is_dry);
    let margin = "  ".repeat(usize::try_from(resource["nesting"].as_u64().unwrap_or_default().min(50)).unwrap_or(0));
    let (kind, name, action) = (text(resource, "type"), text(resource, "name"), text(resource, "action"));
    let since =
        resource.pointer("/notified/due_since").and_then(Value::as_str).map(|since| format!(", due since run {since}"));
    let since = since.unwrap_or_default();
    printer.line(tone, &escape_line(&format!("  {margin}{status:12}  {kind}[{name}] {action}{since}{place}")));
    let texts = |key: &str| resource[key].as_array().into_iter().flatten().filter_map(Value::as_str);
    let updates = shortened(texts("updates")).into_iter().map(|what| ("-", what));
    for (mark, what) in updates.chain(texts("uncertain").map(|what| ("?", what.to_owned()))) {
        printer.prose(Tone::Plain, &escape_line(&format!("  {margin}              {mark} {what}")));
    }
    let causes = of_policy["causes"].as_array().into_iter().flatten();
    let errors: Vec<_> = std::iter::once(of_policy).chain(causes).map(|error| text(error, "message")).collect();
    let is_told = |message: &&str| errors.iter().any(|told| told.ends_with(message));
    let error = &resource["error"];
    if let Some(message) = error["message"].as_str().filter(|message| !is_told(message)) {
        let first = message.lines().next().unwrap_or_default();
        printer.prose(Tone::Plain, &escape_line(&format!("  {margin}              ! {first}")));
    }
}

/// Returns the text of a key, or an empty text.
fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}
