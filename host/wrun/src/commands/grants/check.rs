//! `wrun grants check`: finds faults in the grants that no run reports, such as unused rules.

use crate::arguments::CheckGrantsArguments;
use crate::exit::Exit;
use crate::printer::{Printer, Tone};
use assemble::{GrantsCheck, GrantsFiles, hint_of_resource_type};
use text::{counted, escape_line};

pub(super) fn run(arguments: &CheckGrantsArguments, printer: Printer) -> anyhow::Result<Exit> {
    let settings = crate::commands::settings(arguments.common.config.as_deref(), arguments.layer())?;
    let files = GrantsFiles::read(&settings.run.grants, arguments.grants.is_some())?;
    if files.is_empty() {
        printer.note(Tone::Plain, &format!("there are no grants: {} does not exist", settings.run.grants.display()));
        return Ok(Exit::Done);
    }
    let grants = match files.parse() {
        Ok(grants) => grants,
        Err(error) => {
            printer.line(Tone::Error, &escape_line(&error.to_string()));
            if let Some(hint) = hint_of_resource_type(&error) {
                printer.note(Tone::Warning, &format!("hint: {}", escape_line(&hint)));
            }
            return Ok(Exit::Failed);
        }
    };
    let check = GrantsCheck::of(&settings.run, &settings.policy_names, &grants)?;
    for note in check.notes() {
        printer.note(Tone::Quiet, &format!("note: {}", escape_line(note)));
    }
    for problem in check.problems() {
        printer.line(Tone::Warning, &escape_line(problem));
    }
    let tables = grants.policy_names().count();
    let tone = if check.has_problems() { Tone::Error } else { Tone::Plain };
    printer.note(tone, &format!("checked the grants of {}: {}", counted(tables, "policy"), check.counts()));
    Ok(if check.has_problems() { Exit::Failed } else { Exit::Done })
}
