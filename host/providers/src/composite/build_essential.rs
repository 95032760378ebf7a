//! `build_essential`: the packages that are needed to compile C.

use super::machine::Family;
use super::{Composite, Machine, child, children, runtime_error};
use crate::resources::asked;
use contract::{Composition, Raised, Wanted};
use schema::types::build_essential::BuildEssentialProperties;
use serde_json::json;

/// The packages of Debian.
const DEBIAN: &[&str] = &["autoconf", "binutils-doc", "bison", "build-essential", "flex", "gettext", "ncurses-dev"];

/// The packages of Fedora and Red Hat.
const RED_HAT: &[&str] =
    &["autoconf", "bison", "flex", "gcc", "gcc-c++", "gettext", "kernel-devel", "make", "m4", "ncurses-devel", "patch"];

/// The packages of SUSE.
const SUSE: &[&str] = &["autoconf", "bison", "flex", "gcc", "gcc-c++", "kernel-default-devel", "make", "m4"];

/// The composite of `build_essential`.
pub(super) struct BuildEssential;

impl Composite for BuildEssential {
    fn compose(&self, wanted: &Wanted<'_>, machine: &mut Machine<'_, '_>) -> Result<Composition, Raised> {
        let BuildEssentialProperties { raise_if_unsupported } = asked::properties(wanted)?;
        // The action exists for macOS only.
        if wanted.action == "upgrade" {
            return Ok(Composition::default());
        }
        let names = match machine.family() {
            Family::Debian => DEBIAN,
            Family::RedHat => RED_HAT,
            Family::Suse => SUSE,
            Family::Other => {
                let name = machine.release("ID").unwrap_or_default();
                let message = format!(
                    "        The build_essential resource does not currently support the '{name}'\n        platform family. \
                     Skipping...\n"
                );
                return match raise_if_unsupported {
                    true => Err(runtime_error(message)),
                    false => Ok(Composition { warnings: vec![message], ..Composition::default() }),
                };
            }
        };
        Ok(children([child(machine.package_type(), &names.join(", "), "install", [("package_name", json!(names))])]))
    }
}
