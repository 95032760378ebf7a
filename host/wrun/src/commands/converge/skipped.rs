//! The report of a run that is skipped because nothing has changed since a good run.

use super::{handlers, note, reports};
use crate::arguments::ConvergeArguments;
use crate::exit::Exit;
use crate::printer::{Printer, Tone};
use crate::settings::{Format, Settings};
use assemble::SkippedRun;
use report::paused::Paused;
use report::{json, paused};
use serde_json::json;
use text::escape_line;

/// The version of the event. It grows when the meaning of a key changes or a key is removed.
const VERSION: u32 = 1;

/// Reports a skipped run.
pub(super) fn end(
    run: &SkippedRun,
    settings: &Settings,
    arguments: &ConvergeArguments,
    paused: Option<Paused>,
    printer: Printer,
) -> anyhow::Result<Exit> {
    let grants = super::grants_file(settings, arguments);
    let earlier = json!({ "run_id": run.earlier, "age": run.age.as_secs() });
    let parts = json::Parts {
        report: &run.report,
        node: &run.node,
        errors: &[],
        denials: &[],
        denials_left_out: 0,
        unseen: &[],
        asked: json!({}),
        layers: &run.layers,
        releases: &run.releases,
        grants: grants.as_deref(),
        paused,
        skipped: Some(earlier.clone()),
        log: json!([]),
        without_policies: false,
        compile_seconds: 0.0,
        compiled_is_kept: true,
    };
    match settings.format {
        Format::Json => printer.json_document(&json::Run(&parts))?,
        Format::Ndjson => {
            let run_id = &run.report.run_id;
            let event = json!({ "version": VERSION, "event": "skipped", "run_id": run_id, "skipped": earlier });
            printer.json_line(&event);
        }
        Format::Doc | Format::Minimal => {
            let age = agent::about(run.age);
            let text =
                format!("Nothing has changed since run {}, which ended {age} ago: no policy was run", run.earlier);
            printer.line(Tone::Heading, &escape_line(&text));
            parts.paused.as_ref().map(paused::block).into_iter().for_each(|block| printer.block(block));
        }
    }
    if arguments.by_agent {
        note::skipped(&settings.run.state_dir, &run.earlier);
    }
    handlers::end(settings, &json::Run(&parts), false, printer);
    reports::send(settings, &run.report.run_id, false, &json::Run(&parts), printer);
    Ok(Exit::Done)
}
