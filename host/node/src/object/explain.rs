//! Why an attribute of the saved node has the value that it has: each policy's part, and who wrote it.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::NodeObject;
use crate::attributes::{Attributes, Level, WriteRecord};
use crate::deep_merge::hash_only_merge;
use crate::origin::Origin;

/// What one policy did to an attribute.
#[derive(Debug, Clone, PartialEq)]
pub struct PolicyPart {
    /// The policy; absent for a run list without one.
    pub policy: Option<String>,
    /// What its default levels made of the attribute.
    pub default: Option<Value>,
    /// What its override levels made of it.
    pub r#override: Option<Value>,
    /// What the attribute was at the end of this policy.
    pub seen: Option<Value>,
    /// What it would be now, if operators changed `normal` attributes since and this one is another for it.
    pub changed_to: Option<Option<Value>>,
    /// Its writes there, above and below, oldest first.
    pub writes: Vec<WriteRecord>,
}

/// How an attribute of the saved node came by its value.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeExplanation {
    /// The fact of that name.
    pub automatic: Option<Value>,
    /// The value that belongs to the node.
    pub normal: Option<Value>,
    /// Each policy's part, in the order in which they run.
    pub policies: Vec<PolicyPart>,
    /// What it is now: what the last policy saw, with what operators changed since.
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
            let with = |normal: &Map<String, Value>| {
                as_seen(&[
                    (Level::Inherited, &inherited),
                    (Level::Default, &default),
                    (Level::Normal, &along(normal, path)),
                    (Level::Override, &r#override),
                    (Level::Automatic, &automatic),
                ])
            };
            let attributes = with(&normal);
            now = attributes.read(path);
            let mut seen = now.clone();
            if unseen_edits.has_any_for(name) {
                unseen_edits.take_back(name, &mut normal);
                seen = with(&normal).read(path);
            }
            policies.push(PolicyPart {
                policy: record.name.clone(),
                default: attributes.combined_default(path),
                r#override: attributes.combined_override(path),
                changed_to: (seen != now).then(|| now.clone()),
                seen,
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

/// What lies on the way to a path and below it: a node has thousands of other attributes.
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

/// Attributes for looking at only. What was saved has been checked when it was read.
fn as_seen(levels: &[(Level, &Map<String, Value>)]) -> Attributes {
    let mut attributes = Attributes::new();
    for (level, data) in levels {
        // Data that cannot be set up cannot be explained either; its level stays empty.
        let _refused = attributes.set_level(*level, (*data).clone(), &Origin::default());
    }
    attributes
}
