//! Asks a store for several files at once, before they are needed: a server that is far away is waited for once, and not once
//! for each repository.
//!
//! What a store said is handed on as it was said, an error as an error, and once: whoever asks again hears what the store
//! says then. What is done with the answers is decided where it always was.

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

/// The files that an update begins with, as far as they are known: the platform's next root, and the timestamps of the platform
/// and of the teams that own the policies.
pub(crate) fn first_files(trust: &TrustFolder, wanted: &[Wanted]) -> Vec<File> {
    // What is damaged is told where it is used.
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

/// What a store said about a file.
type Answer = Result<Option<Vec<u8>>, RepositoryError>;

/// A store that was asked for some files already.
pub(crate) struct Prefetched<'s> {
    store: &'s dyn Store,
    answers: Mutex<BTreeMap<File, Answer>>,
}

impl<'s> Prefetched<'s> {
    /// Asks for files, all at once.
    pub(crate) fn of(store: &'s dyn Store, files: Vec<File>) -> Self {
        let mut answers = BTreeMap::new();
        std::thread::scope(|scope| {
            let ask = |(path, limit): File| {
                let file = (path.clone(), limit);
                (file, scope.spawn(move || store.get(&path, limit)))
            };
            // All of them, before the first is waited for.
            let asked: Vec<_> = files.into_iter().take(MAX_AT_ONCE).map(ask).collect();
            // What a thread could not answer is asked again where it is needed.
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
