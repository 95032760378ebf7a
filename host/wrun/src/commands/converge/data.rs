//! What the operator keeps beside policies and cookbooks: data bags, and the secret for their encrypted items.
//!
//! It is the operator's configuration, so what is wrong with it is said before anything runs.

use super::read_text;
use crate::settings::Settings;
use anyhow::Context as _;
use providers::{BagSecrets, DataFolders, Secret};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The data of released policies; none where nobody says where data bags are. Which of them a policy reads, its grants say.
///
/// # Errors
/// The folder is none, or the secret cannot be read.
pub(super) fn of_policies(settings: &Settings) -> anyhow::Result<Option<Arc<DataFolders>>> {
    let (data_bags, secrets) = (data_bags(settings)?, secrets(settings)?);
    Ok(data_bags
        .map(|data_bags| Arc::new(DataFolders { data_bags: Some(data_bags), secrets, ..DataFolders::default() })))
}

/// Where data bags are.
///
/// # Errors
/// It is no folder.
pub(super) fn data_bags(settings: &Settings) -> anyhow::Result<Option<PathBuf>> {
    let Some(folder) = &settings.data_bags else { return Ok(None) };
    anyhow::ensure!(folder.is_dir(), "data bags cannot be read from {}: it is no folder", folder.display());
    Ok(Some(folder.clone()))
}

/// The secrets: a file has one for all policies; a folder has a file for each policy that has one, under the policy's name.
///
/// # Errors
/// One cannot be read, or is empty.
pub(super) fn secrets(settings: &Settings) -> anyhow::Result<BagSecrets> {
    let Some(path) = settings.encrypted_data_bag_secret.as_deref() else { return Ok(BagSecrets::None) };
    if !path.is_dir() {
        return Ok(BagSecrets::Shared(secret(path)?));
    }
    let mut secrets = BTreeMap::new();
    let entries = std::fs::read_dir(path).with_context(|| format!("cannot read {}", path.display()))?;
    for entry in entries {
        let file = entry.with_context(|| format!("cannot read {}", path.display()))?.path();
        let name = file.file_name().and_then(|name| name.to_str()).filter(|name| !name.starts_with('.'));
        if let Some(name) = name.filter(|_| file.is_file()) {
            secrets.insert(name.to_owned(), secret(&file)?);
        }
    }
    Ok(BagSecrets::ByPolicy(secrets))
}

/// One secret, without the line's end, as Chef reads it.
fn secret(path: &Path) -> anyhow::Result<Secret> {
    let text = read_text(path, "the secret for encrypted data bag items")?;
    let secret = text.trim().as_bytes().to_vec();
    anyhow::ensure!(!secret.is_empty(), "the secret {} is empty", path.display());
    Ok(Secret::new(secret))
}
