//! Finds the files of roles and environments by name.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io;
use std::path::{Path, PathBuf};

/// Largest number of entries of a directory, with all directories below it.
pub const MAX_ENTRIES: usize = 100_000;

/// Largest depth of nested directories.
const MAX_DEPTH: usize = 16;

/// Returns the files of roles or environments by name, in a directory and those below it. If there is a JSON file and a Ruby
/// file of the same name, the Ruby file is used, as in Chef. Hidden entries are skipped.
///
/// # Errors
/// A directory cannot be read, or two files in one language have one name; the error has the path of a directory.
pub fn documents(folder: &Path) -> Result<BTreeMap<String, PathBuf>, (PathBuf, io::Error)> {
    let mut all = vec![];
    let mut folders = vec![(folder.to_owned(), 0)];
    let mut entries = 0;
    while let Some((folder, depth)) = folders.pop() {
        let failed = |error| (folder.clone(), error);
        for entry in std::fs::read_dir(&folder).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            entries += 1;
            if entries > MAX_ENTRIES || depth > MAX_DEPTH {
                return Err(failed(io::Error::other(
                    "it has too many files, or directories below each other without end",
                )));
            }
            let name = path.file_stem().and_then(|name| name.to_str()).map(str::to_owned);
            let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
            match (name, ending) {
                (Some(name), _) if name.starts_with('.') => {}
                _ if path.is_dir() => folders.push((path, depth + 1)),
                (Some(name), "rb" | "json") => all.push((name, path)),
                _ => {}
            }
        }
    }
    one_of_each(all).map_err(|(first, second)| {
        let reason = format!("{} and {} have one name", first.display(), second.display());
        (folder.to_owned(), io::Error::other(reason))
    })
}

/// Chooses the file of each name. Two files with the same extension are an error with both paths, because the order of
/// directories must not matter.
fn one_of_each(mut all: Vec<(String, PathBuf)>) -> Result<BTreeMap<String, PathBuf>, (PathBuf, PathBuf)> {
    all.sort();
    let mut found: BTreeMap<String, PathBuf> = BTreeMap::new();
    for (name, path) in all {
        match found.entry(name) {
            Entry::Vacant(free) => drop(free.insert(path)),
            Entry::Occupied(taken) if taken.get().extension() == path.extension() => {
                return Err((taken.get().clone(), path));
            }
            Entry::Occupied(mut taken) if path.extension().is_some_and(|ending| ending == "rb") => {
                taken.insert(path);
            }
            Entry::Occupied(_) => {}
        }
    }
    Ok(found)
}
