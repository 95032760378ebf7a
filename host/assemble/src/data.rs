//! Finds the operator's data bags, and the secret for their encrypted items.
//!
//! They are part of the operator's configuration, so their errors are reported before anything runs.

use crate::error::AssembleError;
use crate::settings::Settings;
use machine::data::{BagSecrets, DataFolders, Secret};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Returns the data of released policies, or `None` if no setting names a directory of data bags. The grants decide which of
/// them a policy reads.
///
/// # Errors
/// The folder is not a directory, or the secret cannot be read.
pub(crate) fn of_policies(settings: &Settings) -> Result<Option<Arc<DataFolders>>, AssembleError> {
    let (data_bags, secrets) = (data_bags(settings)?, secrets(settings)?);
    Ok(data_bags
        .map(|data_bags| Arc::new(DataFolders { data_bags: Some(data_bags), secrets, ..DataFolders::default() })))
}

/// Returns the directory of data bags, if one is set.
///
/// # Errors
/// The setting does not name a directory.
pub(crate) fn data_bags(settings: &Settings) -> Result<Option<PathBuf>, AssembleError> {
    let Some(folder) = &settings.data_bags else { return Ok(None) };
    match folder.is_dir() {
        true => Ok(Some(folder.clone())),
        false => {
            let why = plain_files::missing_part(folder).unwrap_or_else(|| "it is not a directory".to_owned());
            Err(AssembleError::DataBags { folder: folder.clone(), why })
        }
    }
}

/// Reads the secrets. The setting names either a file with one secret for all policies, or a folder with one file for each
/// policy that has a secret, under the policy's name.
///
/// # Errors
/// One cannot be read, or is empty.
pub(crate) fn secrets(settings: &Settings) -> Result<BagSecrets, AssembleError> {
    let Some(path) = settings.encrypted_data_bag_secret.as_deref() else { return Ok(BagSecrets::None) };
    if !path.is_dir() {
        return Ok(BagSecrets::Shared(secret(path)?));
    }
    let mut secrets = BTreeMap::new();
    let failed = |source| AssembleError::ReadDirectory { path: path.to_owned(), source };
    let entries = std::fs::read_dir(path).map_err(failed)?;
    for entry in entries {
        let file = entry.map_err(failed)?.path();
        let name = file.file_name().and_then(|name| name.to_str()).filter(|name| !name.starts_with('.'));
        if let Some(name) = name.filter(|_| file.is_file()) {
            secrets.insert(name.to_owned(), secret(&file)?);
        }
    }
    Ok(BagSecrets::ByPolicy(secrets))
}

/// Reads one secret without its line break, as Chef does.
pub(crate) fn secret(path: &Path) -> Result<Secret, AssembleError> {
    let what = "the secret for encrypted data bag items";
    let failed = |source| {
        let source = plain_files::explained(path, source);
        AssembleError::Read { what, path: path.to_owned(), source }
    };
    let text = std::fs::read_to_string(path).map_err(failed)?;
    let secret = text.trim().as_bytes().to_vec();
    match secret.is_empty() {
        true => Err(AssembleError::EmptySecret { path: path.to_owned() }),
        false => Ok(Secret::new(secret)),
    }
}
