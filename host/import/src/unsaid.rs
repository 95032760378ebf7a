//! Finds parts of readable roles, environments, and Berksfiles that the import does not support.

use resolve::objects::ObjectKind;
use serde_json::Value;
use text::nearest;

use crate::Note;

/// Largest number of noted places in one file.
const MAX_PLACES: usize = 20;

/// The keys that roles and environments have in Chef.
const COMMON: [&str; 6] =
    ["name", "description", "chef_type", "json_class", "default_attributes", "override_attributes"];

/// Notes keys in the JSON of a role or an environment that Chef does not know, and version pins that are not strings.
pub(crate) fn of_json(kind: ObjectKind, place: &str, source: &str, value: &Value, notes: &mut Vec<Note>) {
    let own: &[&str] = if kind == ObjectKind::Role { &["run_list", "env_run_lists"] } else { &["cookbook_versions"] };
    let known = || COMMON.into_iter().chain(own.iter().copied());
    let at = |key: &str| match line_of_key(source, key) {
        Some(line) => format!("{place}:{line}"),
        None => place.to_owned(),
    };
    let unknown = value.as_object().into_iter().flat_map(|keys| keys.keys());
    for key in unknown.filter(|key| !known().any(|one| one == *key)).take(MAX_PLACES) {
        let near = nearest(key, known()).map(|near| format!(", did you mean `{near}`?")).unwrap_or_default();
        notes.push(Note::problem(at(key), format!("unknown key `{key}` of the {kind} was not taken{near}")));
    }
    let Some(pins) = value.get("cookbook_versions").filter(|pins| kind != ObjectKind::Role && !pins.is_null()) else {
        return;
    };
    let bad = match pins.as_object() {
        None => vec!["`cookbook_versions` was not taken: it must be an object".to_owned()],
        Some(pins) => pins
            .iter()
            .filter(|(_, constraint)| !constraint.is_string())
            .map(|(name, _)| format!("the pin of {name} was not taken: it must be a text such as \"~> 1.0\""))
            .take(MAX_PLACES)
            .collect(),
    };
    notes.extend(bad.into_iter().map(|what| Note::problem(at("cookbook_versions"), what)));
}

/// Notes the lines of a Ruby file that read environment variables, since the file is evaluated without any.
pub(crate) fn of_ruby(place: &str, source: &str, notes: &mut Vec<Note>) {
    let lines = source.lines().zip(1..).filter(|(line, _)| reads_variables(line)).take(MAX_PLACES);
    notes.extend(lines.map(|(_, line)| {
        Note::problem(
            format!("{place}:{line}"),
            "it reads ENV, and the import shows a file no variables: write the value into the file, and import again",
        )
    }));
}

/// Returns whether a line of Ruby uses the constant `ENV`. A comment after code counts too, since an unnecessary note does no
/// harm.
fn reads_variables(line: &str) -> bool {
    let is_word = |one: char| one.is_alphanumeric() || one == '_';
    !line.trim_start().starts_with('#')
        && line.match_indices("ENV").any(|(at, word)| {
            let before = line.get(..at).and_then(|text| text.chars().next_back());
            let after = line.get(at + word.len()..).unwrap_or_default();
            before.is_none_or(|one| !is_word(one)) && (after.starts_with('[') || after.starts_with('.'))
        })
}

/// Returns the line of a key in the outermost object, or `None` if the text writes the key differently, for example with
/// escapes.
fn line_of_key(source: &str, key: &str) -> Option<usize> {
    let (mut depth, mut line) = (0_usize, 1_usize);
    let mut rest = source;
    while let Some(one) = rest.chars().next() {
        let length = match one {
            '"' => {
                let text = rest.get(1..)?;
                let inner = end_of_text(text);
                let after = text.get(inner + 1..).unwrap_or_default();
                if depth == 1 && text.get(..inner) == Some(key) && after.trim_start().starts_with(':') {
                    return Some(line);
                }
                inner + 2
            }
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            other => other.len_utf8(),
        };
        match one {
            '{' | '[' => depth += 1,
            '}' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        line += rest.get(..length).unwrap_or(rest).matches('\n').count();
        rest = rest.get(length..).unwrap_or_default();
    }
    None
}

/// Returns the end of a JSON string that begins before this text.
fn end_of_text(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, one) in text.char_indices() {
        match one {
            '"' if !is_escaped => return at,
            _ => is_escaped = one == '\\' && !is_escaped,
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_found_in_the_outermost_object_only() {
        let source = "{ // \"b\": 1\n  \"a\": { \"b\": \"\\\"{\" },\n  /* \"b\":\n */ \"c\": [\"b\"],\n\n  \"b\" : 2 }";
        assert_eq!((line_of_key(source, "b"), line_of_key(source, "c")), (Some(6), Some(4)));
        assert_eq!((line_of_key("{ \"a", "a"), line_of_key("\"b\":", "b")), (None, None));
    }

    #[test]
    fn variables_are_found_in_code() {
        for (line, expected) in [
            ("home ENV['HOME']", true),
            ("x = \"#{ENV.fetch('A', 1)}\"", true),
            ("# ENV['HOME']", false),
            ("MY_ENV['HOME']", false),
            ("'ENVIRONMENT.md'", false),
        ] {
            assert_eq!(reads_variables(line), expected, "{line}");
        }
    }
}
