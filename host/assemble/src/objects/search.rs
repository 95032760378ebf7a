//! Search over nodes, roles, environments and data bags, with the parser that guests' `search` has, too.

use super::{ObjectStore, ObjectsError, Shelf};
use crate::saved_node::{ASSIGNED_POLICIES, CHANGES, HISTORIES, LAYERS, NORMAL_WRITERS, node_to_save};
use crate::store::{NodeStore, StoreError};
use node::saved_filter::SavedFilters;
use node::search::{Query, widened};
use serde_json::Value;
use text::nearest;

/// The indexes that are there without a data bag.
const INDEXES: [&str; 3] = ["node", "role", "environment"];

/// Units of work of one search: 64 steps each. A query and objects of ordinary size take a fiftieth of it.
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
    // What was typed is judged first: an error shall not speak of what wrun makes of it.
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

/// All saved nodes, without what is only wrun's.
fn nodes(store: Option<&dyn NodeStore>) -> Result<Vec<(String, Value)>, SearchError> {
    let Some(store) = store else { return Ok(vec![]) };
    let node = |name: String| {
        let node = store.node(&name)?;
        let mut saved = node_to_save(&node, &SavedFilters::default()).map_err(StoreError::from)?;
        if let Some(object) = saved.as_object_mut() {
            for key in [HISTORIES, NORMAL_WRITERS, CHANGES, LAYERS, ASSIGNED_POLICIES] {
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
