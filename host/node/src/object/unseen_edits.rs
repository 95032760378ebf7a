//! Operators' changes of `normal` since a policy last ran, so that an explanation does not claim that the policy saw them.
//!
//! They are stored in the document of [histories](super::histories), because they serve only explanations. Each change has
//! the value before it, and the policies that have not run since.

use serde_json::{Map, Value, json};

use super::normal::{differences, remove, set};

/// The most changes that are kept; older ones are forgotten, and their values count as seen.
const MAX_EDITS: usize = 1_000;

/// The most bytes of all changes that are kept: values, keys and names of policies.
const MAX_BYTES: usize = 1024 * 1024;

/// The changes in the order in which they were made.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct UnseenEdits {
    all: Vec<UnseenEdit>,
}

/// One attribute that an operator set or removed.
#[derive(Debug, Clone, PartialEq)]
struct UnseenEdit {
    path: Vec<String>,
    /// What was there; `None`: nothing.
    before: Option<Value>,
    /// The policies that last ran before the change. A run list without policies has the name `""`.
    unseen_by: Vec<String>,
}

impl UnseenEdits {
    /// Notes what differs between two trees of `normal`, for policies that saw the first one.
    pub(super) fn note(&mut self, before: &Map<String, Value>, after: &Map<String, Value>, policies: &[String]) {
        if policies.is_empty() {
            return;
        }
        let mut back = Vec::new();
        differences(after, before, &mut vec![], &mut back);
        // Changes are undone from the last one to the first, so they are stored in the order that undoes them correctly.
        let edits = back.into_iter().rev().map(|(path, before)| UnseenEdit {
            path,
            before: before.cloned(),
            unseen_by: policies.to_vec(),
        });
        self.all.extend(edits);
        self.forget_too_old();
    }

    /// Notes that a policy has run: it has seen all changes.
    pub(super) fn seen_by(&mut self, policy: &str) {
        self.all.iter_mut().for_each(|edit| edit.unseen_by.retain(|name| name != policy));
        self.all.retain(|edit| !edit.unseen_by.is_empty());
    }

    /// Undoes the changes that a policy has not seen.
    pub(super) fn take_back(&self, policy: &str, normal: &mut Map<String, Value>) {
        for edit in self.all.iter().rev().filter(|edit| edit.unseen_by.iter().any(|name| name == policy)) {
            match &edit.before {
                Some(before) => set(normal, &edit.path, before.clone()),
                None => remove(normal, &edit.path),
            }
        }
    }

    /// Tells whether there is a change that the policy has not seen.
    pub(super) fn has_any_for(&self, policy: &str) -> bool {
        self.all.iter().any(|edit| edit.unseen_by.iter().any(|name| name == policy))
    }

    /// Tells whether there is no change.
    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// `[{"path": [..], "before": [VALUE] or [], "unseen_by": [..]}, ..]`.
    pub(super) fn to_json(&self) -> Value {
        let one = |edit: &UnseenEdit| json!({ "path": edit.path, "before": edit.before.as_slice(), "unseen_by": edit.unseen_by });
        self.all.iter().map(one).collect()
    }

    /// Reads the stored list back. Returns `None` if it is invalid.
    pub(super) fn from_json(json: &Value) -> Option<Self> {
        let texts = |value: &Value| serde_json::from_value::<Vec<String>>(value.clone()).ok();
        let one = |edit: &Value| {
            let before = match edit.get("before")?.as_array()?.as_slice() {
                [] => None,
                [value] => Some(value.clone()),
                _ => return None,
            };
            Some(UnseenEdit { path: texts(edit.get("path")?)?, before, unseen_by: texts(edit.get("unseen_by")?)? })
        };
        let mut read = Self { all: json.as_array()?.iter().map(one).collect::<Option<_>>()? };
        read.forget_too_old();
        Some(read)
    }

    fn forget_too_old(&mut self) {
        let mut left = MAX_BYTES;
        let fits = |edit: &&UnseenEdit| {
            let names: usize = edit.path.iter().chain(&edit.unseen_by).map(String::len).sum();
            let bytes = edit.before.as_ref().map_or(0, |value| value.to_string().len()) + names;
            left.checked_sub(bytes).map(|rest| left = rest).is_some()
        };
        let kept = self.all.iter().rev().take(MAX_EDITS).take_while(fits).count();
        self.all.drain(..self.all.len() - kept);
    }
}
