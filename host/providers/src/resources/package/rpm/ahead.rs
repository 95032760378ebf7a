//! Finds the packages that dnf or yum would change in addition to the declared ones. They may belong to other teams.
//!
//! dnf and yum upgrade and downgrade what the declared packages need in another version. They remove packages that depend on a
//! removed one, that a new one replaces, and dependencies that are no longer needed. So they are simulated.

use super::inquiry;
use crate::plan::{View, Writer};
use crate::resources::package::along::{Along, Fate};
use contract::{CommandOutcome, ErrorKind, Raised};
use machine::command::{Launch, require_success};

/// Options that answer the tool's question, or that suppress the list of changes.
const ANSWERING: [&str; 6] = ["-y", "--yes", "--assumeyes", "-q", "-qq", "--quiet"];

/// The question to dnf or yum what it would do, without doing it.
pub(super) fn simulation(options: &[String], words: impl IntoIterator<Item = String>) -> Vec<String> {
    let options = options.iter().filter(|option| !ANSWERING.contains(&option.as_str())).cloned();
    options.chain(["--assumeno".to_owned()]).chain(words).collect()
}

/// Returns the packages that dnf or yum would change.
pub(super) fn foreseen(program: &str, question: Vec<String>, view: &mut View<'_>) -> Result<Vec<Along>, Raised> {
    let launch = inquiry::question(program, question.clone());
    let outcome = inquiry::ask(view, program, question)?;
    judge(&launch, &outcome)
}

/// Does the same right before the transaction.
pub(super) fn foreseen_now(
    program: &str,
    question: Vec<String>,
    writer: &mut Writer<'_>,
) -> Result<Vec<Along>, Raised> {
    let launch = inquiry::question(program, question);
    let outcome = writer.launch(&launch).map_err(|failure| failure.into_raised(&launch))?;
    judge(&launch, &outcome)
}

fn judge(launch: &Launch, outcome: &CommandOutcome) -> Result<Vec<Along>, Raised> {
    let text = String::from_utf8_lossy(&outcome.output);
    match table(&text) {
        // The tool shows the transaction, and then ends with an error code.
        Some(found) => Ok(found),
        None => {
            require_success(launch, outcome, &[0])?;
            if text.contains("Nothing to do") || String::from_utf8_lossy(&outcome.errors).contains("Nothing to do") {
                return Ok(vec![]);
            }
            let message = format!("which packages `{}` would change cannot be read in what it says", launch.shown());
            Err(Raised::new(ErrorKind::Package, message))
        }
    }
}

/// Returns the packages in the table of a transaction. Returns `None` if the text has no such table, or if the table's number
/// of removals, upgrades or downgrades differs from its lines.
///
/// A table has a line for each kind of change. Below it, each package has a line that begins with one space and the package's
/// name; architecture and version follow. Below that there may be a line `replacing NAME.ARCHITECTURE VERSION`. dnf 5 writes
/// `replacing NAME ARCHITECTURE VERSION ..`, also for older versions of the same package. Long lines continue in a line that
/// begins with several spaces.
fn table(text: &str) -> Option<Vec<Along>> {
    let (table, summary) = text.split_once("Transaction Summary")?;
    let mut rows: Vec<(Along, Vec<&str>)> = vec![];
    let mut replaced: Vec<Along> = vec![];
    let mut kind = None;
    for line in table.lines() {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        match (line.len() - line.trim_start_matches(' ').len(), words.as_slice()) {
            (0, _) => kind = fate_below(line),
            (1, [name, rest @ ..]) => {
                let Some(fate) = kind else { continue };
                rows.push((Along { name: (*name).to_owned(), fate, version: String::new() }, rest.to_vec()));
            }
            (_, ["replacing", name, _]) => replaced.push(gone(name.rsplit_once('.')?.0)),
            (_, ["replacing", name, _, _, ..]) if rows.last().is_none_or(|(row, _)| row.name != **name) => {
                replaced.push(gone(name));
            }
            (_, ["replacing"]) => return None,
            (_, ["replacing", ..]) => {}
            (_, more) => {
                if let Some((_, words)) = rows.last_mut().filter(|_| kind.is_some()) {
                    words.extend(more);
                }
            }
        }
    }
    let count = |fate: Fate| rows.iter().filter(|(row, _)| row.fate == fate).count();
    let counted_kinds = [
        (Fate::Removed, ["Remove", "Removing:"]),
        (Fate::Upgraded, ["Upgrade", "Upgrading:"]),
        (Fate::Downgraded, ["Downgrade", "Downgrading:"]),
    ];
    let is_complete = counted_kinds.into_iter().all(|(fate, kind)| counted(summary, kind) == Some(count(fate)));
    let rows = rows.into_iter().map(|(row, words)| match row.fate {
        Fate::Removed => row,
        _ => Along { version: whole_version(&words), ..row },
    });
    is_complete.then(|| rows.chain(replaced).collect())
}

