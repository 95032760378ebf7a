//! Whether not everybody may read a file.

use machine::root::{Kind, Root};

/// Tells whether not every account may read a file, or list a folder. A path that does not exist is for everybody,
/// unless it lies in a folder that is not.
pub(super) fn is_private(root: &Root, path: &str) -> bool {
    let ends = path.match_indices('/').map(|(at, _)| at).skip(1).chain([path.len()]);
    let mut ways = ends.filter_map(|end| path.get(..end));
    ways.any(|way| match root.target_entry(way) {
        Ok(Some(entry)) if entry.kind == Kind::Directory && way != path => entry.mode & 0o001 == 0,
        Ok(Some(entry)) => entry.mode & 0o004 == 0,
        Ok(None) => false,
        Err(_) => true,
    })
}
