//! The state of dpkg's packages when planned, and the check whether it is unchanged.

use super::status::{Package, State, Status};
use crate::found::{Found, Thing, changed_meanwhile};
use crate::plan::Writer;
use contract::{ABSENT, Raised};

/// A package with its state when planned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FoundPackage {
    name: String,
    /// The record of dpkg. `None`: dpkg does not know the package.
    package: Option<Package>,
    /// The chosen version. `None`: the package is removed or marked.
    candidate: Option<String>,
}

impl FoundPackage {
    /// Creates the state of a package from dpkg's records.
    pub(super) fn of(status: &Status, name: &str) -> Self {
        Self { name: name.to_owned(), package: status.get(name).cloned(), candidate: None }
    }

    /// Adds the chosen version.
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

/// Returns the state of packages. An empty list means that the operation does not depend on dpkg.
pub(super) fn found(packages: &[FoundPackage]) -> Found {
    if packages.is_empty() { Found::Nothing } else { Found::of(packages.iter().map(FoundPackage::thing)) }
}

/// Fails if dpkg's record of a package has changed. apt is not asked again, because it does not install a version that is no
/// longer available.
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
