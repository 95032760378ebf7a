//! The machine's facts, and the node that they name.

use crate::error::AssembleError;
use crate::request::Request;
use crate::settings::Settings;
use facts::Facts;
use node::file_specificity::NodeIdentity;
use serde_json::{Map, Value};
use std::path::Path;
use std::time::SystemTime;

/// The node as its settings and facts describe it, before a policy has run.
pub(crate) struct KnownNode {
    /// The node's name from the settings, else the machine's fully qualified domain name.
    pub(crate) name: String,
    pub(crate) identity: NodeIdentity,
    pub(crate) facts: Map<String, Value>,
}

/// Gathers the facts of the machine below a root, as a run gathers them.
///
/// # Errors
/// The root is not a directory that can be opened, or the clock is wrong.
pub fn machine_facts(root: &Path, now: SystemTime) -> Result<Map<String, Value>, AssembleError> {
    let now = jiff::Timestamp::try_from(now).map_err(AssembleError::Clock)?;
    Ok(Facts::new(&facts::Settings::new(root, now))?.into_all())
}

/// A fact that is a text.
pub(crate) fn text_fact(facts: &Map<String, Value>, key: &str) -> Option<String> {
    facts.get(key).and_then(Value::as_str).map(str::to_owned)
}

impl KnownNode {
    /// Gathers the facts, or reads them from the request's file.
    ///
    /// # Errors
    /// The file is invalid, the root is not a directory, or neither the settings nor the facts name the node.
    pub(crate) fn gather(request: &Request, settings: &Settings, now: SystemTime) -> Result<Self, AssembleError> {
        let facts = match &request.facts {
            Some(path) => Facts::from_file(path)?.into_all(),
            None => machine_facts(&settings.root, now)?,
        };
        let fact = |key: &str| text_fact(&facts, key);
        let identity =
            NodeIdentity { platform: fact("platform"), platform_version: fact("platform_version"), fqdn: fact("fqdn") };
        let name = settings.node_name.clone().or_else(|| identity.fqdn.clone()).ok_or(AssembleError::NoNodeName)?;
        Ok(Self { name, identity, facts })
    }
}
