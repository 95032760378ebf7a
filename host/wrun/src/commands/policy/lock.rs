//! `wrun policy install`, `update`, `export`, and `diff`. [`author::policyfile`] does the work; this module handles arguments
//! and messages.

use super::build::{read_policy, target_folder};
use super::release::sides;
use crate::arguments::{ExportArguments, InstallArguments, LockDiffArguments, UpdateArguments};
use crate::commands::instances::WhenAsked;
use crate::exit::Exit;
use crate::printer::{Printer, Tone};
use crate::settings::{ChefServerSettings, Layer, Settings};
use crate::terminal;
use anyhow::{Context as _, bail};
use author::Options;
use author::policyfile::{
    Base, ChefServer, ExportOptions, LockState, Place, Side, Tools, Update, compare, export, install, lock_of_folder,
    update,
};
use contract::{HttpRequest, HttpResponse};
use grants::Grants;
use jiff::Timestamp;
use machine::download::{Downloads, request};
use std::path::PathBuf;
use std::time::Duration;
use text::escape_line;

/// Time limit for the download of a lock, a list of cookbooks, or a cookbook's archive.
const DOWNLOAD_TIME: Duration = Duration::from_secs(300);

/// Largest length of a note, in bytes. Notes may contain text from a server or a repository.
const LONGEST_NOTE: usize = 2000;

/// The name of the lock if no Policyfile is named.
const LOCK: &str = "Policyfile.lock.json";

/// The name of the lock beside a policy.toml.
const FOLDER_LOCK: &str = "policy.lock.json";

/// Creates the lock of a policy.toml, or checks the existing lock. `renew`: the lock is always created anew.
fn lock_folder(place: &Place, renew: bool, printer: Printer) -> anyhow::Result<Exit> {
    let target = target_folder(&place.folder, None);
    let home = author::open_policy(&place.folder)?;
    let policy = read_policy(&home, &Options::new(&target), printer)?;
    let text = match lock_of_folder(&policy, renew)? {
        LockState::Made { path, .. } => format!("Lockfile written to {}", path.display()),
        LockState::Fits { .. } => "the lock fits what it locks".to_owned(),
    };
    printer.note(Tone::Plain, &text);
    Ok(Exit::Done)
}

pub(super) fn install_policy(arguments: &InstallArguments, printer: Printer) -> anyhow::Result<Exit> {
    let place = Place::of(arguments.file.as_deref(), &here()?)?;
    if place.is_toml() {
        return lock_folder(&place, false, printer);
    }
    with_tools(printer, |tools| Ok(install(&place, tools)?))?;
    Ok(Exit::Done)
}

pub(super) fn update_policy(arguments: UpdateArguments, printer: Printer) -> anyhow::Result<Exit> {
    let (mut names, here) = (arguments.names, here()?);
    // As in chef-cli, the first name is the Policyfile if it looks like a file name. Where no policy is, it is a policy's folder.
    let is_folder = |name: &str| match name.contains('/') {
        true => true,
        false => [".", ".."].contains(&name) || (!Place::has_policy(&here) && here.join(name).is_dir()),
    };
    let is_name = |name: &str| [".rb", ".toml", ".lock.json"].iter().any(|end| name.ends_with(end)) || is_folder(name);
    let file = names.first().is_some_and(|name| is_name(name)).then(|| PathBuf::from(names.remove(0)));
    let place = Place::of(file.as_deref(), &here)?;
    let wanted = Update {
        cookbooks: names,
        exclude_deps: arguments.exclude_deps,
        attributes: arguments.attributes,
        includes: arguments.include,
    };
    // Each cookbook of a folder has only one version, so no versions need to be chosen.
    if place.is_toml() && wanted == Update::default() && !author::needs_resolving(&place.folder)? {
        return lock_folder(&place, true, printer);
    }
    with_tools(printer, |tools| Ok(update(&place, &wanted, tools)?))?;
    Ok(Exit::Done)
}

pub(super) fn export_policy(arguments: ExportArguments, printer: Printer) -> anyhow::Result<Exit> {
    let here = here()?;
    let (file, folder) = match arguments.places.as_slice() {
        [folder] => (None, folder),
        [file, folder] => (Some(file.as_path()), folder),
        _ => bail!("name the folder to export to"),
    };
    let place = Place::of(file, &here)?;
    let options = ExportOptions {
        folder: here.join(folder),
        archive: arguments.archive,
        force: arguments.force,
        group: arguments.policy_group,
    };
    let exported = with_tools(printer, |tools| Ok(export(&place, &options, tools)?))?;
    let text = format!("Exported policy '{}' to {}", exported.name, exported.target.display());
    printer.note(Tone::Plain, &escape_line(&text));
    if !arguments.archive {
        printer.note(Tone::Plain, "To converge a system with it, run `chef-client -z` in that folder.");
    }
    Ok(Exit::Done)
}

