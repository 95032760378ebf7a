//! `wrun cookbook describe`: version, identifier and files of a cookbook.

use crate::arguments::DescribeArguments;
use crate::commands::policy::{here, with_tools};
use crate::exit::Exit;
use crate::printer::{Printer, Tone};
use author::policyfile::{describe, expanded};
use text::escape_line;

pub(super) fn run(arguments: &DescribeArguments, printer: Printer) -> anyhow::Result<Exit> {
    let folder = expanded(&arguments.folder, &here()?);
    let described = with_tools(printer, |tools| Ok(describe(&folder, tools)?))?;
    for (name, value) in [
        ("Path", described.path.display().to_string()),
        ("SemVer version", described.version),
        ("Identifier", described.identifier.to_string()),
    ] {
        printer.line(Tone::Plain, &escape_line(&format!("{name}: {value}")));
    }
    printer.line(Tone::Plain, "File fingerprints:");
    for file in described.files {
        printer.line(Tone::Plain, &escape_line(&format!("{}:{}", file.path, file.md5)));
    }
    Ok(Exit::Done)
}
