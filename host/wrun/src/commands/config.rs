//! `wrun config show`: each setting with its value and its source.

use crate::arguments::{ConfigCommand, ShowConfigArguments};
use crate::exit::Exit;
use crate::printer::{Printer, Tone};
use crate::settings::{Setting, View};
use crate::table::Table;
use serde_json::{Value, json};
use std::path::Path;
use text::escape_line;

/// The version of the JSON output. It grows when the meaning of a key changes or a key is removed.
const VERSION: u32 = 1;

pub(crate) fn run(command: &ConfigCommand, printer: &Printer) -> anyhow::Result<Exit> {
    let ConfigCommand::Show(ShowConfigArguments { common, format }) = command;
    let sources = super::sources(common.config.as_deref(), common.layer())?;
    let file = sources.file.clone();
    let (settings, is_there) = sources.shown()?;
    if *format == View::Json {
        printer.json(&serde_json::to_string_pretty(&as_json(&file, is_there, &settings))?);
        return Ok(Exit::Done);
    }
    let absent = if is_there { "" } else { " (does not exist)" };
    printer.prose(Tone::Quiet, &escape_line(&format!("# settings file: {}{absent}", file.display())));
    let mut table = Table::new();
    for setting in &settings {
        let tone = if setting.source == "default" { Tone::Quiet } else { Tone::Plain };
        table.row(tone, [setting.key, &value(&setting.value), &setting.source]);
    }
    table.print(*printer);
    Ok(Exit::Done)
}

/// Returns a value in the syntax of the settings file.
fn value(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        value => value.to_string(),
    }
}

fn as_json(file: &Path, is_there: bool, settings: &[Setting]) -> Value {
    let setting = |setting: &Setting| {
        json!({
            "key": setting.key,
            "value": setting.value,
            "source": setting.source,
            "variable": setting.variable,
        })
    };
    json!({
        "version": VERSION,
        "file": file,
        "file_exists": is_there,
        "settings": settings.iter().map(setting).collect::<Vec<_>>(),
    })
}
