//! Reading: the merged view, one group, one level.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::merge::{Found, View};
use super::path::{self, Kind, kind_of};
use super::{Attributes, Group, Level, gaps};
use crate::deep_merge::hash_only_merge;

/// The kind of the value at a path, without the values below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shape {
    /// Text, number, boolean, null, or a value that only the guest can compute.
    Scalar,
    /// An array of that many elements.
    Array(usize),
    /// An object with these keys, in order.
    Object(Vec<String>),
}

impl Shape {
    fn of(value: &Value) -> Self {
        match (kind_of(value), value) {
            (Kind::Object, Value::Object(object)) => Self::Object(object.keys().cloned().collect()),
            (Kind::Array, Value::Array(array)) => Self::Array(array.len()),
            _ => Self::Scalar,
        }
    }
}

impl Attributes {
    /// Returns the merged value at `path`, or `None` if it does not exist. An empty path reads everything.
    ///
    /// Chef's `read` and `dig`, which give nil for both nothing and nil.
    pub fn read<Step: AsRef<str>>(&self, path: &[Step]) -> Option<Value> {
        match View::root(&self.trees).follow(path)? {
            Found::Shared(view) => view.merged(),
            Found::Element(value) => Some(value),
        }
    }

    /// Tells whether the merged view has a value at `path`. Null counts as a value.
    pub fn is_present<Step: AsRef<str>>(&self, path: &[Step]) -> bool {
        View::root(&self.trees).follow(path).is_some()
    }

    /// Returns the kind of the value at `path`, with its length or keys, without building the values below it.
    pub fn shape<Step: AsRef<str>>(&self, path: &[Step]) -> Option<Shape> {
        match View::root(&self.trees).follow(path)? {
            Found::Shared(view) => view.shape(),
            Found::Element(value) => Some(Shape::of(&value)),
        }
    }

    /// The four default levels merged at `path`.
    pub fn combined_default<Step: AsRef<str>>(&self, path: &[Step]) -> Option<Value> {
        self.combined(Group::Default, path)
    }

    /// The four override levels merged at `path`.
    pub fn combined_override<Step: AsRef<str>>(&self, path: &[Step]) -> Option<Value> {
        self.combined(Group::Override, path)
    }

    /// The whole merged tree.
    pub fn merged(&self) -> Map<String, Value> {
        into_object(View::root(&self.trees).merged())
    }

    /// The value in one level alone. Chef's `node.default.read(..)` and the like.
    pub fn read_level<Step: AsRef<str>>(&self, level: Level, path: &[Step]) -> Option<Cow<'_, Value>> {
        if level == Level::Automatic && path.is_empty() {
            return Some(self.trees.automatic().joined());
        }
        self.stored(level, path).map(|value| gaps::without_gaps(value, self.trees.has_gaps()))
    }

    /// Tells whether one level has a value at `path`. Null counts as a value.
    pub fn has_in_level<Step: AsRef<str>>(&self, level: Level, path: &[Step]) -> bool {
        self.stored(level, path).is_some()
    }

    /// The value in one level as it is stored, with its gaps. An empty path leads only to the facts of `automatic`.
    pub(super) fn stored<Step: AsRef<str>>(&self, level: Level, path: &[Step]) -> Option<&Value> {
        path::descend(self.trees.tree(level, path), path)
    }

    /// Per level, lowest first, its own value at `path`, `None` where it has none. Chef's `debug_value`, with the
    /// inherited level before Chef's ten.
    pub fn debug_value<Step: AsRef<str>>(&self, path: &[Step]) -> Vec<(Level, Option<Cow<'_, Value>>)> {
        Level::ALL.into_iter().map(|level| (level, self.read_level(level, path))).collect()
    }

    /// Returns the attributes that the policy leaves for the next one: all levels but `normal`, which stays a level of its
    /// own, and `automatic`. It includes inherited attributes that the policy was not shown.
    pub(crate) fn left_behind(&self) -> Map<String, Value> {
        let left = into_object(View::leaving(&self.trees).merged());
        hash_only_merge(self.withheld.inherited.clone(), left)
    }

    pub(super) fn combined<Step: AsRef<str>>(&self, group: Group, path: &[Step]) -> Option<Value> {
        match View::group_root(&self.trees, group).follow(path)? {
            Found::Shared(view) => view.merged(),
            Found::Element(value) => Some(value),
        }
    }

    /// Whether the parent of `path` is an object, in one group or in the whole merged view.
    pub(super) fn has_object_parent<Step: AsRef<str>>(&self, group: Option<Group>, path: &[Step]) -> bool {
        let root = match group {
            Some(group) => View::group_root(&self.trees, group),
            None => View::root(&self.trees),
        };
        let Some((_, parents)) = path.split_last() else { return false };
        match root.follow(parents) {
            Some(Found::Shared(view)) => view.is_object(),
            Some(Found::Element(value)) => kind_of(&value) == Kind::Object,
            None => false,
        }
    }
}

pub(crate) fn into_object(value: Option<Value>) -> Map<String, Value> {
    match value {
        Some(Value::Object(object)) => object,
        _ => Map::new(),
    }
}
