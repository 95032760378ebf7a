//! Finds the packages that an installation or a removal would remove in addition to the declared ones. They may belong to
//! other teams.
//!
//! rpm removes packages that a package file declares obsolete. dnf and yum also remove packages that depend on a removed one,
//! and dependencies that are no longer needed. So rpm files are queried for the packages that they replace, and dnf and yum
//! are simulated.

use super::version::Version;
use super::{inquiry, is_name, query};
use crate::plan::{View, Writer};
use contract::{CommandOutcome, ErrorKind, Raised};
use machine::command::{Launch, require_success};
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

/// Options that answer the tool's question, or that suppress the list of changes.
const ANSWERING: [&str; 6] = ["-y", "--yes", "--assumeyes", "-q", "-qq", "--quiet"];

/// The question to dnf or yum what it would do, without doing it.
pub(super) fn simulation(options: &[String], words: impl IntoIterator<Item = String>) -> Vec<String> {
    let options = options.iter().filter(|option| !ANSWERING.contains(&option.as_str())).cloned();
    options.chain(["--assumeno".to_owned()]).chain(words).collect()
}

/// Returns the names of the packages that dnf or yum would remove.
pub(super) fn foreseen(program: &str, question: Vec<String>, view: &mut View<'_>) -> Result<Vec<String>, Raised> {
    let launch = inquiry::question(program, question.clone());
    let outcome = inquiry::ask(view, program, question)?;
    judge(&launch, &outcome)
}

/// Does the same right before the transaction.
pub(super) fn foreseen_now(
    program: &str,
    question: Vec<String>,
    writer: &mut Writer<'_>,
) -> Result<Vec<String>, Raised> {
    let launch = inquiry::question(program, question);
    let outcome = writer.launch(&launch).map_err(|failure| failure.into_raised(&launch))?;
    judge(&launch, &outcome)
}

fn judge(launch: &Launch, outcome: &CommandOutcome) -> Result<Vec<String>, Raised> {
    let text = String::from_utf8_lossy(&outcome.output);
    match removals(&text) {
        // The tool shows the transaction, and then ends with an error code.
        Some(found) => Ok(found),
        None => {
            require_success(launch, outcome, &[0])?;
            if text.contains("Nothing to do") || String::from_utf8_lossy(&outcome.errors).contains("Nothing to do") {
                return Ok(vec![]);
            }
            let message = format!("which packages `{}` would remove cannot be read in what it says", launch.shown());
            Err(Raised::new(ErrorKind::Package, message))
        }
    }
}

/// Returns the packages in the table of a transaction that would be removed or replaced. Returns `None` if the text has no
/// such table, or if the table's number of removals differs from its lines.
///
/// A table has a line for each kind of change. Below it, each package has a line that begins with one space and the package's
/// name. Below that there may be a line `replacing NAME.ARCHITECTURE VERSION`. dnf 5 writes `replacing NAME ARCHITECTURE
/// VERSION ..`, also for older versions of the same package. Long lines continue in a line that begins with several spaces.
fn removals(text: &str) -> Option<Vec<String>> {
    let (table, summary) = text.split_once("Transaction Summary")?;
    let (mut found, mut removed) = (vec![], 0);
    let (mut removing, mut package) = (false, "");
    for line in table.lines() {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        match (line.len() - line.trim_start_matches(' ').len(), words.as_slice()) {
            (0, _) => removing = line.starts_with("Removing"),
            (1, [name, ..]) => {
                package = *name;
                if removing {
                    removed += 1;
                    found.push(package.to_owned());
                }
            }
            (_, ["replacing", name, _]) => found.push(name.rsplit_once('.')?.0.to_owned()),
            (_, ["replacing", name, _, _, ..]) if *name != package => found.push((*name).to_owned()),
            (_, ["replacing"]) => return None,
            _ => {}
        }
    }
    let counted = summary.lines().find_map(|line| {
        let mut words = line.split_ascii_whitespace();
        matches!(words.next(), Some("Remove" | "Removing:")).then(|| words.next()?.parse::<usize>().ok())
    });
    (counted.unwrap_or(Some(0)) == Some(removed)).then_some(found)
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

    #[test]
    fn tables_of_dnf_4_and_yum_are_read() {
        let text = "Dependencies resolved.
================================================================================
 Package            Arch   Version  Repository                             Size
================================================================================
Installing:
 tool               noarch 2-1      @commandline                          6.1 k
     replacing  lib.foo.x86_64 1-1
     replacing  victim.noarch 1-1
Upgrading:
 other              noarch 2-1      base                                  6.1 k
Removing dependent packages:
 a-very-long-name-that-does-not-fit-in-its-column
                    noarch 1-1      @base                                   0  
 user-of-it         noarch 1-1      @base                                   0  

Transaction Summary
================================================================================
Install  1 Package
Upgrade  1 Package
Remove   2 Packages

Operation aborted.
";
        let expect = ["lib.foo", "victim", "a-very-long-name-that-does-not-fit-in-its-column", "user-of-it"];
        assert_eq!(removals(text).unwrap(), expect);
        assert_eq!(removals(&text.replace("Remove   2", "Remove   3")), None);
        assert_eq!(removals(&text.replace("Remove   2", "Remove   some")), None);
        assert_eq!(removals("Nothing to do.\nComplete!\n"), None);
    }

    #[test]
    fn tables_of_dnf_5_are_read() {
        let text = "Package          Arch   Version Repository      Size
Upgrading:
 tool            noarch 2-1     @commandline  6.1 KiB
   replacing tool noarch 1-1    base          6.0 KiB
   replacing victim noarch 1-1  base          6.0 KiB
Removing:
 user-of-it      noarch 1-1     base          6.0 KiB

Transaction Summary:
 Upgrading:          1 package
 Replacing:          2 packages
 Removing:           1 package

Operation aborted by the user.
";
        assert_eq!(removals(text).unwrap(), ["victim", "user-of-it"]);
    }
}
