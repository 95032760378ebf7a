//! `wrun run list`.

use super::{Runs, changes, is_dry, number, policies, text};
use crate::arguments::ListArguments;
use crate::exit::Exit;
use crate::printer::{Printer, Tone};
use crate::settings::View;
use serde_json::{Map, Value, json};
use text::escape_line;

/// The version of the JSON form; it grows when a key changes its meaning or goes away.
const VERSION: u32 = 1;

/// Keys of a record that the list has too.
const KEYS: [&str; 7] = ["outcome", "why_run", "start_time", "seconds", "updated", "unknown", "total"];

pub(super) fn run(arguments: &ListArguments, printer: Printer) -> anyhow::Result<Exit> {
    let settings = crate::commands::settings(arguments.common.config.as_deref(), arguments.common.layer())?;
    let runs = Runs::find(&settings)?;
    let mut listed = Vec::new();
    for (id, state) in runs.0.iter().take(arguments.limit) {
        // A damaged record must not hide the others.
        let record = state.record(id).map_err(|error| text::error_chain(&error));
        listed.push((id.as_str(), record));
    }
    if arguments.format == View::Json {
        let runs: Vec<_> = listed.iter().map(|(id, record)| as_json(id, record)).collect();
        printer.json(&serde_json::to_string_pretty(&json!({ "version": VERSION, "runs": runs }))?);
        return Ok(Exit::Done);
    }
    let known: Vec<&Value> = listed.iter().filter_map(|(_, read)| read.as_ref().ok()?.as_ref()).collect();
    let widest = |text: fn(&Value) -> String| known.iter().map(|record| text(record).chars().count()).max();
    let widths = (widest(outcome).unwrap_or(0), widest(changes).unwrap_or(0));
    for (id, record) in &listed {
        let (tone, line) = line(id, record, widths);
        printer.line(tone, &escape_line(&line));
    }
    let hidden = runs.0.len().saturating_sub(listed.len());
    if listed.is_empty() {
        printer.note(Tone::Quiet, &format!("no run is recorded in {}", settings.run.state_dir.display()));
    } else if hidden > 0 {
        printer.note(Tone::Quiet, &format!("{hidden} older runs are not listed; list them with --limit"));
    }
    Ok(Exit::Done)
}

type Read = Result<Option<Value>, String>;

/// `success`, or `dry run, success`.
fn outcome(record: &Value) -> String {
    let dry = if is_dry(record) { "dry run, " } else { "" };
    format!("{dry}{}", text(record, "outcome"))
}

/// A run's line; `widths` are those of the columns of outcomes and of changes.
fn line(id: &str, record: &Read, widths: (usize, usize)) -> (Tone, String) {
    match record {
        Ok(Some(record)) => {
            let outcome = outcome(record);
            let (first, second) = widths;
            let seconds = record["seconds"].as_f64().unwrap_or_default();
            let names: Vec<_> = policies(record).into_iter().map(|(name, _)| name).collect();
            let what = changes(record);
            let tone = if record["outcome"] == "failure" { Tone::Error } else { Tone::Plain };
            (tone, format!("{id}  {outcome:first$}  {seconds:5.2} s  {what:second$}  {}", names.join(", ")))
        }
        Ok(None) => (Tone::Warning, format!("{id}  no record: the run did not come to its end")),
        Err(error) => (Tone::Warning, format!("{id}  {error}")),
    }
}

fn as_json(id: &str, record: &Read) -> Value {
    let mut shown = Map::from_iter([("run_id".to_owned(), json!(id))]);
    match record {
        Ok(Some(record)) => {
            shown.extend(KEYS.iter().map(|key| ((*key).to_owned(), record[*key].clone())));
            // Records of older versions do not count it.
            shown.insert("unknown".into(), json!(number(record, "unknown")));
            let policies = policies(record).into_iter().filter(|_| record["policies"].is_array());
            let policy = |(name, policy): (_, &Value)| json!({ "name": name, "outcome": policy["outcome"] });
            shown.insert("policies".into(), policies.map(policy).collect());
        }
        Ok(None) => drop(shown.insert("outcome".into(), Value::Null)),
        Err(error) => drop(shown.insert("error".into(), json!(error))),
    }
    Value::Object(shown)
}
