//! `wrun config show`: each setting with its value and its source.

use crate::arguments::{ConfigCommand, ShowConfigArguments};
use crate::exit::Exit;
use crate::printer::{Printer, Tone};
use crate::settings::{Setting, View};
use serde_json::{Value, json};
use std::path::Path;
use text::escape_line;

/// The version of the JSON form; it grows when a key changes its meaning or goes away.
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
    printer.line(Tone::Quiet, &escape_line(&format!("# settings file: {}{absent}", file.display())));
    let rows: Vec<_> = settings.iter().map(|setting| (setting, value(&setting.value))).collect();
    let widths = rows.iter().fold((0, 0), |(keys, values), (setting, value)| {
        (keys.max(setting.key.len()), values.max(value.chars().count()))
    });
    let (keys, values) = (widths.0, widths.1.min(LONGEST));
    for (setting, value) in rows {
        let line = format!("{:keys$}  {value:values$}  {}", setting.key, setting.source);
        let tone = if setting.source == "default" { Tone::Quiet } else { Tone::Plain };
        printer.line(tone, &escape_line(&line));
    }
    Ok(Exit::Done)
}

/// Values up to this width are padded to a column.
const LONGEST: usize = 40;

/// A value as the settings' file would have it.
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
