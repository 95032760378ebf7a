//! Finds what lies in directories of cookbooks and may be one, and opens it.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::io;
use std::path::{Path, PathBuf};

use artifact::MAX_FILES;
use plain_files::{HeldFolder, Kind, WalkError};

use super::{FoldersError, METADATA, too_many};

/// How deep in a cookbook's folder others are looked for.
const MAX_VENDOR_DEPTH: usize = 3;

/// The most names in a directory of cookbooks that are looked at for others.
const MAX_VENDOR_NAMES: usize = 1 << 20;

/// The directories inside the cookbooks of a directory that hold cookbooks themselves: what their authors have put beside
/// their own code. Tests' cookbooks are none of these.
pub(super) fn vendor_directories(directory: &HeldFolder) -> Vec<HeldFolder> {
    let mut found = BTreeSet::new();
    // What was found before an error is taken.
    let _ = directory.folder().walk(MAX_VENDOR_NAMES, |entry| {
        let is_metadata = entry.kind != Kind::Folder && METADATA.iter().any(|name| entry.is(name));
        // Below the directory, the cookbook, at least one folder, and the cookbook in there.
        if is_metadata && entry.depth >= 3 {
            found.extend(entry.path.ancestors().nth(2).map(Path::to_owned));
        }
        let is_test = entry.is("test") || entry.is("spec");
        Ok::<_, Infallible>(entry.depth <= MAX_VENDOR_DEPTH + 1 && !entry.is_hidden() && !is_test)
    });
    found.into_iter().filter_map(|below| directory.below(below).ok().flatten()).collect()
}

/// Opens a directory of cookbooks, which is shown without links.
pub(super) fn directory(path: &Path) -> Result<HeldFolder, FoldersError> {
    let opened = HeldFolder::open(path)
        .map_err(|source| FoldersError { path: path.to_owned(), source: plain_files::explained(path, source) })?;
    let real = opened.real().to_owned();
    Ok(opened.with_path(real))
}

/// What lies in a directory of cookbooks and may be one.
pub(super) struct Found {
    directory: HeldFolder,
    pub(super) name: String,
    is_link: bool,
}

/// All folders of a directory, and the links to folders.
pub(super) fn found_in(directory: &HeldFolder) -> io::Result<Vec<Found>> {
    let mut found = vec![];
    let walked = directory.folder().walk(MAX_FILES, |entry| {
        let name = entry.text().filter(|_| !entry.is_hidden()).map(str::to_owned);
        let is_link = entry.kind == Kind::Link && directory.path().join(&entry.path).is_dir();
        if let Some(name) = name.filter(|_| is_link || entry.kind == Kind::Folder) {
            found.push(Found { directory: directory.clone(), name, is_link });
        }
        Ok::<_, Infallible>(false)
    });
    match walked {
        Ok(()) => Ok(found),
        Err(WalkError::Read(_, error)) => Err(error),
        Err(WalkError::TooMany) => Err(too_many()),
        Err(WalkError::Visit(never)) => match never {},
    }
}

impl Found {
    pub(super) fn path(&self) -> PathBuf {
        self.directory.path().join(&self.name)
    }

    /// Opens the folder. A link leads where the operator says, or into one of the directories that the operator gives: whoever
    /// else wrote it could name a folder that only the operator may read.
    pub(super) fn open(&self, given: &[HeldFolder]) -> Result<HeldFolder, String> {
        let path = self.path();
        let cannot = |error: io::Error| format!("{} cannot be read: {error}", path.display());
        if !self.is_link {
            let opened = self.directory.folder().below(&self.name).map_err(cannot)?;
            let opened = opened.is_some().then(|| self.directory.below(&self.name));
            return opened.transpose().map_err(cannot)?.flatten().ok_or_else(|| format!("{} is gone", path.display()));
        }
        if self.directory.folder().is_own_name(&self.name).map_err(cannot)? {
            return HeldFolder::open(&path).map_err(cannot);
        }
        let target = path.canonicalize().map_err(cannot)?;
        let opened = given.iter().find_map(|directory| {
            let below = target.strip_prefix(directory.real()).ok().filter(|below| !below.as_os_str().is_empty())?;
            // The path that was looked at is the one that is opened.
            directory.folder().below(below).ok().flatten()?;
            directory.below(below).ok().flatten()
        });
        opened.map(|opened| opened.with_path(path.clone())).ok_or_else(|| {
            format!(
                "{} is a link out of the given directories, and others than root and you can make or change it: put the \
                 cookbook itself there, or give the directory of {} with --cookbooks as well",
                path.display(),
                target.display()
            )
        })
    }
}
