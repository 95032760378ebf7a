//! `wrun node status`: shows the last run of each node.

use super::super::store::Place;
use crate::arguments::StoredNode;
use crate::exit::Exit;
use crate::printer::{Printer, Tone};
use crate::settings::View;
use crate::table::Table;
use assemble::{NodeStore as _, Records};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};
use text::escape_line;

/// The version of the JSON output. It grows when the meaning of a key changes or a key is removed.
const VERSION: u32 = 1;

/// The data from the record of a node's last run.
struct LastRun {
    id: String,
    began: u64,
    outcome: String,
    has_failed: bool,
}

/// The column with the ages, which is aligned right.
const AGES: [usize; 1] = [1];

pub(super) fn show(node: &StoredNode, format: View, printer: Printer) -> anyhow::Result<Exit> {
    let place = Place::of(node)?;
    let names = place.nodes(false)?.names()?;
    let mut last: BTreeMap<String, LastRun> = BTreeMap::new();
    // The newest run comes first.
    let damaged = Records::find(&place.settings.run)?.each(|record| {
        let began = record.json().get("start_time").and_then(Value::as_u64).unwrap_or(0);
        if !record.is_dry() && !last.contains_key(record.node_name()) {
            let (id, outcome) = (record.id().unwrap_or_default().to_owned(), record.outcome().to_owned());
            let run = LastRun { id, began, outcome, has_failed: record.has_failed() };
            last.insert(record.node_name().to_owned(), run);
        }
    });
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    if format == View::Json {
        let shown = names.iter().map(|name| match last.get(name) {
            Some(run) => json!({
                "name": name, "run_id": run.id, "start_time": run.began, "age_seconds": now.saturating_sub(run.began),
                "outcome": run.outcome,
            }),
            None => json!({ "name": name, "run_id": null }),
        });
        printer.json(&json!({ "version": VERSION, "nodes": shown.collect::<Vec<_>>() }).to_string());
    } else {
        let mut table = Table::new().with_numbers(&AGES);
        for name in &names {
            match last.get(name) {
                Some(run) => {
                    let tone = if run.has_failed { Tone::Error } else { Tone::Plain };
                    let ago = format!("{} ago", age(now.saturating_sub(run.began)));
                    table.row(tone, [name.as_str(), &ago, &run.outcome, &run.id]);
                }
                None => table.row(Tone::Quiet, [name.as_str(), "no recorded run"]),
            }
        }
        table.print(printer);
    }
    for text in damaged {
        printer.note(Tone::Warning, &format!("warning: {}", escape_line(&text)));
    }
    Ok(Exit::Done)
}

/// Formats a duration in the largest unit of which it has at least one.
pub(super) fn age(seconds: u64) -> String {
    let units = [(86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second")];
    let (unit, name) = units.into_iter().find(|(unit, _)| seconds >= *unit).unwrap_or((1, "second"));
    let count = seconds / unit;
    if count == 1 { format!("1 {name}") } else { format!("{count} {name}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_told_in_one_unit() {
        for (seconds, expect) in
            [(0, "0 seconds"), (1, "1 second"), (119, "1 minute"), (7_300, "2 hours"), (200_000, "2 days")]
        {
            assert_eq!(age(seconds), expect);
        }
    }
}
