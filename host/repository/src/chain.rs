//! Verifies the chain of roots, in which each root is also signed by the keys of the previous one.

use crate::error::{RepositoryError, Role};
use crate::metadata::{Envelope, Root, limit};
use crate::store::Store;
use crate::update::stored_metadata;

/// Reads a root that an operator has chosen to trust. It must at least be signed by its own keys, and be for the folder's
/// repository.
///
/// # Errors
/// It is not a root, does not keep its own rules, or is for another repository.
pub fn trusted_root(file: &str, bytes: &[u8], folder: &str) -> Result<Root, RepositoryError> {
    let envelope = Envelope::parse(file, bytes)?;
    let root = Root::of(&envelope)?;
    root.verify(&envelope, Role::Root)?;
    envelope.check_repository(&root.repository.part(folder))?;
    Ok(root)
}

/// Checks that a named root belongs to the same chain of roots as another one.
///
/// # Errors
/// It does not, or the chain between them cannot be read.
pub(crate) fn check_same_chain(
    store: &dyn Store,
    folder: &str,
    one: &[u8],
    other: &[u8],
) -> Result<(), RepositoryError> {
    let read = |bytes: &[u8]| trusted_root("a root that is trusted", bytes, folder);
    let (first, second) = (read(one)?, read(other)?);
    let (mut root, last, end) =
        if first.version <= second.version { (first, second, other) } else { (second, first, one) };
    let mut bytes = if end == other { one.to_owned() } else { other.to_owned() };
    while root.version < last.version {
        let path = stored_metadata(folder, Role::Root, root.version + 1);
        bytes = store.need(&path, limit(Role::Root), "")?;
        root = next_root(&store.file(&path), &bytes, &root)?;
    }
    if bytes == end {
        return Ok(());
    }
    Err(RepositoryError::Other(format!("the roots of {} that are trusted are not of one chain", store.file(folder))))
}

/// Reads the root that follows another one. The keys of both must have signed it, and its version must be the next one.
pub(crate) fn next_root(file: &str, bytes: &[u8], before: &Root) -> Result<Root, RepositoryError> {
    let envelope = Envelope::parse(file, bytes)?;
    let next = Root::of(&envelope)?;
    before.verify(&envelope, Role::Root)?;
    next.verify(&envelope, Role::Root)?;
    check_named(file, next.version, before.version + 1)?;
    Ok(next)
}

/// Checks that a document has the expected version.
pub(crate) fn check_named(file: &str, found: u64, expected: u64) -> Result<(), RepositoryError> {
    if found == expected {
        return Ok(());
    }
    let what = format!("it has the version {found} and not {expected}");
    Err(RepositoryError::Invalid { file: file.to_owned(), what })
}
