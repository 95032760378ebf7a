//! `wrun facts`: shows the facts of this machine, as runs see them.

use crate::arguments::FactsArguments;
use crate::exit::Exit;
use crate::printer::Printer;
use serde_json::Value;
use std::path::Path;
use std::time::SystemTime;

pub(crate) fn run(arguments: &FactsArguments, printer: &Printer) -> anyhow::Result<Exit> {
    let root = arguments.root.as_deref().unwrap_or_else(|| Path::new("/"));
    let facts = assemble::machine_facts(root, SystemTime::now())?;
    printer.json(&serde_json::to_string_pretty(&Value::Object(facts))?);
    Ok(Exit::Done)
}
