//! `os`, `os_version`: Ohai's plugin OS.

use crate::machine::{Gathered, Machine};
use crate::topics::known;

/// Returns the running kernel's release (`6.1.0-18-amd64`). Ohai also uses it as the version of systems without one.
pub(crate) fn kernel_release() -> String {
    rustix::system::uname().release().to_string_lossy().into_owned()
}

pub(crate) fn gather(_: &Machine) -> Gathered {
    known([("os", Some("linux".to_owned())), ("os_version", Some(kernel_release()))])
}
