//! `os_release`: the fields of `/etc/os-release`. Ohai's plugin OsRelease.
//!
//! Ohai cuts a value at a second `=` and leaves single quotes in place; here values are read as os-release(5) describes
//! them.

use serde_json::Value;

use crate::files::SystemFiles;
use crate::machine::{Gathered, Machine};
use crate::topics::{known, one};

/// Fields of an os-release file, in the file's order.
pub(crate) struct OsRelease(Vec<(String, String)>);

impl OsRelease {
    /// Reads an os-release file of a system, or returns `None` if it does not exist.
    pub(crate) fn read(files: &SystemFiles, path: &str) -> Option<Self> {
        Some(Self::parse(&files.text(path)?))
    }

    fn parse(text: &str) -> Self {
        let fields = text.lines().filter_map(|line| {
            let (name, value) = line.trim().split_once('=')?;
            let name = name.trim();
            (!name.is_empty() && !name.starts_with('#')).then(|| (name.to_owned(), unquoted(value.trim())))
        });
        Self(fields.collect())
    }

    /// Returns the value of a field, if it exists and is not empty.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let (_, value) = self.0.iter().rfind(|(field, _)| field == name)?;
        (!value.is_empty()).then_some(value.as_str())
    }
}

pub(crate) fn gather(machine: &Machine) -> Gathered {
    let fields = OsRelease::read(&machine.root, "/etc/os-release").map(|release| {
        let fields = release.0.into_iter().map(|(name, value)| {
            let value = match name.as_str() {
                "ID_LIKE" => value.split_whitespace().map(Value::from).collect(),
                _ => Value::from(value),
            };
            (name.to_lowercase(), value)
        });
        fields.collect::<Gathered>()
    });
    match fields {
        Some(fields) => one("os_release", fields),
        None => known::<Value>([]),
    }
}

/// Returns a value without shell quotes and backslashes.
fn unquoted(value: &str) -> String {
    let inside = |quote: char| value.strip_prefix(quote).and_then(|value| value.strip_suffix(quote));
    if let Some(literal) = inside('\'') {
        return literal.to_owned();
    }
    let value = inside('"').unwrap_or(value);
    let mut plain = String::with_capacity(value.len());
    let mut characters = value.chars();
    while let Some(character) = characters.next() {
        plain.push(if character == '\\' { characters.next().unwrap_or('\\') } else { character });
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_fields() {
        let release = OsRelease::parse(
            "# comment=1\nID=debian\n  NAME=\"Debian GNU/Linux\"\nQUOTE='it is \"so\"'\nESCAPED=\"a \\\"b\\\" \\$c\"\n\
             URL=\"https://e.org/?a=b\"\nEMPTY=\nnonsense\n\"=\nID_LIKE=\"a b\"\n",
        );
        for (field, expect) in [
            ("ID", Some("debian")),
            ("NAME", Some("Debian GNU/Linux")),
            ("QUOTE", Some("it is \"so\"")),
            ("ESCAPED", Some("a \"b\" $c")),
            ("URL", Some("https://e.org/?a=b")),
            ("EMPTY", None),
            ("# comment", None),
            ("nonsense", None),
        ] {
            assert_eq!(release.get(field), expect, "for {field}");
        }
    }
}
