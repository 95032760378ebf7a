//! Says what is missing of a path that a person typed, with a near name that exists.
//!
//! Only for paths from people: the near name tells what lies in a directory.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use text::nearest;

/// Largest number of names in a directory among which a near one is looked for.
const MAX_NAMES: usize = 10_000;

/// Returns the error about a path that was not found with the part that is missing. Other errors stay as they are.
pub fn explained(path: &Path, error: io::Error) -> io::Error {
    match missing_part(path) {
        Some(text) if error.kind() == ErrorKind::NotFound => io::Error::new(ErrorKind::NotFound, text),
        _ => error,
    }
}

/// Returns a clause that names the first absent part of a path: `there is no web.jsn in /srv; did you mean
/// `web.json`?`. Returns `None` if all parts exist.
pub fn missing_part(path: &Path) -> Option<String> {
    let (name, folder) = first_missing(path)?;
    let place = folder.join(&name);
    match place.symlink_metadata() {
        Ok(_) if place.exists() => return None,
        Ok(_) => return Some(format!("{} is a link to something that does not exist", place.display())),
        Err(_) => {}
    }
    let near = near_in(&folder, &name).map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
    Some(format!("there is no {name} in {}{near}", folder.display()))
}

/// Returns the near name that exists in place of the first absent part of a path.
pub fn near_name(path: &Path) -> Option<String> {
    let (name, folder) = first_missing(path)?;
    near_in(&folder, &name).filter(|near| *near != name)
}

/// Returns the first part of a path that may be absent, with the directory that it would be in.
fn first_missing(path: &Path) -> Option<(String, PathBuf)> {
    let whole = std::path::absolute(path).ok()?;
    whole.ancestors().find_map(|part| {
        let folder = part.parent().filter(|folder| folder.is_dir())?;
        Some((part.file_name()?.to_string_lossy().into_owned(), folder.to_owned()))
    })
}

fn near_in(folder: &Path, name: &str) -> Option<String> {
    let names = std::fs::read_dir(folder).into_iter().flatten().flatten().take(MAX_NAMES);
    let names: Vec<String> = names.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    nearest(name, names.iter().map(String::as_str)).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_missing_part_is_named_with_a_near_one() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().display();
        std::fs::create_dir(folder.path().join("cookbooks")).unwrap();
        std::os::unix::fs::symlink("gone", folder.path().join("link")).unwrap();
        let said = |name: &str| missing_part(&folder.path().join(name));
        for name in ["cookboks", "cookboks/web/recipes"] {
            let expected = format!("there is no cookboks in {place}; did you mean `cookbooks`?");
            assert_eq!(said(name), Some(expected));
        }
        assert_eq!(said("other"), Some(format!("there is no other in {place}")));
        assert_eq!(said("cookbooks/web"), Some(format!("there is no web in {place}/cookbooks")));
        assert_eq!(said("link"), Some(format!("{place}/link is a link to something that does not exist")));
        assert_eq!(said("cookbooks"), None);
        assert_eq!(near_name(&folder.path().join("cookboks/web")).as_deref(), Some("cookbooks"));
        assert_eq!(
            (near_name(&folder.path().join("other")), near_name(&folder.path().join("cookbooks"))),
            (None, None)
        );
        let denied = explained(&folder.path().join("other"), ErrorKind::PermissionDenied.into());
        assert_eq!(denied.kind(), ErrorKind::PermissionDenied);
    }
}
