//! JSON as people write it into data bags, roles and environments: with comments, which Chef's own parser takes for white
//! space.

use serde_json::Value;
use std::borrow::Cow;

/// Reads JSON in which `// ..` to the end of a line and `/* .. */` may stand between values.
///
/// # Errors
/// It is not valid even so; lines and columns are those of the text.
pub fn parse_written_json(text: &str) -> serde_json::Result<Value> {
    serde_json::from_str(&without_comments(text))
}

/// The text with blanks where comments are. What begins like one and does not end stays, and is the parser's to refuse.
fn without_comments(text: &str) -> Cow<'_, str> {
    if !text.contains('/') {
        return Cow::Borrowed(text);
    }
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['"', '/']) {
        let (before, found) = rest.split_at(at);
        kept.push_str(before);
        let length = match found.get(..2) {
            Some("//") => found.find('\n').unwrap_or(found.len()),
            Some("/*") => found.get(2..).and_then(|inside| inside.find("*/")).map_or(0, |end| end + 4),
            _ => 0,
        };
        let (comment, after) = found.split_at(length);
        kept.extend(comment.chars().map(|one| if one == '\n' { '\n' } else { ' ' }));
        let (plain, after) = if length > 0 { ("", after) } else { after.split_at(text_end(after)) };
        kept.push_str(plain);
        rest = after;
    }
    kept.push_str(rest);
    Cow::Owned(kept)
}

/// Where a text in quotes ends; a single character is its own end.
fn text_end(found: &str) -> usize {
    if !found.starts_with('"') {
        return 1;
    }
    let mut is_escaped = false;
    for (at, one) in found.char_indices().skip(1) {
        match one {
            '"' if !is_escaped => return at + 1,
            _ => is_escaped = one == '\\' && !is_escaped,
        }
    }
    found.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn comments_are_white_space_and_texts_are_not_comments() {
        let check = |text: &str, expect: Value| assert_eq!(parse_written_json(text).unwrap(), expect, "{text}");
        check("{\"a\": 1, // one\n \"b\": /* two\n*/ 2}", json!({"a": 1, "b": 2}));
        check("// first\n[] // last", json!([]));
        check(
            r#"{"url": "http://x/*y*/", "q": "\"// no", "s": "\\"} // "#,
            json!({"url": "http://x/*y*/", "q": "\"// no", "s": "\\"}),
        );
        check("[\"\u{fc}//\u{fc}\"] /* \u{fc} */", json!(["\u{fc}//\u{fc}"]));
    }

    #[test]
    fn what_is_wrong_is_told_at_its_line() {
        let check = |text: &str, line: usize| assert_eq!(parse_written_json(text).unwrap_err().line(), line, "{text}");
        check("/* a\n b */ {\n x}", 3);
        check("{} /* open", 1);
        check("{\"a\": 1 / 2}", 1);
        check("[\"open // ]", 1);
        check("/", 1);
    }
}
