//! Formats values as Ruby code for a Policyfile. Names and texts are untrusted, so they are quoted and cannot become code.

use serde_json::{Map, Value};

/// Largest length of a list or object that is written on one line, in characters.
const MAX_LINE: usize = 100;

/// Returns a text as a Ruby literal.
pub(crate) fn text(text: &str) -> String {
    let is_plain = !text.chars().any(|one| one.is_control() || text::is_hidden(one));
    if is_plain {
        return format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"));
    }
    let mut out = "\"".to_owned();
    for one in text.chars() {
        match one {
            '"' | '\\' | '#' => out.extend(['\\', one]),
            '\n' => out.push_str("\\n"),
            one if one.is_control() || text::is_hidden(one) => out.push_str(&format!("\\u{{{:x}}}", u32::from(one))),
            one => out.push(one),
        }
    }
    out + "\""
}

/// Returns the lines that set attributes, one for each value that is not an object.
pub(crate) fn attributes(level: &str, attributes: &Map<String, Value>) -> String {
    let mut lines = String::new();
    for (key, value) in attributes {
        below(&format!("{level}[{}]", text(key)), value, &mut lines);
    }
    lines
}

fn below(path: &str, value: &Value, lines: &mut String) {
    match value {
        Value::Object(members) if !members.is_empty() => {
            members.iter().for_each(|(key, value)| below(&format!("{path}[{}]", text(key)), value, lines));
        }
        value => lines.push_str(&format!("{path} = {}\n", literal(value, 0))),
    }
}

fn literal(value: &Value, depth: usize) -> String {
    let entries: Vec<String> = match value {
        Value::Null => return "nil".to_owned(),
        Value::Bool(_) | Value::Number(_) => return value.to_string(),
        Value::String(string) => return text(string),
        Value::Array(values) => values.iter().map(|value| literal(value, depth + 1)).collect(),
        Value::Object(members) => {
            members.iter().map(|(key, value)| format!("{} => {}", text(key), literal(value, depth + 1))).collect()
        }
    };
    let (open, close, gap) = if value.is_array() { ("[", "]", "") } else { ("{", "}", " ") };
    if entries.is_empty() {
        return format!("{open}{close}");
    }
    let line = format!("{open}{gap}{}{gap}{close}", entries.join(", "));
    if line.len() <= MAX_LINE && !line.contains('\n') {
        return line;
    }
    let indent = "  ".repeat(depth + 1);
    format!("{open}\n{indent}{}\n{}{close}", entries.join(&format!(",\n{indent}")), "  ".repeat(depth))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn texts_stay_texts() {
        for (given, expect) in [
            ("plain", "'plain'"),
            ("it's \\ #{here}", "'it\\'s \\\\ #{here}'"),
            ("two\nlines #{x} \"", "\"two\\nlines \\#{x} \\\"\""),
            ("\u{202e}", "\"\\u{202e}\""),
            ("", "''"),
        ] {
            assert_eq!(text(given), expect);
        }
    }

    #[test]
    fn each_value_has_a_line() {
        let value = json!({"web": {"port": 80, "x'y": {}, "list": [1, {"a": nil()}]}, "on": true});
        let lines = attributes("default", value.as_object().unwrap());
        let expect = "default['web']['port'] = 80\ndefault['web']['x\\'y'] = {}\n\
                      default['web']['list'] = [1, { 'a' => nil }]\ndefault['on'] = true\n";
        assert_eq!(lines, expect);
    }

    fn nil() -> Value {
        Value::Null
    }
}
