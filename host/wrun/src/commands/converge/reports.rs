//! Sends reports of runs to files and addresses (`[[report]]` in the settings). They never change the outcome of a run.

use crate::printer::{Printer, Tone};
use crate::settings::Settings;
use assemble::deliver;
use serde::Serialize;
use state::RunId;
use text::escape_line;

/// Sends the report of a run and the stored reports of earlier runs. Without destinations, it mentions stored reports that
/// have no destination.
pub(super) fn send(settings: &Settings, run_id: &str, is_dry: bool, report: &impl Serialize, printer: Printer) {
    let Ok(run) = RunId::parse(run_id) else { return };
    for warning in deliver(&settings.reports, &settings.run, &run, is_dry, report) {
        printer.note(Tone::Warning, &escape_line(&format!("warning: {warning}")));
    }
}
