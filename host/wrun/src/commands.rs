//! The commands of the program, one file per command.

pub(crate) mod agent;
pub(crate) mod bootstrap;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod converge;
pub(crate) mod cookbook;
pub(crate) mod data_bag;
mod editor;
pub(crate) mod facts;
pub(crate) mod grants;
pub(crate) mod instances;
pub(crate) mod keys;
pub(crate) mod layer;
pub(crate) mod node;
pub(crate) mod objects;
pub(crate) mod policy;
pub(crate) mod repository;
pub(crate) mod resources;
pub(crate) mod run;
pub(crate) mod search;
pub(crate) mod settings_import;
pub(crate) mod ship_runtime;
mod store;

use crate::settings::{self, Layer, Settings, Sources};
use std::path::{Path, PathBuf};

/// Returns the settings of this run. Options override environment variables, which override the settings file.
fn settings(config: Option<&Path>, flags: Layer) -> anyhow::Result<Settings> {
    let environment = settings::own_variables(std::env::vars_os())?;
    let (file, must_exist) = settings::file_to_read(config, &environment);
    let file = settings::read_file(&file, must_exist)?;
    Ok(settings::resolve(flags, &environment, file)?)
}

/// Returns all sources of the settings, before they are merged.
fn sources(config: Option<&Path>, flags: Layer) -> anyhow::Result<Sources> {
    let environment = settings::own_variables(std::env::vars_os())?;
    let (file, must_exist) = settings::file_to_read(config, &environment);
    Ok(Sources { flags, environment, file, must_exist })
}

/// Returns the path of the settings file that is used if no option names one.
pub(crate) fn settings_file() -> PathBuf {
    let environment = settings::own_variables(std::env::vars_os()).unwrap_or_default();
    settings::file_to_read(None, &environment).0
}
