//! Access to the saved nodes, for commands that read and change them.

use crate::arguments::StoredNode;
use crate::exit::Exit;
use crate::printer::{Printer, Tone};
use crate::settings::Settings;
use anyhow::{Context as _, bail};
use assemble::{Applied, KnownPolicies, LocalNodes, NodeStore as _, attribute_path, node_hint};
use node::object::NodeEdit;
use regex::Regex;
use serde_json::Value;
use state::StateDirectory;
use std::path::Path;
use std::time::SystemTime;
use text::escape_line;

/// Largest number of nodes that an error names.
const MAX_NAMED: usize = 20;

/// The settings, and the description of the command that other processes see.
pub(super) struct Place {
    pub(super) settings: Settings,
    command: String,
}

impl Place {
    pub(super) fn of(node: &StoredNode) -> anyhow::Result<Self> {
        let settings = super::settings(node.config.as_deref(), node.layer())?;
        Ok(Self { settings, command: crate::program::command_without_values() })
    }

    /// Returns the saved nodes. `creates`: a missing state directory is created.
    pub(super) fn nodes(&self, creates: bool) -> anyhow::Result<LocalNodes<'_>> {
        let run = &self.settings.run;
        let state = match creates {
            true => StateDirectory::open_keeping_free(&run.state_dir, run.min_free)?,
            false => existing_state(&run.state_dir)?,
        };
        Ok(LocalNodes { state, filters: &run.saved_attributes, command: &self.command, now: SystemTime::now() })
    }

    /// Returns the name of the selected node.
    pub(super) fn name(&self) -> anyhow::Result<String> {
        node_name(&self.settings, &existing_state(&self.settings.run.state_dir)?)
    }

    /// Warns of names that seem to be misspelt, because this node's policies do not contain them.
    pub(super) fn warn_of_strangers(&self, of: impl FnOnce(&KnownPolicies) -> Vec<String>, printer: Printer) {
        for sentence in of(&KnownPolicies::of(&self.settings.run, &self.settings.policy_names)) {
            printer.note(Tone::Warning, &escape_line(&format!("warning: {sentence}")));
        }
    }

    /// Changes the selected node, and prints the result.
    pub(super) fn change(&self, edits: &[NodeEdit], printer: Printer) -> anyhow::Result<Exit> {
        let name = self.name()?;
        tell(&name, self.nodes(false)?.change(&name, edits)?, printer);
        Ok(Exit::Done)
    }
}

/// Prints the result of a change.
pub(super) fn tell(name: &str, applied: Applied, printer: Printer) {
    let told = match applied {
        Applied::Now => format!("changed the node {name}"),
        Applied::Nothing => format!("nothing to change: the node {name} is so already"),
        Applied::AfterRun(holder) => {
            let holder = holder.map(|holder| format!(": {holder}")).unwrap_or_default();
            format!("a run is under way{holder}; the change of {name} is kept, and applied when the run ends")
        }
    };
    printer.note(Tone::Quiet, &escape_line(&told));
}

/// Opens the state directory, which must exist.
pub(super) fn existing_state(place: &Path) -> anyhow::Result<StateDirectory> {
    let state = StateDirectory::open_existing(place)?;
    state.with_context(|| format!("there is no state in {}: no run has saved a node there", place.display()))
}

/// Returns the name of the selected node, which must be saved in the state directory.
pub(super) fn node_name(settings: &Settings, state: &StateDirectory) -> anyhow::Result<String> {
    let place = settings.run.state_dir.display();
    let names = state.node_names()?;
    let name = match (&settings.run.node_name, names.as_slice()) {
        (Some(name), _) => name.as_str().to_owned(),
        (None, [only]) => only.clone(),
        (None, []) => bail!("no run has saved a node in {place}: a run saves it after each policy that succeeded"),
        (None, several) if several.len() > MAX_NAMED => {
            bail!("{place} has {} nodes; say which with --node-name; `wrun node list` lists them", several.len())
        }
        (None, several) => bail!("{place} has several nodes; say which with --node-name: {}", several.join(", ")),
    };
    if !names.contains(&name) {
        bail!("{place} has no node {name}{}", node_hint(&name, &names));
    }
    Ok(name)
}

/// Returns the names that a regular expression matches completely.
pub(super) fn matching(pattern: &str, mut names: Vec<String>) -> anyhow::Result<Vec<String>> {
    let whole = Regex::new(&format!("^(?:{pattern})$"));
    let whole = whole.with_context(|| format!("{} is not a regular expression", escape_line(pattern)))?;
    names.retain(|name| whole.is_match(name));
    Ok(names)
}

/// Parses `a.b=VALUE`. VALUE is JSON or text.
pub(super) fn assignment(text: &str) -> anyhow::Result<(Vec<String>, Value)> {
    let (name, value) = text.split_once('=').with_context(|| {
        format!("{} has no `=`; write it as a.b=VALUE, where VALUE is JSON or text", escape_line(text))
    })?;
    let value = serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.to_owned()));
    Ok((attribute_path(name), value))
}
