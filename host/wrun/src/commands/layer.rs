//! `wrun layer`: the environment files that the node keeps, in order.

mod show;

use super::store::{Place, assignment};
use crate::arguments::{LayerCommand, PlaceArguments, StoredNode};
use crate::exit::Exit;
use crate::printer::{Printer, Tone};
use anyhow::Context as _;
use assemble::{LayerFiles, NodeStore as _, set_in_layer};
use contract::Stop;
use node::layers::{self, Layer};
use node::object::NodeEdit;
use std::path::Path;
use text::{counted, escape_line};

pub(crate) fn run(command: LayerCommand, printer: &Printer) -> anyhow::Result<Exit> {
    let printer = *printer;
    match command {
        LayerCommand::List { node, format } => show::list(&stored(&node)?, format, printer),
        LayerCommand::Show { node, name, merged: _, origin, policy } => match name {
            Some(name) => show::one(stored(&node)?.layers().get(&name)?, printer),
            None => show::merged(&stored(&node)?, policy.as_deref(), origin, printer),
        },
        LayerCommand::Add { node, file, place } => {
            let target = Place::of(&node)?;
            let layer = Box::new(read(&target, &file)?);
            target.change(&[NodeEdit::AddLayer { layer, place: place_of(place) }], printer)
        }
        LayerCommand::Replace { node, name, file } => {
            let target = Place::of(&node)?;
            let mut layer = Box::new(read(&target, &file)?);
            layer.name.clone_from(&name);
            target.change(&[NodeEdit::ReplaceLayer { name, layer }], printer)
        }
        LayerCommand::Move { node, name, place } => {
            let place = match place_of(place) {
                layers::Place::Last => anyhow::bail!("say where to, with --before NAME, --after NAME or --at N"),
                place => place,
            };
            Place::of(&node)?.change(&[NodeEdit::MoveLayer { name, place }], printer)
        }
        LayerCommand::Remove { node, name } => Place::of(&node)?.change(&[NodeEdit::RemoveLayer { name }], printer),
        LayerCommand::Set { node, name, attributes, overrides } => {
            let target = Place::of(&node)?;
            let mut changing = stored(&node)?;
            let mut edits = Vec::new();
            for text in &attributes {
                let (path, value) = assignment(text)?;
                let edit = set_in_layer(&changing, &name, overrides, &path, &value)?;
                changing.apply(&edit)?;
                edits.push(edit);
            }
            target.change(&edits, printer)
        }
        LayerCommand::Diff { node, name } => {
            let target = Place::of(&node)?;
            let kept = stored(&node)?;
            let all: Vec<&Layer> = match &name {
                Some(name) => vec![kept.layers().get(name)?],
                None => kept.layers().all().iter().filter(|layer| layer.file.is_some()).collect(),
            };
            let mut unread = 0_usize;
            for layer in all {
                let file = layer.file.as_deref().map(|file| read(&target, Path::new(file))).transpose();
                let file = file
                    .and_then(|file| file.with_context(|| format!("layer {} does not come from a file", layer.name)));
                match file {
                    Ok(file) => show::difference(layer, &file, printer),
                    Err(error) if name.is_some() => return Err(error),
                    Err(error) => {
                        unread += 1;
                        printer.note(Tone::Warning, &escape_line(&format!("{error:#}")));
                    }
                }
            }
            if unread > 0 {
                anyhow::bail!("{} could not be compared", counted(unread, "layer"));
            }
            Ok(Exit::Done)
        }
    }
}

/// The node that is meant.
fn stored(node: &StoredNode) -> anyhow::Result<node::object::NodeObject> {
    let place = Place::of(node)?;
    Ok(place.nodes(false)?.node(&place.name()?)?)
}

/// Reads an environment file.
fn read(place: &Place, file: &Path) -> anyhow::Result<Layer> {
    let (program, stop) = (crate::program::program(), Stop::default());
    Ok(LayerFiles { settings: &place.settings.run, program: &program, stop: &stop }.read(file)?)
}

fn place_of(place: PlaceArguments) -> layers::Place {
    let PlaceArguments { before, after, at } = place;
    let named = before.map(layers::Place::Before).or_else(|| after.map(layers::Place::After));
    named.or_else(|| at.map(layers::Place::At)).unwrap_or_default()
}
