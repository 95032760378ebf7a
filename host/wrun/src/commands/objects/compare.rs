//! `wrun environment compare`: shows the cookbook versions of environments side by side.

use super::VERSION;
use crate::exit::Exit;
use crate::printer::{Printer, Tone};
use crate::settings::View;
use crate::table::Table;
use assemble::{ObjectStore, Shelf, cookbook_versions};
use serde_json::json;

/// The text for a cookbook that an environment does not restrict.
const ANY: &str = "any";

pub(super) fn environments(
    store: &dyn ObjectStore,
    names: &[String],
    format: View,
    printer: Printer,
) -> anyhow::Result<Exit> {
    let names = if names.is_empty() { store.names(&Shelf::Environments)? } else { names.to_vec() };
    let rows = cookbook_versions(store, &names)?;
    if format == View::Json {
        let cookbooks = rows.iter().map(|(cookbook, versions)| {
            let versions = names.iter().zip(versions).map(|(name, version)| (name.clone(), json!(version)));
            (cookbook.clone(), versions.collect::<serde_json::Map<_, _>>().into())
        });
        let cookbooks: serde_json::Map<_, serde_json::Value> = cookbooks.collect();
        printer.json(&json!({ "version": VERSION, "environments": names, "cookbooks": cookbooks }).to_string());
        return Ok(Exit::Done);
    }
    let head = std::iter::once("cookbook".to_owned()).chain(names.iter().cloned()).collect();
    let row = |(cookbook, versions): (String, Vec<Option<String>>)| {
        let versions = versions.into_iter().map(|version| version.unwrap_or_else(|| ANY.to_owned()));
        std::iter::once(cookbook).chain(versions).collect()
    };
    let rows = std::iter::once(head).chain(rows.into_iter().map(row));
    let mut table = Table::new();
    rows.for_each(|row: Vec<String>| table.row(Tone::Plain, row));
    table.print(printer);
    Ok(Exit::Done)
}
