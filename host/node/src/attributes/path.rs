//! Follows paths through JSON values.
//!
//! A path is a list of strings. In an object a step is a key; in an array it is an index written in decimal, where
//! a negative one counts from the end, as in Ruby.

use serde_json::Value;

use super::gaps::is_gap;
use super::guest_values::is_guest_value;

/// The kind of a value, for a reader that wants to take a further step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Cannot be entered: text, number, boolean, null, or a value that only the guest can compute.
    Scalar,
    Array,
    Object,
}

pub(crate) fn kind_of(value: &Value) -> Kind {
    match value {
        Value::Object(object) if is_guest_value(object) => Kind::Scalar,
        Value::Object(_) => Kind::Object,
        Value::Array(_) => Kind::Array,
        _ => Kind::Scalar,
    }
}

/// Returns the index that `step` names in an array of `length` elements. It may lie behind the end, but never before the
/// start.
pub(crate) fn array_index(step: &str, length: usize) -> Option<usize> {
    let digits = step.strip_prefix('-').unwrap_or(step);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let number: usize = digits.parse().ok()?;
    if digits.len() == step.len() { Some(number) } else { length.checked_sub(number) }
}

/// Returns the member or element that `step` names, or `None` if it does not exist.
pub(crate) fn child<'value>(value: &'value Value, step: &str) -> Option<&'value Value> {
    match value {
        Value::Object(object) if !is_guest_value(object) && !is_gap(step) => object.get(step),
        Value::Array(array) => array.get(array_index(step, array.len())?),
        _ => None,
    }
}

/// Returns the value at `path`, or `None` if it does not exist.
pub(crate) fn descend<'value, Step: AsRef<str>>(value: &'value Value, path: &[Step]) -> Option<&'value Value> {
    path.iter().try_fold(value, |here, step| child(here, step.as_ref()))
}

/// The path as people write it: `a.b.c`.
pub(crate) fn join<Step: AsRef<str>>(path: &[Step]) -> String {
    path.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(".")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_are_decimal_and_may_count_from_the_end() {
        #[track_caller]
        fn check(step: &str, expect: Option<usize>) {
            assert_eq!(array_index(step, 3), expect, "{step}");
        }
        check("0", Some(0));
        check("7", Some(7));
        check("-1", Some(2));
        check("-3", Some(0));
        check("-4", None);
        check("", None);
        check("-", None);
        check("+1", None);
        check("1.0", None);
        check("99999999999999999999999", None);
    }
}
