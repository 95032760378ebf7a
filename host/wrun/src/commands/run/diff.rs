//! `wrun run diff`: shows the differences between two runs, in policies and in their resources.

use crate::arguments::DiffArguments;
use crate::exit::Exit;
use crate::printer::{Printer, Tone};
use crate::settings::View;
use assemble::Records;
use report::{Difference, Record};
use text::escape_line;

pub(super) fn run(arguments: &DiffArguments, printer: Printer) -> anyhow::Result<Exit> {
    let settings = crate::commands::settings(arguments.common.config.as_deref(), arguments.common.layer())?;
    let records = Records::find(&settings.run)?;
    let from = records.choose_finished(arguments.from.as_deref(), 1)?;
    let to = records.choose_finished(arguments.to.as_deref(), 0)?;
    let (older, newer) = (from.finished()?, to.finished()?);
    let difference = Difference::between(&older, &newer);
    if arguments.format == View::Json {
        printer.json(&serde_json::to_string_pretty(&difference.json(from.id.as_str(), to.id.as_str()))?);
        return Ok(Exit::Done);
    }
    // The kind is shown only if the two runs are of different kinds.
    let kind = |record: &Record| match (older.is_dry() == newer.is_dry(), record.is_dry()) {
        (true, _) => "",
        (false, true) => "  (dry run: what it would have changed)",
        (false, false) => "  (real run)",
    };
    printer.line(Tone::Heading, &format!("--- {}{}\n+++ {}{}", from.id, kind(&older), to.id, kind(&newer)));
    difference.lines().for_each(|line| printer.prose(Tone::Plain, &escape_line(&line)));
    if from.id == to.id {
        printer.note(Tone::Warning, "note: both identifiers name this run");
    }
    if difference.is_empty() {
        printer.line(Tone::Quiet, "no difference");
    }
    Ok(Exit::Done)
}
