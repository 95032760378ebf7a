//! Reports of runs to files and addresses (`[[report]]` in the settings). They never change how a run ends.

use crate::printer::{Printer, Tone};
use crate::settings::Settings;
use assemble::deliver;
use serde::Serialize;
use state::RunId;
use text::escape_line;

/// Sends the report of a run, and what waits of earlier ones. Without destinations it tells what waits for none.
pub(super) fn send(settings: &Settings, run_id: &str, is_dry: bool, report: &impl Serialize, printer: Printer) {
    let Ok(run) = RunId::parse(run_id) else { return };
    for warning in deliver(&settings.reports, &settings.run, &run, is_dry, report) {
        printer.note(Tone::Warning, &escape_line(&format!("warning: {warning}")));
    }
}
