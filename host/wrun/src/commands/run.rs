//! `wrun run list`, `wrun run show`, `wrun run diff`: the records of earlier runs, as docs/run-json.md describes them.
//!
//! A record holds texts of guests: what is shown of it is escaped.

mod diff;
mod list;
mod show;

use crate::arguments::RunCommand;
use crate::exit::Exit;
use crate::printer::Printer;
use crate::settings::Settings;
use anyhow::{Context as _, bail};
use contract::Tally;
use report::would;
use serde_json::Value;
use state::{RunId, StateDirectory};
use std::borrow::Cow;

/// The most identifiers that an error lists.
const MAX_LISTED: usize = 5;

/// How many digits of a revision or a digest are shown.
const DIGITS: usize = 12;

pub(crate) fn run(command: RunCommand, printer: &Printer) -> anyhow::Result<Exit> {
    match command {
        RunCommand::List(arguments) => list::run(&arguments, *printer),
        RunCommand::Show(arguments) => show::run(&arguments, *printer),
        RunCommand::Diff(arguments) => diff::run(&arguments, *printer),
    }
}

/// The recorded runs that this user can read.
struct Runs(Vec<(RunId, StateDirectory)>);

impl Runs {
    /// Finds them, newest first.
    fn find(settings: &Settings) -> anyhow::Result<Self> {
        Ok(Self(super::records::all(settings)?))
    }

    /// The run that somebody means: the newest one but `back`, or the one whose identifier begins so.
    fn choose(
        &self,
        settings: &Settings,
        wanted: Option<&str>,
        back: usize,
    ) -> anyhow::Result<&(RunId, StateDirectory)> {
        let place = settings.run.state_dir.display();
        let Some(wanted) = wanted else {
            return self.0.get(back).with_context(|| match self.0.len() {
                0 => format!("no run is recorded in {place}"),
                1 => format!("only one run is recorded in {place}"),
                count => format!("only {count} runs are recorded in {place}"),
            });
        };
        let mut found = self.0.iter().filter(|(id, _)| id.as_str().starts_with(wanted));
        match (found.next(), found.next()) {
            (Some(only), None) => Ok(only),
            (Some(first), Some(second)) => {
                let ids = [first, second].into_iter().chain(found).take(MAX_LISTED).map(|(id, _)| id.as_str());
                bail!("several runs begin with {wanted:?}; say which: {}", ids.collect::<Vec<_>>().join(", "))
            }
            (None, _) => bail!("no run in {place} begins with {wanted:?}; `wrun run list` lists the runs"),
        }
    }
}

/// A run's record.
fn record((id, state): &(RunId, StateDirectory)) -> anyhow::Result<Value> {
    state.record(id)?.with_context(|| format!("run {id} left no record: it did not come to its end"))
}

/// The policies of a record. A run of cookbooks in folders has one, which the record does not name.
fn policies(record: &Value) -> Vec<(Cow<'_, str>, &Value)> {
    match record["policies"].as_array() {
        Some(policies) => policies.iter().map(|policy| (text(policy, "name"), policy)).collect(),
        None => vec![("(cookbooks in folders)".into(), record)],
    }
}

fn text<'a>(value: &'a Value, key: &str) -> Cow<'a, str> {
    value[key].as_str().unwrap_or_default().into()
}

fn number(value: &Value, key: &str) -> u64 {
    value[key].as_u64().unwrap_or_default()
}

/// The first digits of a revision or a digest.
fn short(value: &Value) -> &str {
    let text = value.as_str().unwrap_or_default();
    text.get(..DIGITS).unwrap_or(text)
}

/// `2 of 21 updated`, or of a dry run `3 would change, 2 unknown, 1 would fail (of 21)`.
fn changes(record: &Value) -> String {
    let count = |key: &str| usize::try_from(number(record, key)).unwrap_or(usize::MAX);
    let tally =
        Tally { updated: count("updated"), unknown: count("unknown"), failed: count("failed"), total: count("total") };
    if is_dry(record) { would(tally) } else { format!("{} of {} updated", tally.updated, tally.total) }
}

fn is_dry(record: &Value) -> bool {
    record["why_run"] == true
}

/// The status of an action in words. A dry run did not do anything, and its record has the words of a real one.
fn status(action: &Value, is_dry: bool) -> Cow<'_, str> {
    match &*text(action, "status") {
        "updated" if is_dry => "would change".into(),
        "failed" if is_dry => "would fail".into(),
        _ => text(action, "status"),
    }
}
