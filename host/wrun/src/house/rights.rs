//! What a policy may read and write of the node, for the sandbox.

use converge::AttributeRights;
use grants::PolicyGrants;
use std::sync::Arc;

/// The rights of one policy.
pub(crate) struct Rights(pub(crate) Arc<PolicyGrants>);

impl AttributeRights for Rights {
    fn write(&self, path: &[String]) -> Result<(), String> {
        let checked = self.0.write_attribute(path).map(drop);
        checked.map_err(|denied| format!("{denied}\n{}", denied.hint()))
    }

    fn write_normal(&self, path: &[String]) -> Result<(), String> {
        let checked = self.0.write_normal_attribute(path).map(drop);
        checked.map_err(|denied| format!("{denied}\n{}", denied.hint()))
    }

    fn read_hidden(&self, path: &[String]) -> Result<(), String> {
        let checked = self.0.read_attribute(path).map(drop);
        checked.map_err(|denied| format!("{denied}\n{}", denied.hint()))
    }
}
