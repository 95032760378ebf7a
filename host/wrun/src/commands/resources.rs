//! `wrun resources`: prints the reference of the built-in resource types. It combines the schema with the needs of each type
//! from the cookbook check.

use crate::arguments::ResourcesArguments;
use crate::exit::Exit;
use crate::printer::{Printer, Tone};
use crate::settings::View;
use author::check::grant_keys;
use schema::reference;

pub(crate) fn run(arguments: &ResourcesArguments, printer: &Printer) -> anyhow::Result<Exit> {
    let json = arguments.format == View::Json;
    let text = match &arguments.name {
        None if json => reference::all_json(&grant_keys).to_string() + "\n",
        None => reference::list_text(&grant_keys),
        Some(name) => {
            let found =
                reference::find(name).map_err(|error| match error.did_you_mean().or(only_with_beginning(name)) {
                    Some(near) => anyhow::anyhow!("{error}; did you mean `{near}`?"),
                    None => anyhow::anyhow!("{error}"),
                })?;
            if json {
                reference::type_json_with_grants(found, &grant_keys).to_string() + "\n"
            } else {
                reference::type_text(found, &grant_keys)
            }
        }
    };
    printer.prose(Tone::Plain, text.trim_end());
    Ok(Exit::Done)
}

/// Returns the only type whose name begins with a text, or `None`.
fn only_with_beginning(text: &str) -> Option<&'static str> {
    let mut found = reference::all().map(|resource| resource.name).filter(|name| name.starts_with(text));
    found.next().filter(|_| found.next().is_none())
}