/// Returns the fate of packages below a line of the table. `None`: the line is not about packages that change.
fn fate_below(line: &str) -> Option<Fate> {
    let beginnings = [
        ("Installing", Fate::Installed),
        ("Upgrading", Fate::Upgraded),
        ("Updating", Fate::Upgraded),
        ("Reinstalling", Fate::Reinstalled),
        ("Downgrading", Fate::Downgraded),
        ("Removing", Fate::Removed),
    ];
    beginnings.iter().find(|(word, _)| line.starts_with(word)).map(|(_, fate)| *fate)
}

fn gone(name: &str) -> Along {
    Along { name: name.to_owned(), fate: Fate::Removed, version: String::new() }
}

/// Returns the version in the columns after a package's name, as sentences have it: `0:1.2-3.x86_64`.
fn whole_version(columns: &[&str]) -> String {
    let [architecture, version, ..] = columns else { return "another version".to_owned() };
    let epoch = if version.contains(':') { "" } else { "0:" };
    format!("{epoch}{version}.{architecture}")
}

/// Adds up the numbers in the summary's lines of one kind: `Remove  2 Packages`, or of yum `Upgrade  1 Package (+2 Dependent
/// packages)` and `Upgrade ( 2 Dependent packages)`. Returns `None` if such a line has no number.
fn counted(summary: &str, kind: [&str; 2]) -> Option<usize> {
    let mut sum = 0_usize;
    for line in summary.lines() {
        let mut words = line.split_ascii_whitespace();
        if words.next().is_some_and(|word| kind.contains(&word)) {
            let numbers = words.filter_map(|word| word.trim_start_matches(['(', '+']).parse::<u32>().ok());
            sum = numbers.map(|number| number as usize).reduce(usize::saturating_add)?.saturating_add(sum);
        }
    }
    Some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn along((name, fate, version): (&str, Fate, &str)) -> Along {
        Along { name: name.into(), fate, version: version.into() }
    }

    #[test]
    fn older_and_newer_versions_are_told_apart() {
        let text = "Installing:
 foo                noarch 1-1      st                                    6.1 k
Installing dependencies:
 dep                noarch 2:1-1    st                                    6.1 k
Updating for dependencies:
 a-very-long-name-that-does-not-fit-in-its-column
                    x86_64 3-1      st                                    6.1 k
Downgrading:
 victim             noarch 1-1      st                                    6.1 k
Skipping packages with broken dependencies:
 bar                noarch 1-1      st                                    6.1 k

Transaction Summary
================================================================================
Install    1 Package  (+1 Dependent package)
Upgrade               ( 1 Dependent package)
Downgrade  1 Package
";
        let expect = [
            ("foo", Fate::Installed, "0:1-1.noarch"),
            ("dep", Fate::Installed, "2:1-1.noarch"),
            ("a-very-long-name-that-does-not-fit-in-its-column", Fate::Upgraded, "0:3-1.x86_64"),
            ("victim", Fate::Downgraded, "0:1-1.noarch"),
        ];
        assert_eq!(table(text).unwrap(), expect.map(along));
        assert_eq!(table(&text.replace("Downgrade  1", "Downgrade  2")), None);
        assert_eq!(table(&text.replace("Downgrading:", "Moving:")), None);
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
        let expect = [
            ("tool", Fate::Installed, "0:2-1.noarch"),
            ("other", Fate::Upgraded, "0:2-1.noarch"),
            ("a-very-long-name-that-does-not-fit-in-its-column", Fate::Removed, ""),
            ("user-of-it", Fate::Removed, ""),
            ("lib.foo", Fate::Removed, ""),
            ("victim", Fate::Removed, ""),
        ];
        assert_eq!(table(text).unwrap(), expect.map(along));
        assert_eq!(table(&text.replace("Remove   2", "Remove   3")), None);
        assert_eq!(table(&text.replace("Remove   2", "Remove   some")), None);
        assert_eq!(table("Nothing to do.\nComplete!\n"), None);
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
        let expect = [
            ("tool", Fate::Upgraded, "0:2-1.noarch"),
            ("user-of-it", Fate::Removed, ""),
            ("victim", Fate::Removed, ""),
        ];
        assert_eq!(table(text).unwrap(), expect.map(along));
    }
}
