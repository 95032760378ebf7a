//! `wrun run list`.

use crate::arguments::ListArguments;
use crate::exit::Exit;
use crate::printer::{Printer, Tone};
use crate::settings::View;
use crate::table::Table;
use crate::terminal;
use assemble::{RecordedRun, Records, RunState, Started};
use report::Record;
use serde_json::{Map, Value, json};
use state::Holder;
use text::counted;

/// The version of the JSON output. It grows when the meaning of a key changes or a key is removed.
const VERSION: u32 = 1;

/// Keys of a record that are copied to the list.
const KEYS: [&str; 7] = ["outcome", "why_run", "start_time", "seconds", "updated", "unknown", "total"];

pub(super) fn run(arguments: &ListArguments, printer: Printer) -> anyhow::Result<Exit> {
    let settings = crate::commands::settings(arguments.common.config.as_deref(), arguments.common.layer())?;
    let records = Records::find(&settings.run)?;
    // A damaged record must not hide the others.
    let runs = records.runs().iter().take(arguments.limit);
    // Only what the list shows is kept of each record: all of them together may be larger than the memory.
    let headline = |state| match state {
        RunState::Finished(record) => RunState::Finished(Box::new(record.headline())),
        other => other,
    };
    let read = |run: &RecordedRun| run.state().map(headline).map_err(|error| text::error_chain(&error));
    let listed: Vec<(&str, Read)> = runs.map(|run| (run.id.as_str(), read(run))).collect();
    // A run has its folder a moment after it has the lock.
    let is_listed = |holder: &Holder| records.runs().iter().any(|run| holder.run.as_deref() == Some(run.id.as_str()));
    let beginning = records.running()?.filter(|holder| !is_listed(holder));
    let unseen = records.hidden();
    if let Some(sentence) = &unseen {
        printer.note(Tone::Warning, &format!("warning: {sentence}"));
    }
    if arguments.format == View::Json {
        let beginning = beginning.iter().map(beginning_as_json);
        let runs: Vec<_> = beginning.chain(listed.iter().map(|(id, state)| as_json(id, state))).collect();
        printer.json(&serde_json::to_string_pretty(&json!({ "version": VERSION, "runs": runs }))?);
        return Ok(Exit::Done);
    }
    let forms = [Form::Long, Form::Short, Form::Shortest];
    let mut tables = forms.into_iter().map(|form| table(beginning.as_ref(), &listed, form));
    let last = table(beginning.as_ref(), &listed, Form::Shortest);
    tables.find(|table| table.fits(terminal::columns())).unwrap_or(last).print(printer);
    let hidden = records.runs().len().saturating_sub(listed.len());
    if listed.is_empty() && beginning.is_none() && unseen.is_none() {
        printer.note(Tone::Quiet, &format!("no run is recorded in {}", settings.run.state_dir.display()));
    } else if hidden > 0 {
        let (them, are) = if hidden == 1 { ("it", "is") } else { ("them", "are") };
        let text = format!("{} {are} not listed; list {them} with --limit", counted(hidden, "older run"));
        printer.note(Tone::Quiet, &text);
    }
    Ok(Exit::Done)
}

type Read = Result<RunState, String>;

/// How much the table shows of each run. Narrow terminals get a shorter form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// All that the list knows of a run.
    Long,
    /// No seconds, and short words.
    Short,
    /// Also the number of policies in place of several names.
    Shortest,
}

/// The column with the seconds, which is aligned right.
const SECONDS: [usize; 1] = [2];

fn table(beginning: Option<&Holder>, listed: &[(&str, Read)], form: Form) -> Table {
    let mut table = Table::new().straight();
    if form == Form::Long {
        table = table.with_numbers(&SECONDS);
    }
    if let Some(holder) = beginning {
        let process = format!("process {}", holder.pid);
        add_unfinished(holder.run.as_deref().unwrap_or_default(), "running", &process, "", form, &mut table);
    }
    for (id, state) in listed {
        match state {
            Ok(RunState::Finished(record)) => add(id, record, form, &mut table),
            Ok(RunState::Running(started)) => add_started(id, "running", started.as_ref(), form, &mut table),
            Ok(RunState::Died(started)) => add_started(id, "died", started.as_ref(), form, &mut table),
            // The reason is longer than a column, but it is the last cell and moves no other cells.
            Err(error) => table.row(Tone::Warning, [*id, error]),
        }
    }
    table
}

