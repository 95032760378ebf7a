//! Regular expressions of specifications.
//!
//! Each is written twice: as Chef shows it in a message, and in the syntax of the engine here, which takes time linear in the text
//! whatever a guest sends. Ruby's `^` and `$` stand at every line; where Chef clearly means the whole value, ours is anchored at
//! the value's ends, so that no second line is smuggled past a check.

use std::sync::OnceLock;

use regex::Regex;

/// One regular expression, compiled when it is first needed.
#[derive(Debug)]
pub struct Pattern {
    shown: &'static str,
    source: &'static str,
    compiled: OnceLock<Option<Regex>>,
}

impl Pattern {
    /// A pattern from Ruby's way to write it (with its slashes, for messages) and the engine's.
    pub const fn new(shown: &'static str, source: &'static str) -> Self {
        Self { shown, source, compiled: OnceLock::new() }
    }

    /// Whether it is found in the text. A pattern that cannot be compiled is found nowhere; a test compiles all built-in ones.
    pub fn is_found_in(&self, text: &str) -> bool {
        self.regex().is_some_and(|regex| regex.is_match(text))
    }

    /// Whether it can be compiled.
    pub fn is_usable(&self) -> bool {
        self.regex().is_some()
    }

    /// The pattern as Ruby's `inspect` shows it.
    pub const fn shown(&self) -> &'static str {
        self.shown
    }

    fn regex(&self) -> Option<&Regex> {
        self.compiled.get_or_init(|| Regex::new(self.source).ok()).as_ref()
    }
}
