//! `wrun policy sign`, `promote`, `verify`, and `clean`: the commands for existing releases.

use super::lock::{here, show_difference};
use super::push::{is_meant, locked_manifest, outcome, revision};
use crate::arguments::{CleanArguments, PromoteArguments, SignArguments, VerifyArguments};
use crate::commands::repository::{as_publisher, say};
use crate::exit::Exit;
use crate::printer::{Printer, Tone};
use anyhow::{Context as _, bail};
use artifact::Artifact;
use author::policyfile::Side;
use repository::admin::Platform;
use repository::names::team_folder;
use repository::pending::Pending;
use repository::release::{FileChange, GroupChange};
use repository::teams::Team;
use repository::writer::{Current, Publisher};
use repository::{Release, RepositoryError};
use std::path::Path;
use text::{counted, error_chain, escape_line, versions};

/// Lists pending releases, or signs one of them.
pub(super) fn sign(arguments: &SignArguments, printer: Printer) -> anyhow::Result<Exit> {
    as_publisher(&arguments.repository, |publisher| {
        let platform = publisher.platform()?;
        match &arguments.id {
            Some(id) => sign_one(publisher, &platform, id, printer),
            None => Ok(list(publisher, &platform, printer)),
        }
    })
}

/// Lists the pending releases. If a team's releases cannot be read, the other teams are still listed.
fn list(publisher: &Publisher<'_>, platform: &Platform, printer: Printer) -> Exit {
    let (mut waiting, mut exit) = (0, Exit::Done);
    for team in &platform.teams {
        let listed = publisher.pending(&team_folder(&team.name)).and_then(|ids| {
            waiting += ids.len();
            if ids.is_empty() {
                return Ok(());
            }
            let current = publisher.team(platform, team)?.current;
            for id in ids {
                let shown = publisher.read_pending(&current, &id, platform.lifetimes).and_then(|pending| {
                    show(publisher, &current, &pending, team, &id, printer)?;
                    Ok(())
                });
                if let Err(error) = shown {
                    say(printer, &format!("{id} (team {}): {}", team.name, error_chain(&error)));
                }
            }
            Ok(())
        });
        if let Err(error) = listed {
            exit = Exit::Failed;
            let text = format!("error: team {}: {}", team.name, error_chain(&error));
            printer.note(Tone::Error, &escape_line(&text));
        }
    }
    if waiting == 0 && matches!(exit, Exit::Done) {
        say(printer, "no release waits for signatures");
    }
    exit
}

/// Shows the changes of a release against the current one.
fn show(
    publisher: &Publisher<'_>,
    current: &Current,
    pending: &Pending,
    team: &Team,
    id: &str,
    printer: Printer,
) -> Result<(), RepositoryError> {
    let signers = pending.signers().len();
    let expires = pending.targets.expires;
    say(printer, &format!("{id} (team {}), signed by {}, good until {expires}", team.name, counted(signers, "key")));
    if signers == 0 {
        let text = format!("warning: no key of the team {} has signed it: anybody may have left it there", team.name);
        printer.note(Tone::Warning, &escape_line(&text));
    }
    let changes = publisher.changes(current, &pending.targets)?;
    for change in &changes {
        say(printer, &format!("  {}", described(change)));
    }
    let lost = publisher.lost_files(current, &pending.targets);
    for FileChange { path, is_removed } in &lost {
        let what = if *is_removed { "is removed" } else { "is replaced" };
        say(printer, &format!("  {path} {what}"));
    }
    if changes.is_empty() && lost.is_empty() {
        say(printer, "  no group runs anything else");
    }
    Ok(())
}

/// Signs the release with an id. The id is the digest of the signed bytes, so other files under this name are ignored, in
/// this team's folder and in others.
fn sign_one(publisher: &Publisher<'_>, platform: &Platform, id: &str, printer: Printer) -> anyhow::Result<Exit> {
    let mut failed = vec![];
    for team in &platform.teams {
        let folder = team_folder(&team.name);
        if !publisher.pending(&folder).is_ok_and(|ids| ids.iter().any(|known| known == id)) {
            continue;
        }
        let read = publisher.store.writer(&folder).and_then(|writer| {
            let current = publisher.team(platform, team)?.current;
            let pending = publisher.read_pending(&current, id, platform.lifetimes)?;
            Ok((writer, current, pending))
        });
        match read {
            Ok((writer, current, pending)) => {
                show(publisher, &current, &pending, team, id, printer)?;
                let published = publisher.sign_pending(writer.as_ref(), &current, &pending, platform.lifetimes)?;
                say(printer, &outcome(&published));
                return Ok(Exit::Done);
            }
            Err(error) => failed.push(format!("team {}: {}", team.name, error_chain(&error))),
        }
    }
    if failed.is_empty() {
        bail!("no release {id} waits for signatures; `wrun policy sign` lists what waits");
    }
    bail!("the release {id} cannot be signed: {}", failed.join("; "))
}

