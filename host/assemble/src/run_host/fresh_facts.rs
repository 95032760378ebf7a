//! Collects facts again for a resource that asks for it, limited to those that its policy may see.

use facts::Facts;
use grants::PolicyGrants;
use serde_json::{Map, Value, json};
use std::path::Path;
use std::sync::Arc;

/// Returns the function that collects the facts of this root, limited to these grants.
pub(super) fn gatherer(root: &Path, grants: &Arc<PolicyGrants>) -> Arc<providers::GatherFacts> {
    let (root, grants) = (root.to_owned(), Arc::clone(grants));
    Arc::new(move |key| {
        let settings = facts::Settings::new(&root, jiff::Timestamp::now());
        let facts = Facts::new(&settings).map_err(|error| text::error_chain(&error))?;
        let found = match key {
            Some(key) => facts.get(key).map_or_else(|| json!({}), |value| json!({ key: value })),
            None => facts.all(),
        };
        match grants.visible_facts(&found).into_owned() {
            Value::Object(visible) => Ok(visible),
            _ => Ok(Map::new()),
        }
    })
}
