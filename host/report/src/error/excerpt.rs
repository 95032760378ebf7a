//! The lines of a cookbook around the place of an error.
//!
//! The lines of a sensitive resource may contain its secret. The end of a declaration is unknown, and a recipe that ended
//! early may not have declared the resource yet. So lines are hidden if they are near the declaration of a sensitive
//! resource, or near a line that sets the property `sensitive`.

use contract::{CookbookFiles, Excerpt};
use node::origin::Origin;
use std::ops::RangeInclusive;

/// Lines shown before and after the one that failed.
const AROUND: u32 = 3;

/// Assumed length of a declaration: lines after its first one, and lines before and after the one that sets `sensitive`.
const DECLARATION: u32 = 15;

/// The property that makes a resource sensitive.
const PROPERTY: &str = "sensitive";

/// Returns the lines around a place, from the artifact's sources. Returns `None` if the source is not available, or if some
/// of the lines may belong to a sensitive resource. `sensitive` has the places where such resources were declared.
pub(super) fn around(place: &Origin, files: &dyn CookbookFiles, sensitive: &[&Origin]) -> Option<Excerpt> {
    let ((cookbook, file), line) = (place.cookbook_file()?, place.line?);
    let text = String::from_utf8(files.read(cookbook, file).ok()?).ok()?;
    let shown = line.saturating_sub(AROUND).max(1)..=line.saturating_add(AROUND);
    let mut declared = sensitive.iter().filter(|other| other.cookbook_file() == place.cookbook_file());
    let is_declared = declared.any(|other| other.line.is_some_and(|first| meets(&shown, 0, first, DECLARATION)));
    let mut marks = (1..).zip(text.lines()).filter(|(_, text)| sets_sensitive(text));
    if is_declared || marks.any(|(at, _)| meets(&shown, DECLARATION, at, DECLARATION)) {
        return None;
    }
    let lines = (1..).zip(text.lines()).filter(|(at, _)| shown.contains(at));
    let lines = lines.map(|(at, text)| (at, text.to_owned())).collect();
    Some(Excerpt { file: format!("{cookbook}/{file}"), line, lines })
}

/// Whether some of the shown lines are among those around a line.
fn meets(shown: &RangeInclusive<u32>, before: u32, line: u32, after: u32) -> bool {
    line.saturating_sub(before) <= *shown.end() && *shown.start() <= line.saturating_add(after)
}

/// Whether a line of Ruby or Rust sets the property: `sensitive true`, `.sensitive(true)`, `sensitive: true`, `:sensitive`.
/// Words such as `case_insensitive`, and sentences with the word, do not count.
fn sets_sensitive(line: &str) -> bool {
    let is_word = |sign: char| sign.is_alphanumeric() || sign == '_';
    line.match_indices(PROPERTY).any(|(at, _)| {
        let (before, after) = (line.get(..at).unwrap_or_default(), line.get(at + PROPERTY.len()..).unwrap_or_default());
        let is_whole = !before.ends_with(is_word) && !after.starts_with(is_word);
        is_whole && (is_name(before, after) || is_call(before, after) && !is_off(after))
    })
}

/// Whether the word is a name in code: a symbol or a text of its own, as in `send(:sensitive, true)`.
fn is_name(before: &str, after: &str) -> bool {
    let is_text = ['"', '\''].iter().any(|quote| before.ends_with(*quote) && after.starts_with(*quote));
    is_text || before.ends_with(':')
}

/// Tells whether the word is a call: it begins a statement, has a receiver, or is followed by an argument.
fn is_call(before: &str, after: &str) -> bool {
    let begins = before.trim_end();
    let is_first = begins.is_empty() || begins.ends_with([';', '{', '|', '.', '(']) || begins.ends_with(" do");
    is_first || after.trim_start().starts_with(['(', '=', ':'])
}

/// Tells whether the only argument of the call is `false`.
fn is_off(after: &str) -> bool {
    let value = after.trim_start_matches(|sign: char| sign.is_whitespace() || "(=:>".contains(sign));
    let rest = value.strip_prefix("false");
    rest.is_some_and(|rest| rest.chars().all(|sign| sign.is_whitespace() || ");,}".contains(sign)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use contract::FileError;

    /// A cookbook of one file.
    struct OneFile(String);

    impl CookbookFiles for OneFile {
        fn cookbooks(&self) -> Vec<(String, String)> {
            vec![]
        }

        fn paths(&self, _: &str, _: &str) -> Result<Vec<String>, FileError> {
            Ok(vec![])
        }

        fn read(&self, _: &str, _: &str) -> Result<Vec<u8>, FileError> {
            Ok(self.0.clone().into_bytes())
        }
    }

    fn origin(line: u32) -> Origin {
        Origin {
            cookbook: Some("site".into()),
            file: Some("recipes/default.rb".into()),
            line: Some(line),
            ..Origin::default()
        }
    }

    #[test]
    fn a_block_that_is_sensitive_is_not_shown() {
        let far = "#\n".repeat(20);
        let text = format!("file '/x' do\n  sensitive true\n  content 'S3CR3T'\n  mode 'zzz'\nend\n{far}raise 'x'\n");
        let files = OneFile(text);
        let around = |line| around(&origin(line), &files, &[]);
        assert_eq!((around(1), around(4), around(20)), (None, None, None));
        assert_eq!(around(26).unwrap().lines.len(), 4);
    }

    #[test]
    fn what_the_run_knows_as_sensitive_is_not_shown() {
        let files = OneFile("secret_file '/x' do\n  content 'S3CR3T'\nend\n".to_owned() + &"#\n".repeat(40));
        let (declared, other) = (origin(1), Origin { file: Some("recipes/other.rb".into()), ..origin(40) });
        let sensitive = [&declared, &other];
        let around = |line| around(&origin(line), &files, &sensitive);
        assert_eq!((around(2), around(19)), (None, None));
        assert!(around(20).is_some() && around(40).is_some());
    }

    #[test]
    fn the_property_is_told_from_words_that_contain_its_name() {
        let check = |line: &str, expected: bool| assert_eq!(sets_sensitive(line), expected, "{line}");
        for line in [
            "  sensitive true",
            "sensitive",
            "sensitive(node['x'])",
            "file('/x') { sensitive true; content 'x' }",
            "file '/x' do |it| it.sensitive true end",
            "execute 'x' do sensitive true end",
            "    .sensitive(true)",
            "File { sensitive: true, ..x }",
            "resource.sensitive = true",
            "send(:sensitive, true)",
            "send 'sensitive', true",
            "sensitive false || node['x']",
        ] {
            check(line, true);
        }
        for line in [
            "case_insensitive true",
            "  insensitive(true)",
            "sensitive_data = 1",
            "# a sensitive thing",
            "log 'it is sensitive'",
            "log 'sensitive data'",
            "  sensitive false",
            ".sensitive(false)",
            "file('/x') { sensitive false }",
        ] {
            check(line, false);
        }
    }
}
