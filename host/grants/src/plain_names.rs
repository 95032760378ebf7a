//! Names and paths that a policy was allowed, as many as a run asks for: thousands, most of them once.
//!
//! Looking each one up in a set costs more than the check that allowed it. So they are appended to one text, repeated ones
//! too, and told apart when somebody reads them, or when the text has become too long: from then on they are kept in a set,
//! so that a policy which asks for the same name again and again gets no further.

use std::collections::{BTreeSet, HashSet};

/// Ends each name in the text. Names have no control characters.
const END: char = '\n';

/// Names, each of printable ASCII.
#[derive(Debug, Clone)]
pub(crate) enum PlainNames {
    /// Each followed by [`END`]; some may be there more than once.
    Appended(String),
    /// Each is in the set once.
    Distinct(HashSet<String>),
}

impl Default for PlainNames {
    fn default() -> Self {
        Self::Appended(String::new())
    }
}

impl PlainNames {
    /// Adds a name. Returns whether it takes room: a name that is known to be there takes none.
    pub(crate) fn add(&mut self, name: &str) -> bool {
        match self {
            Self::Appended(text) => {
                text.push_str(name);
                text.push(END);
                true
            }
            Self::Distinct(names) => names.insert(name.to_owned()),
        }
    }

    /// Tells whether a name is there, once the names are [distinct](Self::make_distinct).
    pub(crate) fn contains(&self, name: &str) -> bool {
        matches!(self, Self::Distinct(names) if names.contains(name))
    }

    /// Keeps each name once from now on. Returns the names that are dropped, as their number and their bytes.
    pub(crate) fn make_distinct(&mut self) -> (usize, usize) {
        let Self::Appended(text) = self else { return (0, 0) };
        let mut names = HashSet::new();
        let (mut count, mut bytes) = (0, 0);
        for name in text.split_terminator(END) {
            if !names.insert(name.to_owned()) {
                count += 1;
                bytes += name.len();
            }
        }
        *self = Self::Distinct(names);
        (count, bytes)
    }

    /// Returns the names in order, each once.
    pub(crate) fn sorted(&self) -> BTreeSet<&str> {
        match self {
            Self::Appended(text) => text.split_terminator(END).collect(),
            Self::Distinct(names) => names.iter().map(String::as_str).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_apart_when_they_are_read() {
        let mut names = PlainNames::default();
        for name in ["b", "a", "b", "b"] {
            assert!(names.add(name));
        }
        assert_eq!(names.sorted().into_iter().collect::<Vec<_>>(), ["a", "b"]);
        assert!(!names.contains("a"));
        assert_eq!(names.make_distinct(), (2, 2));
        assert!(names.contains("a") && !names.add("a") && names.add("c"));
        assert_eq!(names.make_distinct(), (0, 0));
        assert_eq!(names.sorted().into_iter().collect::<Vec<_>>(), ["a", "b", "c"]);
    }
}
