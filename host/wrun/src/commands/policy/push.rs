//! `wrun policy push`: builds what is locked and releases it to a group.

use super::build::{build_policy, read_policy, target_folder};
use super::lock::{here, with_tools};
use super::ruby::RuntimeHere;
use crate::arguments::PushArguments;
use crate::commands::repository::{as_publisher, say};
use crate::exit::Exit;
use crate::printer::{Printer, Tone};
use crate::settings::Layer;
use author::Options;
use author::policyfile::{LockState, Place, install, lock_of_folder, locked};
use repository::release::Revision;
use repository::writer::Published;
use std::path::Path;

/// Releases policies. All of them are built before the first is released.
///
/// # Errors
/// A policy cannot be built, its lock no longer fits, a key is missing, or the repository cannot be written.
pub(super) fn run(arguments: &PushArguments, printer: Printer) -> anyhow::Result<Exit> {
    let revisions = arguments.folders.iter().map(|folder| revision(folder, printer)).collect::<Result<Vec<_>, _>>()?;
    as_publisher(&arguments.repository, |publisher| {
        for revision in &revisions {
            let published = publisher.push(revision, &arguments.group)?;
            let manifest = revision.artifact.manifest();
            let id = manifest.revision_id.get(..12).unwrap_or_default();
            let what = format!("policy {}, revision {id}, group {}", manifest.name, arguments.group);
            say(printer, &format!("{what}: {}", outcome(&published)));
        }
        Ok(Exit::Done)
    })
}

/// What came of it, as the end of a sentence.
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

/// Builds what a folder or a Policyfile locks. What has no lock is locked first.
pub(super) fn revision(folder: &Path, printer: Printer) -> anyhow::Result<Revision> {
    let is_folder = folder.is_dir();
    let file = match (is_folder, is_folder && !folder.join("Policyfile.rb").is_file()) {
        (false, _) => folder.to_owned(),
        (true, false) => folder.join("Policyfile.rb"),
        (true, true) => folder.join("policy.toml"),
    };
    let place = Place::of(Some(&file), &here()?)?;
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
    let target = target_folder(folder, None);
    let options = Options::new(&target);
    let policy = read_policy(folder, &options, printer)?;
    let lock = lock_of_folder(&policy, folder, false)?;
    if let LockState::Made { path, .. } = &lock {
        printer.note(Tone::Quiet, &format!("{} was written", path.display()));
    }
    let artifact = build_policy(&policy, &options, printer)?;
    Ok(Revision { artifact, lock: lock.text().as_bytes().to_vec() })
}
