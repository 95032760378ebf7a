//! Describes errors in a TOML text in plain words. The parser reports the place where it stops. An unclosed string or bracket
//! begins earlier, and that is the line that an author must correct.

use crate::plainly;

/// An unclosed string or bracket at a place of a TOML text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Open {
    what: &'static str,
    /// The line where it begins, from 1.
    line: usize,
}

/// Returns the line number, from 1, and the message for an error that TOML's parser reports at a byte of a text.
pub fn toml_fault(text: &str, at: usize, complaint: &str) -> (usize, String) {
    let at = text.floor_char_boundary(at.min(text.len()));
    let (before, after) = text.split_at(at);
    let line = before.matches('\n').count() + 1;
    let begun = before.rsplit('\n').next().unwrap_or_default();
    let rest = after.lines().next().unwrap_or_default();
    let goes_elsewhere = after.trim().is_empty() || begins_anew(&format!("{begun}{rest}"));
    match innermost_open(before).filter(|open| open.line < line && goes_elsewhere) {
        Some(Open { what, line: begins }) => {
            let end = if after.trim().is_empty() { "the end of the file".to_owned() } else { format!("line {line}") };
            (begins, format!("the {what} that begins here is not closed before {end}"))
        }
        None => (line, plainly(complaint)),
    }
}

/// Returns whether a line begins a table or an entry: `[web]`, `[[web]]`, `key = ..`.
fn begins_anew(line: &str) -> bool {
    let line = line.trim();
    let is_name = |name: &str| {
        let is_part = |c: char| c.is_ascii_alphanumeric() || "-_.\"' ".contains(c);
        name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(is_part)
    };
    let header = line.strip_prefix('[').and_then(|rest| rest.trim_start_matches('[').split_once(']'));
    let header = header.is_some_and(|(name, _)| is_name(name.trim()));
    header || line.split_once('=').is_some_and(|(key, _)| is_name(key.trim()))
}

/// Returns the last string or bracket that was opened in a text and is still open at its end.
fn innermost_open(text: &str) -> Option<Open> {
    let mut open: Vec<Open> = vec![];
    let (mut line, mut in_value) = (1, false);
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let taken = match first {
            '\n' => {
                in_value &= !open.is_empty();
                line += 1;
                1
            }
            '#' => rest.find('\n').unwrap_or(rest.len()),
            '"' | '\'' => match string(rest, first) {
                Some(length) => {
                    line += rest.get(..length).unwrap_or_default().matches('\n').count();
                    length
                }
                None => return Some(Open { what: "text", line }),
            },
            '=' => {
                in_value = true;
                1
            }
            '[' | '{' if in_value => {
                open.push(Open { what: if first == '[' { "list" } else { "table" }, line });
                1
            }
            ']' | '}' if in_value => {
                open.pop();
                1
            }
            other => other.len_utf8(),
        };
        rest = rest.get(taken..).unwrap_or_default();
    }
    open.pop()
}

/// Returns the length of the string at the beginning of a text. Returns `None` for an unclosed multi-line string.
fn string(text: &str, quote: char) -> Option<usize> {
    let fence = [quote; 3].iter().collect::<String>();
    let is_long = text.starts_with(&fence);
    let mark = if is_long { fence.as_str() } else { fence.get(..1).unwrap_or_default() };
    let mut at = mark.len();
    loop {
        let rest = text.get(at..).filter(|rest| !rest.is_empty());
        let Some(rest) = rest else { return (!is_long).then_some(text.len()) };
        if rest.starts_with(mark) {
            return Some(at + mark.len());
        }
        match rest.chars().next() {
            // The parser itself reports a string that is not closed on its line.
            Some('\n') if !is_long => return Some(at),
            Some('\\') if quote == '"' => at += 1 + rest.chars().nth(1).map_or(0, char::len_utf8),
            next => at += next.map_or(1, char::len_utf8),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the line and message of an error at the byte that `^` marks.
    #[track_caller]
    fn check(marked: &str, line: usize, words: &str) {
        let at = marked.find('^').unwrap();
        assert_eq!(toml_fault(&marked.replace('^', ""), at, "duplicate key"), (line, words.to_owned()), "{marked}");
    }

    #[test]
    fn what_is_not_closed_is_told_where_it_begins() {
        let list = "the list that begins here is not closed before";
        check("a = 1\nb = [\"x\",\n\n^[default]\nc = 1\n", 2, &format!("{list} line 4"));
        check("b = [\"x\"\n\n  ^reboot = true\n", 1, &format!("{list} line 3"));
        check("b = [\"]\", # ]\n  ']', \"\\\"]\"\n^", 1, &format!("{list} the end of the file"));
        check("b = { c = 1,\n^[web.x]\n", 1, "the table that begins here is not closed before line 2");
        check(
            "[b]\nc = \"\"\"x\n\\\"\"\"\n\n^",
            2,
            "the text that begins here is not closed before the end of the file",
        );
        check("b = [[1], [2],\n [3\n^[default]\n", 2, &format!("{list} line 3"));
    }

    #[test]
    fn all_else_is_told_where_the_reader_is() {
        check("a = 1\n^a = 2\n", 2, "duplicate key");
        check("[a]\nb = [1]\n[a.b]\n^c = 1", 4, "duplicate key");
        check("b = [1\n ^2]\n", 2, "duplicate key");
        check("b = [[1]\n ^[2]]\n", 2, "duplicate key");
        check("[b\n^c = 1\n", 2, "duplicate key");
        check("c = \"x\n^[d]\n", 2, "duplicate key");
        check("^", 1, "duplicate key");
    }
}
