//! `wrun repository add-team`, `rotate` and `refresh`.

use super::{as_publisher, new_passphrase, own_places, say};
use crate::arguments::{AddTeamArguments, RefreshArguments, RotateArguments};
use crate::exit::Exit;
use crate::printer::{Printer, Tone};
use anyhow::bail;
use jiff::Timestamp;
use repository::RepositoryError;
use repository::admin::{TeamKeys, own_key, public_key};
use repository::key_file::EXTENSION;
use repository::keys::PublicKey;
use repository::names::{ONLINE, PolicyPattern, team_folder};
use repository::teams::Team;
use std::path::Path;
use text::{error_chain, escape_line};

pub(super) fn add(arguments: &AddTeamArguments, printer: Printer) -> anyhow::Result<Exit> {
    as_publisher(&arguments.repository, |publisher| {
        let platform = publisher.platform()?;
        let known = platform.teams.iter().find(|team| team.name == arguments.name);
        let before = known.map(|team| publisher.team_keys(&platform, team)).transpose();
        // An unreadable team is replaced if the arguments give all of its parts.
        let is_whole = arguments.online_key.is_some() && !arguments.key.is_empty() && arguments.threshold.is_some();
        let before = if is_whole { before.unwrap_or_default() } else { before? };
        let team = wanted(arguments, known, before.as_ref(), printer)?;
        let unwritten = publisher.set_team(&team)?;
        let (count, shown) = (team.keys.len(), team.team.shown());
        say(printer, &format!("team {shown}: {} of {count} keys sign its releases", team.threshold));
        for line in before.map(|before| changes(&before, &team)).unwrap_or_default() {
            say(printer, &format!("  {line}"));
        }
        if let Some(error) = unwritten {
            let text = format!(
                "warning: the team's own folder does not have its new root, which counts all the same: {}",
                error_chain(&error)
            );
            printer.note(Tone::Warning, &escape_line(&text));
        }
        Ok(Exit::Done)
    })
}

/// Returns the team's new state. Parts that are not given stay, and a new team gets keys of the admin.
fn wanted(
    arguments: &AddTeamArguments,
    known: Option<&Team>,
    before: Option<&TeamKeys>,
    printer: Printer,
) -> anyhow::Result<TeamKeys> {
    let (name, folder) = (&arguments.name, own_places()?.keys());
    let needs_key = before.is_none() && (arguments.key.is_empty() || arguments.online_key.is_none());
    let passphrase = if needs_key { new_passphrase(printer)? } else { String::new() };
    let policies = match (arguments.policies.as_slice(), known) {
        ([], Some(known)) => known.policies.clone(),
        ([], None) => vec![PolicyPattern::try_from(name.clone())?],
        (patterns, _) => patterns.iter().cloned().map(PolicyPattern::try_from).collect::<Result<_, _>>()?,
    };
    let keys = match (arguments.key.as_slice(), before) {
        ([], Some(before)) => before.keys.clone(),
        ([], None) => vec![own_key(&folder, name, &passphrase)?],
        (files, _) => files.iter().map(|file| key_of(file, &folder)).collect::<Result<_, _>>()?,
    };
    let online = match (&arguments.online_key, before) {
        (Some(file), _) => key_of(file, &folder)?,
        (None, Some(before)) => before.online.clone(),
        (None, None) => {
            let path = folder.join(format!("{name}{ONLINE}.{EXTENSION}"));
            printer.note(Tone::Quiet, &escape_line(&format!("the team needs {} to publish", path.display())));
            own_key(&folder, &format!("{name}{ONLINE}"), &passphrase)?
        }
    };
    let threshold = arguments.threshold.or(before.map(|before| before.threshold)).unwrap_or(1);
    Ok(TeamKeys { team: Team { name: name.clone(), policies }, keys, threshold, online })
}

/// Reads a public key from a file. If the argument is the name of an own key, the error names its file.
fn key_of(file: &Path, folder: &Path) -> anyhow::Result<PublicKey> {
    let mut own = folder.join(file).into_os_string();
    own.push(format!(".{EXTENSION}"));
    if !file.exists() && Path::new(&own).is_file() {
        bail!("there is no file {}; the file of the key of that name is {}", file.display(), Path::new(&own).display());
    }
    Ok(public_key(file)?)
}

