//! Packages that change along with the declared ones.
//!
//! A granted package acts as root, so it may bring and upgrade what it needs. But a right to it includes no other team's
//! package: removing or downgrading one needs the right to that. What the operator denies by name, and wrun itself, is never
//! brought along.

use super::request::grant;
use super::targets::{also_removed, change_of};
use crate::plan::View;
use contract::{Change, Raised};
use grants::GrantedPackage;
use machine::denied::denied;

/// What happens to a package that the resource does not declare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// It was not installed.
    Installed,
    /// It gets the same version again.
    Reinstalled,
    /// It gets a newer version.
    Upgraded,
    /// It gets an older version.
    Downgraded,
    /// It is removed or replaced.
    Removed,
}

/// A package that changes along with the declared ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Along {
    /// Its name, as the tool writes it.
    pub(super) name: String,
    pub(super) fate: Fate,
    /// The new version, as the tool writes it. Empty if it is removed.
    pub(super) version: String,
}

impl Along {
    /// Returns the sentence about an installed package, or `None` for a new one. `why` completes the sentence about a removed
    /// package after *which*.
    pub(super) fn change(&self, installed: Option<&str>, why: &str) -> Option<Change> {
        let Self { name, fate, version } = self;
        let verb = match fate {
            Fate::Installed => return None,
            Fate::Removed => return Some(also_removed(name, installed, why)),
            Fate::Reinstalled => return Some(Change::new(format!("reinstall package {name} along with it"))),
            Fate::Upgraded => "upgrade",
            Fate::Downgraded => "downgrade",
        };
        let current = installed.unwrap_or("another version");
        let sentence = format!("{verb} package {name} from {current} to {version} along with it");
        Some(change_of(sentence, name, installed, version))
    }

    /// Tells whether the package is installed before the change.
    pub(super) fn is_installed(&self) -> bool {
        self.fate != Fate::Installed
    }
}

/// Checks the grants for packages that change along. `overwrites`: new versions overwrite configuration files that were
/// changed on the node, which needs the right to each package.
///
/// # Errors
/// A package that is removed or downgraded is not granted, or one that is brought along is denied.
pub(super) fn grant_along(view: &View<'_>, all: &[Along], overwrites: bool) -> Result<Vec<GrantedPackage>, Raised> {
    let needs_right = |one: &&Along| match one.fate {
        Fate::Removed | Fate::Downgraded => true,
        Fate::Upgraded | Fate::Reinstalled => overwrites,
        Fate::Installed => false,
    };
    let (own, brought): (Vec<&Along>, Vec<&Along>) = all.iter().partition(needs_right);
    let granted = grant(view, own.iter().map(|one| one.name.as_str()));
    let refused = |one: &Along| {
        let name = one.name.split_once(':').map_or(one.name.as_str(), |(package, _)| package);
        view.grants.package_is_brought(name).map_err(denied)
    };
    let brought: Vec<_> = brought.into_iter().map(refused).collect();
    brought.into_iter().collect::<Result<(), _>>()?;
    granted
}
