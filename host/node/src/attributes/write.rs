//! Writes one attribute into one level.
//!
//! There are two kinds of write, as in Chef. A lenient write creates missing objects along the path, and replaces a value
//! that cannot have members. A strict write creates missing objects too, but fails at such a value. A write that fails
//! changes nothing.

use serde_json::{Map, Value};

use super::limits::{self, MadeOnTheWay};
use super::path::{self, Kind, array_index, child, kind_of};
use super::{AttributeError, Attributes, Level, WrittenValue};
use crate::origin::Origin;

/// Whether a write may replace a value along its path that cannot have members.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OnTheWay {
    Replace,
    Refuse,
}

impl Attributes {
    /// Writes a value. Creates missing objects along the path, and replaces values there that cannot have members. Chef's
    /// `node.default[..] = ..`, `write`, and also `default!`, `normal!` and `override!`.
    ///
    /// # Errors
    /// A level that guests may not write, a broken limit, a malformed marker. Nothing changes then.
    pub fn write<Step: AsRef<str>>(
        &mut self,
        level: Level,
        path: &[Step],
        value: Value,
        origin: &Origin,
    ) -> Result<(), AttributeError> {
        check_guest_writable(level, path)?;
        self.write_anywhere(level, path, value, origin, OnTheWay::Replace)
    }

    /// Writes a value and creates missing objects along the path, but does not replace other values there. Chef's `write!`.
    ///
    /// # Errors
    /// [`AttributeError::TypeMismatch`] where the path leads through something that cannot be entered, and those of
    /// [`write`](Self::write).
    pub fn write_strict<Step: AsRef<str>>(
        &mut self,
        level: Level,
        path: &[Step],
        value: Value,
        origin: &Origin,
    ) -> Result<(), AttributeError> {
        check_guest_writable(level, path)?;
        self.write_anywhere(level, path, value, origin, OnTheWay::Refuse)
    }

    /// Writes only if this level itself has nothing or null there, and returns whether it did. Chef's `default_unless`,
    /// `normal_unless` and `override_unless`; other levels do not matter.
    ///
    /// # Errors
    /// Those of [`write`](Self::write).
    pub fn write_unless<Step: AsRef<str>>(
        &mut self,
        level: Level,
        path: &[Step],
        value: Value,
        origin: &Origin,
    ) -> Result<bool, AttributeError> {
        check_guest_writable(level, path)?;
        limits::check_path(path)?;
        if self.stored(level, path).is_some_and(|present| !present.is_null()) {
            return Ok(false);
        }
        self.write_anywhere(level, path, value, origin, OnTheWay::Replace).map(|()| true)
    }

    /// Removes the attribute from all default levels and sets it in `force_default`. Chef's `force_default!`.
    ///
    /// # Errors
    /// Those of [`write`](Self::write).
    pub fn force_default<Step: AsRef<str>>(
        &mut self,
        path: &[Step],
        value: Value,
        origin: &Origin,
    ) -> Result<(), AttributeError> {
        self.check_room(&value, path)?;
        self.remove_default(path, origin)?;
        self.write(Level::ForceDefault, path, value, origin)
    }

    /// Removes the attribute from all override levels and sets it in `force_override`. Chef's `force_override!`.
    ///
    /// # Errors
    /// Those of [`write`](Self::write).
    pub fn force_override<Step: AsRef<str>>(
        &mut self,
        path: &[Step],
        value: Value,
        origin: &Origin,
    ) -> Result<(), AttributeError> {
        self.check_room(&value, path)?;
        self.remove_override(path, origin)?;
        self.write(Level::ForceOverride, path, value, origin)
    }

    /// Writes into any level. Only the host calls this, also for `automatic`.
    ///
    /// # Errors
    /// A broken limit, a malformed marker.
    pub fn host_write<Step: AsRef<str>>(
        &mut self,
        level: Level,
        path: &[Step],
        value: Value,
        origin: &Origin,
    ) -> Result<(), AttributeError> {
        self.write_anywhere(level, path, value, origin, OnTheWay::Replace)
    }

    /// Returns the most bytes that a write adds: the value and what is created along its path. The size of a replaced value
    /// is not subtracted.
    pub(super) fn bytes_of_write(&self, level: Level, path: &[String], value: &Value) -> u64 {
        let made = find_place(self.trees.tree(level, path), path, OnTheWay::Replace).map(|place| place.made);
        let padding = made.map_or(0, |made| made.padding);
        let key_bytes = path.iter().map(String::len).sum();
        limits::bytes_of(value, MadeOnTheWay { objects: path.len(), key_bytes, padding })
    }

