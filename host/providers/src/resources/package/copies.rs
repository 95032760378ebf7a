//! Package files as they are installed: copies that nobody but wrun ever had open.
//!
//! Whoever owned a file once may have it open for writing still, and put another package into it after it was looked at. So
//! what is installed is a copy below wrun's cache, and what the copy holds is looked at before the tool gets it.

use crate::plan::Writer;
use crate::private_copy::{Copying, PrivateCopy, own_number};
use contract::{ErrorKind, Raised};
use std::fs::File;

/// Copies the package file at a resolved path. The policy pays for what is written.
///
/// # Errors
/// It cannot be read or copied, or others than root could exchange the copy.
pub(super) fn copy(source: &str, writer: &Writer<'_>) -> Result<PrivateCopy, Raised> {
    let place = writer.root.locate(source)?;
    if place.real() != source {
        return Err(exchanged(source));
    }
    let (content, _) = place.open_file()?;
    let copying = Copying {
        folder: "packages",
        name: source.rsplit('/').next().unwrap_or_default(),
        reader: own_number(),
        failing: &format!("{source} is not installed"),
        kind: ErrorKind::Package,
    };
    PrivateCopy::of(File::from(content), copying, writer)
}

/// The failure of a file that became another one after it was looked at.
pub(super) fn exchanged(path: &str) -> Raised {
    let message = format!("{path} is not installed: it holds another package than when it was looked at");
    Raised::new(ErrorKind::Package, message).with_hint("let nothing else write to the file, and converge again")
}