/// Adds the row of a run with a record.
fn add(id: &str, record: &Record, form: Form, table: &mut Table) {
    let tone = if record.has_failed() { Tone::Error } else { Tone::Plain };
    let policies = record.policies();
    let names = || policies.iter().map(|policy| policy.shown_name()).collect::<Vec<_>>().join(", ");
    if form == Form::Long {
        // For example `success` or `dry run, failure`.
        let outcome = format!("{}{}", if record.is_dry() { "dry run, " } else { "" }, record.outcome());
        let seconds = format!("{:.2} s", record.seconds());
        table.row(tone, [id, &outcome, &seconds, &record.changes(), &names()]);
        return;
    }
    let outcome = match (record.is_interrupted(), record.has_failed()) {
        (true, _) => "interrupted",
        (false, true) => "failed",
        (false, false) => "ok",
    };
    let outcome = if record.is_dry() { format!("dry {outcome}") } else { outcome.to_owned() };
    let names = match policies.len() {
        count if count > 1 && form == Form::Shortest => counted(count, "policy"),
        _ => names(),
    };
    table.row(tone, [id, &outcome, &record.changes_in_short(), &names]);
}

/// Adds the row of a run that has left a note instead of a record.
fn add_started(id: &str, word: &str, started: Option<&Started>, form: Form, table: &mut Table) {
    let process = started.map(|started| format!("process {}", started.pid)).unwrap_or_default();
    let names = match started.and_then(|started| started.policies.as_deref()) {
        Some(names) if names.len() > 1 && form == Form::Shortest => counted(names.len(), "policy"),
        _ => started.map(Started::shown_policies).unwrap_or_default(),
    };
    add_unfinished(id, word, &process, &names, form, table);
}

fn add_unfinished(id: &str, word: &str, process: &str, names: &str, form: Form, table: &mut Table) {
    let tone = if word == "died" { Tone::Error } else { Tone::Plain };
    match form {
        Form::Long => table.row(tone, [id, word, "", process, names]),
        Form::Short | Form::Shortest => table.row(tone, [id, word, process, names]),
    }
}

/// Returns a run that has the lock and has not left a note yet.
fn beginning_as_json(holder: &Holder) -> Value {
    json!({ "run_id": holder.run, "outcome": "running", "running": true, "pid": holder.pid, "began": holder.began })
}

fn as_json(id: &str, state: &Read) -> Value {
    let mut shown = Map::from_iter([("run_id".to_owned(), json!(id))]);
    match state {
        Ok(RunState::Finished(record)) => {
            shown.extend(KEYS.iter().map(|key| ((*key).to_owned(), record.json()[*key].clone())));
            shown.insert("outcome".into(), json!(record.outcome()));
            // Records of older versions have no such key.
            shown.insert("unknown".into(), json!(record.unknown()));
            let policies = record.policies().into_iter().filter(|_| !record.is_of_folders());
            let policies = policies.map(|one| json!({ "name": one.name, "outcome": one.json()["outcome"] }));
            shown.insert("policies".into(), policies.collect());
        }
        Ok(RunState::Running(started)) => add_to_json("running", started.as_ref(), &mut shown),
        Ok(RunState::Died(started)) => add_to_json("died", started.as_ref(), &mut shown),
        Err(error) => drop(shown.insert("error".into(), json!(error))),
    }
    Value::Object(shown)
}

/// Adds the keys of a run that has left a note instead of a record.
fn add_to_json(outcome: &str, started: Option<&Started>, shown: &mut Map<String, Value>) {
    shown.insert("outcome".into(), json!(outcome));
    shown.insert("running".into(), json!(outcome == "running"));
    let Some(started) = started else { return };
    let policies = started.policies.iter().flatten().map(|name| json!({ "name": name }));
    let began = jiff::Timestamp::from_second(started.start_time).map(|began| began.to_string());
    shown.insert("start_time".into(), json!(started.start_time));
    shown.insert("pid".into(), json!(started.pid));
    shown.insert("began".into(), json!(began.ok()));
    shown.insert("policies".into(), policies.collect());
}
