//! `wrun role` and `wrun environment`: handle documents in the folders that the settings name.

mod compare;

use super::editor::Draft;
use super::store::matching;
use crate::arguments::{
    AddedItems, ChefEnvironmentCommand, EnvRunListCommand, EnvironmentsPlace, RoleCommand, RoleRunListCommand,
    RolesPlace,
};
use crate::exit::Exit;
use crate::printer::{Printer, Tone};
use crate::settings::{Layer, Settings, View};
use assemble::{
    Expected, LocalObjects, ObjectKind, ObjectStore, ObjectsError, Program, Shelf, change_role_run_list, new_object,
    read_object, read_object_file,
};
use contract::Stop;
use node::layers;
use node::object::DEFAULT_ENVIRONMENT;
use node::run_list::RunListEdit;
use serde_json::json;
use std::path::{Path, PathBuf};
use text::escape_line;

/// The version of the JSON output. It grows when the meaning of a key changes or a key is removed.
const VERSION: u32 = 1;

/// The settings, and the Ruby runtime for files in Ruby.
pub(super) struct ObjectsPlace {
    pub(super) settings: Settings,
    program: Program,
    stop: Stop,
}

impl ObjectsPlace {
    pub(super) fn of(config: Option<&Path>, layer: Layer) -> anyhow::Result<Self> {
        let settings = super::settings(config, layer)?;
        Ok(Self { settings, program: crate::program::program(), stop: Stop::default() })
    }

    /// Returns the objects in the folders that the settings name.
    pub(super) fn store(&self) -> LocalObjects<'_> {
        LocalObjects { settings: &self.settings.run, program: &self.program, stop: &self.stop }
    }
}

/// Commands for objects of one kind.
struct Shelved {
    place: ObjectsPlace,
    shelf: Shelf,
    printer: Printer,
}

pub(crate) fn role(command: RoleCommand, printer: &Printer) -> anyhow::Result<Exit> {
    let on = |place: &RolesPlace| {
        let place = ObjectsPlace::of(place.config.as_deref(), place.layer())?;
        anyhow::Ok(Shelved { place, shelf: Shelf::Roles, printer: *printer })
    };
    match command {
        RoleCommand::List { place, format } => on(&place)?.list("roles", format),
        RoleCommand::Show { place, name } => on(&place)?.show(&name),
        RoleCommand::Create { place, name, description, run_list } => on(&place)?.create(&name, &description, run_list),
        RoleCommand::Edit { place, name } => on(&place)?.edit(&name),
        RoleCommand::FromFile { place, files } => on(&place)?.take_files(&files),
        RoleCommand::Delete { place, names } => on(&place)?.delete(&names),
        RoleCommand::BulkDelete { place, pattern, yes } => on(&place)?.bulk_delete(&pattern, yes),
        RoleCommand::RunList(command) => {
            let (list, edit) = match command {
                RoleRunListCommand::Add { list, added } => (list, adding(added)),
                RoleRunListCommand::Remove { list, items } => (list, RunListEdit::Remove(items.items)),
                RoleRunListCommand::Set { list, items } => (list, RunListEdit::Set(items.items)),
                RoleRunListCommand::Replace { list, replaced } => {
                    (list, RunListEdit::Replace { old: replaced.old, new: replaced.new })
                }
                RoleRunListCommand::Clear { list } => (list, RunListEdit::Set(vec![])),
            };
            on(&list.place)?.run_list(&list.role, None, &edit)
        }
        RoleCommand::EnvRunList(command) => {
            let (list, edit) = match command {
                EnvRunListCommand::Add { list, added } => (list, adding(added)),
                EnvRunListCommand::Remove { list, items } => (list, RunListEdit::Remove(items.items)),
                EnvRunListCommand::Set { list, items } => (list, RunListEdit::Set(items.items)),
                EnvRunListCommand::Replace { list, replaced } => {
                    (list, RunListEdit::Replace { old: replaced.old, new: replaced.new })
                }
                EnvRunListCommand::Clear { list } => (list, RunListEdit::Set(vec![])),
            };
            on(&list.place)?.run_list(&list.role, Some(&list.environment), &edit)
        }
    }
}

pub(crate) fn environment(command: ChefEnvironmentCommand, printer: &Printer) -> anyhow::Result<Exit> {
    let on = |place: &EnvironmentsPlace| {
        let place = ObjectsPlace::of(place.config.as_deref(), place.layer())?;
        anyhow::Ok(Shelved { place, shelf: Shelf::Environments, printer: *printer })
    };
    match command {
        ChefEnvironmentCommand::List { place, format } => on(&place)?.list("environments", format),
        ChefEnvironmentCommand::Show { place, name } => on(&place)?.show(&name),
        ChefEnvironmentCommand::Create { place, name, description } => on(&place)?.create(&name, &description, vec![]),
        ChefEnvironmentCommand::Edit { place, name } => on(&place)?.edit(&name),
        ChefEnvironmentCommand::FromFile { place, files } => on(&place)?.take_files(&files),
        ChefEnvironmentCommand::Delete { place, names } => on(&place)?.delete(&names),
        ChefEnvironmentCommand::Compare { place, names, format } => {
            compare::environments(&on(&place)?.place.store(), &names, format, *printer)
        }
    }
}

