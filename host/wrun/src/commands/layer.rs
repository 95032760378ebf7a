//! `wrun layer`: handles the environment files that a node stores, in order.

mod compare;
mod merged;
mod show;
mod sources;

use self::sources::Sources;
use super::store::{Place, assignment};
use crate::arguments::{LayerCommand, PlaceArguments, StoredNode};
use crate::exit::Exit;
use crate::printer::Printer;
use assemble::{LayerFiles, LayersError, NodeStore as _, set_in_layer};
use contract::Stop;
use node::layers::{self, Layer};
use node::object::NodeEdit;
use std::path::Path;

/// The version of the JSON output. It grows when the meaning of a key changes or a key is removed.
const VERSION: u32 = 1;

pub(crate) fn run(command: LayerCommand, printer: &Printer) -> anyhow::Result<Exit> {
    let printer = *printer;
    match command {
        LayerCommand::List { node, group, format } => show::list(&Sources::of(&node, group)?, format, printer),
        LayerCommand::Show { node, name, merged: _, origin, policy, group, format } => {
            let sources = Sources::of(&node, group)?;
            sources.note_unknown(printer);
            match name {
                Some(name) => show::one(sources.named(&name)?.as_ref(), printer),
                None => merged::show(&sources.merged(policy.as_deref())?, origin.then_some(format), printer),
            }
        }
        LayerCommand::Add { node, file, place } => {
            let target = Place::of(&node)?;
            let layer = Box::new(read(&target, &file)?);
            target.warn_of_strangers(|known| known.misspelt_in(&layer), printer);
            target.change(&[NodeEdit::AddLayer { layer, place: place_of(place) }], printer)
        }
        LayerCommand::Replace { node, name, file } => {
            let target = Place::of(&node)?;
            let mut layer = Box::new(read(&target, &file)?);
            target.warn_of_strangers(|known| known.misspelt_in(&layer), printer);
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
        LayerCommand::Diff { node, name, format } => compare::run(&node, name.as_deref(), format, printer),
    }
}

/// Returns the stored node that the arguments select.
fn stored(node: &StoredNode) -> anyhow::Result<node::object::NodeObject> {
    let place = Place::of(node)?;
    Ok(place.nodes(false)?.node(&place.name()?)?)
}

/// Reads an environment file.
fn read(place: &Place, file: &Path) -> anyhow::Result<Layer> {
    read_files(place, |files| files.read(file))
}

/// Reads environment files with the settings of `place`.
fn read_files<Layers>(
    place: &Place,
    read: impl FnOnce(&LayerFiles<'_>) -> Result<Layers, LayersError>,
) -> anyhow::Result<Layers> {
    let (program, stop) = (crate::program::program(), Stop::default());
    Ok(read(&LayerFiles { settings: &place.settings.run, program: &program, stop: &stop })?)
}

fn place_of(place: PlaceArguments) -> layers::Place {
    let PlaceArguments { before, after, at } = place;
    let named = before.map(layers::Place::Before).or_else(|| after.map(layers::Place::After));
    named.or_else(|| at.map(layers::Place::At)).unwrap_or_default()
}
