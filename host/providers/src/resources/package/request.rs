//! The declared packages of a resource, read and checked.

use super::status::{State, Status};
use crate::plan::View;
use crate::resources::asked;
use contract::{ErrorKind, Raised, Wanted};
use grants::{GrantedPackage, PackageTool};
use machine::denied::denied;
use machine::root::Place;
use schema::types::package::{PackageProperties, TRANSACTION_SECONDS};
use std::collections::HashSet;
use std::time::Duration;

/// Maximum length of a package name, in bytes; Debian's longest is 80.
const MAX_NAME: usize = 200;

/// Finds a package file. `None`: it does not exist.
///
/// # Errors
/// The file is not granted. [`ErrorKind::Package`]: users other than root may replace or change it, so that root's package
/// tool might install another package than the checked one.
pub(super) fn package_file(source: &str, view: &View<'_>) -> Result<Option<Place>, Raised> {
    // The existence of the file is used only if the policy may install it.
    let granted = view.grants.package_source(&view.root.asked_about(source)).map_err(denied)?;
    let Ok(place) = view.root.locate_target(source) else { return Ok(None) };
    if place.real() != granted.path() || place.entry().is_err() {
        return Ok(None);
    }
    if view.root.is_roots_own_file(granted.path())? {
        return Ok(Some(place));
    }
    let message = format!("{} is not installed: others than root may change or exchange it", granted.path());
    Err(Raised::new(ErrorKind::Package, message).with_hint(
        "let root own the file, and all directories that lead to it, with no write permission for others: the policy's file \
         cache is such a place",
    ))
}

/// Returns the time limit of a tool that changes packages. A tool that is ended in the middle leaves packages half installed,
/// and no policy can change any package from then on. So a policy may give it more time than usual, and not less.
fn transaction_time(asked_seconds: Option<u64>) -> Duration {
    Duration::from_secs(asked_seconds.unwrap_or_default().max(TRANSACTION_SECONDS))
}

/// The properties that all actions have in common.
pub(super) struct Request {
    /// Names in order, without repetitions, each with the declared version.
    pub(super) packages: Vec<(String, Option<String>)>,
    /// Further arguments for the package tool, checked against the grants.
    pub(super) options: Vec<String>,
    /// Further variables for the package tool, checked against the grants.
    pub(super) environment: Vec<(String, String)>,
    /// Time limit of a tool.
    pub(super) timeout: Duration,
    /// The proofs for the packages, after [`grant`] has checked them.
    pub(super) granted: Vec<GrantedPackage>,
}

impl Request {
    /// Reads the properties that all package types share. [`grant`] checks the names, since for `dpkg_package` they may be
    /// paths.
    ///
    /// # Errors
    /// Options or variables are not granted, or the policy's limit is exceeded.
    pub(super) fn read(wanted: &Wanted<'_>, view: &View<'_>) -> Result<Self, Raised> {
        let properties: PackageProperties = asked::properties(wanted)?;
        let mut versions = properties.version.into_iter();
        let mut packages: Vec<(String, Option<String>)> = Vec::with_capacity(properties.package_name.len());
        let mut known = HashSet::new();
        for name in properties.package_name {
            view.looks_at_item()?;
            let version = versions.next().filter(|version| !version.is_empty());
            if known.insert(name.clone()) {
                packages.push((name, version));
            }
        }
        let options = view.grants.package_options(&properties.options).map_err(denied)?.words().to_vec();
        let environment = view.grants.package_environment(&properties.environment).map_err(denied)?;
        let environment = environment.variables().to_vec();
        let timeout = transaction_time(properties.timeout);
        Ok(Self { packages, options, environment, timeout, granted: vec![] })
    }

    /// Tells whether a tool may be started with these options to simulate a change. Even then, some options start programs
    /// (apt's hooks and solvers, dnf's plugins), as root and without limits, but a dry run must not change anything.
    ///
    /// # Errors
    /// [`ErrorKind::Unknown`]: it is a dry run, and not all options are known to be harmless.
    pub(super) fn may_ask(&self, tool: PackageTool, view: &View<'_>) -> Result<(), Raised> {
        if !view.why_run || grants::are_harmless_options(tool, &self.options) {
            return Ok(());
        }
        let message = "a dry run does not ask the package tool with options that may start programs";
        Err(Raised::new(ErrorKind::Unknown, message))
    }

