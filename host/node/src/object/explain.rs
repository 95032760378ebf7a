//! Explains the value of an attribute of the saved node: each policy's part in it, with its writes.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::{HiddenNames, NodeObject};
use crate::attributes::{Attributes, Level, WriteRecord};
use crate::deep_merge::hash_only_merge;
use crate::origin::Origin;

/// One policy's part in an attribute of the saved node.
#[derive(Debug, Clone, PartialEq)]
pub struct PolicyPart {
    /// The policy; absent for a run list without one.
    pub policy: Option<String>,
    /// The merged value of the policy's default levels.
    pub default: Option<Value>,
    /// The merged value of the policy's override levels.
    pub r#override: Option<Value>,
    /// The value of the attribute when this policy ended.
    pub seen: Option<Value>,
    /// The value that this policy would see now, if it differs because operators have changed `normal` attributes since.
    /// `Some(None)`: the attribute would be absent.
    pub changed_to: Option<Option<Value>>,
    /// The attributes of earlier policies that this policy could not read.
    pub hidden_inherited: HiddenNames,
    /// The `normal` attributes of others that it could not read.
    pub hidden_normal: HiddenNames,
    /// The policy's writes to the attribute, to an object around it or to a part of it, oldest first.
    pub writes: Vec<WriteRecord>,
}

/// An attribute of the saved node, with each policy's part in its value.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeExplanation {
    /// The fact of that name.
    pub automatic: Option<Value>,
    /// The value that belongs to the node.
    pub normal: Option<Value>,
    /// Each policy's part, in the order in which they run.
    pub policies: Vec<PolicyPart>,
    /// The value now: the last policy's, with the changes that operators made since.
    pub now: Option<Value>,
}

impl NodeExplanation {
    /// The value of the attribute now.
    pub fn value(&self) -> Option<&Value> {
        self.now.as_ref()
    }
}

impl NodeObject {
    /// The value at `path` for the last policy; an empty path is everything.
    pub fn merged_value<Step: AsRef<str>>(&self, path: &[Step]) -> Option<Value> {
        self.explain(path).value().cloned()
    }

    /// Explains the attribute at `path` of the saved node.
    pub fn explain<Step: AsRef<str>>(&self, path: &[Step]) -> NodeExplanation {
        let mut inherited = Map::new();
        let mut policies = Vec::new();
        let automatic = along(&self.automatic, path);
        let unseen_edits = &self.histories.unseen_edits;
        let mut now = None;
        for record in self.records() {
            let name = record.name.as_deref().unwrap_or_default();
            let mut normal = self.normal.as_written_by(name);
            let (default, r#override) = (along(&record.default, path), along(&record.r#override, path));
            let with = |inherited: &Map<String, Value>, normal: &Map<String, Value>| {
                as_seen(&[
                    (Level::Inherited, inherited),
                    (Level::Default, &default),
                    (Level::Normal, &along(normal, path)),
                    (Level::Override, &r#override),
                    (Level::Automatic, &automatic),
                ])
            };
            // What other policies left counts for the node, also if this policy could not read it.
            now = with(&inherited, &normal).read(path);
            let (hidden_inherited, hidden_normal) = (record.hidden_inherited.clone(), record.hidden_normal.clone());
            let visible = hidden_inherited.without(inherited.clone());
            let attributes = with(&visible, &hidden_normal.without(normal.clone()));
            let next = attributes.read(path);
            let mut seen = next.clone();
            if unseen_edits.has_any_for(name) {
                unseen_edits.take_back(name, &mut normal);
                seen = with(&visible, &hidden_normal.without(normal)).read(path);
            }
            policies.push(PolicyPart {
                policy: record.name.clone(),
                default: attributes.combined_default(path),
                r#override: attributes.combined_override(path),
                changed_to: (seen != next).then_some(next),
                seen,
                hidden_inherited,
                hidden_normal,
                writes: self.histories.about(record.name.as_deref(), path),
            });
            inherited = hash_only_merge(inherited, default);
            inherited = hash_only_merge(inherited, r#override);
        }
        let normal = along(self.normal.merged(), path);
        let own = as_seen(&[(Level::Normal, &normal), (Level::Automatic, &automatic)]);
        let of_level = |level| own.read_level(level, path).map(Cow::into_owned);
        let (automatic, normal) = (of_level(Level::Automatic), of_level(Level::Normal));
        if policies.is_empty() {
            now = own.read(path);
        }
        NodeExplanation { automatic, normal, policies, now }
    }
}

/// Copies only the objects along a path and the values below it, because a node has thousands of other attributes.
fn along<Step: AsRef<str>>(all: &Map<String, Value>, path: &[Step]) -> Map<String, Value> {
    let Some((first, rest)) = path.split_first() else { return all.clone() };
    let mut found = Map::new();
    if let Some((key, value)) = all.get_key_value(first.as_ref()) {
        let value = match value {
            Value::Object(below) => Value::Object(along(below, rest)),
            value => value.clone(),
        };
        found.insert(key.clone(), value);
    }
    found
}

/// Returns attributes that are only read. Saved data was checked when it was read.
fn as_seen(levels: &[(Level, &Map<String, Value>)]) -> Attributes {
    let mut attributes = Attributes::new();
    for (level, data) in levels {
        // Data that cannot be set up cannot be explained either; its level stays empty.
        let _refused = attributes.set_level(*level, (*data).clone(), &Origin::default());
    }
    attributes
}
