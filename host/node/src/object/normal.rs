//! The node's `normal` attributes, which are kept after the run, divided by their writers.
//!
//! Each policy's writes are a tree of its own, apart from those of other policies and of the operator. So two policies with
//! cookbooks of the same name do not disturb each other: neither can see, overwrite or remove what the other wrote. Tools and
//! the saved node see one merged tree. If two policies wrote the same attribute, it has the value of the policy that wrote to
//! the node first.
//!
//! A policy's writes are the difference between the attributes that it saw at its start and those that it left. Rejected: one
//! tree with one writer for each path. A second policy's write to a path would have to be refused or would be lost.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::Visible;
use crate::attributes::gaps;
use crate::deep_merge::{self, hash_only_merge, union};

/// The attribute whose list is put together from those of all writers.
pub(super) const TAGS: &str = "tags";

/// The `normal` attributes of others that a policy may read and overwrite.
#[derive(Clone, Copy)]
pub struct NormalAccess<'rule> {
    /// The part of what the operator gave that the policy may read.
    pub given: &'rule Visible<'rule>,
    /// The part of what another policy wrote that it may read.
    pub others: &'rule Visible<'rule>,
    /// Whether its writes at a path replace what others wrote there.
    pub overwrites: &'rule dyn Fn(&[String]) -> bool,
}

/// The `normal` attributes, divided by their writers.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Normal {
    /// The attributes that the operator gave, and those of unknown origin.
    pub(super) given: Map<String, Value>,
    /// The attributes that each policy wrote, in the order of the policies' first writes. A run list without policies has the
    /// name `""`.
    pub(super) written: Vec<(String, Map<String, Value>)>,
    /// All of it as one tree.
    merged: Map<String, Value>,
}

impl Normal {
    /// Attributes that only the operator gave.
    pub(super) fn given(given: Map<String, Value>) -> Self {
        Self { merged: given.clone(), given, written: vec![] }
    }

    /// Builds it from what the operator gave and what each policy wrote.
    pub(super) fn of(given: Map<String, Value>, written: Vec<(String, Map<String, Value>)>) -> Self {
        let mut all = Self { given, written, merged: Map::new() };
        all.merge();
        all
    }

    /// All of it as one tree.
    pub(super) fn merged(&self) -> &Map<String, Value> {
        &self.merged
    }

    /// Returns the merged tree with a policy's own writes above those of others.
    pub(super) fn as_written_by(&self, policy: &str) -> Map<String, Value> {
        overlay(self.merged.clone(), self.own(policy).cloned().unwrap_or_default())
    }

    /// Returns a copy with the attributes that the operator gives now, which win over all earlier writes.
    pub(super) fn with_given(&self, now: &Map<String, Value>) -> Self {
        let mut all = self.clone();
        all.given = deep_merge::merge(all.given, now.clone());
        for (_, tree) in &mut all.written {
            make_way(tree, now, true);
            gaps::close(tree);
        }
        all.merge();
        all
    }

    /// Sets the operator's value at a path, or removes it if `value` is `None`. `replaces`: also removes the policies' values
    /// there.
    pub(super) fn give(&mut self, path: &[String], value: Option<Value>, replaces: bool) {
        if replaces {
            self.all_trees().for_each(|tree| remove(tree, path));
        }
        if let Some(value) = value {
            set(&mut self.given, path, value);
        }
        self.all_trees().for_each(gaps::close);
        self.merge();
    }

    /// Changes the merged tree to `new`. The differences belong to the operator from now on.
    pub(super) fn become_given(&mut self, new: &Map<String, Value>) {
        let (mut before, mut after) = (self.merged.clone(), new.clone());
        let (old_tags, tags) = (before.shift_remove(TAGS), after.shift_remove(TAGS));
        let mut changes = Vec::new();
        differences(&before, &after, &mut vec![], &mut changes);
        let changes: Vec<_> = changes.into_iter().map(|(path, value)| (path, value.cloned())).collect();
        changes.into_iter().for_each(|(path, value)| self.give(&path, value, true));
        if tags != old_tags {
            self.give(&[TAGS.to_owned()], tags, true);
        }
    }