fn adding(added: AddedItems) -> RunListEdit {
    let place = added.before.map(layers::Place::Before).or_else(|| added.after.map(layers::Place::After));
    RunListEdit::Add { items: added.items.items, place: place.unwrap_or_default() }
}

impl Shelved {
    fn kind(&self) -> ObjectKind {
        self.shelf.kind()
    }

    fn note(&self, text: &str) {
        self.printer.note(Tone::Quiet, &escape_line(text));
    }

    fn list(&self, key: &str, format: View) -> anyhow::Result<Exit> {
        let names = self.place.store().names(&self.shelf)?;
        list(&names, key, format, self.printer);
        Ok(Exit::Done)
    }

    fn show(&self, name: &str) -> anyhow::Result<Exit> {
        let kept = self.place.store().object(&self.shelf, name)?;
        self.printer.json(&serde_json::to_string_pretty(&kept.value)?);
        Ok(Exit::Done)
    }

    fn create(&self, name: &str, description: &str, run_list: Vec<String>) -> anyhow::Result<Exit> {
        let new = new_object(self.kind(), name, description, run_list)?;
        self.place.store().put(&self.shelf, name, &new, &Expected::Absent)?;
        self.note(&format!("created the {} {name}", self.kind()));
        Ok(Exit::Done)
    }

    fn edit(&self, name: &str) -> anyhow::Result<Exit> {
        let store = self.place.store();
        let kept = store.object(&self.shelf, name)?;
        if kept.is_ruby {
            return Err(ObjectsError::in_ruby(self.kind(), name, &kept).into());
        }
        let draft = Draft::edit(self.kind().as_str(), &format!("{}\n", serde_json::to_string_pretty(&kept.value)?))?;
        let saved = read_object(self.kind(), &draft.place(), Some(name), &draft.text).map_err(ObjectsError::from);
        let saved =
            saved.and_then(|(_, new)| store.put(&self.shelf, name, &new, &Expected::Version(kept.version.clone())));
        let differs = draft.saved(saved.map_err(anyhow::Error::from), advice)?;
        self.tell(name, differs);
        Ok(Exit::Done)
    }

    fn take_files(&self, files: &[PathBuf]) -> anyhow::Result<Exit> {
        // All files are read before the first object changes.
        let read = files.iter().map(|file| read_object_file(self.kind(), file));
        for (name, value) in read.collect::<Result<Vec<_>, _>>()? {
            let differs = self.place.store().put(&self.shelf, &name, &value, &Expected::Anything)?;
            self.tell(&name, differs);
        }
        Ok(Exit::Done)
    }

    fn delete(&self, names: &[String]) -> anyhow::Result<Exit> {
        let store = self.place.store();
        let there = store.names(&self.shelf)?;
        // All of them must exist before the first one is removed.
        for name in names.iter().filter(|name| !there.contains(name)) {
            store.object(&self.shelf, name)?;
        }
        // The built-in environment comes first: its removal fails, so that no other object is removed.
        let mut names: Vec<&String> = names.iter().collect();
        names.sort_by_key(|name| (self.kind() != ObjectKind::Environment || *name != DEFAULT_ENVIRONMENT, *name));
        names.dedup();
        for name in names {
            store.remove(&self.shelf, name)?;
            self.note(&format!("deleted the {} {name}", self.kind()));
        }
        Ok(Exit::Done)
    }

    fn bulk_delete(&self, pattern: &str, yes: bool) -> anyhow::Result<Exit> {
        let names = matching(pattern, self.place.store().names(&self.shelf)?)?;
        if yes {
            return self.delete(&names);
        }
        names.iter().for_each(|name| self.printer.line(Tone::Plain, &escape_line(name)));
        self.note("nothing was deleted; --yes deletes those above");
        Ok(Exit::Done)
    }

    fn run_list(&self, role: &str, environment: Option<&str>, edit: &RunListEdit) -> anyhow::Result<Exit> {
        let differs = change_role_run_list(&self.place.store(), role, environment, edit)?;
        self.tell(role, differs);
        Ok(Exit::Done)
    }

    fn tell(&self, name: &str, differs: bool) {
        match differs {
            true => self.note(&format!("wrote the {} {name}", self.kind())),
            false => self.note(&format!("nothing to change: the {} {name} is so already", self.kind())),
        }
    }
}

/// Returns the advice for a user whose draft was not saved.
pub(super) fn advice(error: &anyhow::Error) -> &'static str {
    match error.downcast_ref::<ObjectsError>() {
        Some(ObjectsError::ChangedMeanwhile { .. }) => "; look at what is there now, and edit it again",
        _ => "",
    }
}

/// Prints names, one per line or as JSON.
pub(super) fn list(names: &[String], key: &str, format: View, printer: Printer) {
    if format == View::Json {
        printer.json(&json!({ "version": VERSION, key: names }).to_string());
    } else {
        names.iter().for_each(|name| printer.line(Tone::Plain, &escape_line(name)));
    }
}