    /// Checks whether a value could be written to any level, so that a call that removes first cannot fail half-way.
    fn check_room<Step: AsRef<str>>(&self, value: &Value, path: &[Step]) -> Result<(), AttributeError> {
        limits::check_path(path)?;
        let key_bytes = path.iter().map(|step| step.as_ref().len()).sum();
        let made = MadeOnTheWay { objects: path.len(), key_bytes, padding: 0 };
        self.usage.after_write(None, made, limits::inspect(value, path)?, path).map(|_| ())
    }

    fn write_anywhere<Step: AsRef<str>>(
        &mut self,
        level: Level,
        path: &[Step],
        value: Value,
        origin: &Origin,
        on_the_way: OnTheWay,
    ) -> Result<(), AttributeError> {
        limits::check_path(path)?;
        let inspection = limits::inspect(&value, path)?;
        let place = find_place(self.trees.tree(level, path), path, on_the_way)?;
        self.usage = self.usage.after_write(place.replaced, place.made, inspection, path)?;
        self.may_hold_guest_values |= inspection.holds_guest_values;
        self.history.record(level, path, WrittenValue::summary(&value), origin);
        self.replace_at(level, path, value);
        Ok(())
    }

    /// Puts a value in place, after everything has been checked.
    pub(super) fn replace_at<Step: AsRef<str>>(&mut self, level: Level, path: &[Step], value: Value) {
        let mut here = self.trees.tree_mut(level, path);
        for step in path {
            match enter(here, step.as_ref()) {
                Some(next) => here = next,
                None => return,
            }
        }
        *here = value;
        self.changed_at(level);
    }
}

pub(super) fn check_guest_writable<Step: AsRef<str>>(level: Level, path: &[Step]) -> Result<(), AttributeError> {
    if level.is_guest_writable() {
        Ok(())
    } else {
        Err(AttributeError::ReadOnlyLevel { level, path: path::join(path) })
    }
}

/// The place that a write will change.
struct Place<'tree> {
    /// The value that the write replaces.
    replaced: Option<&'tree Value>,
    made: MadeOnTheWay,
}

fn find_place<'tree, Step: AsRef<str>>(
    tree: &'tree Value,
    path: &[Step],
    on_the_way: OnTheWay,
) -> Result<Place<'tree>, AttributeError> {
    let mut here = tree;
    let mut rest = path;
    while let Some((step, after)) = rest.split_first() {
        let step = step.as_ref();
        if let Some(next) = child(here, step) {
            (here, rest) = (next, after);
            continue;
        }
        let padding = padding(here, step);
        let is_enterable = kind_of(here) == Kind::Object || padding.is_some_and(|_| after.is_empty());
        if on_the_way == OnTheWay::Refuse && !is_enterable {
            return Err(AttributeError::TypeMismatch { path: path::join(path) });
        }
        let is_replaced = kind_of(here) != Kind::Object && padding.is_none();
        return Ok(Place {
            replaced: is_replaced.then_some(here),
            made: MadeOnTheWay {
                objects: after.len() + usize::from(is_replaced),
                key_bytes: rest.iter().map(|step| step.as_ref().len()).sum(),
                padding: padding.unwrap_or(0),
            },
        });
    }
    Ok(Place { replaced: Some(here), made: MadeOnTheWay::default() })
}

/// Nulls to put between an array's end and the index that `step` names.
fn padding(here: &Value, step: &str) -> Option<usize> {
    let length = here.as_array()?.len();
    array_index(step, length)?.checked_sub(length)
}

/// Goes one step down and creates a missing member or element.
fn enter<'tree>(here: &'tree mut Value, step: &str) -> Option<&'tree mut Value> {
    let is_enterable = match kind_of(here) {
        Kind::Object => true,
        Kind::Array => here.as_array().is_some_and(|array| array_index(step, array.len()).is_some()),
        Kind::Scalar => false,
    };
    if !is_enterable {
        *here = Value::Object(Map::new());
    }
    match here {
        Value::Object(object) => Some(object.entry(step).or_insert(Value::Null)),
        Value::Array(array) => {
            let index = array_index(step, array.len())?;
            while array.len() <= index {
                array.push(Value::Null);
            }
            array.get_mut(index)
        }
        _ => None,
    }
}