    /// Removes tags, whoever set them.
    pub(super) fn remove_tags(&mut self, gone: &[String]) {
        let known: HashSet<&str> = gone.iter().map(String::as_str).collect();
        for tree in self.all_trees() {
            if let Some(Value::Array(tags)) = tree.get_mut(TAGS) {
                tags.retain(|tag| !tag.as_str().is_some_and(|tag| known.contains(tag)));
            }
        }
        self.merge();
    }

    /// Returns the attributes that a policy starts with. `tags` is turned into a list.
    pub(super) fn seen_by(&self, policy: &str, access: &NormalAccess<'_>) -> Map<String, Value> {
        let mut seen = part(access.given, &self.given);
        for (_, tree) in self.written.iter().rev().filter(|(name, _)| name != policy) {
            seen = overlay(seen, part(access.others, tree));
        }
        seen = overlay(seen, self.own(policy).cloned().unwrap_or_default());
        let tags = seen.get(TAGS).map(list).unwrap_or_default();
        seen.insert(TAGS.to_owned(), Value::Array(tags));
        seen
    }

    /// Takes over the writes of a policy: the differences between what it saw at its start and what it left.
    pub(super) fn take(&mut self, policy: &str, access: &NormalAccess<'_>, mut left: Map<String, Value>) {
        let mut before = self.seen_by(policy, access);
        let (tags_before, tags) = (before.shift_remove(TAGS), left.shift_remove(TAGS));
        let mut changes = Vec::new();
        differences(&before, &left, &mut vec![], &mut changes);
        for (path, value) in changes {
            if (access.overwrites)(&path) {
                self.all_trees().for_each(|tree| remove(tree, &path));
            }
            self.change_own(policy, |own| match value {
                Some(value) => set(own, &path, value.clone()),
                None => remove(own, &path),
            });
        }
        let overwrites = (access.overwrites)(&[TAGS.to_owned()]);
        if tags.is_some() {
            // The node has a list of tags as soon as a policy has run on it.
            self.given.entry(TAGS).or_insert_with(|| Value::Array(vec![]));
        } else if overwrites {
            self.all_trees().for_each(|tree| remove(tree, &[TAGS.to_owned()]));
        }
        let [before, after] = [tags_before, tags].map(|tags| tags.as_ref().map(list).unwrap_or_default());
        self.take_tags(policy, &before, &after, overwrites);
        self.all_trees().for_each(gaps::close);
        self.merge();
    }

    /// Tags that the policy added are its own; others it takes away only if it may overwrite them.
    fn take_tags(&mut self, policy: &str, before: &[Value], after: &[Value], overwrites: bool) {
        if overwrites {
            let left: HashSet<&Value> = after.iter().collect();
            let gone: HashSet<&Value> = before.iter().filter(|tag| !left.contains(tag)).collect();
            for tree in self.all_trees() {
                if let Some(Value::Array(tags)) = tree.get_mut(TAGS) {
                    tags.retain(|tag| !gone.contains(tag));
                }
            }
        }
        let own = self.own(policy).and_then(|tree| tree.get(TAGS)).map(list).unwrap_or_default();
        let (own, before): (HashSet<&Value>, HashSet<&Value>) = (own.iter().collect(), before.iter().collect());
        let mine = |tag: &&Value| own.contains(tag) || !before.contains(tag);
        let kept: Vec<Value> = after.iter().filter(mine).cloned().collect();
        self.change_own(policy, |own| {
            own.shift_remove(TAGS);
            if !kept.is_empty() {
                own.insert(TAGS.to_owned(), Value::Array(kept));
            }
        });
    }

    /// What a policy wrote.
    pub(super) fn own(&self, policy: &str) -> Option<&Map<String, Value>> {
        self.written.iter().find(|(name, _)| name == policy).map(|(_, tree)| tree)
    }

    /// Changes what a policy wrote.
    fn change_own(&mut self, policy: &str, change: impl FnOnce(&mut Map<String, Value>)) {
        match self.written.iter_mut().find(|(name, _)| name == policy) {
            Some((_, tree)) => change(tree),
            None => {
                let mut tree = Map::new();
                change(&mut tree);
                self.written.push((policy.to_owned(), tree));
            }
        }
    }

