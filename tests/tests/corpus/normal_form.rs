//! One form for what two versions of Ruby print differently, and for paths that differ from run to run. Both sides are
//! brought to it before they are compared.

use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde_json::{Map, Value};

/// What is replaced, in order.
static REPLACED: LazyLock<Vec<(Regex, &'static str)>> = LazyLock::new(|| {
    let pairs = [
        // `{"a"=>1}` and `{"a" => 1}`; `{:a=>1}` and `{a: 1}`.
        (r" => ", "=>"),
        (r":([A-Za-z_]\w*[?!]?)=>", "$1: "),
        (r#":("[^"]*")=>"#, "$1: "),
        // Quotes around names in Ruby's own errors.
        (r"`([^'`\n]*)'", "'$1'"),
        (r"\bfor nil:NilClass", "for nil"),
        (r"\bfor (true|false):(?:True|False)Class", "for $1"),
        (r"\bfor #<(?:Class|Module):0x\h+>", "for #<Class:0xX>"),
        (r"\bfor ([A-Z][\w:]*):(?:Class|Module)\b", "for class $1"),
        (r"\bfor module ", "for class "),
        (r"\bfor #<([A-Z][\w:]*)[^>\n]*>(?::[A-Z][\w:]*)?", "for an instance of $1"),
        (r"\bfor [^\n]*[^:\n]:([A-Z]\w*(?:::[A-Z]\w*)*)$", "for an instance of $1"),
        (r"\bin '(?:[A-Z][\w:]*[#.])([^']+)'", "in '$1'"),
        (r"0x\h{4,}", "0xX"),
    ];
    pairs.into_iter().filter_map(|(pattern, by)| Some((Regex::new(&format!("(?m){pattern}")).ok()?, by))).collect()
});

/// Runs of white space, which messages may break differently.
static BLANKS: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\s+").ok());

/// A text in its one form.
pub(crate) fn text(text: &str) -> String {
    REPLACED.iter().fold(text.to_owned(), |text, (pattern, by)| pattern.replace_all(&text, *by).into_owned())
}

/// A message in its one form: white space does not count, nor do names that were made up for temporary files.
pub(crate) fn message(message: &str) -> String {
    let plain = text(message);
    let plain = match BLANKS.as_ref() {
        Some(blanks) => blanks.replace_all(&plain, |_: &Captures<'_>| " ").into_owned(),
        None => plain,
    };
    plain.trim().to_owned()
}

/// A value with all its texts in their one form.
pub(crate) fn value(value: &Value) -> Value {
    match value {
        Value::String(string) => Value::String(text(string)),
        Value::Array(list) => list.iter().map(self::value).collect(),
        Value::Object(object) => {
            let sorted: std::collections::BTreeMap<&String, &Value> = object.iter().collect();
            let entries = sorted.into_iter().map(|(key, inner)| (text(key), self::value(inner)));
            Value::Object(entries.collect::<Map<_, _>>())
        }
        other => other.clone(),
    }
}

/// Replaces a text in all texts of a value, in keys too.
pub(crate) fn replace(value: &Value, pairs: &[(String, &str)]) -> Value {
    let in_text = |text: &str| pairs.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from.as_str(), to));
    match value {
        Value::String(string) => Value::String(in_text(string)),
        Value::Array(list) => list.iter().map(|inner| replace(inner, pairs)).collect(),
        Value::Object(object) => {
            let entries = object.iter().map(|(key, inner)| (in_text(key), replace(inner, pairs)));
            Value::Object(entries.collect())
        }
        other => other.clone(),
    }
}
