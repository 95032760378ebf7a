//! Names that somebody may type: of nodes, layers, roles and other saved things, for the completion of a shell.

use crate::objects::{Shelf, indexes};
use crate::program::Program;
use crate::saved_node::saved_node;
use crate::settings::Settings;
use crate::{LocalObjects, ObjectStore as _};
use contract::Stop;
use state::StateDirectory;
use std::collections::BTreeSet;
use std::path::Path;

/// How the names of artifacts end.
const ARTIFACT: &str = "wasm";

/// Names that are offered at most.
const MAX_OFFERED: usize = 10_000;

/// Things that have names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Named {
    /// The nodes of the state directory.
    Nodes,
    /// Layers of the node that the settings name, else of the only one that is saved.
    Layers,
    /// The roles of the set directory.
    Roles,
    /// The environments of the set directory.
    Environments,
    /// The data bags of the set directory.
    DataBags,
    /// Items of a data bag.
    Items {
        /// The name of the data bag.
        bag: String,
    },
    /// Policies whose artifacts are there.
    Policies,
    /// Indexes of a search.
    Indexes,
    /// Policy groups that the settings name.
    Groups,
}

/// Returns the names of things, sorted. What cannot be read offers nothing: whoever completes a word wants no errors.
pub fn saved_names(settings: &Settings, program: &Program, named: &Named) -> Vec<String> {
    let stop = Stop::default();
    let objects = LocalObjects { settings, program, stop: &stop };
    let mut names = match named {
        Named::Nodes => nodes(settings),
        Named::Layers => layers(settings).unwrap_or_default(),
        Named::Roles => objects.names(&Shelf::Roles).unwrap_or_default(),
        Named::Environments => objects.names(&Shelf::Environments).unwrap_or_default(),
        Named::DataBags => objects.bags().unwrap_or_default(),
        Named::Items { bag } => objects.names(&Shelf::DataBag(bag.clone())).unwrap_or_default(),
        Named::Policies => policies(&settings.policies).unwrap_or_default(),
        Named::Indexes => indexes(&objects),
        Named::Groups => groups(settings),
    };
    names.truncate(MAX_OFFERED);
    names
}

fn nodes(settings: &Settings) -> Vec<String> {
    let state = StateDirectory::open_existing(&settings.state_dir).ok().flatten();
    state.and_then(|state| state.node_names().ok()).unwrap_or_default()
}

fn layers(settings: &Settings) -> Option<Vec<String>> {
    let state = StateDirectory::open_existing(&settings.state_dir).ok()??;
    let name = match (&settings.node_name, state.node_names().ok()?.as_slice()) {
        (Some(name), _) => name.clone(),
        (None, [only]) => only.clone(),
        (None, _) => return None,
    };
    let node = saved_node(&state, &name).ok()??;
    Some(node.layers().all().iter().map(|layer| layer.name.clone()).collect())
}

fn groups(settings: &Settings) -> Vec<String> {
    let named: BTreeSet<&String> = settings.group_layers.keys().chain(&settings.policy_group).collect();
    named.into_iter().cloned().collect()
}

fn policies(folder: &Path) -> std::io::Result<Vec<String>> {
    let mut names = vec![];
    for entry in std::fs::read_dir(folder)?.take(MAX_OFFERED) {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == ARTIFACT) {
            names.extend(path.file_stem().and_then(|name| name.to_str()).map(str::to_owned));
        }
    }
    names.sort();
    Ok(names)
}
