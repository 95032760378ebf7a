//! `wrun run list`.

use crate::arguments::ListArguments;
use crate::exit::Exit;
use crate::printer::{Printer, Tone};
use crate::settings::View;
use crate::table::Table;
use crate::terminal;
use assemble::Records;
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
    let listed: Vec<(&str, Read)> =
        runs.map(|run| (run.id.as_str(), run.read().map_err(|error| text::error_chain(&error)))).collect();
    let running = records.running()?;
    let unseen = records.hidden();
    if let Some(sentence) = &unseen {
        printer.note(Tone::Warning, &format!("warning: {sentence}"));
    }
    if arguments.format == View::Json {
        let running = running.iter().map(running_as_json);
        let runs: Vec<_> = running.chain(listed.iter().map(|(id, record)| as_json(id, record))).collect();
        printer.json(&serde_json::to_string_pretty(&json!({ "version": VERSION, "runs": runs }))?);
        return Ok(Exit::Done);
    }
    let mut table = Table::new().with_numbers(&SECONDS);
    let now = running.as_ref();
    now.iter().for_each(|holder| add_running(holder, true, &mut table));
    listed.iter().for_each(|(id, record)| add(id, record, &mut table));
    if !table.fits(terminal::columns()) {
        table = short(now, &listed, true);
        if !table.fits(terminal::columns()) {
            table = short(now, &listed, false);
        }
    }
    table.print(printer);
    let hidden = records.runs().len().saturating_sub(listed.len());
    if listed.is_empty() && running.is_none() && unseen.is_none() {
        printer.note(Tone::Quiet, &format!("no run is recorded in {}", settings.run.state_dir.display()));
    } else if hidden > 0 {
        let (them, are) = if hidden == 1 { ("it", "is") } else { ("them", "are") };
        let text = format!("{} {are} not listed; list {them} with --limit", counted(hidden, "older run"));
        printer.note(Tone::Quiet, &text);
    }
    Ok(Exit::Done)
}

type Read = Result<Option<Record>, String>;

/// Returns `success`, `failure`, `interrupted`, or for example `dry run, success`.
fn outcome(record: &Record) -> String {
    let dry = if record.is_dry() { "dry run, " } else { "" };
    format!("{dry}{}", record.outcome())
}

/// The column with the seconds, which is aligned right.
const SECONDS: [usize; 1] = [2];

/// Adds a run's row. The reason for a missing record is longer than a column, but it is the last cell and moves no other
/// cells.
fn add(id: &str, record: &Read, table: &mut Table) {
    match record {
        Ok(Some(record)) => {
            let tone = if record.has_failed() { Tone::Error } else { Tone::Plain };
            let names: Vec<_> = record.policies().iter().map(|policy| policy.shown_name()).collect();
            let seconds = format!("{:.2} s", record.seconds());
            table.row(tone, [id, &outcome(record), &seconds, &record.changes(), &names.join(", ")]);
        }
        Ok(None) => table.row(Tone::Warning, [id, "no record: the run did not come to its end"]),
        Err(error) => table.row(Tone::Warning, [id, error]),
    }
}

/// Adds the row of the run that goes on now. It has no record yet.
fn add_running(holder: &Holder, has_seconds: bool, table: &mut Table) {
    let (id, process) = (holder.run.as_deref().unwrap_or_default(), format!("process {}", holder.pid));
    match has_seconds {
        true => table.row(Tone::Plain, [id, "running", "", &process]),
        false => table.row(Tone::Plain, [id, "running", &process]),
    }
}

/// Returns a short form of the table, for narrow terminals. Without `with_names`, several policies are shown as their number.
fn short(running: Option<&Holder>, listed: &[(&str, Read)], with_names: bool) -> Table {
    let mut table = Table::new();
    running.iter().for_each(|holder| add_running(holder, false, &mut table));
    listed.iter().for_each(|(id, record)| add_short(id, record, with_names, &mut table));
    table
}

fn add_short(id: &str, record: &Read, with_names: bool, table: &mut Table) {
    let Ok(Some(record)) = record else { return add(id, record, table) };
    let tone = if record.has_failed() { Tone::Error } else { Tone::Plain };
    let outcome = match (record.is_interrupted(), record.has_failed()) {
        (true, _) => "interrupted",
        (false, true) => "failed",
        (false, false) => "ok",
    };
    let outcome = if record.is_dry() { format!("dry {outcome}") } else { outcome.to_owned() };
    let policies = record.policies();
    let names = match policies.as_slice() {
        [only] => only.shown_name().to_owned(),
        all if with_names => all.iter().map(|policy| policy.shown_name()).collect::<Vec<_>>().join(", "),
        all => counted(all.len(), "policy"),
    };
    table.row(tone, [id, &outcome, &record.changes_in_short(), &names]);
}

fn running_as_json(holder: &Holder) -> Value {
    json!({ "run_id": holder.run, "outcome": null, "running": true, "pid": holder.pid, "began": holder.began })
}

fn as_json(id: &str, record: &Read) -> Value {
    let mut shown = Map::from_iter([("run_id".to_owned(), json!(id))]);
    match record {
        Ok(Some(record)) => {
            shown.extend(KEYS.iter().map(|key| ((*key).to_owned(), record.json()[*key].clone())));
            shown.insert("outcome".into(), json!(record.outcome()));
            // Records of older versions have no such key.
            shown.insert("unknown".into(), json!(record.unknown()));
            let policies = record.policies().into_iter().filter(|_| !record.is_of_folders());
            let policies = policies.map(|one| json!({ "name": one.name, "outcome": one.json()["outcome"] }));
            shown.insert("policies".into(), policies.collect());
        }
        Ok(None) => drop(shown.insert("outcome".into(), Value::Null)),
        Err(error) => drop(shown.insert("error".into(), json!(error))),
    }
    Value::Object(shown)
}
