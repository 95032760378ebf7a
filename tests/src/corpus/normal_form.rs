//! Normalizes output that differs between two versions of Ruby, and paths that change from run to run. Both sides are
//! normalized before the comparison.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Map, Value};

/// The replacements, in order.
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
        (r"\bfor #<(?:Class|Module):0x[0-9a-f]+>", "for #<Class:0xX>"),
        (r"\bfor ([A-Z][\w:]*):(?:Class|Module)\b", "for class $1"),
        (r"\bfor module ", "for class "),
        (r"\bfor #<([A-Z]\w*(?:::[A-Z]\w*)*)[^>\n]*>(?::[A-Z][\w:]*)?", "for an instance of $1"),
        (r"\bfor [^\n]*[^:\n]:([A-Z]\w*(?:::[A-Z]\w*)*)$", "for an instance of $1"),
        (r"\bin '(?:[A-Z][\w:]*[#.])([^']+)'", "in '$1'"),
        (r"0x[0-9a-f]{4,}", "0xX"),
        // Names of temporary files, which Chef's recorder has already replaced in its results.
        (r"(/\.chef-[^\s/-]+)-[0-9-]+", "${1}TMPNAME"),
    ];
    pairs.into_iter().map(|(pattern, by)| (compiled(&format!("(?m){pattern}")), by)).collect()
});

/// Sequences of white space, since messages may be wrapped differently.
static BLANKS: LazyLock<Regex> = LazyLock::new(|| compiled(r"\s+"));

/// Compiles a pattern of this file. An invalid pattern panics, so that it is noticed.
#[expect(clippy::panic, reason = "the tests below compile every pattern")]
fn compiled(pattern: &str) -> Regex {
    Regex::new(pattern).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns the normal form of a text.
pub fn text(text: &str) -> String {
    REPLACED.iter().fold(text.to_owned(), |text, (pattern, by)| pattern.replace_all(&text, *by).into_owned())
}

/// Returns the normal form of a message. White space and random names of temporary files do not count.
pub fn message(message: &str) -> String {
    let plain = text(message);
    BLANKS.replace_all(&plain, " ").trim().to_owned()
}

/// Returns a value with all its strings in normal form.
pub fn value(value: &Value) -> Value {
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

/// Replaces texts in all strings of a value, including keys.
pub fn replace(value: &Value, pairs: &[(String, &str)]) -> Value {
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn same(old: &str, new: &str) {
        assert_eq!(text(old), text(new), "{old} / {new}");
    }

    #[test]
    fn what_two_versions_of_ruby_print_is_brought_to_one_form() {
        same(r#"{"a"=>1, :b=>[{:c=>nil}]}"#, r#"{"a" => 1, b: [{c: nil}]}"#);
        same(r#"{:"a b"=>1}"#, r#"{"a b": 1}"#);
        same("undefined method `upcase' for nil:NilClass", "undefined method 'upcase' for nil");
        same("undefined method `x' for #<A::B:0x00007f name=1>", "undefined method 'x' for an instance of A::B");
        same("undefined method `x' for \"text\":String", "undefined method 'x' for an instance of String");
        let recipe = "undefined method `x' for cookbook: t, recipe: default :Chef::Recipe";
        same(recipe, "undefined method 'x' for an instance of Chef::Recipe");
        same("undefined method `x' for Foo:Class", "undefined method 'x' for class Foo");
        same("a.rb:1:in `m'", "a.rb:1:in 'A::B#m'");
        same("#<Class:0x000055d0>::X", "#<Class:0x13fb2e20>::X");
        same("CACHE/.chef-badTMPNAME", "CACHE/.chef-bad-7401-0");
    }

    #[test]
    fn nothing_else_is_changed() {
        for plain in ["a => nothing", "it's `x", "10:30 a:b", "for all: X", "wait for Net::HTTP"] {
            assert_eq!(text(plain).replace("=>", " => "), plain);
        }
        assert_ne!(text("for an instance of A"), text("for an instance of B"));
    }

    #[test]
    fn white_space_counts_in_contents_and_not_in_messages() {
        assert_eq!(message(" a\n  b "), "a b");
        assert_eq!(value(&json!({"b": "x  y", "a": [1]})).to_string(), r#"{"a":[1],"b":"x  y"}"#);
        let pairs = [("/tmp/1/s".to_owned(), "ROOT")];
        assert_eq!(replace(&json!({"/tmp/1/s/a": ["/tmp/1/s"]}), &pairs), json!({"ROOT/a": ["ROOT"]}));
    }
}
