//! Coercions, which bring properties of built-in types to a canonical form before they are checked.
//!
//! In Chef, `coerce` can be any Ruby code. The built-in types need only these few coercions, so they are a closed list with
//! names, and the reference can describe them. If a coercion is impossible, the value is not changed, and the checks after it
//! fail with Chef's own message.

use crate::value::Value;

/// One kind of coercion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coercion {
    /// Permission bits: octal text or a number become octal text of at least four digits.
    Mode,
    /// Text becomes a symbol, because JSON does not have symbols.
    Symbol,
    /// Like [`Coercion::Symbol`], but the text may begin with a colon.
    SymbolWithColon,
    /// Text is split into words as a shell does.
    ShellWords,
    /// Text is split at commas.
    CommaList,
    /// Text is split at commas, and every entry begins with `%` (groups in sudoers).
    SudoGroups,
    /// Text is split at commas, and every entry loses the blanks around it (mount options).
    MountOptions,
    /// A single value becomes a list of one; a map a list of pairs (Ruby's `Array()`).
    Wrapped,
    /// Like [`Coercion::Wrapped`], but `false` is not changed.
    WrappedUnlessFalse,
    /// Nested lists, or a single value, become one flat list.
    Flattened,
    /// A list of names becomes a map in which each is true.
    Flags,
    /// `before`, `after`, true, false or a list of both names become a map with the two keys.
    BeforeAndAfter,
    /// Letters become lower-case (checksums).
    LowerCase,
    /// A slash at the end is removed (mount points).
    NoTrailingSlash,
    /// `.` and `..` and doubled slashes are resolved in the text alone; a relative path starts at `/`.
    ExpandedPath,
    /// An English weekday becomes its number in a crontab.
    CronWeekday,
    /// A list is joined by blanks, anything else becomes text (sysctl values).
    JoinedByBlanks,
    /// A list is joined by commas, anything else becomes text (resource names).
    JoinedByCommas,
    /// Digits at the start of a text become a number, 0 without digits (Ruby's `to_i`).
    LeadingInteger,
    /// Text that is a whole number becomes one.
    Integer,
    /// `false` becomes `nil`, all else stays.
    FalseToNil,
    /// Dots and tildes become two underscores (file names in `sudoers.d`, because sudo ignores names with these characters).
    SudoersFileName,
    /// `.conf` is added to a text without this ending.
    ConfFileName,
    /// The options of `timeout(1)`: a number or text is the duration.
    Timeout,
}

impl Coercion {
    /// Brings a value to its canonical form. `nil` is never coerced.
    pub fn apply(self, value: Value) -> Value {
        if value.is_nil() {
            return value;
        }
        match self {
            Self::Mode => mode(value),
            Self::Symbol => match value {
                Value::Text(text) => Value::Symbol(text),
                other => other,
            },
            Self::SymbolWithColon => match value {
                Value::Text(text) => Value::Symbol(text.strip_prefix(':').unwrap_or(&text).to_owned()),
                other => other,
            },
            Self::ShellWords => match value {
                Value::Text(text) => shell_words(&text).map_or(Value::Text(text), texts),
                other => other,
            },
            Self::CommaList => split_at_commas(value, |entry| entry),
            Self::SudoGroups => split_at_commas(value, |entry| match entry {
                Value::Text(group) if !group.starts_with('%') => Value::Text(format!("%{group}")),
                other => other,
            }),
            Self::MountOptions => split_at_commas(value, |entry| match entry {
                Value::Text(option) => Value::text(option.trim()),
                other => other,
            }),
            Self::Wrapped => wrapped(value),
            Self::WrappedUnlessFalse if value == Value::Boolean(false) => value,
            Self::WrappedUnlessFalse => wrapped(value),
            Self::Flattened => {
                let mut flat = Vec::new();
                flatten(value, &mut flat);
                Value::List(flat)
            }
            Self::Flags => match value {
                Value::List(names) => Value::Map(names.into_iter().map(|name| (name, Value::Boolean(true))).collect()),
                other => other,
            },
            Self::BeforeAndAfter => before_and_after(value),
            Self::LowerCase => map_text(value, |text| text.to_lowercase()),
            Self::NoTrailingSlash => map_text(value, |text| match text.strip_suffix('/') {
                Some(shorter) if !shorter.is_empty() && !shorter.ends_with(':') => shorter.to_owned(),
                _ => text.to_owned(),
            }),
            Self::ExpandedPath => map_text(value, expanded_path),
            Self::CronWeekday => cron_weekday(value),
            Self::JoinedByBlanks => joined(value, " "),
            Self::JoinedByCommas => joined(value, ", "),
            Self::LeadingInteger => match value {
                Value::Text(text) => Value::Integer(leading_integer(&text)),
                other => other,
            },
            Self::Integer => match value {
                Value::Text(text) => text.trim().parse().map_or(Value::Text(text), Value::Integer),
                other => other,
            },
            Self::FalseToNil if value == Value::Boolean(false) => Value::Nil,
            Self::FalseToNil => value,
            Self::SudoersFileName => map_text(value, |text| text.replace(['.', '~'], "__")),
            Self::ConfFileName => {
                map_text(value, |text| if text.ends_with(".conf") { text.to_owned() } else { format!("{text}.conf") })
            }
            Self::Timeout => match value {
                duration @ (Value::Integer(_) | Value::Text(_)) => {
                    Value::Map(vec![(Value::text("duration"), duration)])
                }
                other => other,
            },
        }
    }

