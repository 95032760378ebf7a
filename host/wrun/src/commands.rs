//! One file per command.

pub(crate) mod converge;
pub(crate) mod cookbook;
pub(crate) mod node;
pub(crate) mod policy;
mod questions;
pub(crate) mod resources;

use crate::settings::{self, Layer, Settings};
use std::collections::BTreeMap;
use std::path::Path;

/// The settings of this run: flags beat variables beat the file.
fn settings(config: Option<&Path>, flags: Layer) -> anyhow::Result<Settings> {
    let environment: BTreeMap<String, String> = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .filter(|(name, _)| name.starts_with("WRUN_"))
        .collect();
    let (file, must_exist) = settings::file_to_read(config, &environment);
    let file = settings::read_file(&file, must_exist)?;
    Ok(settings::resolve(flags, &environment, file)?)
}
