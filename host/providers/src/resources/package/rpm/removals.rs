//! Finds the packages that rpm would remove because a package file declares them obsolete. They may belong to other teams.

use super::version::Version;
use super::{is_name, query};
use crate::plan::View;
use contract::{ErrorKind, Raised};
use std::cmp::Ordering;

/// A declaration of a package file that it replaces another package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Replaces {
    name: String,
    /// The replaced versions. `None`: all.
    versions: Option<Range>,
}

/// A range of versions: those older or newer than a bound, or the bound itself.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Range {
    older: bool,
    same: bool,
    newer: bool,
    /// Epoch and version of the bound, and its release if the declaration has one.
    bound: (String, String, Option<String>),
}

impl Range {
    fn has(&self, version: &Version) -> bool {
        let (epoch, bound, release) = &self.bound;
        let release = release.as_ref().unwrap_or(&version.release).clone();
        let bound = Version { epoch: epoch.clone(), version: bound.clone(), release, ..version.clone() };
        match version.compare(&bound) {
            Ordering::Less => self.older,
            Ordering::Equal => self.same,
            Ordering::Greater => self.newer,
        }
    }
}

/// The format of rpm's answer about replaced packages: one line for each.
pub(super) const REPLACES: &str = "[%{OBSOLETENAME} %{OBSOLETEFLAGS:depflags} %{OBSOLETEVERSION}\\n]";

/// Parses rpm's answer to [`REPLACES`].
///
/// # Errors
/// A line has another form. The package's author chose the text, and a line that cannot be parsed cannot be checked.
pub(super) fn parse(text: &str, path: &str) -> Result<Vec<Replaces>, Raised> {
    let lines = text.lines().map(str::trim).filter(|line| !matches!(*line, "" | "(none)" | "(none) (none) (none)"));
    let unreadable = |line: &str| {
        let message = format!("{path} is not installed: it replaces {line:?}, which is not the name of a package");
        Raised::new(ErrorKind::Package, message)
    };
    lines.map(|line| replaces(line).ok_or_else(|| unreadable(line))).collect()
}

fn replaces(line: &str) -> Option<Replaces> {
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    let (name, versions) = match words.as_slice() {
        [name] => (*name, None),
        [name, sign, bound] => {
            let signs = sign.chars().all(|sign| matches!(sign, '<' | '=' | '>')).then_some(sign)?;
            let (epoch, rest) = bound.split_once(':').unwrap_or(("0", bound));
            let (version, release) = rest.split_once('-').map_or((rest, None), |(version, rest)| (version, Some(rest)));
            let bound = (epoch.to_owned(), version.to_owned(), release.map(str::to_owned));
            let [older, same, newer] = ['<', '=', '>'].map(|sign| signs.contains(sign));
            (*name, Some(Range { older, same, newer, bound }))
        }
        _ => return None,
    };
    is_name(name).then(|| Replaces { name: name.to_owned(), versions })
}

/// Returns the installed packages among those that a file replaces, without the file's own package.
pub(super) fn replaced(
    own: &str,
    replaces: &[Replaces],
    view: &mut View<'_>,
) -> Result<Vec<(String, Version)>, Raised> {
    let mut names: Vec<String> = replaces.iter().map(|one| one.name.clone()).filter(|name| name != own).collect();
    names.sort_unstable();
    names.dedup();
    let mut installed = query::installed(view, &names)?;
    installed.retain(|(name, version)| {
        let fits = |one: &Replaces| one.name == *name && one.versions.as_ref().is_none_or(|range| range.has(version));
        replaces.iter().any(fits)
    });
    installed.dedup_by(|one, other| one.0 == other.0);
    Ok(installed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, version: &str, expect: bool) {
        let found = parse(line, "/x.rpm").unwrap();
        let (epoch, rest) = version.split_once(':').unwrap();
        let (version, release) = rest.split_once('-').unwrap();
        let [epoch, version, release, architecture] = [epoch, version, release, "noarch"].map(str::to_owned);
        let version = Version { epoch, version, release, architecture };
        assert_eq!(found[0].versions.as_ref().is_none_or(|range| range.has(&version)), expect, "{line} {version:?}");
    }

    #[test]
    fn versions_that_are_replaced_are_told_from_others() {
        check("victim  \n", "0:1-1", true);
        check("victim < 2\n", "0:1.9-7", true);
        check("victim < 2\n", "0:2-1", false);
        check("victim <= 2\n", "0:2-7", true);
        check("victim <= 2-3\n", "0:2-7", false);
        check("victim = 1:2\n", "1:2-7", true);
        check("victim = 1:2\n", "0:2-7", false);
        check("victim >= 2\n", "1:1-1", true);
        check("victim > 2\n", "0:2-1", false);
        assert!(parse("(none)\n", "/x.rpm").unwrap().is_empty());
        for odd in ["-x < 1\n", "a b\n", "a ! 1\n", "/etc/passwd\n", "a < 1 2\n", "a\n<\n"] {
            assert!(parse(odd, "/x.rpm").unwrap_err().message.contains("not the name of a package"), "{odd}");
        }
    }
}
