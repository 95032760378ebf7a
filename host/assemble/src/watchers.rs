//! Those who watch a run: the grants, which want to know who asks, and whoever the program adds.

use crate::askers::Askers;
use contract::{Event, Observer};
use grants::Journal;
use std::sync::{Arc, Mutex, PoisonError};

/// Several observers that the run and the providers share. Nobody holds them for long.
#[derive(Clone)]
pub(crate) struct Watchers(Arc<Mutex<Vec<Box<dyn Observer>>>>);

impl Watchers {
    /// The grants' journal first, so that it knows who asks before others hear of it.
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
