//! Loads a component that was just built in a sandbox without any grants, and asks it for its description.

use crate::program::program;
use crate::settings::Settings;
use anyhow::Context as _;
use artifact::Artifact;
use author::Described;
use contract::Question;

/// Returns the description that an artifact's component gives of itself.
///
/// # Errors
/// It cannot be loaded, or its answer is not a description.
pub(super) fn component(settings: &Settings, artifact: &Artifact) -> anyhow::Result<Described> {
    let name = &artifact.manifest().name;
    let said = assemble::ask_component(&settings.run, &program(), artifact, |ask| ask(Question::Describe));
    match said.with_context(|| format!("the component of policy {name} does not load"))? {
        Ok(value) => serde_json::from_value(value).context("the component's description is not readable"),
        Err(failure) => anyhow::bail!("the component of policy {name} does not load: {failure}"),
    }
}
