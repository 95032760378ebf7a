//! Remembers which written paths led to which resolved paths, so that refusals can name a path as the policy wrote it.
//!
//! A provider resolves a path and then checks the grant for it. So the last path that led there is the one that the policy
//! used. Searching all texts of a resource instead would reveal whether another text leads to the same place.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

/// The number of paths that are remembered.
const KEPT: usize = 64;

/// The last paths that were resolved, the newest last.
#[derive(Debug, Default)]
pub(super) struct Asked(Mutex<VecDeque<Written>>);

/// The origin of a resolved path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PathSource {
    /// The policy wrote the path in this form.
    Written(Written),
    /// The policy may have written it, but the form is forgotten.
    Forgotten,
    /// The host chose the path.
    Unwritten,
}

/// A written path, and the path that it resolves to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The path as the policy wrote it.
    pub text: String,
    /// The path after all links, such as `/etc/shadow`.
    pub real: String,
}

impl Asked {
    /// Remembers a written path with the path it resolved to; the oldest is dropped if there are too many.
    pub(super) fn note(&self, text: &str, real: &str) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() == KEPT {
            all.pop_front();
        }
        let text = text.chars().take(super::MAX_PATH).collect();
        all.push_back(Written { text, real: real.to_owned() });
    }

    /// Returns the newest written path that led to a resolved path, or to one above or below it. The root directory is above
    /// all paths, so it counts only for itself.
    pub(super) fn find(&self, resolved: &str) -> PathSource {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_within = |inner: &str, outer: &str| {
            inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || (rest.starts_with('/') && outer != "/"))
        };
        match all.iter().rev().find(|one| is_within(resolved, &one.real) || is_within(&one.real, resolved)) {
            Some(written) => PathSource::Written(written.clone()),
            None if all.len() == KEPT => PathSource::Forgotten,
            None => PathSource::Unwritten,
        }
    }

    /// Forgets all of them.
    pub(super) fn clear(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}
