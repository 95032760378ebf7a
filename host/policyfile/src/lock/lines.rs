//! Finds the line of a value in a lock's text, because parsed JSON does not have lines.

/// Returns the line, from 1, of the key at a path of keys from the top, as in `["cookbook_locks", "web", "identifier"]`. If a
/// key is written twice, the last one is found, because it counts. Returns `None` if the key does not exist or the text is
/// not JSON.
#[must_use]
pub fn line_of(text: &str, path: &[&str]) -> Option<usize> {
    let (mut open, mut found): (Vec<Level>, _) = (vec![], None);
    let mut rest = text;
    let mut line = 1;
    while let Some(character) = rest.chars().next() {
        let mut length = character.len_utf8();
        match character {
            '\n' => line += 1,
            '{' | '[' => open.push(Level::default()),
            '}' | ']' => drop(open.pop()),
            '"' => {
                length = quoted_length(rest)?;
                let (word, after) = rest.split_at_checked(length)?;
                if after.trim_start().starts_with(':')
                    && let Some(level) = open.last_mut()
                {
                    level.key = serde_json::from_str(word).ok();
                    let keys = open.iter().map(|level| level.key.as_deref());
                    if keys.eq(path.iter().map(|key| Some(*key))) {
                        found = Some(line);
                    }
                }
            }
            _ => {}
        }
        rest = rest.get(length..)?;
    }
    found
}

/// An object or a list that the reader is in.
#[derive(Default)]
struct Level {
    /// The key whose value is read. `None`: a list.
    key: Option<String>,
}

/// The length of a text in quotes, with both quotes, in bytes.
fn quoted_length(text: &str) -> Option<usize> {
    let mut is_escaped = false;
    let end = text.char_indices().skip(1).find(|(_, character)| {
        let ends = *character == '"' && !is_escaped;
        is_escaped = *character == '\\' && !is_escaped;
        ends
    });
    end.map(|(at, _)| at.saturating_add(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_found_where_they_are_written() {
        let text = "{\n \"name\": \"identifier\",\n \"a\": [\n  {\"b\": 1}, \"x\"],\n \"c\\\"\\u00e9\":\n {\n\n\"b\": {\"d\": 1},\n\
                    \"b\": 2\n}}";
        #[track_caller]
        fn check(text: &str, path: &[&str], expect: Option<usize>) {
            assert_eq!(line_of(text, path), expect, "{path:?}");
        }
        check(text, &["name"], Some(2));
        check(text, &["a"], Some(3));
        check(text, &["c\"é"], Some(5));
        check(text, &["c\"é", "b"], Some(9));
        check(text, &["c\"é", "b", "d"], Some(8));
        for path in [&["identifier"][..], &["a", "b"], &["b"], &["x"], &[]] {
            check(text, path, None);
        }
        check("{\"a", &["a"], None);
        check("\"a\": 1", &[], None);
    }
}
