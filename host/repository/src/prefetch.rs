//! Reads several files of a store in parallel before they are needed, so that a slow server delays a run once and not once
//! for each repository.
//!
//! Each answer is returned unchanged and only once, also an error. A second read of the same file asks the store again. The
//! callers decide what to do with the answers, as without this module.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use crate::error::{RepositoryError, Role};
use crate::metadata::limit;
use crate::names::{PLATFORM, team_folder};
use crate::node::Wanted;
use crate::store::{Store, Writer};
use crate::teams::{owner, teams};
use crate::trust::TrustFolder;
use crate::update::{known_targets, stored_metadata, trusted_root};

/// Most files that are asked for at once.
const MAX_AT_ONCE: usize = 16;

/// A file to be asked for: its path, and the most bytes that it may have.
pub(crate) type File = (String, u64);

/// Returns the known first files of an update: the platform's next root, and the timestamps of the platform and of the teams
/// that own the policies.
pub(crate) fn first_files(trust: &TrustFolder, wanted: &[Wanted]) -> Vec<File> {
    // Damaged trust data are reported where they are used.
    let Some(trust) = trust.read(PLATFORM).ok().flatten() else { return vec![] };
    let Ok(root) = trusted_root("", &trust.trusted.root, PLATFORM) else { return vec![] };
    let timestamp = |folder: &str| (stored_metadata(folder, Role::Timestamp, 0), limit(Role::Timestamp));
    let next = stored_metadata(PLATFORM, Role::Root, root.version.saturating_add(1));
    let mut files = vec![(next, limit(Role::Root)), timestamp(PLATFORM)];
    let known = known_targets(PLATFORM, &trust.trusted).ok().flatten();
    let known = known.and_then(|targets| teams(&targets).ok()).unwrap_or_default();
    let asked = wanted.iter().filter(|one| one.revision.is_none());
    let owners: BTreeSet<&str> =
        asked.filter_map(|one| owner(&known, &one.policy, "").ok()).map(|team| team.name.as_str()).collect();
    files.extend(owners.into_iter().map(|team| timestamp(&team_folder(team))));
    files
}

/// The store's answer for a file.
type Answer = Result<Option<Vec<u8>>, RepositoryError>;

/// A store with the answers for some files.
pub(crate) struct Prefetched<'s> {
    store: &'s dyn Store,
    answers: Mutex<BTreeMap<File, Answer>>,
}

impl<'s> Prefetched<'s> {
    /// Reads files, all in parallel.
    pub(crate) fn of(store: &'s dyn Store, files: Vec<File>) -> Self {
        let mut answers = BTreeMap::new();
        std::thread::scope(|scope| {
            let ask = |(path, limit): File| {
                let file = (path.clone(), limit);
                (file, scope.spawn(move || store.get(&path, limit)))
            };
            // All threads are started before the first one is waited for.
            let asked: Vec<_> = files.into_iter().take(MAX_AT_ONCE).map(ask).collect();
            // If a thread failed, the file is read again when it is needed.
            answers.extend(asked.into_iter().filter_map(|(file, thread)| Some((file, thread.join().ok()?))));
        });
        Self { store, answers: Mutex::new(answers) }
    }
}

impl Store for Prefetched<'_> {
    fn place(&self) -> String {
        self.store.place()
    }

    fn get(&self, path: &str, limit: u64) -> Answer {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        let known = answers.remove(&(path.to_owned(), limit));
        drop(answers);
        known.unwrap_or_else(|| self.store.get(path, limit))
    }

    fn names(&self, folder: &str) -> Result<Vec<String>, RepositoryError> {
        self.store.names(folder)
    }

    fn writer<'w>(&'w self, folder: &str) -> Result<Box<dyn Writer + 'w>, RepositoryError> {
        self.store.writer(folder)
    }

    fn file(&self, path: &str) -> String {
        self.store.file(path)
    }
}