    fn all_trees(&mut self) -> impl Iterator<Item = &mut Map<String, Value>> {
        std::iter::once(&mut self.given).chain(self.written.iter_mut().map(|(_, tree)| tree))
    }

    fn merge(&mut self) {
        self.written.retain(|(_, tree)| !tree.is_empty());
        let own = self.written.iter().rev().map(|(_, tree)| tree.clone());
        self.merged = own.fold(self.given.clone(), overlay);
    }
}

/// Merges `above` over `below`. Lists of tags are united.
fn overlay(below: Map<String, Value>, mut above: Map<String, Value>) -> Map<String, Value> {
    if let (Some(low), Some(high)) = (below.get(TAGS), above.get(TAGS)) {
        let tags = union([&list(low), &list(high)]);
        above.insert(TAGS.to_owned(), Value::Array(tags));
    }
    hash_only_merge(below, above)
}

/// Returns a value as a list. Null becomes the empty list.
pub(super) fn list(value: &Value) -> Vec<Value> {
    match value {
        Value::Null => vec![],
        Value::Array(all) => all.clone(),
        single => vec![single.clone()],
    }
}

/// The part of a tree that a policy may read.
fn part(visible: &Visible<'_>, tree: &Map<String, Value>) -> Map<String, Value> {
    match visible(&Value::Object(tree.clone())).into_owned() {
        Value::Object(part) => part,
        _ => Map::new(),
    }
}

/// Removes from a tree the attributes that the operator gives now. Lists in both are united, as in the operator's own part.
fn make_way(tree: &mut Map<String, Value>, now: &Map<String, Value>, is_top: bool) {
    for (key, given) in now.iter().filter(|(key, _)| !(is_top && *key == TAGS)) {
        let is_gone = match (tree.get_mut(key), given) {
            (Some(Value::Object(own)), Value::Object(given)) => {
                make_way(own, given, false);
                own.is_empty()
            }
            (Some(Value::Array(own)), Value::Array(given)) => {
                *own = union([&*own, given]);
                false
            }
            (own, _) => own.is_some(),
        };
        if is_gone {
            gaps::remove(tree, key);
        }
    }
}

/// Lists the writes and removals that turn one tree into the other. Objects are compared member by member.
pub(super) fn differences<'new>(
    before: &Map<String, Value>,
    after: &'new Map<String, Value>,
    path: &mut Vec<String>,
    changes: &mut Vec<(Vec<String>, Option<&'new Value>)>,
) {
    for (key, old) in before {
        path.push(key.clone());
        match (old, after.get(key)) {
            (_, None) => changes.push((path.clone(), None)),
            (Value::Object(_), Some(Value::Object(_))) => {}
            (Value::Object(_), Some(_)) | (_, Some(Value::Object(_))) => changes.push((path.clone(), None)),
            _ => {}
        }
        path.pop();
    }
    let none = Map::new();
    for (key, new) in after {
        path.push(key.clone());
        match (before.get(key), new) {
            (Some(old), new) if old == new => {}
            (old, Value::Object(members)) if !members.is_empty() || matches!(old, Some(Value::Object(_))) => {
                differences(old.and_then(Value::as_object).unwrap_or(&none), members, path, changes);
            }
            _ => changes.push((path.clone(), Some(new))),
        }
        path.pop();
    }
}

/// Sets a value at a path of at least one step. Values along the path that are not objects are replaced by objects.
pub(super) fn set(tree: &mut Map<String, Value>, path: &[String], value: Value) {
    match path {
        [] => {}
        [last] => {
            tree.insert(last.clone(), value);
        }
        [first, rest @ ..] => {
            let slot = tree.entry(first.clone()).or_insert_with(|| Value::Object(Map::new()));
            if !slot.is_object() {
                *slot = Value::Object(Map::new());
            }
            if let Value::Object(below) = slot {
                set(below, rest, value);
            }
        }
    }
}

/// Removes the value at a path. The objects around it stay, even if they are empty now.
pub(super) fn remove(tree: &mut Map<String, Value>, path: &[String]) {
    match path {
        [] => {}
        [last] => {
            gaps::remove(tree, last);
        }
        [first, rest @ ..] => {
            if let Some(Value::Object(below)) = tree.get_mut(first) {
                remove(below, rest);
            }
        }
    }
}
