//! Package files as they are installed: copies that nobody but wrun ever had open.
//!
//! Whoever owned a file once may have it open for writing still, and put another package into it after it was looked at. So
//! what is installed is a copy below wrun's cache, and what the copy holds is looked at before the tool gets it.

use crate::plan::Writer;
use contract::{ErrorKind, Raised};
use machine::root::{ModeBits, StagedFile};
use std::fs::File;

/// The folder of the copies in wrun's cache.
const FOLDER: &str = "/packages";

/// The same where the tools see another root than wrun's cache is in.
const FOLDER_OF_ROOT: &str = "/var/cache/wrun/packages";

/// The mode of a copy: the tools run as root.
const MODE: ModeBits = ModeBits::plain(0o600);

/// A copy of a package file, which vanishes with this value.
#[derive(Debug)]
pub(super) struct PrivateCopy {
    _file: StagedFile,
    path: String,
}

impl PrivateCopy {
    /// Copies the file at a resolved path. The policy pays for what is written.
    ///
    /// # Errors
    /// It cannot be read or copied, or others than root could exchange the copy.
    pub(super) fn of(source: &str, writer: &Writer<'_>) -> Result<Self, Raised> {
        let place = writer.root.locate(source)?;
        if place.real() != source {
            return Err(exchanged(source));
        }
        let (content, _) = place.open_file()?;
        let name = source.rsplit('/').next().unwrap_or_default();
        let (mut file, folder) = if writer.root.is_whole() {
            let cache = writer.cache.path().to_string_lossy();
            let real = writer.root.locate_target(&cache)?.real().trim_end_matches('/').to_owned();
            (writer.cache.own_site(&format!("{FOLDER}/{name}"))?.stage(MODE)?, format!("{real}{FOLDER}"))
        } else {
            let folder = writer.root.own_folder(FOLDER_OF_ROOT)?;
            (folder.own_site(&format!("/{name}"))?.stage(MODE)?, FOLDER_OF_ROOT.to_owned())
        };
        file.copy_from(Ok(File::from(content)))?;
        let path = format!("{folder}/{}", file.path().rsplit('/').next().unwrap_or_default());
        if !writer.root.is_roots_own_file(&path)? {
            let message = format!("{source} is not installed: others than root may change or exchange its copy {path}");
            return Err(Raised::new(ErrorKind::Package, message)
                .with_hint("let root own wrun's cache folder and all directories that lead to it, closed to others"));
        }
        Ok(Self { _file: file, path })
    }

    /// The path by which the root's tools reach it.
    pub(super) fn path(&self) -> &str {
        &self.path
    }
}

/// The failure of a file that became another one after it was looked at.
pub(super) fn exchanged(path: &str) -> Raised {
    let message = format!("{path} is not installed: it holds another package than when it was looked at");
    Raised::new(ErrorKind::Package, message).with_hint("let nothing else write to the file, and converge again")
}
