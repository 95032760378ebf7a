//! Limits of the attributes that a policy may write.
//!
//! A policy's usage counts only what its writes add to the attributes that it found. So a node that other policies filled
//! does not stop this policy, and replacing a value never costs more than the new value.

use serde_json::{Map, Value};

use super::gaps::{self, is_gap};
use super::guest_values::{GUEST_VALUE_KEY, is_guest_value};
use super::{AttributeError, path};

/// Steps in one path. Real cookbooks use fewer than ten.
pub const MAX_PATH_STEPS: usize = 64;

/// Bytes in one key. Paths and URLs are used as keys; nothing longer is.
pub const MAX_KEY_BYTES: usize = 4096;

/// Levels of nesting of a whole tree. Ruby's JSON stops at 100, and the saved node adds a few of its own.
pub const MAX_DEPTH: usize = 90;

/// Values that one policy may add; objects and arrays count as one each. Ten times the largest node that the speed of
/// reads is measured with.
pub const MAX_VALUES: u64 = 1_000_000;

/// Bytes that one policy may add, keys and values together, about as they lie in memory.
pub const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// What every value costs besides its text: the size of its cell.
const BYTES_PER_VALUE: u64 = 32;

/// Bytes that an object takes in memory without its members: the table.
const BYTES_PER_OBJECT: u64 = 128;

/// The values and bytes that a policy has added so far. Removals of what others left count as negative.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    values: i64,
    bytes: i64,
}

/// What a write creates along its path, besides the value itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct MadeOnTheWay {
    /// Objects that did not exist.
    pub(crate) objects: usize,
    /// Bytes of the keys that did not exist.
    pub(crate) key_bytes: usize,
    /// Nulls between an array's end and the index written.
    pub(crate) padding: usize,
}

/// The result of one walk over a value from a guest.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Inspection {
    usage: Usage,
    /// Whether the value contains markers of guest values.
    pub(crate) holds_guest_values: bool,
}

/// Checks a value that is to be written to `path`, and refuses one that is nested too deeply or has a reserved or too long
/// key.
pub(crate) fn inspect<Step: AsRef<str>>(value: &Value, path: &[Step]) -> Result<Inspection, AttributeError> {
    let mut inspection = Inspection::default();
    inspect_below(value, MAX_DEPTH.saturating_sub(path.len()), &mut inspection).map_err(|refusal| match refusal {
        Refusal::Deep => AttributeError::TooDeep { path: path::join(path) },
        Refusal::Marker => AttributeError::GuestValueNotAccepted { path: path::join(path) },
        Refusal::Key(bytes) => AttributeError::KeyTooLong { bytes, limit: MAX_KEY_BYTES },
    })?;
    Ok(inspection)
}

/// Removes everything that [`inspect`] would refuse, wherever it is below an object.
pub(crate) fn remove_refused(object: &mut Map<String, Value>) {
    keep_accepted(object, MAX_DEPTH - 1);
}

fn keep_accepted(object: &mut Map<String, Value>, depth_left: usize) {
    object.retain(|key, child| !is_reserved(key) && key.len() <= MAX_KEY_BYTES && is_accepted(child, depth_left));
}

/// Removes what is refused below a value. Returns whether the value itself is accepted.
fn is_accepted(value: &mut Value, depth_left: usize) -> bool {
    match (value, depth_left.checked_sub(1)) {
        (Value::Object(object), Some(_)) if is_guest_value(object) => false,
        (Value::Object(object), Some(depth_left)) => {
            keep_accepted(object, depth_left);
            true
        }
        (Value::Array(array), Some(depth_left)) => {
            array.retain_mut(|child| is_accepted(child, depth_left));
            true
        }
        (Value::Object(_) | Value::Array(_), None) => false,
        _ => true,
    }
}

/// Checks a path before anything is looked up or stored with it.
pub(crate) fn check_path<Step: AsRef<str>>(path: &[Step]) -> Result<(), AttributeError> {
    if path.is_empty() {
        return Err(AttributeError::EmptyPath);
    }
    if path.len() > MAX_PATH_STEPS {
        return Err(AttributeError::PathTooLong { steps: path.len(), limit: MAX_PATH_STEPS });
    }
    for step in path.iter().map(AsRef::as_ref) {
        if step.len() > MAX_KEY_BYTES {
            return Err(AttributeError::KeyTooLong { bytes: step.len(), limit: MAX_KEY_BYTES });
        }
        if is_reserved(step) {
            return Err(AttributeError::GuestValueNotAccepted { path: path::join(path) });
        }
    }
    Ok(())
}

/// Bytes that a value takes with what is made on the way to it, as they are counted against the limits.
pub(crate) fn bytes_of(value: &Value, made: MadeOnTheWay) -> u64 {
    Usage::of_made(made).plus(Usage::of(value)).bytes()
}