/// Returns the changes of a team, one line for each part.
fn changes(before: &TeamKeys, after: &TeamKeys) -> Vec<String> {
    let short = |key: &PublicKey| key.id().chars().take(12).collect::<String>();
    let only = |these: &[PublicKey], those: &[PublicKey]| {
        these.iter().filter(|key| !those.contains(key)).map(short).collect::<Vec<_>>()
    };
    let parts = [
        ("its key", only(&before.keys, &after.keys), "taken away"),
        ("its key", only(&after.keys, &before.keys), "added"),
    ];
    let mut lines: Vec<_> = parts
        .into_iter()
        .flat_map(|(what, keys, how)| keys.into_iter().map(move |key| format!("{what} {key} was {how}")))
        .collect();
    if before.threshold != after.threshold {
        lines.push(format!("{} keys have to sign, until now {}", after.threshold, before.threshold));
    }
    if before.online != after.online {
        let (old, new) = (short(&before.online), short(&after.online));
        lines.push(format!(
            "its online key is {new} and not {old} any more; `wrun repository refresh {}` where it lies",
            after.team.name
        ));
    }
    if before.team.policies != after.team.policies {
        lines.push(format!("it was {}", before.team.shown()));
    }
    if lines.is_empty() {
        lines.push("nothing changes but the expiry of its root".to_owned());
    }
    lines
}

pub(super) fn rotate(arguments: &RotateArguments, printer: Printer) -> anyhow::Result<Exit> {
    let folder = own_places()?.keys();
    let keys = arguments.key.iter().map(|file| key_of(file, &folder)).collect::<Result<Vec<_>, _>>()?;
    let online = key_of(&arguments.online_key, &folder)?;
    let (version, failed) =
        as_publisher(&arguments.repository, |publisher| Ok(publisher.rotate(&keys, arguments.threshold, &online)?))?;
    say(printer, &format!("the platform has other keys (version {version} of its root)"));
    for error in failed {
        let text = format!("warning: a team's own root could not be renewed: {}", error_chain(&error));
        printer.note(Tone::Warning, &escape_line(&text));
    }
    Ok(Exit::Done)
}

/// Renews the named teams, or everything if no team is named. An error of one does not stop the others.
pub(super) fn refresh(arguments: &RefreshArguments, printer: Printer) -> anyhow::Result<Exit> {
    as_publisher(&arguments.repository, |publisher| {
        let before = publisher.platform();
        let renewed = publisher.refresh_platform();
        let platform = match before {
            // The renewal has repaired the platform, so it is read again.
            Err(_) if renewed.is_ok() => publisher.platform()?,
            before => before?,
        };
        let named = !arguments.teams.is_empty();
        let mut exit = Exit::Done;
        let mut tell = |name: &str, may_be_left_out: bool, renewed: Result<Option<Timestamp>, RepositoryError>| {
            match renewed {
                Err(error @ (RepositoryError::NoKey { .. } | RepositoryError::Missing { .. })) if may_be_left_out => {
                    left_out(printer, name, &error);
                }
                Err(error) => {
                    exit = Exit::Failed;
                    let text = format!("error: {name} was not renewed: {}", error_chain(&error));
                    printer.note(Tone::Error, &escape_line(&text));
                }
                Ok(expires) => {
                    say(printer, &format!("{name} was renewed"));
                    if let Some(expires) = expires {
                        let text = format!(
                            "warning: what {name} has released expires at {expires}; `wrun repository refresh` where the keys \
                             are that sign it"
                        );
                        printer.note(Tone::Warning, &escape_line(&text));
                    }
                }
            }
        };
        // A user who renews only a team does not need the platform's keys.
        tell("the platform", true, renewed);
        let all = platform.teams.iter().map(|team| team.name.clone()).collect();
        for team in if named { arguments.teams.clone() } else { all } {
            let root = platform.team_root(publisher.store, &team);
            let renewed = root.and_then(|root| publisher.refresh(&team_folder(&team), Some(&root), platform.lifetimes));
            tell(&format!("team {team}"), !named, renewed);
        }
        Ok(exit)
    })
}

fn left_out(printer: Printer, name: &str, error: &RepositoryError) {
    printer.note(Tone::Quiet, &escape_line(&format!("{name} was left out: {}", error_chain(error))));
}
