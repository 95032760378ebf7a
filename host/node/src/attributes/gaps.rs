//! Removes members of an object in constant time. The other members keep their order.
//!
//! `serde_json`'s map moves all later members one place up. A policy that removes n attributes of one object would make the
//! host move n times n members. Here a removed member of a large object leaves a *gap*: a member with a reserved key and no
//! value in its place. An object also counts its gaps, under another reserved key. When half of its members are gaps, all
//! gaps are removed. So a removal costs a constant time on average, and a read visits at most twice the members that it
//! returns. Readers never see gaps: [`child`](super::path::child) does not find them, and every value that leaves the levels
//! goes through [`without_gaps`].

use std::borrow::Cow;

use serde_json::{Map, Value};

/// The key under which an object counts its gaps; a gap's own key is this one with its number. Guests cannot write keys
/// that begin so, see [`limits`](super::limits).
const GAP: &str = "\u{0}gap";

/// Largest number of members of an object that gets no gaps: its later members are moved up.
const SMALL: usize = 64;

/// Tells whether a key is a gap or the count of gaps, and not an attribute.
pub(crate) fn is_gap(key: &str) -> bool {
    key.starts_with(GAP)
}

/// Removes a member of an object and returns its value. The other members keep their order.
pub(crate) fn remove(object: &mut Map<String, Value>, key: &str) -> Option<Value> {
    if is_gap(key) || !object.contains_key(key) {
        return None;
    }
    if object.len() <= SMALL {
        close_here(object);
        return object.shift_remove(key);
    }
    let mut gaps = count(object);
    let removed = if object.keys().next_back().is_some_and(|last| last == key) {
        object.shift_remove(key)
    } else {
        gaps += 1;
        object.insert(GAP.to_owned(), gaps.into());
        object.insert(format!("{GAP}{gaps}"), Value::Null);
        // The last member, which is the new gap, takes the place of the removed one.
        object.swap_remove(key)
    };
    if gaps.saturating_mul(2) > object.len() as u64 {
        close_here(object);
    }
    removed
}

/// Returns the number of gaps of an object, without those of objects inside it.
pub(crate) fn count(object: &Map<String, Value>) -> u64 {
    object.get(GAP).and_then(Value::as_u64).unwrap_or(0)
}

/// Returns the value without gaps. It is borrowed if no gap was ever made.
pub(crate) fn without_gaps(value: &Value, were_made: bool) -> Cow<'_, Value> {
    if were_made { Cow::Owned(copy(value)) } else { Cow::Borrowed(value) }
}

/// Removes the gaps of an object and of all objects inside it.
pub(crate) fn close(object: &mut Map<String, Value>) {
    close_here(object);
    object.values_mut().for_each(close_in);
}

fn close_in(value: &mut Value) {
    match value {
        Value::Object(object) => close(object),
        Value::Array(array) => array.iter_mut().for_each(close_in),
        _ => {}
    }
}

fn close_here(object: &mut Map<String, Value>) {
    if count(object) > 0 {
        object.retain(|key, _| !is_gap(key));
    }
}

fn copy(value: &Value) -> Value {
    match value {
        Value::Object(object) => {
            let members = object.iter().filter(|(key, _)| !is_gap(key));
            Value::Object(members.map(|(key, member)| (key.clone(), copy(member))).collect())
        }
        Value::Array(array) => array.iter().map(copy).collect(),
        plain => plain.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn numbered(count: usize) -> Map<String, Value> {
        (0..count).map(|at| (format!("k{at}"), json!(at))).collect()
    }

    /// As `serde_json` does it, in every order of removals and writes that a small generator makes.
    #[test]
    fn order_and_values_are_those_of_a_plain_removal() {
        for seed in 1..20_u64 {
            let (mut state, mut plain) = (seed, numbered(300));
            let mut object = plain.clone();
            for _ in 0..2_000 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let key = format!("k{}", (state >> 33) % 300);
                if (state >> 20).is_multiple_of(4) {
                    object.insert(key.clone(), json!(state));
                    plain.insert(key, json!(state));
                } else {
                    assert_eq!(remove(&mut object, &key), plain.shift_remove(&key));
                }
                let gaps = object.keys().filter(|key| is_gap(key)).count();
                assert!(gaps <= 1 + SMALL / 2 + object.len() / 2, "{gaps} of {}", object.len());
            }
            let seen = copy(&Value::Object(object.clone()));
            assert_eq!(seen.to_string(), Value::Object(plain.clone()).to_string());
            close(&mut object);
            assert_eq!(Value::Object(object).to_string(), Value::Object(plain).to_string());
        }
    }

    #[test]
    fn an_object_that_is_emptied_is_empty() {
        for count in [1, 2, SMALL, SMALL + 1, 1_000] {
            let mut object = numbered(count);
            for at in 0..count {
                assert_eq!(remove(&mut object, &format!("k{at}")), Some(json!(at)));
            }
            assert!(object.is_empty(), "{count}: {object:?}");
        }
    }

    /// Only closing up looks at all members, in whatever order they are removed.
    #[test]
    fn members_that_removals_look_at_grow_with_their_number() {
        let from_both_ends = |at: usize, count: usize| if at.is_multiple_of(2) { at / 2 } else { count - 1 - at / 2 };
        let orders: [&dyn Fn(usize, usize) -> usize; 3] = [&|at, _| at, &|at, count| count - 1 - at, &from_both_ends];
        for order in orders {
            for members in [1_000, 2_000, 4_000, 8_000] {
                let mut object = numbered(members);
                let mut looked_at = 0;
                for at in 0..members {
                    let (before, gaps) = (object.len(), count(&object));
                    assert!(remove(&mut object, &format!("k{}", order(at, members))).is_some());
                    let is_closed = before <= SMALL || (gaps > 0 && count(&object) == 0);
                    looked_at += if is_closed { before } else { 1 };
                }
                let most = 4 * members + SMALL * SMALL;
                assert!(looked_at <= most, "{looked_at} of {members}");
            }
        }
    }

    #[test]
    fn a_gap_is_no_member() {
        let mut object = numbered(200);
        remove(&mut object, "k0");
        assert_eq!(remove(&mut object, "\u{0}gap"), None);
        assert_eq!(remove(&mut object, "\u{0}gap1"), None);
        assert_eq!(object.len(), 201, "199 members, a gap, and the number of gaps");
    }
}
