//! `rpm_package`, `dnf_package` and `yum_package`: packages of the Red Hat family.
//!
//! What is installed is asked of `rpm`, what could be of `dnf` or `yum`; both are asked once per resource for all its names.
//! Chef keeps a Python process that speaks to dnf's library; the programs say the same, and nothing of ours runs on.

mod dnf;
mod file;
mod inquiry;
mod query;
mod removals;
mod version;

pub(crate) use dnf::DnfPackage;
pub(crate) use file::RpmPackage;

use super::copies;
use crate::found::{Found, Thing};
use crate::plan::{View, Writer};
use crate::private_copy::PrivateCopy;
use crate::withheld::Withheld;
use contract::Raised;
use grants::GrantedPackage;
use machine::command::{Launch, require_success};
use removals::Replaces;
use std::time::Duration;
use version::Version;

/// How long a query may take: with a cold cache the lists are fetched first.
const QUERY: Duration = Duration::from_secs(600);

/// One start of a tool that changes packages.
#[derive(Debug)]
pub(crate) struct RpmTransaction {
    program: &'static str,
    arguments: Withheld<Vec<String>>,
    environment: Withheld<Vec<(String, String)>>,
    timeout: Duration,
    /// A package file to install, as the last argument.
    file: Option<RpmFile>,
    /// For a tool that removes other packages of its own accord.
    ahead: Option<LookAhead>,
    /// The packages that the tool may change.
    _granted: Vec<GrantedPackage>,
    /// The packages that it is to change, as they were found.
    found: Vec<Thing>,
}

/// A package file, and what it held when it was looked at.
#[derive(Debug)]
struct RpmFile {
    /// Its real path in the root.
    path: String,
    held: Vec<(String, Version)>,
    /// The packages that it replaces where they are installed.
    replaces: Vec<Replaces>,
}

impl RpmFile {
    /// Looks at the file with this real path.
    fn read(path: String, view: &mut View<'_>) -> Result<Self, Raised> {
        let (held, replaces) = (query::in_file(view, &path)?, query::replaced_by_file(view, &path)?);
        Ok(Self { path, held, replaces })
    }

    /// Copies it to where nobody else reaches it, and looks at the copy.
    fn copy(&self, writer: &mut Writer<'_>) -> Result<PrivateCopy, Raised> {
        let copy = copies::copy(&self.path, writer)?;
        file::require_package(&writer.root.locate(copy.path())?)?;
        let (held, replaces) = query::in_copy(writer, copy.path())?;
        if held != self.held || replaces != self.replaces {
            return Err(copies::exchanged(&self.path));
        }
        Ok(copy)
    }
}

/// A look of dnf or yum at what it would do, which is repeated with the copy of a package file.
#[derive(Debug)]
struct LookAhead {
    options: Withheld<Vec<String>>,
    words: Withheld<Vec<String>>,
    /// The packages that it may remove.
    removed: Vec<String>,
}

impl LookAhead {
    fn question(&self, path: Option<&str>) -> Vec<String> {
        removals::simulation(&self.options.0, self.words.0.iter().map(String::as_str).chain(path).map(str::to_owned))
    }
}

impl RpmTransaction {
    /// The packages as they were found. They are not asked for again before the tool starts: the answer would cost as much,
    /// and the tool locks the database only then.
    pub(crate) fn found(&self) -> Found {
        Found::of(self.found.clone())
    }

    /// Runs it to its end. The tools wait for each other's locks themselves.
    ///
    /// # Errors
    /// The tool cannot be started, takes too long, or fails.
    pub(crate) fn carry_out(self, writer: &mut Writer<'_>) -> Result<(), Raised> {
        let copy = self.file.as_ref().map(|file| file.copy(writer)).transpose()?;
        if let (Some(file), Some(copy), Some(ahead)) = (&self.file, &copy, &self.ahead) {
            let removed = removals::foreseen_now(self.program, ahead.question(Some(copy.path())), writer)?;
            if removed.iter().any(|name| !ahead.removed.contains(name)) {
                return Err(copies::exchanged(&file.path));
            }
        }
        let words = |path: Option<&str>| {
            let words = self.arguments.0.iter().map(String::as_str).chain(path);
            words.map(str::to_owned).collect::<Vec<_>>()
        };
        let shown = words(self.file.as_ref().map(|file| file.path.as_str())).join(" ");
        let launch = Launch::program(self.program, words(copy.as_ref().map(PrivateCopy::path)));
        let mut launch = launch.shown_as(&format!("{} {shown}", self.program)).timeout(self.timeout);
        for (name, value) in &self.environment.0 {
            launch = launch.environment(name, value);
        }
        let outcome = writer.launch(&launch).map_err(|failure| failure.into_raised(&launch))?;
        require_success(&launch, &outcome, &[0])
    }
}

/// A package as rpm knows it. `None`: it is not there.
fn package(name: &str, installed: Option<&Version>) -> Thing {
    match installed {
        None => Thing::absent("package", name),
        Some(version) => Thing::new("package", name).with("version", version.text()),
    }
}

/// Whether a name can be a package's. Others never reach a tool, where `*`, `@`, `/` or `-` at the beginning have meanings
/// of their own.
fn is_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.' | b'_');
    name.len() <= 200 && name.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric()) && name.bytes().all(plain)
}
