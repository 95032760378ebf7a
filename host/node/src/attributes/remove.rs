//! Removes attributes from one level, from a group of levels, or from all levels that a policy may write.
//!
//! A removal from the defaults, or from all levels, also removes the attribute from the inherited level: a policy that clears
//! an attribute before it sets it must not find an earlier policy's keys in it again. The earlier policies' own records stay
//! as they are.

use serde_json::Value;

use super::path::{self, Kind, array_index, kind_of};
use super::write::check_guest_writable;
use super::{AttributeError, Attributes, Group, Level, gaps, limits};
use crate::origin::Origin;

impl Attributes {
    /// Removes an attribute from one level and returns its value there. Chef's `unlink`.
    ///
    /// Where the path ends in an array, elements *equal to* the last step are removed, as in Chef.
    ///
    /// # Errors
    /// A level that guests may not write, an empty or too long path.
    pub fn unlink<Step: AsRef<str>>(
        &mut self,
        level: Level,
        path: &[Step],
        origin: &Origin,
    ) -> Result<Option<Value>, AttributeError> {
        check_guest_writable(level, path)?;
        self.host_unlink(level, path, origin)
    }

    /// Removes an attribute from one level, and fails if it does not exist. Chef's `unlink!`.
    ///
    /// # Errors
    /// [`AttributeError::NoSuchAttribute`] where the level has nothing there, and those of [`unlink`](Self::unlink).
    pub fn unlink_strict<Step: AsRef<str>>(
        &mut self,
        level: Level,
        path: &[Step],
        origin: &Origin,
    ) -> Result<Option<Value>, AttributeError> {
        check_guest_writable(level, path)?;
        self.host_unlink_strict(level, path, origin)
    }

    /// Removes an attribute from any level, and fails if it does not exist. Only the host calls this.
    ///
    /// # Errors
    /// Those of [`unlink_strict`](Self::unlink_strict) but for the level's.
    pub fn host_unlink_strict<Step: AsRef<str>>(
        &mut self,
        level: Level,
        path: &[Step],
        origin: &Origin,
    ) -> Result<Option<Value>, AttributeError> {
        if self.stored(level, path).is_none() {
            return Err(AttributeError::NoSuchAttribute { path: path::join(path) });
        }
        self.host_unlink(level, path, origin)
    }

    /// Removes an attribute from any level. Only the host calls this.
    ///
    /// # Errors
    /// An empty or too long path.
    pub fn host_unlink<Step: AsRef<str>>(
        &mut self,
        level: Level,
        path: &[Step],
        origin: &Origin,
    ) -> Result<Option<Value>, AttributeError> {
        limits::check_path(path)?;
        let Some((last, parents)) = path.split_last() else { return Err(AttributeError::EmptyPath) };
        let were_made = self.trees.has_gaps();
        let Some(parent) = descend_mut(self.trees.tree_mut(level, path), parents) else { return Ok(None) };
        let (removed, gaps_before, gaps_now) = match (kind_of(parent), parent) {
            (Kind::Object, Value::Object(object)) => {
                let before = gaps::count(object);
                (gaps::remove(object, last.as_ref()), before, gaps::count(object))
            }
            (Kind::Array, Value::Array(array)) => (remove_equal(array, last.as_ref()), 0, 0),
            _ => (None, 0, 0),
        };
        if gaps_now > 0 {
            self.trees.expect_gaps();
        }
        self.usage = self.usage.after_gaps(gaps_before, gaps_now);
        if let Some(removed) = &removed {
            self.usage = self.usage.after_removing(last.as_ref(), removed);
            self.history.record_removal(level, path, origin);
            self.changed_at(level);
        }
        Ok(removed.map(|removed| gaps::without_gaps(&removed, were_made).into_owned()))
    }

    /// Removes an attribute from every level that a policy may write, and returns its merged value. Chef's `rm`.
    ///
    /// Nothing is removed where the merged parent is not an object.
    ///
    /// # Errors
    /// An empty or too long path.
    pub fn remove<Step: AsRef<str>>(
        &mut self,
        path: &[Step],
        origin: &Origin,
    ) -> Result<Option<Value>, AttributeError> {
        limits::check_path(path)?;
        if !self.has_object_parent(None, path) {
            return Ok(None);
        }
        let seen = self.read(path);
        self.remove_default(path, origin)?;
        self.host_unlink(Level::Normal, path, origin)?;
        self.remove_override(path, origin)?;
        self.host_unlink(Level::Inherited, path, origin)?;
        Ok(seen)
    }

    /// Removes an attribute from the default levels and returns their merged value. Chef's `rm_default`.
    ///
    /// # Errors
    /// An empty or too long path.
    pub fn remove_default<Step: AsRef<str>>(
        &mut self,
        path: &[Step],
        origin: &Origin,
    ) -> Result<Option<Value>, AttributeError> {
        limits::check_path(path)?;
        self.host_unlink(Level::Inherited, path, origin)?;
        self.remove_group(Group::Default, &Level::DEFAULTS, path, origin)
    }

    /// Removes an attribute from `normal` and returns its value there. Chef's `rm_normal`.
    ///
    /// # Errors
    /// An empty or too long path.
    pub fn remove_normal<Step: AsRef<str>>(
        &mut self,
        path: &[Step],
        origin: &Origin,
    ) -> Result<Option<Value>, AttributeError> {
        self.unlink(Level::Normal, path, origin)
    }

    /// Removes an attribute from the override levels and returns their merged value. Chef's `rm_override`.
    ///
    /// # Errors
    /// An empty or too long path.
    pub fn remove_override<Step: AsRef<str>>(
        &mut self,
        path: &[Step],
        origin: &Origin,
    ) -> Result<Option<Value>, AttributeError> {
        self.remove_group(Group::Override, &Level::OVERRIDES, path, origin)
    }

    fn remove_group<Step: AsRef<str>>(
        &mut self,
        group: Group,
        levels: &[Level],
        path: &[Step],
        origin: &Origin,
    ) -> Result<Option<Value>, AttributeError> {
        limits::check_path(path)?;
        if !self.has_object_parent(Some(group), path) {
            return Ok(None);
        }
        let seen = self.combined(group, path);
        for level in levels {
            self.host_unlink(*level, path, origin)?;
        }
        Ok(seen)
    }
}

fn descend_mut<'tree, Step: AsRef<str>>(tree: &'tree mut Value, path: &[Step]) -> Option<&'tree mut Value> {
    path.iter().try_fold(tree, |here, step| match kind_of(here) {
        Kind::Object => here.as_object_mut()?.get_mut(step.as_ref()).filter(|_| !gaps::is_gap(step.as_ref())),
        Kind::Array => {
            let array = here.as_array_mut()?;
            let index = array_index(step.as_ref(), array.len())?;
            array.get_mut(index)
        }
        Kind::Scalar => None,
    })
}

/// Removes the elements that equal the text `wanted`, or the integer that it spells.
fn remove_equal(array: &mut Vec<Value>, wanted: &str) -> Option<Value> {
    let number = wanted.parse::<i64>().ok();
    let is_wanted = |element: &Value| match element {
        Value::String(text) => text == wanted,
        Value::Number(_) => number.is_some() && element.as_i64() == number,
        _ => false,
    };
    let removed = array.iter().rfind(|element| is_wanted(element)).cloned();
    array.retain(|element| !is_wanted(element));
    removed
}
