//! dpkg's packages as planning found them, and whether they still are so.

use super::status::{Package, State, Status};
use crate::found::{Found, Thing, changed_meanwhile};
use crate::plan::Writer;
use contract::{ABSENT, Raised};

/// A package as it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FoundPackage {
    name: String,
    /// What dpkg knows of it. `None`: nothing.
    package: Option<Package>,
    /// The version that was chosen for it. `None`: it is removed or marked.
    candidate: Option<String>,
}

impl FoundPackage {
    /// A package as dpkg knows it.
    pub(super) fn of(status: &Status, name: &str) -> Self {
        Self { name: name.to_owned(), package: status.get(name).cloned(), candidate: None }
    }

    /// The same, for which a version was chosen.
    pub(super) fn choosing(self, version: &str) -> Self {
        Self { candidate: Some(version.to_owned()), ..self }
    }

    fn thing(&self) -> Thing {
        let thing = Thing::new("package", &self.name);
        let thing = match &self.package {
            None => thing.with("presence", ABSENT),
            Some(package) => {
                let state = match package.state {
                    State::NotInstalled => ABSENT,
                    State::ConfigFiles => "configuration",
                    State::Interrupted(state) => state,
                    State::Installed => "installed",
                };
                let thing = thing.with("presence", state).with("version", &package.version);
                thing.is("locked", package.held).is("broken", package.needs_reinstallation)
            }
        };
        thing.with_any("candidate", self.candidate.clone())
    }
}

/// Packages as things. None of them: the operation asks dpkg for nothing.
pub(super) fn found(packages: &[FoundPackage]) -> Found {
    if packages.is_empty() { Found::Nothing } else { Found::of(packages.iter().map(FoundPackage::thing)) }
}

/// Fails if dpkg knows something else of one of the packages by now. What apt offers is not asked again: apt itself does not
/// install a version that is gone.
///
/// # Errors
/// [`contract::ErrorKind::ChangedMeanwhile`]; or dpkg's record cannot be read.
pub(super) fn require(packages: &[FoundPackage], writer: &mut Writer<'_>) -> Result<(), Raised> {
    if packages.is_empty() {
        return Ok(());
    }
    let status = writer.caches.packages.status(writer.root)?;
    let Some(other) = packages.iter().find(|found| status.get(&found.name) != found.package.as_ref()) else {
        return Ok(());
    };
    let version = |package: Option<&Package>| match package {
        Some(package) if !matches!(package.state, State::NotInstalled | State::ConfigFiles) => package.version.clone(),
        _ => "not installed".to_owned(),
    };
    let (was, now) = (version(other.package.as_ref()), version(status.get(&other.name)));
    let how = match was == now {
        true => "its state is another now".to_owned(),
        false => format!("its version was {was}, and is {now} now"),
    };
    Err(changed_meanwhile(format_args!("package {}", other.name), &how))
}
