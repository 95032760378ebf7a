//! What is at a path.

use grants::AtPath;
use machine::root::{Kind, Root};

/// Rights of everybody: to read something, and to look for a name in a directory.
const READ: u32 = 0o004;
const SEARCH: u32 = 0o001;

/// Returns what is at a path, once links are followed.
pub(super) fn at_path(root: &Root, path: &str) -> AtPath {
    let mut here = path.trim_end_matches('/');
    loop {
        let asked = if here.is_empty() { "/" } else { here };
        match root.target_entry(asked) {
            Ok(Some(entry)) => {
                let Ok(place) = root.locate_target(asked) else { return AtPath::Hidden };
                let real = place.real().to_owned();
                let is_readable = entry.mode & READ != 0 && (entry.kind != Kind::Directory || entry.mode & SEARCH != 0);
                return match is_visible(root, &real) {
                    _ if asked.len() < path.trim_end_matches('/').len() => AtPath::Nothing { above: real },
                    true if is_readable => AtPath::Readable,
                    true => AtPath::Visible,
                    false => AtPath::Hidden,
                };
            }
            // A link that leads nowhere is an entry of somebody.
            Ok(None) if !matches!(root.entry(asked), Ok(None)) => return AtPath::Hidden,
            Ok(None) if !here.is_empty() => here = here.rsplit_once('/').map_or("", |(above, _)| above),
            Ok(None) | Err(_) => return AtPath::Hidden,
        }
    }
}

/// Tells whether everybody may look at an entry: each directory on the way may be searched.
fn is_visible(root: &Root, real: &str) -> bool {
    let ends = real.match_indices('/').map(|(at, _)| at).skip(1);
    let mut above = ends.filter_map(|end| real.get(..end)).chain(["/"]);
    above.all(|folder| root.entry(folder).ok().flatten().is_some_and(|entry| entry.mode & SEARCH != 0))
}
