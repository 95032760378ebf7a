//! `wrun repository init`.

use super::{as_publisher_of, new_passphrase, own_places, say};
use crate::arguments::InitArguments;
use crate::exit::Exit;
use crate::printer::{Printer, Tone};
use anyhow::Context as _;
use repository::RepositoryError;
use repository::admin::{TeamKeys, own_key};
use repository::key_file::{EXTENSION, KeyFile};
use repository::names::{ONLINE, PolicyPattern, check_team_name};
use repository::teams::Team;
use repository::writer::Lifetimes;
use std::path::Path;
use text::{counted, escape_line};

/// The names of the platform's own keys.
const PLATFORM_KEYS: [&str; 2] = ["platform", "platform-online"];

pub(super) fn run(arguments: &InitArguments, printer: Printer) -> anyhow::Result<Exit> {
    let own = own_places()?;
    let place = std::path::absolute(&arguments.place)
        .with_context(|| format!("{} is not a path", arguments.place.display()))?;
    let (folder, passphrase) = (own.keys(), new_passphrase(printer)?);
    let key = |name: &str| {
        note_reused(&folder, name, &passphrase, printer)?;
        own_key(&folder, name, &passphrase)
    };
    let mut teams = vec![];
    for name in &arguments.team {
        check_team_name(name)?;
        let team = Team { name: name.clone(), policies: vec![PolicyPattern::try_from(name.clone())?] };
        teams.push(TeamKeys { team, keys: vec![key(name)?], threshold: 1, online: key(&format!("{name}{ONLINE}"))? });
    }
    let [root, online] = PLATFORM_KEYS.map(key);
    let lifetimes = if arguments.offline { Lifetimes::OFFLINE } else { Lifetimes::USUAL };
    own.make(&place)?;
    let (root, online) = (root?, online?);
    as_publisher_of(&own, &place, |publisher, _| Ok(publisher.init(&root, &online, &teams, lifetimes)?))?;
    own.remember(&place)?;
    say(printer, &format!("{}: a repository with {}", place.display(), counted(teams.len(), "team")));
    if passphrase.is_empty() {
        let text =
            format!("the keys in {} have no passphrase; keep them where only you can read them", folder.display());
        printer.note(Tone::Quiet, &text);
    }
    Ok(Exit::Done)
}

/// Reports that an existing key is reused. Others may know it, or it may have no passphrase although one was given.
fn note_reused(folder: &Path, name: &str, passphrase: &str, printer: Printer) -> Result<(), RepositoryError> {
    let path = folder.join(format!("{name}.{EXTENSION}"));
    if !path.exists() {
        return Ok(());
    }
    let mut text = format!("{} exists already and is used", path.display());
    let is_open = !KeyFile::read(&path)?.needs_passphrase();
    if is_open && !passphrase.is_empty() {
        text.push_str("; it has no passphrase, not the one that was given either");
    }
    let tone = if is_open && !passphrase.is_empty() { Tone::Warning } else { Tone::Quiet };
    printer.note(tone, &escape_line(&text));
    Ok(())
}
