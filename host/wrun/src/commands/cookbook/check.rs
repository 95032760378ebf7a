//! `wrun cookbook check`: reports, before any run, which features cookbooks need and which of their parts would not work.
//!
//! [`author::check`] contains the checks. This module handles the arguments and the output.

mod show;

use crate::arguments::CheckArguments;
use crate::commands::instances::Instances;
use crate::exit::Exit;
use crate::printer::{Printer, Tone};
use crate::settings::{Format, Layer};
use anyhow::bail;
use assemble::{known_facts, known_platforms, platform_family};
use author::check::{DocumentFolders, Report, Subject, Unread, check};
use std::path::Path;
use text::{did_you_mean, escape_line};

pub(super) fn run(arguments: &CheckArguments, printer: Printer) -> anyhow::Result<Exit> {
    let settings = crate::commands::settings(arguments.config.as_deref(), Layer::default())?;
    let CheckArguments { folder, cookbooks, all, .. } = arguments;
    // A directory of cookbooks stands for all of them, with or without --all.
    let subject = match *all && !cookbooks.is_empty() {
        true if folder.as_path() != Path::new(".") => {
            let (folder, all) = (folder.display(), "--all with --cookbooks");
            bail!("{all} checks the cookbooks of those directories, so that {folder} cannot be named too");
        }
        true => Subject::all(cookbooks)?.whole(),
        false => Subject::at(folder, cookbooks)?,
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
    if let Some(unknown) = platform.filter(|platform| platform_family(platform).is_none()) {
        let near = did_you_mean(unknown, known_platforms()).map(|near| format!("; {near}")).unwrap_or_default();
        let text = format!("warning: no family of platforms is known that {unknown} belongs to{near}");
        printer.note(Tone::Warning, &escape_line(&text));
    }
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
