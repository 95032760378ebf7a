//! Reads dpkg's own record of installed packages: one file instead of a process per package.

use std::collections::HashMap;

/// The path of the status file in the root.
pub(super) const STATUS_FILE: &str = "/var/lib/dpkg/status";

/// The folder in which dpkg records changes that are not yet in the status file. It contains files with numeric names only
/// while dpkg works, or after it was interrupted.
pub(super) const JOURNAL: &str = "/var/lib/dpkg/updates";

/// The state of a package in dpkg (the third word of `Status:`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// Nothing of the package is installed.
    NotInstalled,
    /// The package was removed, but its configuration is left.
    ConfigFiles,
    /// dpkg was interrupted while it unpacked or configured the package.
    Interrupted(&'static str),
    /// The package is installed, or waits for another package's triggers.
    Installed,
}

/// One package of the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Package {
    pub(super) version: String,
    pub(super) state: State,
    /// True if the package is held at its version.
    pub(super) held: bool,
    /// True if dpkg requires that the package is installed again first.
    pub(super) needs_reinstallation: bool,
}

/// All packages by name, and once more by `name:architecture`.
#[derive(Debug, Default)]
pub(super) struct Status {
    packages: HashMap<String, Package>,
}

impl Status {
    /// Parses the status file. Malformed entries are skipped, because dpkg itself reports them when it runs.
    pub(super) fn parse(text: &str, native: Option<&str>) -> Self {
        let mut packages = HashMap::new();
        for paragraph in text.split("\n\n") {
            let Some((name, architecture, package)) = parse_paragraph(paragraph) else { continue };
            if let Some(architecture) = architecture {
                packages.insert(format!("{name}:{architecture}"), package.clone());
                let foreign = native.is_some_and(|native| architecture != native && architecture != "all");
                if foreign && packages.contains_key(name) {
                    continue;
                }
            }
            packages.insert(name.to_owned(), package);
        }
        Self { packages }
    }

    /// Returns a package by `name` or `name:architecture`.
    pub(super) fn get(&self, name: &str) -> Option<&Package> {
        self.packages.get(name)
    }

    /// Returns the installed version, working or not, or `None` if at most configuration is left.
    pub(super) fn version(&self, name: &str) -> Option<&str> {
        let package = self.get(name)?;
        let present = !matches!(package.state, State::NotInstalled | State::ConfigFiles);
        present.then_some(package.version.as_str())
    }

    /// Returns the unfinished state in which an interrupted dpkg left a package.
    pub(super) fn interrupted(&self, name: &str) -> Option<&'static str> {
        match self.get(name) {
            Some(Package { needs_reinstallation: true, .. }) => Some("in need of reinstallation"),
            Some(Package { state: State::Interrupted(state), .. }) => Some(state),
            _ => None,
        }
    }

    /// Tells whether apt knows a package of exactly this name, whatever its lists contain. dpkg may keep a mark for a package
    /// that was never installed. apt then treats a name with pattern characters as a pattern.
    pub(super) fn knows(&self, name: &str) -> bool {
        let may_be_pattern = name.contains(['.', '+']);
        self.get(name).is_some_and(|package| !package.version.is_empty() || !may_be_pattern)
    }

    /// Tells whether a package is held at its version, installed or not.
    pub(super) fn held(&self, name: &str) -> bool {
        self.get(name).is_some_and(|package| package.held)
    }
}

/// Parses name, architecture and the rest. Long fields (descriptions, conffiles) are skipped without being copied.
fn parse_paragraph(paragraph: &str) -> Option<(&str, Option<&str>, Package)> {
    let (mut name, mut architecture, mut version, mut status) = (None, None, "", None);
    for line in paragraph.lines() {
        match line.split_once(':') {
            Some(("Package", value)) => name = Some(value.trim()),
            Some(("Status", value)) => status = Some(value.trim()),
            Some(("Version", value)) => version = value.trim(),
            Some(("Architecture", value)) => architecture = Some(value.trim()),
            _ => {}
        }
    }
    let mut words = status?.split_ascii_whitespace();
    let (wanted, flag, state) = (words.next()?, words.next()?, words.next()?);
    let state = match state {
        "not-installed" => State::NotInstalled,
        "config-files" => State::ConfigFiles,
        "half-installed" => State::Interrupted("half-installed"),
        "unpacked" => State::Interrupted("unpacked"),
        "half-configured" => State::Interrupted("half-configured"),
        _ => State::Installed,
    };
    let package = Package {
        version: version.to_owned(),
        state,
        held: wanted == "hold",
        needs_reinstallation: flag == "reinstreq",
    };
    Some((name?, architecture, package))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
Package: adduser
Status: install ok installed
Architecture: all
Version: 3.134
Depends: passwd
Description: add and remove users
 Status: purge ok not-installed
 .
 Version: 9

Package: nano
Status: deinstall ok config-files
Architecture: amd64
Version: 7.2-1

Package: libc6
Status: hold ok installed
Architecture: amd64
Version: 2.36-9

Package: libc6
Status: install ok installed
Architecture: i386
Version: 2.36-8

Package: cron
Status: install ok half-configured
Architecture: amd64
Version: 3.0

Package: broken
Status: install reinstreq half-installed
Version: 1

Package: later
Status: hold ok not-installed

Package: waiting
Status: install ok triggers-awaited
Version: 2

Package: malformed
Status: install

garbage
";

    #[test]
    fn the_database_is_read() {
        let status = Status::parse(TEXT, Some("amd64"));
        let check = |name: &str, version: Option<&str>| assert_eq!(status.version(name), version, "{name}");
        check("adduser", Some("3.134"));
        check("adduser:all", Some("3.134"));
        check("nano", None);
        check("libc6", Some("2.36-9"));
        check("libc6:i386", Some("2.36-8"));
        check("cron", Some("3.0"));
        check("later", None);
        check("waiting", Some("2"));
        check("malformed", None);
        check("nosuch", None);
        assert_eq!(status.get("nano").map(|package| package.state), Some(State::ConfigFiles));
    }

    #[test]
    fn what_was_interrupted_or_held_is_known() {
        let status = Status::parse(TEXT, Some("amd64"));
        assert_eq!(status.interrupted("cron"), Some("half-configured"));
        assert_eq!(status.interrupted("broken"), Some("in need of reinstallation"));
        assert_eq!(status.interrupted("waiting"), None);
        assert!(status.held("libc6") && status.held("later"));
        assert!(!status.held("libc6:i386") && !status.held("nosuch"));
    }

    #[test]
    fn a_name_that_apt_would_take_for_a_pattern_is_not_known() {
        let text = "Package: g++\nStatus: hold ok not-installed\n\nPackage: plain\nStatus: hold ok not-installed\n\n\
                    Package: libstdc++6\nStatus: install ok installed\nVersion: 1\n";
        let status = Status::parse(text, None);
        assert_eq!(["g++", "c.+", "plain", "libstdc++6"].map(|name| status.knows(name)), [false, false, true, true]);
    }

    #[test]
    fn a_foreign_architecture_does_not_hide_the_native_one() {
        let foreign_first = "Package: a\nStatus: install ok installed\nArchitecture: i386\nVersion: 1\n\n\
                             Package: a\nStatus: install ok installed\nArchitecture: amd64\nVersion: 2\n";
        assert_eq!(Status::parse(foreign_first, Some("amd64")).version("a"), Some("2"));
        let foreign_only = "Package: a\nStatus: install ok installed\nArchitecture: i386\nVersion: 1\n";
        assert_eq!(Status::parse(foreign_only, Some("amd64")).version("a"), Some("1"));
    }
}
