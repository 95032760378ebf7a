//! All levels seen at one path.
//!
//! A [`View`] holds, per level, what stands at the path, with everything that cannot be seen from above taken out.
//! Going one step down is one lookup per level that is left; only the end of a path is ever merged.
//!
//! The rules (Chef's): inside the group of defaults and inside the group of overrides, objects merge and arrays are
//! united; a value of another kind hides what is below it. Between groups only objects merge. `null` is a value.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::levels::{Group, LevelTrees};
use super::path::{self, Kind, kind_of};
use super::{Level, Shape, gaps};
use crate::deep_merge::union;

/// What the levels hold at one path, lowest first; `None` where a level has nothing there or is hidden.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View<'tree> {
    values: [Option<&'tree Value>; 11],
    kind: Option<Kind>,
    /// Whether objects may have [`gaps`].
    has_gaps: bool,
}

/// What a path leads to.
pub(crate) enum Found<'tree> {
    /// A place that levels share; at least one of them has a value.
    Shared(View<'tree>),
    /// Something inside an array, which is never merged any further.
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

    /// The roots of what a policy leaves for the next one: neither `normal`, which goes on as itself, nor `automatic`.
    pub(crate) fn leaving(trees: &'tree LevelTrees) -> Self {
        let stays = |level: Level| matches!(level, Level::Normal | Level::Automatic);
        Self::new(trees.each().map(|(level, tree)| (!stays(level)).then_some(tree)), trees.has_gaps())
    }

    /// Hides what is hidden: from the highest level down, until a value of another kind ends the group or the view.
    fn new(mut values: [Option<&'tree Value>; 11], has_gaps: bool) -> Self {
        let mut seen: Option<Kind> = None;
        let mut group: Option<(Group, Kind)> = None;
        let mut group_is_closed = false;
        let mut is_closed = false;
        for (slot, level) in values.iter_mut().zip(Level::ALL).rev() {
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

    /// Follows a path. `None` where it leads to nothing.
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
        Level::ALL.into_iter().zip(self.values).filter_map(|(level, value)| Some((level, value?)))
    }

    /// The value, where one level alone makes it.
    fn only(&self) -> Option<&'tree Value> {
        let mut present = self.values.iter().flatten();
        present.next().filter(|_| present.next().is_none()).copied()
    }

    fn united(&self) -> Vec<Value> {
        let whole: Vec<_> = self.values.into_iter().flatten().map(|value| self.whole(value)).collect();
        union(whole.iter().filter_map(|value| value.as_array()))
    }

    /// A value as readers see it.
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

    /// Kind, length and keys, without building what stands below.
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
