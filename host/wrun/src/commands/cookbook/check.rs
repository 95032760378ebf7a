//! `wrun cookbook check`: reports, before any run, which features cookbooks need and which of their parts would not work.
//!
//! [`author::check`] contains the checks. This module handles the arguments and the output.

mod show;

use crate::arguments::CheckArguments;
use crate::commands::instances::Instances;
use crate::exit::Exit;
use crate::printer::{Printer, Tone};
use crate::settings::{Format, Layer};
use assemble::{known_facts, platform_family};
use author::check::{DocumentFolders, Report, Subject, Unread, check};
use text::escape_line;

pub(super) fn run(arguments: &CheckArguments, printer: Printer) -> anyhow::Result<Exit> {
    let settings = crate::commands::settings(arguments.config.as_deref(), Layer::default())?;
    let subject = match arguments.all {
        true => Subject::all(&arguments.cookbooks)?.whole(),
        false => Subject::at(&arguments.folder, &arguments.cookbooks)?,
    };
    let is_single = subject.is_single();
    for folder in subject.left_out() {
        let text = format!("warning: {} is left out: it has neither metadata.rb nor metadata.json", folder.display());
        printer.note(Tone::Warning, &escape_line(&text));
    }
    let readers = Instances::find(&settings)?;
    let CheckArguments { roles, environments, .. } = arguments;
    let folders = DocumentFolders { roles: roles.as_deref(), environments: environments.as_deref() };
    let (subject, unread) = subject.with_documents(folders, &readers)?;
    for Unread { path, why } in unread {
        let text = format!("warning: what {} sets is not known: {why}", path.display());
        printer.note(Tone::Warning, &escape_line(&text));
    }
    let platform = arguments.platform.as_deref();
    let node: Vec<&str> = platform.into_iter().chain(platform.and_then(platform_family)).collect();
    let reports = check(&subject, &arguments.run_list, &node, &known_facts(), &readers)?;
    match (arguments.format, reports.as_slice()) {
        (Format::Json | Format::Ndjson, [report]) if is_single => printer.json(&show::json(report).to_string()),
        (Format::Json | Format::Ndjson, reports) => printer.json(&show::all_json(reports).to_string()),
        (_, [report]) if is_single => show::text(report, printer),
        (_, reports) => show::all_text(reports, printer),
    }
    Ok(if reports.iter().all(Report::works) { Exit::Done } else { Exit::Failed })
}