/// Tells whether a key is reserved by the host. A guest may not write such a key.
fn is_reserved(key: &str) -> bool {
    key == GUEST_VALUE_KEY || is_gap(key)
}

enum Refusal {
    Deep,
    Marker,
    Key(usize),
}

fn inspect_below(value: &Value, depth_left: usize, inspection: &mut Inspection) -> Result<(), Refusal> {
    inspection.usage = inspection.usage.plus(Usage::of_one(value));
    let depth_left = match value {
        Value::Object(_) | Value::Array(_) => depth_left.checked_sub(1).ok_or(Refusal::Deep)?,
        _ => return Ok(()),
    };
    match value {
        Value::Object(object) if is_guest_value(object) => inspection.holds_guest_values = true,
        Value::Object(object) => {
            for (key, child) in object {
                if is_reserved(key) {
                    return Err(Refusal::Marker);
                }
                if key.len() > MAX_KEY_BYTES {
                    return Err(Refusal::Key(key.len()));
                }
                inspect_below(child, depth_left, inspection)?;
            }
        }
        Value::Array(array) => array.iter().try_for_each(|child| inspect_below(child, depth_left, inspection))?,
        _ => {}
    }
    Ok(())
}

impl Usage {
    /// The usage after a new value took the place of `old`, or the limit that it would break.
    pub(crate) fn after_write<Step: AsRef<str>>(
        self,
        old: Option<&Value>,
        made: MadeOnTheWay,
        new: Inspection,
        path: &[Step],
    ) -> Result<Self, AttributeError> {
        let after = self.plus(new.usage).plus(Self::of_made(made)).minus(old.map(Self::of).unwrap_or_default());
        if after.values > signed(MAX_VALUES) {
            return Err(AttributeError::TooManyValues { path: path::join(path), limit: MAX_VALUES });
        }
        if after.bytes > signed(MAX_BYTES) {
            return Err(AttributeError::TooManyBytes { path: path::join(path), limit: MAX_BYTES });
        }
        Ok(after)
    }

    fn of_made(made: MadeOnTheWay) -> Self {
        let values = made.objects.saturating_add(made.padding) as u64;
        let bytes = (made.objects as u64)
            .saturating_mul(BYTES_PER_OBJECT)
            .saturating_add(values.saturating_mul(BYTES_PER_VALUE))
            .saturating_add(made.key_bytes as u64);
        Self { values: signed(values), bytes: signed(bytes) }
    }

    /// Bytes that the policy has added; 0 if it removed more than it added.
    pub(crate) fn bytes(self) -> u64 {
        u64::try_from(self.bytes).unwrap_or(0)
    }

    /// Returns the usage after the member `key` with the value `old` was removed.
    pub(crate) fn after_removing(self, key: &str, old: &Value) -> Self {
        self.minus(Self::of(old)).minus(Self { values: 0, bytes: signed(key.len() as u64) })
    }

    /// Returns the usage after an object's number of gaps changed. A gap costs as much as a null, so never more than the
    /// value that it replaced.
    pub(crate) fn after_gaps(self, before: u64, now: u64) -> Self {
        self.plus(Self::of_gaps(now)).minus(Self::of_gaps(before))
    }

    fn of_gaps(gaps: u64) -> Self {
        Self { values: 0, bytes: signed(gaps.saturating_mul(BYTES_PER_VALUE)) }
    }

    fn of(value: &Value) -> Self {
        let below = match value {
            Value::Array(array) => array.iter().map(Self::of).fold(Self::default(), Self::plus),
            Value::Object(object) => {
                members(object).map(|(_, member)| Self::of(member)).fold(Self::default(), Self::plus)
            }
            _ => Self::default(),
        };
        Self::of_one(value).plus(below)
    }

    /// Returns the usage of one value without its members or elements, but with its keys and gaps.
    fn of_one(value: &Value) -> Self {
        let more = match value {
            Value::String(text) => text.len() as u64,
            Value::Object(object) => {
                let keys: u64 = members(object).map(|(key, _)| key.len() as u64).sum();
                BYTES_PER_OBJECT + keys + Self::of_gaps(gaps::count(object)).bytes()
            }
            _ => 0,
        };
        Self { values: 1, bytes: signed(BYTES_PER_VALUE + more) }
    }

    fn plus(self, other: Self) -> Self {
        Self { values: self.values.saturating_add(other.values), bytes: self.bytes.saturating_add(other.bytes) }
    }

    fn minus(self, other: Self) -> Self {
        Self { values: self.values.saturating_sub(other.values), bytes: self.bytes.saturating_sub(other.bytes) }
    }
}

/// An object's members without its gaps.
fn members(object: &Map<String, Value>) -> impl Iterator<Item = (&String, &Value)> {
    object.iter().filter(|(key, _)| !is_gap(key))
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
