//! Private copies of package files, for installation: no process except wrun ever had them open.
//!
//! A former owner of a file may still have it open for writing, and could replace the package after wrun's check. So wrun
//! installs a copy below its cache, and checks the copy before the tool gets it.

use crate::plan::Writer;
use crate::private_copy::{Copying, PrivateCopy, own_number};
use contract::{ErrorKind, Raised};
use std::fs::File;

/// Copies the package file at a resolved path. The written bytes are charged to the policy.
///
/// # Errors
/// The file cannot be read or copied, or users other than root could replace the copy.
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

/// Returns the failure for a file that has changed since it was checked.
pub(super) fn exchanged(path: &str) -> Raised {
    let message = format!("{path} is not installed: it holds another package than when it was looked at");
    Raised::new(ErrorKind::Package, message).with_hint("let nothing else write to the file, and converge again")
}
