//! `wrun resources`: the reference of the built-in resource types, made from the schema.

use crate::arguments::ResourcesArguments;
use crate::exit::Exit;
use crate::printer::{Printer, Tone};
use crate::settings::View;
use schema::reference;

pub(crate) fn run(arguments: &ResourcesArguments, printer: &Printer) -> anyhow::Result<Exit> {
    let json = arguments.format == View::Json;
    let text = match &arguments.name {
        None if json => reference::all_json().to_string() + "\n",
        None => reference::list_text(),
        Some(name) => {
            let found = reference::find(name).map_err(|error| match error.did_you_mean() {
                Some(near) => anyhow::anyhow!("{error}; did you mean `{near}`?"),
                None => anyhow::anyhow!("{error}"),
            })?;
            if json { reference::type_json(found).to_string() + "\n" } else { reference::type_text(found) }
        }
    };
    printer.prose(Tone::Plain, text.trim_end());
    Ok(Exit::Done)
}
