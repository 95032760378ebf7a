//! The observers of a run: the journal of grants, which needs to know which code asks, and those that the program adds.

use crate::askers::Askers;
use contract::{Event, Observer};
use grants::Journal;
use std::sync::{Arc, Mutex, PoisonError};

/// Several observers that the run and the providers share. The lock is held only for short calls.
#[derive(Clone)]
pub(crate) struct Watchers(Arc<Mutex<Vec<Box<dyn Observer>>>>);

impl Watchers {
    /// Creates the list with the journal of grants first, so that it knows which code asks before other observers are called.
    pub(crate) fn new(journal: Journal, others: Vec<Box<dyn Observer>>) -> Self {
        let mut all: Vec<Box<dyn Observer>> = vec![Box::new(Askers::new(journal))];
        all.extend(others);
        Self(Arc::new(Mutex::new(all)))
    }
}

impl Observer for Watchers {
    fn notice(&mut self, event: &Event<'_>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter_mut().for_each(|one| one.notice(event));
    }
}
