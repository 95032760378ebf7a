//! Regular expressions of specifications.
//!
//! Each is written twice: as Chef shows it in a message, and in the syntax of Rust's engine, whose time is linear in the
//! length of any text. Ruby's `^` and `$` match at every line. Where Chef clearly means the whole value, our pattern matches
//! only at its ends, so that a second line cannot get past a check.

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
    /// Creates a pattern from Ruby's notation, with slashes, for messages, and from the engine's notation.
    pub const fn new(shown: &'static str, source: &'static str) -> Self {
        Self { shown, source, compiled: OnceLock::new() }
    }

    /// Tells whether the pattern matches a part of the text. A pattern that cannot be compiled never matches; a test compiles
    /// all built-in ones.
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
