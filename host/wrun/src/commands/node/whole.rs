//! `wrun node edit` and `wrun node from-file`: replace a whole node.

use super::super::editor::Draft;
use super::super::store::{Place, tell};
use crate::arguments::StoredNode;
use crate::exit::Exit;
use crate::printer::{Printer, Tone};
use anyhow::Context as _;
use assemble::{NodeDocument, NodeStore as _, Put, StoreError};
use node::object::{EditError, NodeEdit, NodeObject};
use serde_json::Value;
use std::path::{Path, PathBuf};
use text::escape_line;

/// Largest size of an input file, in bytes.
const MAX_FILE: u64 = 16 << 20;

pub(super) fn edit(node: &StoredNode, printer: Printer) -> anyhow::Result<Exit> {
    let place = Place::of(node)?;
    let name = place.name()?;
    let before = place.nodes(false)?.node(&name)?.editable();
    let draft = Draft::edit("node", &format!("{}\n", serde_json::to_string_pretty(&before)?))?;
    let saved = parse(&draft.place(), &draft.text).and_then(|new| {
        let edit = NodeEdit::Replace { expected: Some(Box::new(before)), new: Box::new(new) };
        place.change(&[edit], printer)
    });
    draft.saved(saved, |error| match error.downcast_ref::<StoreError>() {
        Some(StoreError::Edit(EditError::ChangedMeanwhile { .. })) => {
            "; look at it with `wrun node show`, and edit it again"
        }
        _ => "",
    })
}

pub(super) fn from_files(node: &StoredNode, files: &[PathBuf], printer: Printer) -> anyhow::Result<Exit> {
    let place = Place::of(node)?;
    let nodes = place.nodes(true)?;
    // All files are read and compared with the nodes before the first node changes.
    let there = nodes.names()?;
    let mut documents: Vec<NodeDocument> = vec![];
    for file in files {
        let document = read(file)?;
        let name = document.get("name").and_then(Value::as_str);
        let name = name.with_context(|| format!("{}: the node has no `name`", file.display()))?.to_owned();
        let edit = NodeEdit::Replace { expected: None, new: Box::new(document) };
        let mut fresh = NodeObject::new(&name)?;
        fresh.apply(&edit).with_context(|| format!("{} is not a node", file.display()))?;
        if there.contains(&name) {
            nodes.node(&name)?.apply(&edit).with_context(|| format!("{}: node {name}", file.display()))?;
        }
        match documents.iter_mut().find(|other| other.name == name) {
            Some(earlier) => earlier.edits.push(edit),
            None => documents.push(NodeDocument { name, edits: vec![edit] }),
        }
    }
    for (document, put) in documents.iter().zip(nodes.put(&documents)?) {
        match put {
            Put::Changed(applied) => tell(&document.name, applied, printer),
            Put::Created => printer.note(Tone::Quiet, &escape_line(&format!("created the node {}", document.name))),
        }
    }
    Ok(Exit::Done)
}

/// Reads a JSON file.
fn read(path: &Path) -> anyhow::Result<Value> {
    let failed = || format!("{} cannot be read", path.display());
    let text = plain_files::read_text(path, MAX_FILE).with_context(failed)?;
    parse(&path.display().to_string(), &text)
}

fn parse(file: &str, text: &str) -> anyhow::Result<Value> {
    let parsed = machine::data::parse_written_json(text);
    parsed.map_err(|error| anyhow::anyhow!("{file}:{}: this is not JSON: {error}", error.line()))
}
