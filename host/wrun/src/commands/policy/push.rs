//! `wrun policy push`: builds a locked policy and releases it to a group.

use super::build::{build_policy, read_policy, target_folder};
use super::lock::{here, with_tools};
use super::ruby::RuntimeHere;
use crate::arguments::{PushArchiveArguments, PushArguments};
use crate::commands::repository::{as_publisher, say};
use crate::exit::Exit;
use crate::printer::{Printer, Tone};
use crate::settings::Layer;
use crate::terminal::Doing;
use anyhow::{Context as _, bail};
use artifact::{Artifact, Manifest};
use author::Options;
use author::policyfile::{LockState, Place, archived, install, lock_of_folder, locked};
use repository::release::Revision;
use repository::writer::{Published, Publisher};
use std::io::IsTerminal as _;
use std::path::Path;
use text::{escape_line, versions};

/// Releases policies. All of them are built before the first one is released.
///
/// # Errors
/// A policy cannot be built, its lock no longer fits, a key is missing, or the repository cannot be written.
pub(super) fn run(arguments: &PushArguments, printer: Printer) -> anyhow::Result<Exit> {
    let target = arguments.target_dir.as_deref();
    let revisions = arguments.folders.iter().map(|folder| revision(folder, target, printer));
    let revisions = revisions.collect::<Result<Vec<_>, _>>()?;
    as_publisher(&arguments.repository, |publisher| {
        for revision in revisions.iter().filter(|_| !arguments.new_group) {
            if !is_meant(publisher, &revision.artifact.manifest().name, &arguments.group, printer)? {
                return Ok(Exit::Failed);
            }
        }
        revisions.iter().try_for_each(|revision| release(publisher, revision, &arguments.group, printer))?;
        Ok(Exit::Done)
    })
}

/// Checks that a new group of a policy is not a typing error. If a similar group exists, the user is asked.
///
/// # Errors
/// Nobody can be asked, or the repository cannot be read.
pub(super) fn is_meant(publisher: &Publisher<'_>, policy: &str, group: &str, printer: Printer) -> anyhow::Result<bool> {
    let groups = publisher.known_groups(policy)?;
    let near = text::nearest(group, groups.iter().map(String::as_str));
    let Some(near) = near.filter(|_| !groups.contains(group)) else { return Ok(true) };
    let new = format!("policy {policy} was never released to a group {group}, but to {near}");
    let input = std::io::stdin();
    if !input.is_terminal() {
        bail!("{new}; nothing was released\nSay {near}, or --new-group if {group} is meant");
    }
    printer.note(Tone::Heading, &escape_line(&format!("{new}. Release it to the new group {group}? [y/N]")));
    let mut answer = String::new();
    input.read_line(&mut answer).context("the answer cannot be read")?;
    let is_meant = matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes");
    if !is_meant {
        printer.note(Tone::Plain, "nothing was released");
    }
    Ok(is_meant)
}

fn release(publisher: &Publisher<'_>, revision: &Revision, group: &str, printer: Printer) -> anyhow::Result<()> {
    let manifest = revision.artifact.manifest();
    let groups = publisher.known_groups(&manifest.name)?;
    let doing = Doing::say(format!("releasing policy {} to the group {group}", manifest.name));
    let published = publisher.push(revision, group)?;
    drop(doing);
    if !groups.is_empty() && !groups.contains(group) {
        let note = format!("note: {group} is a new group of the team's: nothing was released to it before");
        printer.note(Tone::Warning, &note);
    }
    let versions = versions(&manifest.revision_id, revision.artifact.digest());
    let what = format!("policy {}, {versions}, group {group}", manifest.name);
    say(printer, &format!("{what}: {}", outcome(&published)));
    Ok(())
}

/// Releases the policy of an archive.
///
/// # Errors
/// The archive is not sound, its revision was released with other files, or it cannot be released.
pub(super) fn archive(arguments: &PushArchiveArguments, printer: Printer) -> anyhow::Result<Exit> {
    let settings = crate::commands::settings(None, Layer::default())?;
    let path = here()?.join(&arguments.archive);
    let policy = archived(&path, arguments.sha256.as_deref(), &mut RuntimeHere::new(&settings))?;
    let revision = Revision { artifact: policy.artifact, lock: policy.lock };
    as_publisher(&arguments.repository, |publisher| {
        publisher.check_same_files(&revision.artifact)?;
        say(printer, &format!("the archive has the SHA-256 {}", policy.digest));
        if !arguments.new_group && !is_meant(publisher, &revision.artifact.manifest().name, &arguments.group, printer)?
        {
            return Ok(Exit::Failed);
        }
        release(publisher, &revision, &arguments.group, printer)?;
        Ok(Exit::Done)
    })
}

/// Returns the result of a release as the end of a sentence.
pub(super) fn outcome(published: &Published) -> String {
    match published {
        Published::Done { version, dropped } if dropped.is_empty() => format!("released (version {version})"),
        Published::Done { version, dropped } => format!(
            "released (version {version}); these were signed with keys that were replaced and have to be released again: {}",
            dropped.join(", ")
        ),
        Published::Pending { id, signatures, threshold } => {
            format!("waits for signatures, {signatures} of {threshold}: `wrun policy sign {id}`")
        }
    }
}

/// Returns the manifest of a locked policy without compiling anything, and the artifact if it needs no compiler.
pub(super) fn locked_manifest(folder: &Path, printer: Printer) -> anyhow::Result<(Manifest, Option<Artifact>)> {
    let Some(place) = toml_place(folder)? else {
        let artifact = revision(folder, None, printer)?.artifact;
        return Ok((artifact.manifest().clone(), Some(artifact)));
    };
    let target = target_folder(&place.folder, None);
    let policy = read_policy(&author::open_policy(&place.folder)?, &Options::new(&target), printer)?;
    lock_of_folder(&policy, false)?;
    match policy.manifest().has_own_code() {
        true => Ok((policy.manifest().clone(), None)),
        false => {
            let artifact = build_policy(&policy, &Options::new(&target), printer)?;
            Ok((artifact.manifest().clone(), Some(artifact)))
        }
    }
}

/// Returns the policy.toml of a folder, or `None` if the folder has a Policyfile.
fn toml_place(folder: &Path) -> anyhow::Result<Option<Place>> {
    Ok(Some(place_of(folder)?).filter(Place::is_toml))
}

fn place_of(folder: &Path) -> anyhow::Result<Place> {
    Ok(Place::of(Some(folder), &here()?)?)
}

/// Builds a locked policy. If it has no lock, the lock is created first.
pub(super) fn revision(folder: &Path, target: Option<&Path>, printer: Printer) -> anyhow::Result<Revision> {
    let place = place_of(folder)?;
    if !place.is_toml() {
        let settings = crate::commands::settings(None, Layer::default())?;
        let policy = with_tools(printer, |tools| {
            if !place.lock.exists() {
                install(&place, tools)?;
            }
            Ok(locked(&place, tools, &mut RuntimeHere::new(&settings))?)
        })?;
        return Ok(Revision { artifact: policy.artifact, lock: policy.lock });
    }
    let folder = place.folder.as_path();
    let target = target_folder(folder, target);
    let options = Options::new(&target);
    let policy = read_policy(&author::open_policy(folder)?, &options, printer)?;
    let lock = lock_of_folder(&policy, false)?;
    if let LockState::Made { path, .. } = &lock {
        printer.note(Tone::Quiet, &format!("{} was written", path.display()));
    }
    let artifact = build_policy(&policy, &options, printer)?;
    Ok(Revision { artifact, lock: lock.text().as_bytes().to_vec() })
}
