//! The files of `wrun policy test`: the facts of machines, and the case that they have in common.
//!
//! People test the repositories of strangers. So the size and the number of files are bounded, the facts of only one machine are
//! in memory at a time, and a case does not raise limits by itself.

use crate::printer::Hinted;
use anyhow::{Context as _, anyhow, bail};
use assemble::TestCase;
use plain_files::{HeldFolder, WalkError, leads_out};
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use text::{escape_line, nearest};
use toml::Spanned;

/// Largest size of a machine's facts, in bytes. Those of a small machine have 16 KiB.
const MAX_FACTS: u64 = 4 << 20;

/// Largest size of a case, in bytes.
const MAX_CASE: u64 = 1 << 20;

/// Largest number of machines.
const MAX_MACHINES: usize = 200;

/// Largest number of files beside those of facts.
const MAX_NAMES: usize = 65_536;

/// The folder of tests in the policy's folder.
const TESTS: &str = "tests";

/// The names that a test reads there.
const READ: [&str; 3] = ["case.toml", "facts", "snapshots"];

/// The folder of facts in the policy's folder. It has one file per machine.
const FACTS: &str = "tests/facts";

/// The file with the data that all machines have in common, relative to the policy's folder.
const CASE: &str = "tests/case.toml";

/// A machine to test on.
pub(super) struct Machine {
    /// The name of its file of facts, without `.json`.
    pub(super) name: String,
    facts: Facts,
}

enum Facts {
    /// The file, relative to the policy's folder.
    File(PathBuf),
    /// The text, which is shipped with wrun.
    Shipped(&'static [u8]),
}

impl Machine {
    /// Reads the machine's facts.
    ///
    /// # Errors
    /// The file cannot be read, or is not a JSON object.
    pub(super) fn facts(&self, home: &HeldFolder) -> anyhow::Result<Map<String, Value>> {
        self.parsed(home)
    }

    fn parsed<T: DeserializeOwned>(&self, home: &HeldFolder) -> anyhow::Result<T> {
        match &self.facts {
            Facts::Shipped(text) => serde_json::from_slice(text).context("shipped facts are invalid"),
            Facts::File(below) => {
                let bytes = home.read(below, MAX_FACTS).map_err(|error| unread(home, below, error))?;
                let path = home.path().join(below);
                serde_json::from_slice(&bytes)
                    .with_context(|| format!("{} is not a JSON object with facts", path.display()))
            }
        }
    }
}

/// Returns the machines of a policy, by name. If it has no facts, these are Debian machines.
///
/// # Errors
/// There are too many, or facts cannot be read.
pub(super) fn machines(home: &HeldFolder) -> anyhow::Result<Vec<Machine>> {
    let names = names_of_facts(home)?;
    if names.len() > MAX_MACHINES {
        let place = home.path().join(FACTS);
        bail!("{} has the facts of {} machines, more than {MAX_MACHINES}", place.display(), names.len());
    }
    let mut machines: Vec<Machine> =
        names.into_iter().map(|(name, below)| Machine { name, facts: Facts::File(below) }).collect();
    if machines.is_empty() {
        let shipped = author::shipped_facts();
        machines.extend(shipped.map(|(name, text)| Machine { name: name.to_owned(), facts: Facts::Shipped(text) }));
        machines.sort_by(|one, other| one.name.cmp(&other.name));
    }
    for machine in &machines {
        let _is_an_object: BTreeMap<String, IgnoredAny> = machine.parsed(home)?;
    }
    Ok(machines)
}

/// Returns the snapshots in a folder that belong to none of the machines, each with the reason.
///
/// # Errors
/// The folder cannot be read.
pub(super) fn left_over(home: &HeldFolder, snapshots: &str, machines: &[Machine]) -> anyhow::Result<Vec<String>> {
    let names = json_files(home, snapshots)?;
    let left = names.into_iter().filter(|(name, _)| !machines.iter().any(|machine| machine.name == *name));
    let is_shipped = |name: &str| author::shipped_facts().any(|(shipped, _)| shipped == name);
    let line = |(name, below): (String, PathBuf)| match is_shipped(&name) {
        true => format!(
            "{} is left over: the facts {name} of wrun are not tested any more, since {FACTS} has files",
            below.display()
        ),
        false => format!("{} is left over: {FACTS} has no facts of that name", below.display()),
    };
    Ok(left.map(line).collect())
}

/// Returns the entries of the tests' folder whose names are nearly those that a test reads, each with the name that is.
///
/// # Errors
/// The folder cannot be read.
pub(super) fn misspelt(home: &HeldFolder) -> anyhow::Result<Vec<String>> {
    let Ok(Some(place)) = home.below(TESTS) else { return Ok(vec![]) };
    let mut found = Vec::new();
    let walked = place.folder().walk(MAX_NAMES, |entry| {
        let name = Path::new(&entry.name).to_string_lossy();
        let near = nearest(&name, READ).filter(|near| *near != name);
        found.extend(near.map(|near| format!("{TESTS}/{name} is not read; did you mean `{near}`?")));
        Ok::<_, Infallible>(false)
    });
    match walked {
        Ok(()) => Ok(found),
        Err(WalkError::Read(_, error)) => Err(unread(home, TESTS, error)),
        Err(WalkError::TooMany) => Ok(found),
        Err(WalkError::Visit(never)) => match never {},
    }
}

/// The files of facts, by name; empty where the policy has none.
fn names_of_facts(home: &HeldFolder) -> anyhow::Result<BTreeMap<String, PathBuf>> {
    json_files(home, FACTS)
}

/// The files of a folder that end in `.json`, by name.
fn json_files(home: &HeldFolder, folder: &str) -> anyhow::Result<BTreeMap<String, PathBuf>> {
    let place = match home.below(folder) {
        Ok(Some(place)) => place,
        Err(error) if error.kind() != ErrorKind::NotADirectory => return Err(unread(home, folder, error)),
        _ => return Ok(BTreeMap::new()),
    };
    let mut names = BTreeMap::new();
    let walked = place.folder().walk(MAX_NAMES, |entry| {
        if entry.path.extension().is_some_and(|end| end == "json") {
            let name = Path::new(&entry.name).file_stem().unwrap_or_default().to_string_lossy().into_owned();
            names.insert(name, Path::new(folder).join(&entry.name));
        }
        Ok::<_, Infallible>(false)
    });
    match walked {
        Ok(()) => Ok(names),
        Err(WalkError::Read(_, error)) => Err(unread(home, folder, error)),
        Err(WalkError::TooMany) => {
            bail!("{} has more than {MAX_NAMES} files: remove those that no test reads", place.path().display())
        }
        Err(WalkError::Visit(never)) => match never {},
    }
}

/// The error for a file of a test. A link that leads out of the policy's folder is refused: messages quote what cannot be read
/// as a test's file.
fn unread(home: &HeldFolder, below: impl AsRef<Path>, error: std::io::Error) -> anyhow::Error {
    let (path, folder) = (home.path().join(below), home.path().display());
    match leads_out(&error) {
        true => anyhow!("{} is a link that leads out of {folder}: put the file itself there", path.display()),
        false => anyhow::Error::new(error).context(format!("{} cannot be read", path.display())),
    }
}

/// Reads the case. Its grants may lower limits. They raise them above the defaults only if `allow_higher_limits` is true.
///
/// # Errors
/// The file cannot be read, is invalid, or raises a limit.
pub(super) fn case(home: &HeldFolder, allow_higher_limits: bool) -> anyhow::Result<TestCase> {
    let path = home.path().join(CASE);
    let text = match home.read_text(CASE, MAX_CASE) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(TestCase::default()),
        Err(error) => return Err(unread(home, CASE, error)),
    };
    let case = toml::from_str(&text).with_context(|| format!("{} is invalid", path.display()))?;
    if !allow_higher_limits {
        require_usual_limits(&text, &path)?;
    }
    Ok(case)
}

