//! Computes paths like Ruby's `File.expand_path` and `Pathname#relative_path_from`, without looking at the disk.

use std::path::{Component, Path, PathBuf};

/// Returns a path without `.` and `..`. A relative path begins at `folder`.
#[must_use]
pub fn expanded(path: impl AsRef<Path>, folder: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in folder.join(path).components() {
        match part {
            Component::ParentDir => {
                out.pop();
            }
            Component::CurDir => {}
            part => out.push(part),
        }
    }
    out
}

/// The path from one folder to another, both expanded: `../c/web`, or `.` for the same.
#[must_use]
pub fn relative(from: &Path, to: &Path) -> String {
    let (from, to): (Vec<_>, Vec<_>) = (from.components().collect(), to.components().collect());
    let common = from.iter().zip(&to).take_while(|(left, right)| left == right).count();
    let up = std::iter::repeat_n("..".to_owned(), from.len() - common);
    let down = to.iter().skip(common).map(|part| part.as_os_str().to_string_lossy().into_owned());
    let parts: Vec<_> = up.chain(down).collect();
    if parts.is_empty() { ".".to_owned() } else { parts.join("/") }
}

/// A relative path inside a repository, from the folder of a file in it. `None` if it leads out of the repository.
pub(super) fn inside(folder: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = vec![];
    for part in folder.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_made_by_their_text() {
        let check =
            |path: &str, expect: &str| assert_eq!(expanded(path, Path::new("/a/b")), Path::new(expect), "{path}");
        check("c", "/a/b/c");
        check("./c/../d", "/a/b/d");
        check("../../../x", "/x");
        check("/y/.", "/y");
        let check = |to: &str, expect: &str| assert_eq!(relative(Path::new("/a/b"), Path::new(to)), expect, "{to}");
        check("/a/b", ".");
        check("/a/b/c/d", "c/d");
        check("/a/c", "../c");
        check("/", "../..");
        assert_eq!(inside("policies", "../books/a").as_deref(), Some("books/a"));
        assert_eq!(inside("", "./books/a").as_deref(), Some("books/a"));
        assert_eq!(inside("", "."), Some(String::new()));
        assert_eq!(inside("x", "../../a"), None);
    }
}
