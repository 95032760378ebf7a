//! Each policy's part of the saved node, from its last successful run.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::PolicyStart;
use super::hidden_names::HiddenNames;
use crate::attributes::Attributes;
use crate::run_list::RunList;

/// One policy's part of the saved node.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PolicyRecord {
    /// The policy's name; absent for a run without policies.
    pub name: Option<String>,
    /// The policy group it ran in; `None` if it ran without one.
    pub group: Option<String>,
    /// Its revision, as Chef computes it.
    pub revision: Option<String>,
    /// The digest of its artifact.
    pub artifact: Option<String>,
    /// The run list it ran.
    pub run_list: RunList,
    /// Its default levels merged.
    pub default: Map<String, Value>,
    /// Its override levels merged.
    pub r#override: Map<String, Value>,
    /// Bytes that the policy's own part of `normal` takes in the saved node.
    pub normal_bytes: u64,
    /// The attributes of earlier policies that it could not read.
    pub hidden_inherited: HiddenNames,
    /// The `normal` attributes of others that it could not read.
    pub hidden_normal: HiddenNames,
}

impl PolicyRecord {
    pub(super) fn new(start: &PolicyStart, attributes: &Attributes) -> Self {
        let object = |value: Option<Value>| match value {
            Some(Value::Object(object)) => object,
            _ => Map::new(),
        };
        Self {
            name: start.name.clone(),
            group: start.group.clone(),
            revision: start.revision.clone(),
            artifact: start.artifact.clone(),
            run_list: start.run_list.clone(),
            default: object(attributes.combined_default::<&str>(&[])),
            r#override: object(attributes.combined_override::<&str>(&[])),
            normal_bytes: 0,
            hidden_inherited: HiddenNames::default(),
            hidden_normal: HiddenNames::default(),
        }
    }
}

/// Replaces the policy's earlier record, or adds the record at the end. A node has either policies or a run list of its own:
/// a record of one kind removes those of the other.
pub(super) fn put(records: &mut Vec<Arc<PolicyRecord>>, record: PolicyRecord) {
    records.retain(|known| known.name.is_some() == record.name.is_some());
    match records.iter_mut().find(|known| known.name == record.name) {
        Some(known) => *known = Arc::new(record),
        None => records.push(Arc::new(record)),
    }
}

/// Sorts the records of `policies` into the order of this list. Other records keep their places. A policy without a record
/// gets its place when it has succeeded.
pub(super) fn put_in_order<Name: AsRef<str>>(records: &mut [Arc<PolicyRecord>], policies: &[Name]) {
    let rank = |record: &PolicyRecord| {
        let name = record.name.as_deref()?;
        policies.iter().position(|policy| policy.as_ref() == name)
    };
    let mut moving: Vec<_> = records.iter().filter(|record| rank(record).is_some()).cloned().collect();
    moving.sort_by_key(|record| rank(record));
    let places = records.iter_mut().filter(|record| rank(record).is_some());
    for (place, record) in places.zip(moving) {
        *place = record;
    }
}

/// Returns the group that all policies are in, if it is the same one.
pub(super) fn common_group(records: &[Arc<PolicyRecord>]) -> Option<&str> {
    let mut groups = records.iter().filter(|record| record.name.is_some()).map(|record| record.group.as_deref());
    let first = groups.next()??;
    groups.all(|group| group == Some(first)).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_brings_its_own_policies_into_order() {
        #[track_caller]
        fn check(before: &[&str], run: &[&str], after: &[&str]) {
            let record =
                |name: &&str| Arc::new(PolicyRecord { name: Some((*name).to_owned()), ..PolicyRecord::default() });
            let mut records: Vec<_> = before.iter().map(record).collect();
            put_in_order(&mut records, run);
            let names: Vec<_> = records.iter().filter_map(|record| record.name.clone()).collect();
            assert_eq!(names, after);
        }
        check(&["a", "b", "c"], &["c", "a"], &["c", "b", "a"]);
        check(&["a", "b", "c"], &["b"], &["a", "b", "c"]);
        check(&["a", "b"], &["x", "b", "a"], &["b", "a"]);
        check(&[], &["a"], &[]);
    }
}
