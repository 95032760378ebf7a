//! What is at a path.

use grants::AtPath;
use machine::root::Root;

/// Returns what is at a path, once links are followed.
pub(super) fn at_path(root: &Root, path: &str) -> AtPath {
    let mut here = path.trim_end_matches('/');
    loop {
        let asked = if here.is_empty() { "/" } else { here };
        match root.target_entry(asked) {
            Ok(Some(_)) => {
                let Ok(place) = root.locate_target(asked) else { return AtPath::Closed };
                let real = place.real().to_owned();
                return match root.is_open_to_all(&real) {
                    _ if asked.len() < path.trim_end_matches('/').len() => AtPath::Nothing { above: real },
                    true => AtPath::Readable,
                    false => AtPath::Closed,
                };
            }
            // A link that leads nowhere is an entry of somebody.
            Ok(None) if !matches!(root.entry(asked), Ok(None)) => return AtPath::Closed,
            Ok(None) if !here.is_empty() => here = here.rsplit_once('/').map_or("", |(above, _)| above),
            Ok(None) | Err(_) => return AtPath::Closed,
        }
    }
}
