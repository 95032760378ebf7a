//! Explains a key that occurs twice in one table. That often happens after pasting a suggested line below an existing one.

use std::ops::Range;
use toml::de::{DeTable, DeValue};

/// The message of the TOML parser for it.
const COMPLAINT: &str = "duplicate key";

/// Maximum length of a joined list in an error, in characters.
const MAX_SHOWN: usize = 300;

/// Explains the parser's error about the key at `span`: which key it is, where the first one is, and the line to write
/// instead. Returns `None` for any other error.
pub(super) fn explain(text: &str, span: &Range<usize>, complaint: &str) -> Option<String> {
    if complaint != COMPLAINT {
        return None;
    }
    let key = text.get(span.clone())?;
    let before = text.get(..span.start)?;
    let start = before.rfind('\n').map_or(0, |end| end + 1);
    let line = text.get(start..)?.lines().next()?.trim();
    let is_header = line.starts_with('[');
    let wanted = if is_header { line } else { key };
    let mut offset = 0;
    let mut first = None;
    for (number, above) in (1..).zip(text.get(..start)?.split_inclusive('\n')) {
        let trimmed = above.trim();
        if trimmed.starts_with('[') && !is_header {
            first = None;
        }
        let is_same = match is_header {
            true => trimmed == wanted,
            false => trimmed.split_once('=').is_some_and(|(name, _)| name.trim() == wanted),
        };
        if is_same && first.is_none() {
            first = Some((number, offset));
        }
        offset += above.len();
    }
    let place = first.map(|(number, _)| format!(", first in line {number}")).unwrap_or_default();
    if is_header {
        return Some(format!("the table {wanted} is here twice{place}: put the keys of both below the first"));
    }
    let joined = first.and_then(|(_, first)| joined(wanted, text.get(first..start)?, text.get(start..)?));
    let instead = match joined {
        Some(line) => format!("write one line instead: {line}"),
        None => "join the two values into one".to_owned(),
    };
    Some(format!("the key `{wanted}` is in this table twice{place}; {instead}"))
}

/// Returns one line with the entries of both lists, if both values are lists and the line is short enough.
fn joined(key: &str, first: &str, second: &str) -> Option<String> {
    let mut entries: Vec<&str> = Vec::new();
    for source in [first, second] {
        let table = DeTable::parse_recoverable(source).0.into_inner();
        let (_, value) = table.into_iter().find(|(name, _)| name.get_ref() == key)?;
        let DeValue::Array(list) = value.get_ref() else { return None };
        for entry in list {
            let text = source.get(entry.span())?;
            if !entries.contains(&text) {
                entries.push(text);
            }
        }
    }
    let line = format!("{key} = [{}]", entries.join(", "));
    (line.chars().count() <= MAX_SHOWN && !line.contains('\n')).then_some(line)
}
