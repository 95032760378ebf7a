//! Stores records of dry runs in a user's own folder, if the user may not write to the state directory.

use crate::notice::Notice;
use crate::settings::Settings;
use serde::Serialize;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use state::{RunId, StateDirectory, StateError};
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use text::hex;

/// The name of wrun's folder below the user's folders for state, cache and configuration.
const NAME: &str = "wrun";

/// The folder below it for records that belong to another state directory than the usual one. Each has a subfolder named by
/// the digest of its path.
const OTHERS: &str = "states";

/// The digits of that digest that name a folder.
const KEY_DIGITS: usize = 16;

/// Returns the user's own folder: `$XDG_STATE_HOME/wrun`, else `~/.local/state/wrun`. Returns `None` if the user does not
/// have a home directory.
pub fn folder() -> Option<PathBuf> {
    below_home(std::env::var_os("XDG_STATE_HOME"), ".local/state", std::env::var_os("HOME"))
}

/// Returns the folder of the records that belong to these settings: the user's own folder, or a subfolder of it for a state
/// directory other than the usual one. Records of different state directories must not be mixed.
pub fn records_folder(settings: &Settings) -> Option<PathBuf> {
    let own = folder()?;
    if settings.state_dir == Path::new(state::DEFAULT_PATH) {
        return Some(own);
    }
    let digest = hex(Sha256::digest(settings.state_dir.as_os_str().as_bytes()));
    Some(own.join(OTHERS).join(digest.get(..KEY_DIGITS).unwrap_or(&digest)))
}

/// Returns the user's own cache folder: `$XDG_CACHE_HOME/wrun`, else `~/.cache/wrun`. Returns `None` if the user does not
/// have a home directory.
pub fn cache_folder() -> Option<PathBuf> {
    below_home(std::env::var_os("XDG_CACHE_HOME"), ".cache", std::env::var_os("HOME"))
}

/// Returns the user's own folder for settings and keys: `$XDG_CONFIG_HOME/wrun`, else `~/.config/wrun`. Returns `None` if the
/// user does not have a home directory.
pub fn config_folder() -> Option<PathBuf> {
    below_home(std::env::var_os("XDG_CONFIG_HOME"), ".config", std::env::var_os("HOME"))
}

/// Ignores a variable whose path is not absolute, as the XDG base directory specification says.
fn below_home(named: Option<OsString>, usual: &str, home: Option<OsString>) -> Option<PathBuf> {
    let absolute = |path: Option<OsString>| path.map(PathBuf::from).filter(|path| path.is_absolute());
    let below = absolute(named).or_else(|| Some(absolute(home)?.join(usual)))?;
    Some(below.join(NAME))
}

/// Opens the state directory for a dry run, which does not create it. Returns `None` if it does not exist or this user may
/// not read it; in the second case there is a notice.
pub(crate) fn open_for_looking(settings: &Settings) -> Result<(Option<StateDirectory>, Option<Notice>), StateError> {
    match StateDirectory::open_existing(&settings.state_dir) {
        Err(error) if error.is_forbidden() => {
            Ok((None, Some(Notice::StateUnreadable { place: settings.state_dir.clone() })))
        }
        other => Ok((other?, None)),
    }
}

/// Tells whether the state directory exists, but this user may not read it.
pub(crate) fn is_hidden(settings: &Settings) -> Result<bool, StateError> {
    open_for_looking(settings).map(|(_, notice)| notice.is_some())
}

/// Writes the record of a dry run to the state directory, or else to the user's own folder.
///
/// # Errors
/// Neither can be written; the error is that of the user's own folder.
pub(crate) fn keep_dry_run(
    settings: &Settings,
    id: &RunId,
    save: impl Fn(&state::RunFolder) -> Result<(), StateError>,
) -> Result<(), StateError> {
    keep(settings, |state| {
        save(&state.dry_run_folder(id.clone()))?;
        state.prune_dry_runs(settings.runs_kept, settings.runs_size, Some(id))
    })
}

/// The place of a dry run's record.
pub struct DryRecord {
    pub(crate) settings: Settings,
    pub(crate) id: RunId,
}

impl DryRecord {
    /// Returns the identifier of the dry run.
    pub fn id(&self) -> &RunId {
        &self.id
    }

    /// Writes the record of the dry run to the state directory, or else to the user's own folder.
    ///
    /// # Errors
    /// Neither can be written to.
    pub fn keep(&self, record: &impl Serialize, error: Option<&Value>) -> Result<(), StateError> {
        keep_dry_run(&self.settings, &self.id, |folder| {
            folder.save_record(record)?;
            error.map_or(Ok(()), |error| folder.save_error(error))
        })
    }
}

/// Writes the record of a survey, to the same place as that of a dry run.
///
/// # Errors
/// As [`keep_dry_run`].
pub(crate) fn keep_survey(settings: &Settings, id: &RunId, record: &Value) -> Result<(), StateError> {
    keep(settings, |state| {
        state.survey_folder(id.clone()).save_record(record)?;
        state.prune_surveys(settings.runs_kept, settings.runs_size, Some(id))
    })
}

fn keep(settings: &Settings, save: impl Fn(&StateDirectory) -> Result<(), StateError>) -> Result<(), StateError> {
    let keep = |path: &Path| save(&StateDirectory::open_keeping_free(path, settings.min_free)?);
    match (keep(&settings.state_dir), records_folder(settings)) {
        (Err(error), Some(own)) if error.is_forbidden() => keep(&own),
        (kept, _) => kept,
    }
}

/// Returns the directories with records that this user can read: the state directory, then the user's own folder.
///
/// # Errors
/// One of them is there and cannot be trusted or read.
pub fn readable(settings: &Settings) -> Result<Vec<StateDirectory>, StateError> {
    let (state, _) = open_for_looking(settings)?;
    let own = match records_folder(settings) {
        Some(path) => StateDirectory::open_existing(&path).or_else(|error| match error.is_forbidden() {
            true => Ok(None),
            false => Err(error),
        })?,
        None => None,
    };
    Ok(state.into_iter().chain(own).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_is_where_users_keep_state() {
        let folder = |state_home: Option<&str>, home: Option<&str>| {
            let found = below_home(state_home.map(Into::into), ".local/state", home.map(Into::into));
            found.map(|path| path.display().to_string())
        };
        assert_eq!(folder(Some("/x/state"), Some("/home/a")).as_deref(), Some("/x/state/wrun"));
        assert_eq!(folder(None, Some("/home/a")).as_deref(), Some("/home/a/.local/state/wrun"));
        assert_eq!(folder(Some("state"), Some("/home/a")).as_deref(), Some("/home/a/.local/state/wrun"));
        assert_eq!(folder(Some(""), Some("")), None);
    }
}
