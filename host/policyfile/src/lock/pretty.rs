//! Writes JSON like chef-cli: indented by two spaces, with an empty line in empty objects and arrays, and numbers as Ruby
//! prints them.

use serde_json::{Number, Value};

/// Writes a value, with a line end after it.
#[must_use]
pub fn pretty(value: &Value) -> String {
    let mut text = String::new();
    write(&mut text, value, 0);
    text.push('\n');
    text
}

/// Writes a value without a line end after it.
pub(super) fn write(text: &mut String, value: &Value, depth: usize) {
    match value {
        Value::Null => text.push_str("null"),
        Value::Bool(value) => text.push_str(if *value { "true" } else { "false" }),
        Value::Number(value) => text.push_str(&number(value)),
        Value::String(value) => write_text(text, value),
        Value::Array(values) => {
            block(text, ['[', ']'], depth, values.iter().map(|value| (None, value)));
        }
        Value::Object(members) => {
            block(text, ['{', '}'], depth, members.iter().map(|(key, value)| (Some(key.as_str()), value)));
        }
    }
}

/// Writes the members of an object, which may have a key twice, or the elements of an array.
pub(super) fn block<'a>(
    text: &mut String,
    [open, close]: [char; 2],
    depth: usize,
    members: impl Iterator<Item = (Option<&'a str>, &'a Value)>,
) {
    text.push(open);
    let mut is_first = true;
    for (key, value) in members {
        text.push_str(if is_first { "\n" } else { ",\n" });
        is_first = false;
        indent(text, depth + 1);
        if let Some(key) = key {
            write_text(text, key);
            text.push_str(": ");
        }
        write(text, value, depth + 1);
    }
    text.push_str(if is_first { "\n\n" } else { "\n" });
    indent(text, depth);
    text.push(close);
}

pub(super) fn indent(text: &mut String, depth: usize) {
    text.extend(std::iter::repeat_n("  ", depth));
}

pub(super) fn write_text(text: &mut String, value: &str) {
    text.push('"');
    for character in value.chars() {
        match character {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            '\u{8}' => text.push_str("\\b"),
            '\u{c}' => text.push_str("\\f"),
            control if u32::from(control) < 32 => text.push_str(&format!("\\u{:04X}", u32::from(control))),
            other => text.push(other),
        }
    }
    text.push('"');
}

/// Whole numbers as they are; others as Ruby prints a Float.
fn number(number: &Number) -> String {
    match number.as_f64() {
        Some(float) if !number.is_i64() && !number.is_u64() => ruby_float(float),
        _ => number.to_string(),
    }
}

fn ruby_float(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 || (1e-4..1e16).contains(&size) {
        return format!("{value:?}");
    }
    let scientific = format!("{value:e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let mantissa = if mantissa.contains('.') { mantissa.to_owned() } else { format!("{mantissa}.0") };
    let (sign, digits) = exponent.strip_prefix('-').map_or(('+', exponent), |digits| ('-', digits));
    format!("{mantissa}e{sign}{digits:0>2}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_are_written_as_chef_cli_writes_them() {
        let value = json!({"a": [], "b": {}, "c": [1, [true, null]], "d": {"e": "x\"\\\n\u{1}é"}});
        let expect = "{\n  \"a\": [\n\n  ],\n  \"b\": {\n\n  },\n  \"c\": [\n    1,\n    [\n      true,\n      null\n    ]\n  ],\n  \
                      \"d\": {\n    \"e\": \"x\\\"\\\\\\n\\u0001é\"\n  }\n}\n";
        assert_eq!(pretty(&value), expect);
    }

    #[test]
    fn numbers_are_written_as_ruby_prints_them() {
        #[track_caller]
        fn check(value: f64, expect: &str) {
            assert_eq!(ruby_float(value), expect);
        }
        check(1.0, "1.0");
        check(0.0, "0.0");
        check(-1.5, "-1.5");
        check(0.0001, "0.0001");
        check(0.000_01, "1.0e-05");
        check(1e15, "1000000000000000.0");
        check(1e16, "1.0e+16");
        check(-1.25e100, "-1.25e+100");
        assert_eq!(number(&Number::from(7)), "7");
    }
}
