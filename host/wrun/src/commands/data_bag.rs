//! `wrun data-bag`: data bags and their items, including encrypted items.

use super::editor::Draft;
use super::objects::{ObjectsPlace, advice, list};
use crate::arguments::{BagsPlace, DataBagCommand, Encryption};
use crate::exit::Exit;
use crate::printer::{Printer, Tone};
use anyhow::bail;
use assemble::{
    Expected, ItemSecret, Items, ObjectKind, ObjectStore, ObjectsError, Shelf, empty_item, read_object,
    read_object_file,
};
use serde_json::{Map, Value};
use std::path::PathBuf;
use text::escape_line;

pub(crate) fn run(command: DataBagCommand, printer: &Printer) -> anyhow::Result<Exit> {
    let printer = *printer;
    match command {
        DataBagCommand::List { place, format } => {
            list(&place_of(&place)?.store().bags()?, "data_bags", format, printer);
            Ok(Exit::Done)
        }
        DataBagCommand::Show { place, secret: _, bag, item: None, format } => {
            list(&place_of(&place)?.store().names(&Shelf::DataBag(bag))?, "items", format, printer);
            Ok(Exit::Done)
        }
        DataBagCommand::Show { place, secret, bag, item: Some(item), format: _ } => {
            let place = place_of(&place)?;
            let secret = ItemSecret::of(&place.settings.run, secret.secret_file.as_deref())?;
            let missing = if let ItemSecret::Missing(why) = &secret { Some(why.clone()) } else { None };
            let opened = Items { store: &place.store(), bag: &bag, secret, encrypts: false }.open(&item)?;
            if let Some(why) = missing.filter(|_| opened.is_encrypted) {
                let note = format!("warning: the item is encrypted, and is shown so: {why}");
                printer.note(Tone::Warning, &escape_line(&note));
            }
            if opened.is_mixed {
                let note = "warning: some values of the item are encrypted and others are not, so none is decrypted";
                printer.note(Tone::Warning, note);
            }
            printer.json(&serde_json::to_string_pretty(&Value::Object(opened.plain))?);
            Ok(Exit::Done)
        }
        DataBagCommand::Create { place, encryption, bag, item } => {
            let place = place_of(&place)?;
            match item {
                None => {
                    place.store().create_bag(&bag)?;
                    printer.note(Tone::Quiet, &escape_line(&format!("created the data bag {bag}")));
                    Ok(Exit::Done)
                }
                Some(item) => create(&place, &encryption, &bag, &item, printer),
            }
        }
        DataBagCommand::Edit { place, encryption, bag, item } => {
            edit(&place_of(&place)?, &encryption, &bag, &item, printer)
        }
        DataBagCommand::FromFile { place, encryption, bag, files } => {
            from_files(&place_of(&place)?, &encryption, &bag, &files, printer)
        }
        DataBagCommand::Delete { bag, item: None, all: false, .. } => {
            bail!("name the item of {} that is to go, or remove the whole data bag with --all", escape_line(&bag))
        }
        DataBagCommand::Delete { place, bag, item, all: _ } => {
            let place = place_of(&place)?;
            let told = match item {
                Some(item) => {
                    place.store().remove(&Shelf::DataBag(bag.clone()), &item)?;
                    format!("deleted the item {item} of the data bag {bag}")
                }
                None => {
                    place.store().remove_bag(&bag)?;
                    format!("deleted the data bag {bag}")
                }
            };
            printer.note(Tone::Quiet, &escape_line(&told));
            Ok(Exit::Done)
        }
    }
}

fn place_of(place: &BagsPlace) -> anyhow::Result<ObjectsPlace> {
    ObjectsPlace::of(place.config.as_deref(), place.layer())
}

/// Returns access to the items of a bag, with the encryption that the options ask for.
fn items<'a>(
    place: &ObjectsPlace,
    store: &'a dyn ObjectStore,
    bag: &'a str,
    encryption: &Encryption,
) -> anyhow::Result<Items<'a>> {
    let secret = ItemSecret::of(&place.settings.run, encryption.secret_file.as_deref())?;
    let items = Items { store, bag, secret, encrypts: encryption.encrypt };
    items.check()?;
    Ok(items)
}

fn create(
    place: &ObjectsPlace,
    encryption: &Encryption,
    bag: &str,
    item: &str,
    printer: Printer,
) -> anyhow::Result<Exit> {
    let store = place.store();
    let items = items(place, &store, bag, encryption)?;
    let makes_bag = items.check_new(item)?;
    let draft = Draft::edit("item", &pretty(&empty_item(item))?)?;
    let saved = parsed(&draft, item).and_then(|new| {
        if makes_bag {
            store.create_bag(bag)?;
        }
        Ok(items.put(item, &new, &Expected::Absent)?)
    });
    draft.saved(saved, advice)?;
    told(bag, item, true, printer);
    Ok(Exit::Done)
}

fn edit(
    place: &ObjectsPlace,
    encryption: &Encryption,
    bag: &str,
    item: &str,
    printer: Printer,
) -> anyhow::Result<Exit> {
    let store = place.store();
    let items = items(place, &store, bag, encryption)?;
    let opened = items.open_to_change(item)?;
    let draft = Draft::edit("item", &pretty(&opened.plain)?)?;
    let saved = parsed(&draft, item).and_then(|new| Ok(items.change(item, &opened, &new)?));
    let differs = draft.saved(saved, |error| match advice(error) {
        "" if opened.is_encrypted => " (not encrypted: remove it when you are done)",
        advice => advice,
    })?;
    told(bag, item, differs, printer);
    Ok(Exit::Done)
}

fn from_files(
    place: &ObjectsPlace,
    encryption: &Encryption,
    bag: &str,
    files: &[PathBuf],
    printer: Printer,
) -> anyhow::Result<Exit> {
    let store = place.store();
    let items = items(place, &store, bag, encryption)?;
    // All files are read before the first item changes.
    let read = files.iter().map(|file| read_object_file(ObjectKind::Item, file));
    for (name, value) in read.collect::<Result<Vec<_>, _>>()? {
        let item = value.as_object().cloned().unwrap_or_default();
        if items.would_uncover(&name, &item) {
            let note = format!("warning: the item {name} was encrypted and is not so any more; --encrypt keeps it so");
            printer.note(Tone::Warning, &escape_line(&note));
        }
        let differs = items.put(&name, &item, &Expected::Anything)?;
        told(bag, &name, differs, printer);
    }
    Ok(Exit::Done)
}

fn pretty(item: &Map<String, Value>) -> anyhow::Result<String> {
    Ok(format!("{}\n", serde_json::to_string_pretty(item)?))
}

fn parsed(draft: &Draft, item: &str) -> anyhow::Result<Map<String, Value>> {
    let read = read_object(ObjectKind::Item, &draft.place(), Some(item), &draft.text);
    let (_, value) = read.map_err(ObjectsError::from)?;
    Ok(value.as_object().cloned().unwrap_or_default())
}

fn told(bag: &str, item: &str, differs: bool, printer: Printer) {
    let told = match differs {
        true => format!("wrote the item {item} of the data bag {bag}"),
        false => format!("nothing to change: the item {item} of the data bag {bag} is so already"),
    };
    printer.note(Tone::Quiet, &escape_line(&told));
}
