//! Comments in a file of grants that explain why entries are risky.

use super::{Reason, RiskClass};
use std::borrow::Cow;

/// Maximum length of a comment's line, in characters. With an indent of four it fits a terminal.
const MAX_COMMENT: usize = 76;

/// Maximum length of an entry that a comment repeats, in bytes. For a longer one, only its beginning is shown.
const MAX_REPEATED: usize = 200;

/// Maximum length of the beginning of an entry in a comment, in bytes.
const MAX_BEGINNING: usize = 60;

/// Returns comments that name entries with the reasons why they are risky, each reason once.
pub fn risk_comments<'a>(found: impl IntoIterator<Item = (&'a str, impl Into<Reason>)>) -> Vec<String> {
    let mut by_reason: Vec<(Reason, Vec<&str>)> = Vec::new();
    for (value, reason) in found {
        let reason = reason.into();
        match by_reason.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, values)) => values.push(value),
            None => by_reason.push((reason, vec![value])),
        }
    }
    let mut lines = Vec::new();
    for (reason, values) in by_reason {
        let mut values = values.into_iter().map(named);
        let first = values.next().unwrap_or_default();
        let word = reason.class.word();
        lines.extend(comment(&format!("{word}: {first} {reason}.")));
        let others = values.collect::<Vec<_>>().join(", ");
        match reason.class {
            _ if others.is_empty() => {}
            RiskClass::OpensALot => lines.extend(comment(&format!("{word}, for the same reason: {others}."))),
            RiskClass::Unknown | RiskClass::InQuestion => lines.extend(comment(&format!("{word} either: {others}."))),
        }
    }
    lines
}

/// Returns an entry as a sentence names it: complete, or only its first words.
fn named(value: &str) -> Cow<'_, str> {
    if value.len() <= MAX_REPEATED {
        return value.into();
    }
    let end = (0..=MAX_BEGINNING).rev().find(|at| value.is_char_boundary(*at)).unwrap_or(0);
    let beginning = value.get(..end).unwrap_or_default();
    let words = beginning.rsplit_once(char::is_whitespace).map_or(beginning, |(words, _)| words);
    format!("the entry that begins with `{words}`").into()
}

/// Returns a sentence as the lines of a comment.
pub(crate) fn comment(sentence: &str) -> Vec<String> {
    let (mut lines, mut line) = (Vec::new(), String::from("#"));
    for word in sentence.split_whitespace() {
        if line.len() > 1 && line.chars().count() + 1 + word.chars().count() > MAX_COMMENT {
            lines.push(std::mem::replace(&mut line, String::from("#")));
        }
        line.push(' ');
        line.push_str(&word.replace(char::is_control, " "));
    }
    lines.push(line);
    lines
}
