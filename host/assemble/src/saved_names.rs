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

/// Returns the names of things, sorted. What cannot be read offers nothing: whoever completes a word wants no errors. A name
/// of a file in a stranger's folder may be anything, and shells write what is offered into the line as it is: so other names
/// than plain words are left out.
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
    names.retain(|name| is_plain(name));
    names.truncate(MAX_OFFERED);
    names
}

/// Whether a shell takes the name for one word that means nothing else.
fn is_plain(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ':' | '@' | '+' | '/');
    !name.starts_with('-') && !name.is_empty() && name.chars().all(plain)
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The shell writes an offered name into the line that somebody types, and runs it with that line.
    #[test]
    fn names_that_mean_something_to_a_shell_are_not_offered() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["base", "web-1.2_x", "base;id>x;echo ", "a\nb", "a\u{1b}[2J", "a\u{202e}b", "$(id)", "-rf", "a b"]
        {
            let text = serde_json::json!({ "name": name }).to_string();
            std::fs::write(folder.path().join(format!("{name}.json")), text).unwrap();
            std::fs::write(folder.path().join(format!("{name}.wasm")), "").unwrap();
        }
        let path = folder.path().to_owned();
        let settings = Settings { roles: Some(path.clone()), policies: path, ..Settings::default() };
        let meters = contract::Meters::default();
        let program = Program { path: "/bin/false".into(), command_line: String::new(), environment: vec![], meters };
        for named in [Named::Roles, Named::Policies] {
            assert_eq!(saved_names(&settings, &program, &named), ["base", "web-1.2_x"], "{named:?}");
        }
    }
}
