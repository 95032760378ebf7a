//! Notes that wrun keeps for a policy in its cache: what a server said of a download, and which answers debconf was given last.
//! Without one, the download or the answer is made once more.

use crate::bounded::BoundedFolder;
use crate::plan::Caches;
use contract::Raised;
use machine::root::Root;

/// The folder of notes of downloads.
pub(crate) const DOWNLOADS: &str = "/remote_file";

/// The folder of notes of answers to debconf.
pub(crate) const ANSWERS: &str = "/preseed";

/// The bytes that the notes of one policy may take together.
const MOST: u64 = 16 << 20;

/// Adds a note that was written just now. The oldest go where there are too many.
///
/// # Errors
/// One cannot be removed, or the policy may cost no more.
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
    let is_note =
        [DOWNLOADS, ANSWERS].iter().any(|folder| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/')));
    is_note.then(|| format!("{:020}", modified.max(0)))
}
