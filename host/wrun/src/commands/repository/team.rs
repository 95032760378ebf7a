//! `wrun repository add-team`, `rotate` and `refresh`.

use super::{as_publisher, new_passphrase, own_places, say};
use crate::arguments::{AddTeamArguments, RefreshArguments, RotateArguments};
use crate::exit::Exit;
use crate::printer::{Printer, Tone};
use repository::RepositoryError;
use repository::admin::{TeamKeys, own_key, public_key};
use repository::names::{PLATFORM, PolicyPattern, team_folder};
use repository::teams::Team;
use text::{error_chain, escape_line};

pub(super) fn add(arguments: &AddTeamArguments, printer: Printer) -> anyhow::Result<Exit> {
    let own = own_places()?;
    let folder = own.keys();
    let name = &arguments.name;
    let patterns = if arguments.policies.is_empty() { std::slice::from_ref(name) } else { &arguments.policies };
    let policies = patterns.iter().cloned().map(PolicyPattern::try_from).collect::<Result<_, _>>()?;
    let needs_key = arguments.key.is_empty() || arguments.online_key.is_none();
    let passphrase = if needs_key { new_passphrase(printer)? } else { String::new() };
    let keys = match arguments.key.as_slice() {
        [] => vec![own_key(&folder, name, &passphrase)?],
        files => files.iter().map(|file| public_key(file)).collect::<Result<_, _>>()?,
    };
    let online = match &arguments.online_key {
        Some(file) => public_key(file)?,
        None => own_key(&folder, &format!("{name}-online"), &passphrase)?,
    };
    let team = Team { name: name.clone(), policies };
    let shown = team.shown();
    let team = TeamKeys { team, keys, threshold: arguments.threshold, online };
    as_publisher(&arguments.repository, |publisher| Ok(publisher.set_team(&team)?))?;
    say(printer, &format!("team {shown}: {} of {} keys sign its releases", team.threshold, team.keys.len()));
    if arguments.online_key.is_none() {
        let path = folder.join(format!("{name}-online.key"));
        printer.note(Tone::Quiet, &escape_line(&format!("the team needs {} to publish", path.display())));
    }
    Ok(Exit::Done)
}

pub(super) fn rotate(arguments: &RotateArguments, printer: Printer) -> anyhow::Result<Exit> {
    let keys = arguments.key.iter().map(|file| public_key(file)).collect::<Result<Vec<_>, _>>()?;
    let online = public_key(&arguments.online_key)?;
    let version =
        as_publisher(&arguments.repository, |publisher| Ok(publisher.rotate(&keys, arguments.threshold, &online)?))?;
    say(printer, &format!("the platform has other keys (version {version} of its root)"));
    Ok(Exit::Done)
}

pub(super) fn refresh(arguments: &RefreshArguments, printer: Printer) -> anyhow::Result<Exit> {
    as_publisher(&arguments.repository, |publisher| {
        let platform = publisher.platform()?;
        let named = !arguments.teams.is_empty();
        let of_platform = publisher.refresh(PLATFORM, None, platform.lifetimes);
        match of_platform {
            // Whoever renews a team alone need not have the platform's keys.
            Err(RepositoryError::NoKey { .. }) if named => {}
            Err(error @ RepositoryError::NoKey { .. }) => left_out(printer, PLATFORM, &error),
            other => {
                other?;
                say(printer, "the platform was renewed");
            }
        }
        let all = platform.teams.iter().map(|team| team.name.clone()).collect();
        for team in if named { arguments.teams.clone() } else { all } {
            let root = platform.team_root(publisher.store, &team)?;
            match publisher.refresh(&team_folder(&team), Some(&root), platform.lifetimes) {
                Err(error @ (RepositoryError::NoKey { .. } | RepositoryError::Missing { .. })) if !named => {
                    left_out(printer, &team, &error);
                }
                other => {
                    other?;
                    say(printer, &format!("team {team} was renewed"));
                }
            }
        }
        Ok(Exit::Done)
    })
}

fn left_out(printer: Printer, name: &str, error: &RepositoryError) {
    printer.note(Tone::Quiet, &escape_line(&format!("{name} was left out: {}", error_chain(error))));
}
