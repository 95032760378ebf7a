//! Copies of files for programs that read them by their path: nobody but wrun and the program's user ever had them open, and
//! nobody else can exchange them.
//!
//! A file in a folder that somebody else owns may become another file, or a link, after it was looked at. Whoever owned a file
//! once may have it open for writing still.

use crate::plan::Writer;
use contract::{ErrorKind, Raised};
use machine::root::{ModeBits, StagedFile};
use std::fs::File;

/// Where wrun's cache is in the root that programs see, if it is not the whole machine.
const CACHE: &str = "/var/cache/wrun";

/// Where copies for other users than wrun's own lie: they may not search wrun's cache.
const FOR_USERS: &str = "/run/wrun";

/// The mode of a copy.
const MODE: ModeBits = ModeBits::plain(0o600);

/// Which copy is made, and for whom.
#[derive(Debug)]
pub(crate) struct Copying<'a> {
    /// The name of the folder for copies of this kind.
    pub(crate) folder: &'static str,
    /// The name of the original, whose extension the copy keeps.
    pub(crate) name: &'a str,
    /// The number of the user as whom the program runs.
    pub(crate) reader: u32,
    /// What cannot be done if others can exchange the copy, as the beginning of a sentence.
    pub(crate) failing: &'a str,
    /// The kind of that error.
    pub(crate) kind: ErrorKind,
}

/// A copy of a file, which vanishes with this value.
#[derive(Debug)]
pub(crate) struct PrivateCopy {
    _file: StagedFile,
    path: String,
}

impl PrivateCopy {
    /// Copies an open file. The policy pays for what is written.
    ///
    /// # Errors
    /// It cannot be read or copied, or others than root and the reader could exchange the copy.
    pub(crate) fn of(content: File, copying: Copying<'_>, writer: &Writer<'_>) -> Result<Self, Raised> {
        let Copying { folder, name, reader, failing, kind } = copying;
        let is_own = reader == own_number();
        let (mut file, folder) = if is_own && writer.root.is_whole() {
            let cache = writer.cache.path().to_string_lossy();
            let real = writer.root.locate_target(&cache)?.real().trim_end_matches('/').to_owned();
            (writer.cache.own_site(&format!("/{folder}/{name}"))?.stage(MODE)?, format!("{real}/{folder}"))
        } else {
            let folder = format!("{}/{folder}", if is_own { CACHE } else { FOR_USERS });
            (writer.root.own_folder(&folder)?.own_site(&format!("/{name}"))?.stage(MODE)?, folder)
        };
        file.copy_from(Ok(content))?;
        if !is_own {
            file.give_to(reader)?;
        }
        let path = format!("{folder}/{}", file.path().rsplit('/').next().unwrap_or_default());
        if !writer.root.is_own_file_of(&path, reader)? {
            let message = format!("{failing}: others than root may change or exchange its copy {path}");
            return Err(Raised::new(kind, message)
                .with_hint("let root own wrun's cache folder and all directories that lead to it, closed to others"));
        }
        Ok(Self { _file: file, path })
    }

    /// The path by which the root's programs reach it.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }
}

/// The number of the user as whom wrun runs, and programs where no other user is named.
pub(crate) fn own_number() -> u32 {
    rustix::process::geteuid().as_raw()
}
