//! Converts attribute values. Some parts of a value can only be computed by the guest. The host stores a marker for such a
//! lazy part. Guests get the JSON together with the path and number of each part.

use super::parse;
use crate::bindings::wrun::node::attributes as wit;
use crate::policy_guest::PolicyGuest;
use ::node::attributes::Attributes;
use ::node::attributes::guest_values::{guest_value, mentions_guest_values, take_guest_values};
use contract::json_text_bytes;
use serde_json::Value;

/// The maximum additional host memory for a lazy part, in bytes.
const PART_BYTES: u64 = 256;

/// Returns an upper bound of the additional host memory for a value while it is parsed, in bytes.
pub(crate) fn value_bytes(value: &wit::Value) -> u64 {
    match value {
        wit::Value::Plain(json) => json_text_bytes(json),
        wit::Value::Lazy(lazy) => {
            json_text_bytes(&lazy.json).saturating_add((lazy.parts.len() as u64).saturating_mul(PART_BYTES))
        }
    }
}

/// Converts a value that a guest writes, or returns the reason why it is invalid.
pub(crate) fn value(guest: PolicyGuest, value: wit::Value) -> Result<Value, String> {
    let (json, parts) = match value {
        wit::Value::Plain(json) => (json, vec![]),
        wit::Value::Lazy(wit::LazyValue { json, parts }) => (json, parts),
    };
    let mut value = parse(&json).map_err(|why| format!("the value is not JSON: {why}"))?;
    // JSON can express a key that begins with NUL only with this escape.
    if json.contains("\\u0000") && mentions_guest_values(&value) {
        return Err("the value has the key that wrun keeps for lazy values".to_owned());
    }
    for part in parts {
        let too_large = || format!("{} is too large for a closure's number", part.callback);
        let number = guest.mark(part.callback).ok_or_else(too_large)?;
        let place = part.path.iter().try_fold(&mut value, |value, step| match value {
            Value::Object(object) => object.get_mut(step),
            Value::Array(array) => array.get_mut(step.parse::<usize>().ok()?),
            _ => None,
        });
        match place {
            Some(place @ Value::Null) => *place = guest_value(number.into()),
            _ => return Err("a lazy part has the path of something other than null".to_owned()),
        }
    }
    Ok(value)
}

/// Converts a value for a guest. It leaves out the lazy parts of the policy's other guest.
pub(crate) fn shown(guest: PolicyGuest, attributes: &Attributes, mut value: Value) -> wit::Value {
    let markers = if attributes.may_hold_guest_values() { take_guest_values(&mut value) } else { vec![] };
    let json = value.to_string();
    if markers.is_empty() {
        return wit::Value::Plain(json);
    }
    let part = |(path, number)| {
        let callback = guest.own(u32::try_from(number).ok()?)?;
        Some(wit::LazyPart { path, callback })
    };
    wit::Value::Lazy(wit::LazyValue { json, parts: markers.into_iter().filter_map(part).collect() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ::node::attributes::Level;
    use ::node::origin::Origin;
    use serde_json::json;

    fn lazy(json: &str, parts: &[(&[&str], u32)]) -> wit::Value {
        let part = |(path, callback): &(&[&str], u32)| wit::LazyPart {
            path: path.iter().map(|step| (*step).to_owned()).collect(),
            callback: *callback,
        };
        wit::Value::Lazy(wit::LazyValue { json: json.into(), parts: parts.iter().map(part).collect() })
    }

    #[test]
    fn lazy_parts_come_back_as_they_were_written_to_their_own_guest_alone() {
        let mut attributes = Attributes::new();
        for (guest, other) in [(PolicyGuest::First, PolicyGuest::Second), (PolicyGuest::Second, PolicyGuest::First)] {
            let written = lazy(r#"{"a":[1,null],"b":null}"#, &[(&["a", "1"], 7), (&["b"], 8)]);
            let stored = value(guest, written).unwrap();
            attributes.write(Level::Default, &["x"], stored, &Origin::default()).unwrap();
            let read = || attributes.read(&["x"]).unwrap();
            let wit::Value::Lazy(seen) = shown(guest, &attributes, read()) else { panic!("it has lazy parts") };
            assert_eq!(seen.json, r#"{"a":[1,null],"b":null}"#);
            let parts: Vec<_> = seen.parts.into_iter().map(|part| (part.path.join("."), part.callback)).collect();
            assert_eq!(parts, [("a.1".to_owned(), 7), ("b".to_owned(), 8)]);
            let wit::Value::Lazy(seen) = shown(other, &attributes, read()) else { panic!("it has lazy parts") };
            assert!(seen.parts.is_empty());
        }
    }

    #[test]
    fn a_value_that_is_whole_lazy_has_an_empty_path() {
        assert_eq!(value(PolicyGuest::First, lazy("null", &[(&[], 3)])).unwrap(), guest_value(3));
    }

    #[test]
    fn what_is_not_lazy_cannot_pass_for_it() {
        for wrong in [
            wit::Value::Plain(r#"{"\u0000guest": 1}"#.into()),
            wit::Value::Plain(r#"{"\u0000\u0067uest": 1}"#.into()),
            wit::Value::Plain(r#"[{"a": {"\u0000guest": "x"}}]"#.into()),
            wit::Value::Plain("{".into()),
            lazy("1", &[(&[], 3)]),
            lazy("[]", &[(&["0"], 3)]),
            lazy("[null]", &[(&["0"], 3), (&["0"], 4)]),
            lazy("null", &[(&[], 1 << 31)]),
        ] {
            let text = format!("{wrong:?}");
            assert!(value(PolicyGuest::First, wrong).is_err(), "{text}");
        }
        let harmless = value(PolicyGuest::First, wit::Value::Plain(r#""\u0000guest""#.into())).unwrap();
        assert_eq!(harmless, json!("\u{0}guest"));
    }
}
