//! `wrun settings import`. [`import::client_settings`] contains the decisions; this module handles arguments and messages.

use super::instances::Instances;
use crate::arguments::{ImportSettingsArguments, SettingsCommand};
use crate::exit::Exit;
use crate::printer::{Printer, Tone};
use crate::settings::{Layer, parse_file};
use anyhow::Context as _;
use import::{NewFile, Output, Written, client_settings, write};
use plain_files::HeldFolder;
use std::path::{Path, PathBuf};
use text::escape_line;

pub(crate) fn run(command: &SettingsCommand, printer: Printer) -> anyhow::Result<Exit> {
    let SettingsCommand::Import(ImportSettingsArguments { file, output, force }) = command;
    let settings = super::settings(None, Layer::default())?;
    let is_setting = |line: &str| parse_file(Path::new("wrun.toml"), line).map(drop).map_err(|error| reason(&error));
    let imported = client_settings(file, &is_setting, &Instances::find(&settings)?)?;
    let output = output.clone().unwrap_or_else(super::settings_file);
    if output == Path::new("-") {
        printer.part(Tone::Plain, &imported.text());
    } else {
        let output = std::path::absolute(&output).context("the current directory is unknown")?;
        let (folder, name) = (output.parent().unwrap_or(Path::new("/")), output.file_name().unwrap_or_default());
        let new = NewFile { path: PathBuf::from(name), text: imported.text() };
        let folder = HeldFolder::make(folder).with_context(|| format!("{} cannot be written", folder.display()))?;
        for (path, written) in write(&folder, &[new], Output::SettingsFile, *force)? {
            let word = if written == Written::Same { "unchanged:" } else { "wrote" };
            printer.note(Tone::Plain, &escape_line(&format!("{word} {}", path.display())));
        }
    }
    for taken in &imported.taken {
        printer.note(Tone::Plain, &escape_line(&format!("  {} ({}, {})", taken.line, taken.from, taken.place)));
    }
    if !imported.left.is_empty() {
        printer.note(Tone::Heading, &format!("not taken ({}):", imported.left.len()));
    }
    for left in &imported.left {
        printer.note(Tone::Plain, &escape_line(&format!("  {}: {}: {}", left.place, left.name, left.why)));
    }
    for stopped in &imported.stopped {
        printer.note(Tone::Warning, &escape_line(&format!("not read to its end: {stopped}")));
    }
    Ok(if imported.stopped.is_empty() { Exit::Done } else { Exit::Failed })
}

/// Returns the reason without the file and the line, which do not refer to the client.rb.
fn reason(error: &crate::settings::SettingsError) -> String {
    match error {
        crate::settings::SettingsError::File { what, .. } => what.clone(),
        other => other.to_string(),
    }
}