/// The part of a case that is looked at with its place.
#[derive(Deserialize)]
struct GrantsOfCase {
    grants: Option<Spanned<String>>,
}

/// Checks that a case raises no limit above its default.
fn require_usual_limits(text: &str, path: &Path) -> anyhow::Result<()> {
    let GrantsOfCase { grants: Some(grants) } = toml::from_str(text)? else { return Ok(()) };
    // The run itself says what is invalid in the grants.
    let raised = grants::raised_limits(grants.get_ref()).unwrap_or_default();
    let Some(first) = raised.first() else { return Ok(()) };
    let line = line_within(text, grants.span().start, first.line);
    let error = anyhow!(
        "{}:{line}: {} of policy `{}` is {}, above the default of {}",
        path.display(),
        first.key,
        escape_line(&first.policy),
        first.number,
        first.default
    );
    Err(Hinted::new(error, "with --allow-higher-limits, a case may raise its limits").into())
}

/// Returns the line of a text within a string of a TOML file, as a line of the file.
fn line_within(file: &str, start: usize, line: usize) -> usize {
    let first = 1 + file.get(..start).unwrap_or_default().matches('\n').count();
    let string = file.get(start..).unwrap_or_default();
    let is_long = |quotes: &str| string.starts_with(quotes);
    if !is_long("\"\"\"") && !is_long("'''") {
        return first;
    }
    // A line break right after the quotation marks does not belong to the text.
    let skips = string.get(3..).is_some_and(|rest| rest.starts_with('\n') || rest.starts_with("\r\n"));
    first + usize::from(skips) + line.saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_grants_are_lines_of_the_case() {
        let check = |text: &str, expect: &str| {
            let error = require_usual_limits(text, Path::new("case.toml")).unwrap_err().to_string();
            assert!(error.starts_with(expect), "{error}");
        };
        let table = "[policy.web.limits]\nmemory_mib = 300\n";
        check(
            &format!("run_list = []\ngrants = \"\"\"\n{table}\"\"\"\n"),
            "case.toml:4: memory_mib of policy `web` is 300",
        );
        check(&format!("grants = '''{table}'''\n"), "case.toml:2: ");
        check("grants = \"policy.web.limits.memory_mib = 300\"\n", "case.toml:1: ");
        for fine in
            ["", "grants = \"\"", "grants = \"[policy.web.limits]\\nmemory_mib = 256\"", "grants = \"nonsense\""]
        {
            assert!(require_usual_limits(fine, Path::new("case.toml")).is_ok(), "{fine}");
        }
    }
}
