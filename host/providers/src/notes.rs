//! Small notes of a policy in wrun's cache: a server's data about a download, the last answers to debconf, and the names of
//! content that commands verify. Without a note, the download or the answer is repeated, and what a killed verification left
//! stays.

use crate::bounded::BoundedFolder;
use crate::plan::Caches;
use contract::Raised;
use machine::root::Root;

/// The folder of notes of downloads.
pub(crate) const DOWNLOADS: &str = "/remote_file";

/// The folder of notes of answers to debconf.
pub(crate) const ANSWERS: &str = "/preseed";

/// The folder of notes of names that nobody can foresee.
pub(crate) const STAGED: &str = "/staged";

/// Maximum size of all notes of one policy, in bytes.
const MOST: u64 = 16 << 20;

/// Adds a note that was just written, and removes the oldest ones if there are too many.
///
/// # Errors
/// A note cannot be removed, or the policy's limit is exceeded.
pub(crate) fn keep(caches: &mut Caches, cache: &Root, path: &str) -> Result<(), Raised> {
    let mut notes = match caches.notes.take() {
        Some(notes) => notes,
        None => BoundedFolder::read(cache, MOST, age)?,
    };
    notes.add(cache, path)?;
    caches.notes = Some(notes);
    Ok(())
}

fn age(path: &str, modified: i64) -> Option<String> {
    let is_note = [DOWNLOADS, ANSWERS, STAGED]
        .iter()
        .any(|folder| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/')));
    is_note.then(|| format!("{:020}", modified.max(0)))
}
