//! `package`: chooses the type for the root's own package tools.

use super::{AptPackage, DnfPackage};
use crate::plan::{Plan, Provider, View};
use contract::{Raised, Wanted};

/// Packages from the archives of the root's distribution.
pub(crate) struct Package;

impl Package {
    /// Returns the type of the root's own tools.
    fn chosen(view: &View<'_>) -> &'static dyn Provider {
        let has = |program: &str| {
            ["/usr/bin", "/bin"]
                .iter()
                .any(|folder| view.root.target_entry(&format!("{folder}/{program}")).is_ok_and(|entry| entry.is_some()))
        };
        match () {
            () if has("apt-get") => &AptPackage,
            () if has("dnf") => &DnfPackage { program: "dnf" },
            () if has("yum") => &DnfPackage { program: "yum" },
            () => &AptPackage,
        }
    }
}

impl Provider for Package {
    fn plan(&self, wanted: &Wanted<'_>, view: &mut View<'_>) -> Result<Plan, Raised> {
        Self::chosen(view).plan(wanted, view)
    }

    fn ask(&self, wanted: &Wanted<'_>, view: &mut View<'_>) -> Result<(), Raised> {
        if wanted.action == "flush_cache" { Ok(()) } else { Self::chosen(view).ask(wanted, view) }
    }

    fn settles(&self, action: &str) -> bool {
        AptPackage.settles(action)
    }
}
