//! Merges the levels at one path.
//!
//! A [`View`] holds each level's value at the path. Values that a higher level hides are left out. A step down costs one
//! lookup for each remaining level; only the values at the end of the path are merged.
//!
//! The rules (Chef's): inside the group of defaults and inside the group of overrides, objects merge and arrays are
//! united; a value of another kind hides what is below it. Between groups only objects merge. `null` is a value.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::levels::{Group, LevelTrees, TREES};
use super::path::{self, Kind, kind_of};
use super::{Level, Shape, gaps};
use crate::deep_merge::union;

/// The values of the levels at one path, lowest level first; `automatic` has two places. `None` if the level does not have a value there, or a higher
/// level hides it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View<'tree> {
    values: [Option<&'tree Value>; TREES.len()],
    kind: Option<Kind>,
    /// Whether objects may have [`gaps`].
    has_gaps: bool,
}

/// The result of following a path.
pub(crate) enum Found<'tree> {
    /// A place where at least one level has a value. Several levels may have one.
    Shared(View<'tree>),
    /// A value inside an array. Such values are not merged.
    Element(Value),
}

impl<'tree> View<'tree> {
    /// The roots of all levels.
    pub(crate) fn root(trees: &'tree LevelTrees) -> Self {
        Self::new(trees.each().map(|(_, tree)| Some(tree)), trees.has_gaps())
    }

    /// The roots of the levels of one group.
    pub(crate) fn group_root(trees: &'tree LevelTrees, group: Group) -> Self {
        Self::new(trees.each().map(|(level, tree)| (level.group() == group).then_some(tree)), trees.has_gaps())
    }

    /// Returns the roots of the levels that a policy leaves for the next one: all but `normal`, which stays a level of its
    /// own, and `automatic`.
    pub(crate) fn leaving(trees: &'tree LevelTrees) -> Self {
        let stays = |level: Level| matches!(level, Level::Normal | Level::Automatic);
        Self::new(trees.each().map(|(level, tree)| (!stays(level)).then_some(tree)), trees.has_gaps())
    }

    /// Drops the hidden values: it walks from the highest level down until a value of another kind ends the group or the
    /// view.
    fn new(mut values: [Option<&'tree Value>; TREES.len()], has_gaps: bool) -> Self {
        let mut seen: Option<Kind> = None;
        let mut group: Option<(Group, Kind)> = None;
        let mut group_is_closed = false;
        let mut is_closed = false;
        for (slot, level) in values.iter_mut().zip(TREES).rev() {
            let Some(value) = slot else { continue };
            let kind = kind_of(value);
            let is_visible = match group {
                _ if is_closed => false,
                Some((current, of)) if current == level.group() => {
                    group_is_closed |= kind != of || kind == Kind::Scalar;
                    !group_is_closed
                }
                _ => {
                    is_closed = seen.is_some_and(|above| above != Kind::Object || kind != Kind::Object);
                    group = Some((level.group(), kind));
                    group_is_closed = false;
                    !is_closed
                }
            };
            if is_visible {
                seen = seen.or(Some(kind));
            } else {
                *slot = None;
            }
        }
        Self { values, kind: seen, has_gaps }
    }

    /// Follows a path. Returns `None` if nothing exists there.
    pub(crate) fn follow<Step: AsRef<str>>(self, path: &[Step]) -> Option<Found<'tree>> {
        let mut here = self;
        let mut rest = path;
        while let Some((step, after)) = rest.split_first() {
            match here.kind? {
                Kind::Scalar => return None,
                Kind::Object => here = here.step(step.as_ref()),
                Kind::Array => return here.element(rest).map(Found::Element),
            }
            rest = after;
        }
        here.kind.map(|_| Found::Shared(here))
    }

    fn step(&self, key: &str) -> Self {
        Self::new(self.values.map(|value| value.and_then(|value| path::child(value, key))), self.has_gaps)
    }

    fn element<Step: AsRef<str>>(&self, path: &[Step]) -> Option<Value> {
        match self.only() {
            Some(array) => path::descend(array, path).map(|value| self.whole(value).into_owned()),
            None => path::descend(&Value::Array(self.united()), path).cloned(),
        }
    }

    /// The levels whose values can be seen, lowest first.
    pub(crate) fn visible(&self) -> impl Iterator<Item = (Level, &'tree Value)> {
        TREES.into_iter().zip(self.values).filter_map(|(level, value)| Some((level, value?)))
    }

    /// Returns the value if only one level has one.
    fn only(&self) -> Option<&'tree Value> {
        let mut present = self.values.iter().flatten();
        present.next().filter(|_| present.next().is_none()).copied()
    }

    fn united(&self) -> Vec<Value> {
        let whole: Vec<_> = self.values.into_iter().flatten().map(|value| self.whole(value)).collect();
        union(whole.iter().filter_map(|value| value.as_array()))
    }

    /// Returns a value without gaps, as readers see it.
    fn whole(&self, value: &'tree Value) -> Cow<'tree, Value> {
        gaps::without_gaps(value, self.has_gaps)
    }

    /// The keys of the merged object, in the order in which the levels bring them in.
    fn keys(&self) -> impl Iterator<Item = &'tree String> {
        let mut seen = std::collections::HashSet::new();
        let objects = self.values.into_iter().flatten().filter_map(Value::as_object);
        objects.flat_map(Map::keys).filter(move |key| !gaps::is_gap(key) && seen.insert(*key))
    }

    pub(crate) fn is_object(&self) -> bool {
        self.kind == Some(Kind::Object)
    }

    /// What a reader sees here.
    pub(crate) fn merged(&self) -> Option<Value> {
        if let Some(value) = self.only() {
            return Some(self.whole(value).into_owned());
        }
        Some(match self.kind? {
            Kind::Scalar => self.values.iter().flatten().next().copied().cloned()?,
            Kind::Array => Value::Array(self.united()),
            Kind::Object => Value::Object(
                self.keys().filter_map(|key| Some((key.clone(), self.step(key).merged()?))).collect::<Map<_, _>>(),
            ),
        })
    }

    /// Returns the kind, with the length or the keys, without building the values below.
    pub(crate) fn shape(&self) -> Option<Shape> {
        Some(match self.kind? {
            Kind::Scalar => Shape::Scalar,
            Kind::Array => Shape::Array(match self.only().and_then(Value::as_array) {
                Some(array) => array.len(),
                None => self.united().len(),
            }),
            Kind::Object => Shape::Object(self.keys().cloned().collect()),
        })
    }
}
