//! JSON as people write it in data bags, roles and environments: with comments, which Chef's own parser treats as white
//! space.

use serde_json::Value;
use std::borrow::Cow;

/// Parses JSON with comments between values: `// ..` to the end of a line, and `/* .. */`.
///
/// # Errors
/// The text is not valid JSON even without comments. The error's line and column refer to the original text.
pub fn parse_written_json(text: &str) -> serde_json::Result<Value> {
    serde_json::from_str(&without_comments(text))
}

/// Returns the text with its comments replaced by blanks. An unclosed comment stays, and the parser rejects it.
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

/// Returns the end of a quoted string; for any other character, the position after it.
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