pub(super) fn diff_policy(arguments: &LockDiffArguments, printer: Printer) -> anyhow::Result<Exit> {
    let here = here()?;
    let lock = match &arguments.file {
        None if !here.join(LOCK).exists() && here.join(FOLDER_LOCK).exists() => FOLDER_LOCK.to_owned(),
        None => LOCK.to_owned(),
        Some(file) => {
            // In a folder's path too, the lock is named from here on, as git needs it.
            let file = match file.is_dir() {
                true => Place::of(Some(file), &here)?.policyfile,
                false => file.clone(),
            };
            let file = file.strip_prefix(&here).unwrap_or(&file);
            let text = file.to_str().context("a Policyfile's name is UTF-8")?;
            let stem = text.strip_suffix(".rb").or_else(|| text.strip_suffix(".lock.json"));
            let stem = stem.or_else(|| text.strip_suffix(".toml"));
            let stem = stem.with_context(|| format!("{text} is not a Policyfile; groups are named by --group"))?;
            format!("{stem}.lock.json")
        }
    };
    if let Some(groups) = &arguments.group {
        let policy = author::policyfile::locked_name(&here.join(&lock))?;
        let (old, new) = sides(groups, || Ok(Side::read(&Base::Local, &lock, &here)?), &policy, &arguments.repository)?;
        show_difference(&old, &new, printer);
        return Ok(Exit::Done);
    }
    let (old, new) = match (arguments.head, &arguments.git) {
        (true, None) => (Base::Git("HEAD".into()), Base::Local),
        (false, Some(references)) => match references.split("...").collect::<Vec<_>>().as_slice() {
            [one] => (Base::Git((*one).to_owned()), Base::Local),
            [old, new] => (Base::Git((*old).to_owned()), Base::Git((*new).to_owned())),
            _ => bail!("{references} names more than two revisions"),
        },
        _ => bail!("no comparison specified: use --head, --git REF[...REF] or --group GROUP[...GROUP]"),
    };
    let (old, new) = (Side::read(&old, &lock, &here)?, Side::read(&new, &lock, &here)?);
    show_difference(&old, &new, printer);
    Ok(Exit::Done)
}

/// Shows the differences between two locks.
pub(super) fn show_difference(old: &Side, new: &Side, printer: Printer) {
    let Some(text) = compare(old, new) else {
        printer.note(Tone::Plain, &format!("No changes for the policy lock between {} and {}", old.name, new.name));
        return;
    };
    for line in text.lines() {
        printer.line(tone(line), line);
    }
}

fn tone(line: &str) -> Tone {
    match line.as_bytes() {
        [b'+', ..] => Tone::Added,
        [b'-', ..] => Tone::Removed,
        [b'@', b'@', ..] => Tone::Hunk,
        _ => Tone::Plain,
    }
}

/// Returns the current directory.
pub(crate) fn here() -> anyhow::Result<PathBuf> {
    std::env::current_dir().context("cannot tell the working directory")
}

/// Calls `work` with this machine's tools: the Ruby runtime, downloads, and the cache.
pub(crate) fn with_tools<T>(printer: Printer, work: impl FnOnce(&Tools<'_>) -> anyhow::Result<T>) -> anyhow::Result<T> {
    let settings = crate::commands::settings(None, Layer::default())?;
    let cache = cache(&settings);
    work(&Tools {
        readers: &WhenAsked::new(&settings),
        request: &ask,
        chef_server: chef_server(&settings),
        cache: &cache,
        say: &|text| printer.note(Tone::Plain, &escape_line(&text::cut(text, LONGEST_NOTE))),
        doing: &doing,
    })
}

/// Shows on a terminal which step is in progress.
fn doing(text: &str) {
    if text.is_empty() {
        return terminal::hide_status();
    }
    terminal::show_status();
    terminal::status(escape_line(text));
}

/// Returns the Chef server of the settings. Missing settings are reported only when the server is used.
fn chef_server(settings: &Settings) -> Option<ChefServer> {
    let ChefServerSettings { url, client, key } = settings.chef_server.clone()?;
    Some(ChefServer { url, client, key, now: Timestamp::now })
}

/// Returns the user's own cache folder, since downloads for a Policyfile use the user's rights.
fn cache(settings: &Settings) -> PathBuf {
    let own = assemble::own_state::cache_folder();
    own.unwrap_or_else(|| settings.run.cache_dir.clone()).join("policyfile")
}

/// Sends a request for something that the user's Policyfile names.
fn ask(wanted: &HttpRequest) -> Result<HttpResponse, String> {
    let grants = Grants::allow_all().policy("author", &[]);
    let limits = Downloads { time: DOWNLOAD_TIME, ..Downloads::default() };
    request(wanted, &grants, limits).map_err(|raised| format!("{}: {}", wanted.url, raised.message))
}
