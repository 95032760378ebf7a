//! What the operator keeps beside policies and cookbooks: data bags, and the secret for their encrypted items.
//!
//! It is the operator's configuration, so what is wrong with it is said before anything runs.

use super::read_text;
use crate::settings::Settings;
use providers::DataFolders;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The data of released policies; none where nobody says where data bags are. Which of them a policy reads, its grants say.
///
/// # Errors
/// The folder is none, or the secret cannot be read.
pub(super) fn of_policies(settings: &Settings) -> anyhow::Result<Option<Arc<DataFolders>>> {
    let (data_bags, secret) = (data_bags(settings)?, secret(settings)?);
    Ok(data_bags
        .map(|data_bags| Arc::new(DataFolders { data_bags: Some(data_bags), secret, ..DataFolders::default() })))
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

/// The secret, without the line's end, as Chef reads it.
///
/// # Errors
/// It cannot be read, or is empty.
pub(super) fn secret(settings: &Settings) -> anyhow::Result<Option<Vec<u8>>> {
    let read = |path: &Path| {
        let text = read_text(path, "the secret for encrypted data bag items")?;
        let secret = text.trim().as_bytes().to_vec();
        anyhow::ensure!(!secret.is_empty(), "the secret {} is empty", path.display());
        Ok(secret)
    };
    settings.encrypted_data_bag_secret.as_deref().map(read).transpose()
}
