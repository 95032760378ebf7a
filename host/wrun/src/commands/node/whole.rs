//! `wrun node edit` and `wrun node from-file`: a node as a whole.

use super::super::store::Place;
use crate::arguments::StoredNode;
use crate::exit::Exit;
use crate::printer::{Printer, Tone};
use anyhow::{Context as _, bail};
use assemble::NodeStore as _;
use node::object::{EditError, NodeEdit, NodeObject};
use serde_json::Value;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use text::escape_line;

/// The largest file that is read, in bytes.
const MAX_FILE: u64 = 16 << 20;

/// The editor of those who have set none.
const USUAL_EDITOR: &str = "vi";

pub(super) fn edit(node: &StoredNode, printer: Printer) -> anyhow::Result<Exit> {
    let place = Place::of(node)?;
    let name = place.name()?;
    let before = place.nodes(false)?.node(&name)?.editable();
    let mut file = tempfile::Builder::new().prefix("wrun-node-").suffix(".json").tempfile()?;
    writeln!(file, "{}", serde_json::to_string_pretty(&before)?)?;
    open_editor(file.path())?;
    let checked = read(file.path()).and_then(|new| {
        let edit = NodeEdit::Replace { expected: Some(Box::new(before)), new: Box::new(new) };
        place.change(&[edit], printer)
    });
    match checked {
        Ok(exit) => Ok(exit),
        // What somebody typed is not thrown away.
        Err(error) => {
            let (_, kept) = file.keep()?;
            let is_other = error
                .downcast_ref::<assemble::StoreError>()
                .is_some_and(|error| matches!(error, assemble::StoreError::Edit(EditError::ChangedMeanwhile { .. })));
            let hint = if is_other { "; look at it with `wrun node show`, and edit it again" } else { "" };
            Err(error.context(format!("nothing was saved; your version is in {}{hint}", kept.display())))
        }
    }
}

/// Starts the person's editor and waits until it ends.
fn open_editor(file: &Path) -> anyhow::Result<()> {
    let named = ["VISUAL", "EDITOR"].into_iter().filter_map(|variable| std::env::var(variable).ok());
    let editor = named.into_iter().find(|editor| !editor.trim().is_empty()).unwrap_or_else(|| USUAL_EDITOR.to_owned());
    let mut words = editor.split_whitespace();
    let program = words.next().unwrap_or(USUAL_EDITOR);
    let ended = Command::new(program).args(words).arg(file).status();
    let ended = ended.with_context(|| format!("the editor {} cannot be started", escape_line(&editor)))?;
    if !ended.success() {
        bail!("the editor {} failed ({ended}); nothing was changed", escape_line(&editor));
    }
    Ok(())
}

pub(super) fn from_files(node: &StoredNode, files: &[PathBuf], printer: Printer) -> anyhow::Result<Exit> {
    let place = Place::of(node)?;
    let nodes = place.nodes(true)?;
    // All files are read before the first node changes.
    let documents = files.iter().map(|file| {
        let document = read(file)?;
        let name = document.get("name").and_then(Value::as_str);
        let name = name.with_context(|| format!("{}: the node has no `name`", file.display()))?.to_owned();
        let edit = NodeEdit::Replace { expected: None, new: Box::new(document) };
        let mut fresh = NodeObject::new(&name)?;
        fresh.apply(&edit).with_context(|| format!("{} is not a node", file.display()))?;
        anyhow::Ok((name, edit, fresh))
    });
    for (name, edit, fresh) in documents.collect::<anyhow::Result<Vec<_>>>()? {
        if nodes.names()?.contains(&name) {
            nodes.change(&name, &[edit])?;
            printer.note(Tone::Quiet, &escape_line(&format!("changed the node {name}")));
        } else {
            nodes.create(&fresh)?;
            printer.note(Tone::Quiet, &escape_line(&format!("created the node {name}")));
        }
    }
    Ok(Exit::Done)
}

/// Reads a JSON file.
fn read(path: &Path) -> anyhow::Result<Value> {
    let failed = || format!("{} cannot be read", path.display());
    let text = plain_files::read_text(path, MAX_FILE).with_context(failed)?;
    machine::data::parse_written_json(&text)
        .map_err(|error| anyhow::anyhow!("{}:{}: this is not JSON: {error}", path.display(), error.line()))
}