fn described(change: &GroupChange) -> String {
    let id = |release: &Option<Release>| match release {
        Some(release) => {
            let revision: String = release.revision_id.chars().take(12).collect();
            // The signer must be able to compare the whole digest.
            format!("revision {revision} (artifact {})", release.digest)
        }
        None => "nothing".to_owned(),
    };
    format!("policy {}, group {}: {} -> {}", change.policy, change.group, id(&change.was), id(&change.will))
}

/// Releases the artifact of one group to another group, after showing the difference.
pub(super) fn promote(arguments: &PromoteArguments, printer: Printer) -> anyhow::Result<Exit> {
    let policy = match &arguments.policy {
        Some(policy) => policy.clone(),
        None => policy_here(&here()?)?,
    };
    as_publisher(&arguments.repository, |publisher| {
        let platform = publisher.platform()?;
        let team = publisher.owner(&platform, &policy)?;
        let current = publisher.team(&platform, team)?.current;
        let from = released(publisher, &current, &team.name, &policy, &arguments.from)?;
        if let Some(wanted) = arguments.revision.as_ref().filter(|wanted| !from.revision_id.starts_with(*wanted)) {
            let runs = versions(&from.revision_id, &from.digest);
            bail!("the group {} runs {runs}, and not the revision {wanted}", arguments.from);
        }
        match publisher.released(&current, &policy, &arguments.to)? {
            Some(to) if to.digest == from.digest => {
                say(printer, &format!("the group {} runs this revision already", arguments.to));
                return Ok(Exit::Done);
            }
            Some(to) => show_difference(&side(publisher, &current, &to)?, &side(publisher, &current, &from)?, printer),
            None if !arguments.new_group && !is_meant(publisher, &policy, &arguments.to, printer)? => {
                return Ok(Exit::Failed);
            }
            None => say(printer, &format!("the group {} runs nothing of {policy} yet", arguments.to)),
        }
        let published = publisher.promote(&from, &arguments.to)?;
        let versions = versions(&from.revision_id, &from.digest);
        say(printer, &format!("policy {policy}, {versions}, group {}: {}", arguments.to, outcome(&published)));
        Ok(Exit::Done)
    })
}

/// Returns the current release of a group.
pub(super) fn released(
    publisher: &Publisher<'_>,
    current: &Current,
    team: &str,
    policy: &str,
    group: &str,
) -> anyhow::Result<Release> {
    let found = publisher.released(current, policy, group)?;
    Ok(found.ok_or_else(|| RepositoryError::NotReleased {
        repository: publisher.store.place(),
        team: team.to_owned(),
        policy: policy.to_owned(),
        group: group.to_owned(),
    })?)
}

fn side(publisher: &Publisher<'_>, current: &Current, release: &Release) -> anyhow::Result<Side> {
    let lock = String::from_utf8(publisher.lock(current, release)?).context("a released lock is not UTF-8")?;
    Ok(Side::of_text(format!("policy_group:{}", release.group), &lock)?)
}

/// Returns two locks to compare: `GROUP` with the lock in this folder, or `GROUP...GROUP`.
pub(super) fn sides(
    groups: &str,
    local: impl FnOnce() -> anyhow::Result<Side>,
    policy: &str,
    place: &crate::arguments::RepositoryPlace,
) -> anyhow::Result<(Side, Side)> {
    as_publisher(place, |publisher| {
        let platform = publisher.platform()?;
        let team = publisher.owner(&platform, policy)?;
        let current = publisher.team(&platform, team)?.current;
        let of = |group: &str| {
            let release = released(publisher, &current, &team.name, policy, group)?;
            side(publisher, &current, &release)
        };
        match groups.split_once("...") {
            Some((old, new)) => Ok((of(old)?, of(new)?)),
            None => Ok((of(groups)?, local()?)),
        }
    })
}

/// Returns the name of the policy in a folder, or `None` if the folder has no lock.
pub(super) fn locked_policy(folder: &Path) -> anyhow::Result<Option<String>> {
    for lock in ["Policyfile.lock.json", "policy.lock.json"] {
        let path = folder.join(lock);
        if path.exists() {
            return Ok(Some(author::policyfile::locked_name(&path)?));
        }
    }
    Ok(None)
}

