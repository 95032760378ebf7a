//! `wrun repository init`.

use super::{as_publisher_of, new_passphrase, own_places, say};
use crate::arguments::InitArguments;
use crate::exit::Exit;
use crate::printer::{Printer, Tone};
use anyhow::Context as _;
use repository::admin::{TeamKeys, own_key};
use repository::names::PolicyPattern;
use repository::teams::Team;
use repository::writer::Lifetimes;

/// The names of the platform's own keys.
const PLATFORM_KEYS: [&str; 2] = ["platform", "platform-online"];

pub(super) fn run(arguments: &InitArguments, printer: Printer) -> anyhow::Result<Exit> {
    let own = own_places()?;
    let place = std::path::absolute(&arguments.place)
        .with_context(|| format!("{} is not a path", arguments.place.display()))?;
    let (folder, passphrase) = (own.keys(), new_passphrase(printer)?);
    let key = |name: &str| own_key(&folder, name, &passphrase);
    let mut teams = vec![];
    for name in &arguments.team {
        let team = Team { name: name.clone(), policies: vec![PolicyPattern::try_from(name.clone())?] };
        teams.push(TeamKeys { team, keys: vec![key(name)?], threshold: 1, online: key(&format!("{name}-online"))? });
    }
    let [root, online] = PLATFORM_KEYS.map(key);
    let lifetimes = if arguments.offline { Lifetimes::OFFLINE } else { Lifetimes::USUAL };
    own.make(&place)?;
    let (root, online) = (root?, online?);
    as_publisher_of(&own, &place, |publisher, _| Ok(publisher.init(&root, &online, &teams, lifetimes)?))?;
    own.remember(&place)?;
    say(printer, &format!("{}: a repository with {} teams", place.display(), teams.len()));
    if passphrase.is_empty() {
        let text =
            format!("the keys in {} have no passphrase; keep them where only you can read them", folder.display());
        printer.note(Tone::Quiet, &text);
    }
    Ok(Exit::Done)
}
