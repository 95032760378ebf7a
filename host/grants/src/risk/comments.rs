//! Comments for a file of grants that say why entries open a lot.

use text::cut;

/// The longest line of a comment, in characters: indented by four, it fits a terminal.
const MAX_COMMENT: usize = 76;

/// The longest beginning of an entry that a comment repeats, in bytes.
const MAX_COMMENTED: usize = 60;

/// Returns comments for a file of grants that name entries with the reasons why they open a lot, each reason once.
pub fn risk_comments<'a>(found: impl IntoIterator<Item = (&'a str, &'static str)>) -> Vec<String> {
    let mut by_reason: Vec<(&str, Vec<&str>)> = Vec::new();
    for (value, reason) in found {
        match by_reason.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, values)) => values.push(value),
            None => by_reason.push((reason, vec![value])),
        }
    }
    let mut lines = Vec::new();
    for (reason, values) in by_reason {
        let mut values = values.into_iter().map(|value| cut(value, MAX_COMMENTED));
        let first = values.next().unwrap_or_default();
        add_comment(&mut lines, &format!("Opens a lot: {first} {reason}."));
        let others: Vec<_> = values.collect();
        if !others.is_empty() {
            add_comment(&mut lines, &format!("Opens a lot, for the same reason: {}.", others.join(", ")));
        }
    }
    lines
}

/// Adds a sentence as lines of a comment.
fn add_comment(lines: &mut Vec<String>, sentence: &str) {
    let mut line = String::from("#");
    for word in sentence.split_whitespace() {
        if line.len() > 1 && line.chars().count() + 1 + word.chars().count() > MAX_COMMENT {
            lines.push(std::mem::replace(&mut line, String::from("#")));
        }
        line.push(' ');
        line.push_str(&word.replace(char::is_control, " "));
    }
    lines.push(line);
}
