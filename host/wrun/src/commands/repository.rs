//! `wrun repository`, and the common code of commands that release: the keys, the repository, and the time.

mod check;
mod init;
mod passphrase;
mod team;

use crate::arguments::{RepositoryCommand, RepositoryPlace};
use crate::exit::Exit;
use crate::printer::{Printer, Tone};
use anyhow::Context as _;
use author::release::OwnPlaces;
use jiff::Timestamp;
use repository::DirectoryStore;
use repository::first::{first_root, max_root};
use repository::keyring::KeyRing;
use repository::node::Remark;
use repository::writer::Publisher;
use std::path::Path;
use text::escape_line;

pub(crate) use passphrase::{existing_passphrase, new_passphrase, unseen};

pub(crate) fn run(command: RepositoryCommand, printer: &Printer) -> anyhow::Result<Exit> {
    let printer = *printer;
    match command {
        RepositoryCommand::Init(arguments) => init::run(&arguments, printer),
        RepositoryCommand::AddTeam(arguments) => team::add(&arguments, printer),
        RepositoryCommand::Rotate(arguments) => team::rotate(&arguments, printer),
        RepositoryCommand::Check(place) => check::run(&place, printer),
        RepositoryCommand::Refresh(arguments) => team::refresh(&arguments, printer),
    }
}

/// Returns the places in the author's own folder.
pub(crate) fn own_places() -> anyhow::Result<OwnPlaces> {
    let folder = assemble::own_state::config_folder();
    Ok(OwnPlaces::new(folder.context("keys are kept below the home directory, and this user has none (is HOME set?)")?))
}

/// Calls a function with a publisher: the repository, the author's keys, and the time.
pub(crate) fn as_publisher<T>(
    place: &RepositoryPlace,
    work: impl FnOnce(&Publisher<'_>) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let own = own_places()?;
    let root = place.repository_root.as_deref().map(|path| {
        plain_files::read(path, max_root())
            .with_context(|| format!("the trusted root {} cannot be read", path.display()))
    });
    let root = root.transpose()?;
    as_publisher_of(&own, &own.repository(place.repository.as_deref())?, |publisher, store| {
        let remark = publisher.begin(root.as_deref(), store.is_operators_own(&first_root()))?;
        if let Some(Remark::FirstUse { file, keys }) = remark {
            let text = format!(
                "{file} is trusted from now on, since nothing of this repository was known and nobody else can change it; it \
                 has the key {}",
                keys.join(", ")
            );
            Printer::new().note(Tone::Warning, &escape_line(&text));
        }
        work(publisher)
    })
}

/// Does the same as [`as_publisher`] for a repository's directory, which may be new.
fn as_publisher_of<T>(
    own: &OwnPlaces,
    repository: &Path,
    work: impl FnOnce(&Publisher<'_>, &DirectoryStore) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let store = own.open(repository)?;
    let keys = KeyRing::new(own.keys(), &existing_passphrase).with_commands(&author::signature_of_command);
    work(&Publisher { store: &store, keys: &keys, trust: &own.seen(repository), now: Timestamp::now() }, &store)
}

/// Prints a message about a finished step.
pub(crate) fn say(printer: Printer, text: &str) {
    printer.line(Tone::Plain, &escape_line(text));
}
