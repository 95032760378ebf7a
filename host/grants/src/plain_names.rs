//! Stores the allowed names and paths of a policy. A run has thousands of them, most of them only once.
//!
//! Looking each name up in a set costs more than the check that allowed it. So names are appended to one text, including
//! repetitions. They are compared only when they are read, or when the text becomes too long. From then on they are stored in
//! a set, so that a policy which repeats the same name uses no more space.

use std::collections::{BTreeSet, HashSet};

/// Ends each name in the text. Names have no control characters.
const END: char = '\n';

/// Names, each of printable ASCII.
#[derive(Debug, Clone)]
pub(crate) enum PlainNames {
    /// The names, each followed by [`END`], perhaps with repetitions.
    Appended(String),
    /// The names without repetitions.
    Distinct(HashSet<String>),
}

impl Default for PlainNames {
    fn default() -> Self {
        Self::Appended(String::new())
    }
}

impl PlainNames {
    /// Adds a name. Returns whether it takes space; a name that is known to be stored takes none.
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

    /// Tells whether a name is stored, if the names are [distinct](Self::make_distinct).
    pub(crate) fn contains(&self, name: &str) -> bool {
        matches!(self, Self::Distinct(names) if names.contains(name))
    }

    /// Removes repetitions, now and from now on. Returns the number and the size of the removed names.
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
