//! Which written paths led to which resolved ones: refusals name a path as the policy wrote it.
//!
//! A provider resolves a path and then asks for the right to it. So the last path that led there is the one that it asked
//! about; looking for it among all texts of a resource would tell whether another text leads to the same place.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

/// How many paths are remembered.
const KEPT: usize = 64;

/// The last paths that were resolved, the newest last.
#[derive(Debug, Default)]
pub(super) struct Asked(Mutex<VecDeque<Written>>);

/// What is known of how a resolved path was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PathSource {
    /// The policy wrote it, in these words.
    Written(Written),
    /// In words that are forgotten.
    Forgotten,
    /// Nobody wrote it: the host chose it.
    Unwritten,
}

/// A written path, and where it leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// As it was written.
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
        let text = text.chars().take(super::MAXIMUM_PATH).collect();
        all.push_back(Written { text, real: real.to_owned() });
    }

    /// The newest that led to a resolved path, or to one above or below it. The root is above all of them, so it counts
    /// for itself only.
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