    /// Returns a description for the reference.
    pub const fn doc(self) -> &'static str {
        match self {
            Self::Mode => "kept as octal text",
            Self::Symbol => "kept as a symbol",
            Self::SymbolWithColon => "kept as a symbol, without a colon before it",
            Self::ShellWords => "text is split into words as a shell does",
            Self::CommaList | Self::MountOptions => "text is split at commas",
            Self::SudoGroups => "text is split at commas, each begins with %",
            Self::Wrapped | Self::WrappedUnlessFalse | Self::Flattened => "a single value becomes a list",
            Self::Flags => "a list of names becomes a map in which each is true",
            Self::BeforeAndAfter => "becomes a map with the keys before and after",
            Self::LowerCase => "kept in small letters",
            Self::NoTrailingSlash => "kept without a slash at the end",
            Self::ExpandedPath => "kept as an absolute path",
            Self::CronWeekday => "English names become numbers",
            Self::JoinedByBlanks => "a list is joined by blanks",
            Self::JoinedByCommas => "a list is joined by commas",
            Self::LeadingInteger | Self::Integer => "text becomes a number",
            Self::FalseToNil => "false means unset",
            Self::SudoersFileName => "dots and tildes become two underscores",
            Self::ConfFileName => "ends in .conf",
            Self::Timeout => "a number or text is the duration",
        }
    }
}

fn texts(words: Vec<String>) -> Value {
    Value::List(words.into_iter().map(Value::Text).collect())
}

fn map_text(value: Value, change: impl Fn(&str) -> String) -> Value {
    match value {
        Value::Text(text) => Value::Text(change(&text)),
        other => other,
    }
}

/// Returns octal text of at least four digits. A number is the permission bits themselves, as from an octal literal in Ruby
/// or Rust.
fn mode(value: Value) -> Value {
    let bits = match &value {
        Value::Text(text) => {
            let digits = text.strip_prefix("0o").unwrap_or(text);
            if digits.bytes().all(|byte| byte.is_ascii_digit()) { i64::from_str_radix(digits, 8).ok() } else { None }
        }
        Value::Integer(bits) => Some(*bits),
        _ => None,
    };
    match bits {
        Some(bits) if (0..=0o7777).contains(&bits) => Value::Text(format!("{bits:04o}")),
        _ => value,
    }
}

fn split_at_commas(value: Value, change: impl Fn(Value) -> Value) -> Value {
    let entries = match value {
        Value::Text(text) => {
            let mut parts: Vec<&str> = text.split(',').map(str::trim).collect();
            while parts.last().is_some_and(|last| last.is_empty()) {
                parts.pop();
            }
            parts.into_iter().map(Value::text).collect()
        }
        Value::List(entries) => entries,
        other => return other,
    };
    Value::List(entries.into_iter().map(change).collect())
}

fn wrapped(value: Value) -> Value {
    match value {
        list @ Value::List(_) => list,
        Value::Map(pairs) => Value::List(pairs.into_iter().map(|(key, entry)| Value::List(vec![key, entry])).collect()),
        single => Value::List(vec![single]),
    }
}

fn flatten(value: Value, flat: &mut Vec<Value>) {
    match value {
        Value::List(entries) => entries.into_iter().for_each(|entry| flatten(entry, flat)),
        single => flat.push(single),
    }
}

fn before_and_after(value: Value) -> Value {
    let both = |before: bool, after: bool| {
        let entry = |name: &str, set: bool| (Value::text(name), Value::Boolean(set));
        Value::Map(vec![entry("before", before), entry("after", after)])
    };
    match value {
        Value::Boolean(set) => both(set, set),
        Value::List(names) => {
            let names: Vec<String> = names.iter().map(Value::to_text).collect();
            both(names.iter().any(|name| name == "before"), names.iter().any(|name| name == "after"))
        }
        Value::Text(name) | Value::Symbol(name) if name == "before" => both(true, false),
        Value::Text(name) | Value::Symbol(name) if name == "after" => both(false, true),
        other => other,
    }
}

fn expanded_path(text: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in text.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            name => parts.push(name),
        }
    }
    format!("/{}", parts.join("/"))
}

fn cron_weekday(value: Value) -> Value {
    const NAMES: [(&str, &str); 7] = [
        ("sunday", "sun"),
        ("monday", "mon"),
        ("tuesday", "tue"),
        ("wednesday", "wed"),
        ("thursday", "thu"),
        ("friday", "fri"),
        ("saturday", "sat"),
    ];
    let name = match &value {
        Value::Text(name) | Value::Symbol(name) => name.to_lowercase(),
        _ => return value,
    };
    match NAMES.iter().position(|(long, short)| name == *long || name == *short) {
        Some(number) => Value::Text(number.to_string()),
        None => value,
    }
}