/// Does the same as [`locked_policy`], but a missing lock is an error.
fn policy_here(folder: &Path) -> anyhow::Result<String> {
    let found = locked_policy(folder)?;
    found.with_context(|| format!("{} has no lock that names a policy; name it with --policy", folder.display()))
}

/// Checks a lock, and a group against it.
pub(super) fn verify(arguments: &VerifyArguments, printer: Printer) -> anyhow::Result<Exit> {
    let target = arguments.target_dir.as_deref();
    // Before signing, the signer must see that the bytes are the result of the lock.
    let (manifest, artifact) = match arguments.rebuild || arguments.pending.is_some() {
        true => {
            let artifact = revision(&arguments.folder, target, printer)?.artifact;
            (artifact.manifest().clone(), Some(artifact))
        }
        false => locked_manifest(&arguments.folder, printer)?,
    };
    let ours = versions(&manifest.revision_id, artifact.as_ref().map_or("", Artifact::digest));
    say(printer, &format!("policy {}, {ours}: the lock fits what it locks", manifest.name));
    let Some(group) = &arguments.group else { return Ok(Exit::Done) };
    as_publisher(&arguments.repository, |publisher| {
        let platform = publisher.platform()?;
        let team = publisher.owner(&platform, &manifest.name)?;
        let current = publisher.team(&platform, team)?.current;
        let release = match &arguments.pending {
            Some(id) => {
                let pending = publisher.read_pending(&current, id, platform.lifetimes)?;
                let release = publisher.released_by(&current, &pending.targets.targets, &manifest.name, group)?;
                release.with_context(|| format!("the release {id} gives the group {group} no {}", manifest.name))?
            }
            None => released(publisher, &current, &team.name, &manifest.name, group)?,
        };
        let short = |text: &str| text.chars().take(12).collect::<String>();
        if release.revision_id != manifest.revision_id {
            let theirs = versions(&release.revision_id, &release.digest);
            bail!("the group {group} runs {theirs}, and the lock has {ours}");
        }
        match &artifact {
            Some(artifact) if release.digest != artifact.digest() => {
                // An artifact with a pending release is not among the released ones.
                let theirs = match arguments.pending {
                    Some(_) => publisher.artifact(&current, &release).ok(),
                    None => Some(publisher.artifact(&current, &release)?),
                };
                let found = theirs.map(|theirs| artifact::differences(&theirs, artifact)).unwrap_or_default();
                let found = found.iter().map(|one| format!("\n- {one}")).collect::<String>();
                let (theirs, ours) = (short(&release.digest), short(artifact.digest()));
                bail!(
                    "the group {group} runs this revision as the artifact {theirs}, and what is built here is {ours}:{found}"
                );
            }
            Some(_) if arguments.pending.is_some() => say(printer, "its artifact is what is built here, byte by byte"),
            Some(_) => say(printer, &format!("the group {group} runs what is built from it, byte by byte")),
            None => say(printer, "the artifact was not built again; --rebuild compiles it and compares"),
        }
        match &arguments.pending {
            Some(id) => say(printer, &format!("the release {id} gives it to the group {group}")),
            None => say(printer, &format!("the group {group} runs it, as team {} has signed it", team.name)),
        }
        Ok(Exit::Done)
    })
}

/// Removes the artifacts that no group uses.
pub(super) fn clean(arguments: &CleanArguments, printer: Printer) -> anyhow::Result<Exit> {
    as_publisher(&arguments.repository, |publisher| {
        let platform = publisher.platform()?;
        let named = !arguments.teams.is_empty();
        let (mut exit, mut count) = (Exit::Done, 0_usize);
        for team in platform.teams.iter().filter(|team| !named || arguments.teams.contains(&team.name)) {
            match publisher.clean(team, &platform) {
                Err(error @ RepositoryError::NoKey { .. }) if !named => {
                    let text = format!("{} was left out: {}", team.name, error_chain(&error));
                    printer.note(Tone::Quiet, &escape_line(&text));
                }
                // An error of one team does not stop the others.
                Err(error) => {
                    exit = Exit::Failed;
                    let text = format!("error: team {}: {}", team.name, error_chain(&error));
                    printer.note(Tone::Error, &escape_line(&text));
                }
                Ok(removed) => {
                    count = count.saturating_add(removed.len());
                    for path in removed {
                        say(printer, &format!("team {}: {path}", team.name));
                    }
                }
            }
        }
        if count == 0 && matches!(exit, Exit::Done) {
            printer.note(Tone::Plain, "nothing to remove");
        }
        Ok(exit)
    })
}
