//! Data bags, roles and environments: data that operators keep outside the cookbooks.

mod folders;
mod secrets;
mod written_json;

pub use databag::Secret;
pub use folders::{DataFolders, FolderData};
pub use secrets::BagSecrets;
pub use written_json::parse_written_json;

use contract::{Data, DataError};
use grants::{Denied, PolicyGrants};
use serde_json::Value;
use std::sync::Arc;

/// The data source of a node without configured data. It checks grants all the same, so that a policy cannot probe for
/// existing data.
pub struct NoData {
    grants: Arc<PolicyGrants>,
}

impl NoData {
    /// Creates the data source of a policy without configured data.
    pub fn new(grants: Arc<PolicyGrants>) -> Self {
        Self { grants }
    }
}

fn refused(denied: Denied) -> DataError {
    DataError::Denied(format!("{denied}\n{}", denied.hint()))
}

fn nowhere<T>(what: &str, setting: &str) -> Result<T, DataError> {
    Err(DataError::NotFound(format!(
        "{what} is not here: the settings of this node do not name its directory with `{setting}`"
    )))
}

impl Data for NoData {
    fn bags(&mut self) -> Result<Vec<String>, DataError> {
        Ok(vec![])
    }

    fn bag(&mut self, name: &str) -> Result<Vec<String>, DataError> {
        let granted = self.grants.data_bag(name, None).map_err(refused)?;
        nowhere(&format!("data bag `{granted}`"), "data_bags")
    }

    fn bag_item(&mut self, bag: &str, id: &str) -> Result<Value, DataError> {
        let _granted = self.grants.data_bag(bag, Some(id)).map_err(refused)?;
        nowhere(&format!("data bag item `{bag}/{id}`"), "data_bags")
    }

    fn bag_secret(&mut self) -> Result<Option<Vec<u8>>, DataError> {
        Ok(None)
    }

    fn role(&mut self, name: &str) -> Result<Value, DataError> {
        let granted = self.grants.role(name).map_err(refused)?;
        nowhere(&format!("role `{granted}`"), "roles")
    }

    fn environment(&mut self, name: &str) -> Result<Value, DataError> {
        let granted = self.grants.chef_environment(name).map_err(refused)?;
        nowhere(&format!("environment `{granted}`"), "environments")
    }

    fn search(&mut self, index: &str, _query: &str) -> Result<Vec<Value>, DataError> {
        let granted = self.grants.search(index).map_err(refused)?;
        nowhere(&format!("search index `{granted}`"), if granted.to_string() == "node" { "nodes" } else { "data_bags" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use grants::Grants;

    #[test]
    fn the_grant_is_asked_before_anything_is_said() {
        let grants =
            Grants::parse("[policy.a]\ndata_bags = [\"users\"]\nsearch = [\"node\"]\n", "grants.toml").unwrap();
        let mut data = NoData::new(grants.policy("a", &[]));
        assert!(
            matches!(data.bag("users"), Err(DataError::NotFound(text)) if text.ends_with("do not name its directory with `data_bags`"))
        );
        assert!(matches!(data.search("node", "*:*"), Err(DataError::NotFound(_))));
        let Err(DataError::Denied(text)) = data.bag_item("secrets", "mysql") else { panic!() };
        assert!(text.contains("data_bags = [\"secrets/mysql\"]"), "{text}");
        assert!(matches!(data.role("web"), Err(DataError::Denied(_))));
    }
}
