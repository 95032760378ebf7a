//! Searches nodes, roles, environments and data bags. It uses the same parser as the guests' `search`.

use super::{ObjectStore, ObjectsError, Shelf};
use crate::saved_node::{
    ASSIGNED_POLICIES, CHANGES, HISTORIES, LAYERS, NORMAL_WRITERS, WITHOUT_POLICIES, node_to_save,
};
use crate::store::{NodeStore, StoreError};
use node::saved_filter::SavedFilters;
use node::search::{Query, widened};
use serde_json::Value;
use text::nearest;

/// The built-in indexes. Each data bag is another one.
const INDEXES: [&str; 3] = ["node", "role", "environment"];

/// Largest amount of work of one search, in units of 64 steps. Queries and objects of ordinary size need a fiftieth of it.
const MAX_WORK: u64 = 50_000_000;

/// The places where a search looks.
pub struct SearchIndex<'a> {
    /// The nodes. `None`: no node has been saved.
    pub nodes: Option<&'a dyn NodeStore>,
    /// Roles, environments and data bags.
    pub objects: &'a dyn ObjectStore,
}

/// Returns the names of all indexes. Data bags that cannot be listed are left out.
pub fn indexes(objects: &dyn ObjectStore) -> Vec<String> {
    let bags = objects.bags().unwrap_or_default();
    INDEXES.iter().map(|name| (*name).to_owned()).chain(bags).collect()
}

/// Returns the objects of an index that a query finds, by their names. A query of one word is widened, as in `knife search`.
///
/// # Errors
/// The query is malformed, the index does not exist, or an object of it cannot be read.
pub fn search(places: &SearchIndex<'_>, index: &str, query: &str) -> Result<Vec<(String, Value)>, SearchError> {
    // The typed query is parsed first, so that an error is about it and not about the widened query.
    let typed = Query::parse(query).map_err(ObjectsError::from)?;
    let wider = widened(index, query);
    let query = if wider == query { typed } else { Query::parse(&wider).map_err(ObjectsError::from)? };
    let objects = match index {
        "node" => nodes(places.nodes)?,
        "role" => places.objects.all(&Shelf::Roles)?,
        "environment" => places.objects.all(&Shelf::Environments)?,
        bag => {
            let all = indexes(places.objects);
            if !all.iter().any(|known| known == bag) {
                let near = nearest(bag, all.iter().map(String::as_str)).map(str::to_owned);
                return Err(ObjectsError::NoIndex { name: bag.to_owned(), near }.into());
            }
            places.objects.all(&Shelf::DataBag(bag.to_owned()))?
        }
    };
    let mut left = MAX_WORK;
    let mut pay = |units: u64| {
        left = left.checked_sub(units).ok_or(ObjectsError::Costly)?;
        Ok::<_, ObjectsError>(())
    };
    let mut found = vec![];
    for (name, object) in objects {
        if query.finds(index, &name, &object, &mut pay)? {
            found.push((name, object));
        }
    }
    Ok(found)
}

/// Returns all saved nodes without the keys that only wrun uses.
fn nodes(store: Option<&dyn NodeStore>) -> Result<Vec<(String, Value)>, SearchError> {
    let Some(store) = store else { return Ok(vec![]) };
    let node = |name: String| {
        let node = store.node(&name)?;
        let mut saved = node_to_save(&node, &SavedFilters::default()).map_err(StoreError::from)?;
        if let Some(object) = saved.as_object_mut() {
            for key in [HISTORIES, NORMAL_WRITERS, CHANGES, LAYERS, ASSIGNED_POLICIES, WITHOUT_POLICIES] {
                object.shift_remove(key);
            }
        }
        Ok((name, saved))
    };
    store.names()?.into_iter().map(node).collect()
}

/// The reasons why a search finds nothing.
#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    /// Objects cannot be read.
    #[error(transparent)]
    Objects(#[from] ObjectsError),
    /// Nodes cannot be read.
    #[error(transparent)]
    Nodes(#[from] StoreError),
}
