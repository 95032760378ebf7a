//! Canonical JSON, as TUF signs it: keys sorted, no spaces, whole numbers only, strings with two escapes.

use serde_json::{Map, Value};

/// Returns the bytes that are signed for a value. Returns `None` if the value has a number with a fraction, because such a
/// number does not have a canonical form.
#[must_use]
pub fn canonical(value: &Value) -> Option<Vec<u8>> {
    let mut bytes = vec![];
    write(&mut bytes, value)?;
    Some(bytes)
}

fn write(bytes: &mut Vec<u8>, value: &Value) -> Option<()> {
    match value {
        Value::Null => bytes.extend(b"null"),
        Value::Bool(true) => bytes.extend(b"true"),
        Value::Bool(false) => bytes.extend(b"false"),
        Value::Number(number) => {
            let text = number.as_u64().map(|it| it.to_string()).or_else(|| number.as_i64().map(|it| it.to_string()))?;
            bytes.extend(text.as_bytes());
        }
        Value::String(text) => write_text(bytes, text),
        Value::Array(values) => {
            bytes.push(b'[');
            for (index, value) in values.iter().enumerate() {
                if index > 0 {
                    bytes.push(b',');
                }
                write(bytes, value)?;
            }
            bytes.push(b']');
        }
        Value::Object(members) => write_object(bytes, members)?,
    }
    Some(())
}

fn write_object(bytes: &mut Vec<u8>, members: &Map<String, Value>) -> Option<()> {
    let mut sorted: Vec<_> = members.iter().collect();
    sorted.sort_by_key(|(key, _)| key.as_str());
    bytes.push(b'{');
    for (index, (key, value)) in sorted.into_iter().enumerate() {
        if index > 0 {
            bytes.push(b',');
        }
        write_text(bytes, key);
        bytes.push(b':');
        write(bytes, value)?;
    }
    bytes.push(b'}');
    Some(())
}

fn write_text(bytes: &mut Vec<u8>, text: &str) {
    bytes.push(b'"');
    for byte in text.bytes() {
        if matches!(byte, b'"' | b'\\') {
            bytes.push(b'\\');
        }
        bytes.push(byte);
    }
    bytes.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_value_has_one_form() {
        #[track_caller]
        fn check(value: &Value, expected: Option<&str>) {
            let got = canonical(value).map(|bytes| String::from_utf8(bytes).unwrap());
            assert_eq!(got.as_deref(), expected);
        }
        check(
            &json!({"b": [1, -2, true, null], "a": {"é": "x\"\\\n"}}),
            Some("{\"a\":{\"é\":\"x\\\"\\\\\n\"},\"b\":[1,-2,true,null]}"),
        );
        check(&json!(u64::MAX), Some("18446744073709551615"));
        check(&json!([]), Some("[]"));
        check(&json!({"a": 1.5}), None);
        check(&json!([1e30]), None);
    }
}
