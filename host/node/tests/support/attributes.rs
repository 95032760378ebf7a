//! Chef's calls on attributes that no guest makes through the host, composed of those that guests make.

use node::attributes::{AttributeError, Attributes, Level};
use node::origin::Origin;
use serde_json::Value;
use std::borrow::Cow;

/// Chef's `read!`. A top-level attribute that nobody set is null and not an error.
#[allow(dead_code, reason = "each test file uses a part of this module")]
pub(crate) fn read_strict(set: &Attributes, path: &[String]) -> Result<Value, AttributeError> {
    match set.read(path) {
        None if path.len() > 1 => Err(AttributeError::NoSuchAttribute { path: path.join(".") }),
        found => Ok(found.unwrap_or_default()),
    }
}

/// Chef's `exist?`, which is true for every top-level name, even one that nobody set.
#[allow(dead_code, reason = "each test file uses a part of this module")]
pub(crate) fn exist(set: &Attributes, path: &[String]) -> bool {
    path.len() <= 1 || set.is_present(path)
}

/// Chef's `write!` on a level that is closed to guests. Whether the path can be entered is asked of a copy of the level that
/// is open to them.
#[allow(dead_code, reason = "each test file uses a part of this module")]
pub(crate) fn host_write_strict(
    set: &mut Attributes,
    level: Level,
    path: &[String],
    value: Value,
    origin: &Origin,
) -> Result<(), AttributeError> {
    let mut copy = Attributes::new();
    copy.set_level(Level::Default, set.level(level).as_object().cloned().unwrap_or_default(), origin)?;
    copy.write_strict(Level::Default, path, value.clone(), origin)?;
    set.host_write(level, path, value, origin)
}

/// Chef's `key?` and `attribute?`.
#[allow(dead_code, reason = "each test file uses a part of this module")]
pub(crate) fn has_key(set: &Attributes, name: &str) -> bool {
    Level::ALL.into_iter().any(|level| set.has_in_level(level, &[name]))
}

/// Chef's `debug_value`: its ten levels, each with its own value.
#[allow(dead_code, reason = "each test file uses a part of this module")]
pub(crate) fn debug_value(set: &Attributes, path: &[String]) -> Value {
    let rows = set.debug_value(path).into_iter().filter(|(level, _)| *level != Level::Inherited);
    rows.map(|(level, value)| {
        let value = value.map_or_else(|| Value::from("not_present"), Cow::into_owned);
        Value::Array(vec![Value::from(level.as_str()), value])
    })
    .collect()
}

/// Chef's `reset_defaults_and_overrides`.
#[allow(dead_code, reason = "each test file uses a part of this module")]
pub(crate) fn reset_defaults_and_overrides(set: &mut Attributes, origin: &Origin) -> Result<(), AttributeError> {
    [Level::Default, Level::Override].into_iter().try_for_each(|level| set.set_level(level, Default::default(), origin))
}

/// Chef's `tags`: an absent list is created, and a single value becomes a list.
#[allow(dead_code, reason = "each test file uses a part of this module")]
pub(crate) fn tags(set: &mut Attributes, origin: &Origin) -> Result<Vec<Value>, AttributeError> {
    let tags = match set.read_level(Level::Normal, &["tags"]).map(Cow::into_owned) {
        Some(Value::Array(tags)) => return Ok(tags),
        None | Some(Value::Null) => vec![],
        Some(single) => vec![single],
    };
    set.write(Level::Normal, &["tags"], Value::Array(tags.clone()), origin)?;
    Ok(tags)
}

/// Chef's `tag`.
#[allow(dead_code, reason = "each test file uses a part of this module")]
pub(crate) fn tag(set: &mut Attributes, added: &[String], origin: &Origin) -> Result<Vec<Value>, AttributeError> {
    let mut all = tags(set, origin)?;
    for tag in added.iter().map(|tag| Value::from(tag.as_str())) {
        if !all.contains(&tag) {
            all.push(tag);
        }
    }
    set.write(Level::Normal, &["tags"], Value::Array(all.clone()), origin)?;
    Ok(all)
}

/// Chef's `untag`.
#[allow(dead_code, reason = "each test file uses a part of this module")]
pub(crate) fn untag(set: &mut Attributes, removed: &[String], origin: &Origin) -> Result<Vec<Value>, AttributeError> {
    let mut all = tags(set, origin)?;
    all.retain(|tag| !removed.iter().any(|removed| tag == removed));
    set.write(Level::Normal, &["tags"], Value::Array(all.clone()), origin)?;
    Ok(all)
}