    /// Returns all names, as sentences list them.
    pub(super) fn names(&self) -> String {
        self.packages.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ")
    }

    /// Returns `version 1, 2 of `, or an empty text without a declared version.
    pub(super) fn versions(&self) -> String {
        let versions = self.packages.iter().filter_map(|(_, version)| version.as_deref()).collect::<Vec<_>>();
        if versions.is_empty() { String::new() } else { format!("version {} of ", versions.join(", ")) }
    }

    /// Returns the installed packages to remove. If versions are declared, packages of other versions stay. With `purge`, a
    /// removed package whose configuration is left also counts as installed. (Chef's `purge` of an `apt_package` leaves the
    /// configuration.)
    pub(super) fn present(&self, status: &Status, purge: bool) -> Vec<String> {
        let versions = self.packages.iter().any(|(_, version)| version.is_some());
        let present = |(name, version): &&(String, Option<String>)| match status.version(name) {
            Some(current) => !versions || version.as_deref() == Some(current),
            None => purge && status.get(name).is_some_and(|package| package.state == State::ConfigFiles),
        };
        let names = self.packages.iter().filter(present).map(|(name, _)| name.clone());
        names.filter(|name| is_name(name)).collect()
    }
}

/// Asks for options, variables and all names, whatever is denied: of types whose names are not paths.
///
/// # Errors
/// As [`Request::read`] and [`grant`].
pub(super) fn ask(wanted: &Wanted<'_>, view: &View<'_>) -> Result<(), Raised> {
    let properties: PackageProperties = asked::properties(wanted)?;
    let options = view.grants.package_options(&properties.options).map(drop).map_err(denied);
    let environment = view.grants.package_environment(&properties.environment).map(drop).map_err(denied);
    let names = grant(view, properties.package_name.iter().map(String::as_str).filter(|name| is_name(name)));
    options.and(environment).and(names.map(drop))
}

/// Checks the grants for all names. `name:architecture` needs the grant of the package `name`. Each is asked for, whatever is
/// denied.
///
/// # Errors
/// A package is not granted.
pub(super) fn grant<'a>(
    view: &View<'_>,
    names: impl IntoIterator<Item = &'a str>,
) -> Result<Vec<GrantedPackage>, Raised> {
    let check = |name: &str| {
        let package = name.split_once(':').map_or(name, |(package, _)| package);
        view.grants.package(package).map_err(denied)
    };
    let checked: Vec<_> = names.into_iter().map(check).collect();
    checked.into_iter().collect()
}

/// Tells whether a text can be a package name: letters, digits, `+`, `-` and `.`, optionally with an architecture. Other
/// texts never reach a tool, because a final `-`, `/`, `=`, `^` or `*` would have another meaning there.
pub(super) fn is_name(name: &str) -> bool {
    let (package, architecture) = name.split_once(':').unwrap_or((name, "any"));
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    name.len() <= MAX_NAME
        && package.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric())
        && package.bytes().all(plain)
        && architecture.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric())
        && architecture.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attack_a_short_timeout_does_not_end_a_transaction() {
        for (asked, expect) in [(None, 900), (Some(0), 900), (Some(2), 900), (Some(900), 900), (Some(1800), 1800)] {
            assert_eq!(transaction_time(asked), Duration::from_secs(expect), "{asked:?}");
        }
    }

    #[test]
    fn only_names_of_packages_reach_a_tool() {
        for name in ["hello", "libstdc++6", "g++", "python3.11", "libc6:i386", "0ad", "a"] {
            assert!(is_name(name), "{name}");
        }
        for name in [
            "",
            "-y",
            "--purge",
            "hello=1",
            "hello/sid",
            "hello*",
            "task^",
            "a b",
            "a\nb",
            "./x.deb",
            "/x.deb",
            "x:",
            ":x",
            "é",
            "a:b:c",
        ] {
            assert!(!is_name(name), "{name}");
        }
        assert!(!is_name(&"a".repeat(MAX_NAME + 1)));
    }
}
