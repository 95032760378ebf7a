//! What a policy's grants open of the contract, and what they leave visible of a saved node.

use crate::{Capability, PolicyGrants};
use serde_json::{Map, Value};

/// The capabilities that the interface `machine` needs one of.
const MACHINE: [Capability; 5] = [
    Capability::Paths,
    Capability::ReadPaths,
    Capability::Commands,
    Capability::DownloadHosts,
    Capability::Environment,
];

/// The capabilities that the interface `data` needs one of.
const DATA: [Capability; 4] = [Capability::DataBags, Capability::Search, Capability::Roles, Capability::Environments];

impl PolicyGrants {
    /// Tells whether the policy may import the interface `machine`: it was granted something that the interface does.
    pub fn opens_machine(&self) -> bool {
        MACHINE.iter().any(|capability| self.has_any(*capability))
    }

    /// Tells whether the policy may import the interface `data`: it was granted something that the interface reads.
    pub fn opens_data(&self) -> bool {
        DATA.iter().any(|capability| self.has_any(*capability))
    }

    /// Returns a saved node without the facts that the policy may not read. `is_own` tells which keys of `automatic` are
    /// no facts of the machine; these stay.
    pub fn visible_node(&self, mut node: Value, is_own: impl Fn(&str) -> bool) -> Value {
        if let Some(automatic) = node.get_mut("automatic") {
            let own = automatic.as_object().into_iter().flatten().filter(|(key, _)| is_own(key));
            let own: Map<String, Value> = own.map(|(key, value)| (key.clone(), value.clone())).collect();
            let mut visible = self.visible_facts(automatic).into_owned();
            if let Some(visible) = visible.as_object_mut() {
                visible.extend(own);
            }
            *automatic = visible;
        }
        node
    }
}
