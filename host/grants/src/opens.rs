//! Compares a policy's grants with the interfaces of the contract, and filters a saved node.

use crate::{Capability, PolicyGrants};
use serde_json::{Map, Value};

/// The interfaces of the contract whose calls need a grant, with their capabilities. One of the capabilities is enough.
const INTERFACES: [(&str, &[Capability]); 7] = [
    ("wrun:machine/files", &[Capability::Paths, Capability::PrivilegedPaths, Capability::ReadPaths]),
    ("wrun:machine/commands", &[Capability::Commands]),
    ("wrun:machine/environment", &[Capability::Environment]),
    ("wrun:machine/http", &[Capability::DownloadHosts]),
    ("wrun:data/data", &[Capability::DataBags, Capability::Search, Capability::Roles, Capability::Environments]),
    ("wrun:clock/clock", &[Capability::Clock]),
    ("wrun:random/random", &[Capability::Random]),
];

/// Returns the interfaces of the contract whose calls need a grant, without their version. For each it returns the keys, one
/// of which is enough.
pub fn keys_of_interfaces() -> impl Iterator<Item = (&'static str, Vec<&'static str>)> {
    INTERFACES
        .into_iter()
        .map(|(interface, capabilities)| (interface, capabilities.iter().map(|capability| capability.key()).collect()))
}

impl PolicyGrants {
    /// Tells whether the policy has any grant for the interfaces of the package `machine`. A component may import them
    /// without one.
    pub fn opens_machine(&self) -> bool {
        self.opens("wrun:machine/")
    }

    /// Tells whether the policy has any grant for the interface of the package `data`. A component may import it without one.
    pub fn opens_data(&self) -> bool {
        self.opens("wrun:data/")
    }

    fn opens(&self, package: &str) -> bool {
        let own = INTERFACES.iter().filter(|(interface, _)| interface.starts_with(package));
        own.flat_map(|(_, capabilities)| *capabilities).any(|capability| self.has_any(*capability))
    }

    /// Returns a saved node without the facts that the policy may not read. `is_own` tells which keys of `automatic` are not
    /// facts of the machine; these stay.
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