fn joined(value: Value, separator: &str) -> Value {
    match value {
        Value::List(entries) => Value::Text(entries.iter().map(Value::to_text).collect::<Vec<_>>().join(separator)),
        other => Value::Text(other.to_text()),
    }
}

fn leading_integer(text: &str) -> i64 {
    let text = text.trim_start();
    let end =
        text.char_indices().find(|(at, character)| !(character.is_ascii_digit() || (*at == 0 && *character == '-')));
    text.get(..end.map_or(text.len(), |(at, _)| at)).and_then(|digits| digits.parse().ok()).unwrap_or(0)
}

/// Splits as Ruby's `Shellwords`: blanks separate, quotes and backslashes keep together. `None` for an unfinished quote.
fn shell_words(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        match character {
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match characters.next()? {
                        '\'' => break,
                        plain => word.push(plain),
                    }
                }
            }
            '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match characters.next()? {
                        '"' => break,
                        '\\' => match characters.next()? {
                            escaped @ ('"' | '\\' | '$' | '`' | '\n') => word.push(escaped),
                            plain => word.extend(['\\', plain]),
                        },
                        plain => word.push(plain),
                    }
                }
            }
            '\\' => word.get_or_insert_default().push(characters.next()?),
            blank if blank.is_whitespace() => words.extend(word.take()),
            plain => word.get_or_insert_default().push(plain),
        }
    }
    words.extend(word);
    Some(words)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use super::*;

    fn check(coercion: Coercion, input: &Json, expected: &Json) {
        assert_eq!(
            coercion.apply(Value::from_json(input.clone()).unwrap()).into_json(),
            *expected,
            "{coercion:?} of {input}"
        );
    }

    #[test]
    fn modes_become_octal_text() {
        check(Coercion::Mode, &json!("644"), &json!("0644"));
        check(Coercion::Mode, &json!("01777"), &json!("1777"));
        check(Coercion::Mode, &json!(0o644), &json!("0644"));
        check(Coercion::Mode, &json!(0o10000), &json!(0o10000));
        check(Coercion::Mode, &json!("u+x"), &json!("u+x"));
        check(Coercion::Mode, &json!("-1"), &json!("-1"));
    }

    #[test]
    fn text_is_split_as_chef_splits_it() {
        check(Coercion::SymbolWithColon, &json!(":verify_peer"), &json!("verify_peer"));
        check(Coercion::ShellWords, &json!("-o 'a b' c\\ d \"e$\" ''"), &json!(["-o", "a b", "c d", "e$", ""]));
        check(Coercion::ShellWords, &json!("unfinished 'quote"), &json!("unfinished 'quote"));
        check(Coercion::CommaList, &json!("a , b,,c,"), &json!(["a", "b", "", "c"]));
        check(Coercion::CommaList, &json!(["a, b"]), &json!(["a, b"]));
        check(Coercion::SudoGroups, &json!("a, %b"), &json!(["%a", "%b"]));
        check(Coercion::MountOptions, &json!("rw, noatime"), &json!(["rw", "noatime"]));
        check(Coercion::MountOptions, &json!([" rw "]), &json!(["rw"]));
    }

    #[test]
    fn single_values_and_lists_meet() {
        check(Coercion::Wrapped, &json!("a"), &json!(["a"]));
        check(Coercion::Wrapped, &json!(["a"]), &json!(["a"]));
        check(Coercion::WrappedUnlessFalse, &json!(false), &json!(false));
        check(Coercion::Flattened, &json!([["a"], "b"]), &json!(["a", "b"]));
        check(Coercion::Flags, &json!(["restart", "reload"]), &json!({"restart": true, "reload": true}));
        check(Coercion::BeforeAndAfter, &json!(["after"]), &json!({"before": false, "after": true}));
        check(Coercion::JoinedByCommas, &json!(["a", "b"]), &json!("a, b"));
        check(Coercion::JoinedByBlanks, &json!([4096, 87380]), &json!("4096 87380"));
    }

    #[test]
    fn texts_become_canonical() {
        check(Coercion::NoTrailingSlash, &json!("/mnt/"), &json!("/mnt"));
        check(Coercion::NoTrailingSlash, &json!("/"), &json!("/"));
        check(Coercion::NoTrailingSlash, &json!("server:/"), &json!("server:/"));
        check(Coercion::ExpandedPath, &json!("/a/../b/./c//"), &json!("/b/c"));
        check(Coercion::CronWeekday, &json!("Mon"), &json!("1"));
        check(Coercion::LeadingInteger, &json!("12abc"), &json!(12));
        check(Coercion::LeadingInteger, &json!("abc"), &json!(0));
        check(Coercion::Integer, &json!("12abc"), &json!("12abc"));
        check(Coercion::SudoersFileName, &json!("a.b~c"), &json!("a__b__c"));
        check(Coercion::FalseToNil, &json!(false), &json!(null));
    }
}
