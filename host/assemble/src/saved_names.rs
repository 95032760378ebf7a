//! Lists names of nodes, layers, roles and other saved things, for shell completion.

use crate::grants_files::GrantsFiles;
use crate::objects::{Shelf, indexes};
use crate::program::Program;
use crate::records::Records;
use crate::saved_node::saved_node;
use crate::settings::Settings;
use crate::{LocalObjects, ObjectStore as _};
use contract::Stop;
use node::object::NodeObject;
use serde_json::Value;
use state::StateDirectory;
use std::collections::BTreeSet;

/// How the names of artifacts end.
const ARTIFACT: &str = "wasm";

/// Names that are offered at most.
const MAX_OFFERED: usize = 10_000;

/// The kinds of things whose names can be completed.
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
    /// Policies whose artifacts are there, or that the grants have a table for.
    Policies,
    /// Indexes of a search.
    Indexes,
    /// Policy groups that the settings name.
    Groups,
    /// Recorded runs that this user can read, newest first.
    Runs,
    /// Attributes of the node that the settings name, else of the only one that is saved: those at the last level of what was
    /// typed, and what is below the only one of them.
    Attributes {
        /// The beginning of the path, its keys separated by dots.
        typed: String,
    },
}

/// Returns the names of things, sorted. A source that cannot be read adds nothing, because completion must not print errors.
/// Files in an untrusted folder may have any name, and shells insert an offered name unquoted. So names that are not plain
/// words are left out.
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
        Named::Policies => policies(settings),
        Named::Indexes => indexes(&objects),
        Named::Groups => groups(settings),
        Named::Runs => runs(settings),
        Named::Attributes { typed } => attributes(settings, typed).unwrap_or_default(),
    };
    names.retain(|name| is_plain_word(name));
    names.truncate(MAX_OFFERED);
    names
}

/// Tells whether a shell takes a text for one word that means nothing else.
pub fn is_plain_word(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ':' | '@' | '+' | '/');
    !name.starts_with('-') && !name.is_empty() && name.chars().all(plain)
}

fn nodes(settings: &Settings) -> Vec<String> {
    let state = StateDirectory::open_existing(&settings.state_dir).ok().flatten();
    state.and_then(|state| state.node_names().ok()).unwrap_or_default()
}

/// The node that the settings name, else the only one that is saved.
fn node(settings: &Settings) -> Option<NodeObject> {
    let state = StateDirectory::open_existing(&settings.state_dir).ok()??;
    let name = match (&settings.node_name, state.node_names().ok()?.as_slice()) {
        (Some(name), _) => name.clone(),
        (None, [only]) => only.clone(),
        (None, _) => return None,
    };
    saved_node(&state, &name).ok()?
}

fn layers(settings: &Settings) -> Option<Vec<String>> {
    Some(node(settings)?.layers().all().iter().map(|layer| layer.name.clone()).collect())
}

fn runs(settings: &Settings) -> Vec<String> {
    let records = Records::find(settings);
    records.map(|records| records.runs().iter().map(|run| run.id.to_string()).collect()).unwrap_or_default()
}

fn attributes(settings: &Settings, typed: &str) -> Option<Vec<String>> {
    let (above, begun) = typed.rsplit_once('.').unwrap_or(("", typed));
    let keys: Vec<&str> = above.split('.').filter(|key| !key.is_empty()).collect();
    let prefix = if above.is_empty() { String::new() } else { format!("{above}.") };
    let here = node(settings)?.merged_value(&keys)?;
    // A dot in a key is typed as `\.`, which is not a plain word.
    let below = |value: &Value| -> Vec<String> {
        value.as_object().into_iter().flatten().map(|(key, _)| key.clone()).filter(|key| !key.contains('.')).collect()
    };
    let mut found = below(&here);
    found.retain(|key| key.starts_with(begun));
    // A shell takes a single name for the end of the word.
    let further = match found.as_slice() {
        [only] => here.get(only).map(below).unwrap_or_default().iter().map(|key| format!("{only}.{key}")).collect(),
        _ => vec![],
    };
    found.extend(further);
    Some(found.into_iter().map(|path| format!("{prefix}{path}")).collect())
}

fn groups(settings: &Settings) -> Vec<String> {
    let named: BTreeSet<&String> = settings.group_layers.keys().chain(&settings.policy_group).collect();
    named.into_iter().cloned().collect()
}

fn policies(settings: &Settings) -> Vec<String> {
    let entries = std::fs::read_dir(&settings.policies).into_iter().flatten().take(MAX_OFFERED).flatten();
    let artifacts = entries.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|it| it == ARTIFACT));
    let mut names: BTreeSet<String> =
        artifacts.filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned())).collect();
    let grants = GrantsFiles::read(&settings.grants, false).ok().and_then(|files| files.parse().ok());
    names.extend(grants.iter().flat_map(|grants| grants.policy_names()).map(str::to_owned));
    names.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A shell inserts an offered name into the command line, and executes it with that line.
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
