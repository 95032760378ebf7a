//! `rpm_package`, `dnf_package` and `yum_package`: packages of the Red Hat family.
//!
//! The installed packages come from `rpm`, the available ones from `dnf` or `yum`. Each program runs once per resource, for
//! all its names. Chef keeps a Python process running that calls dnf's library. The programs give the same answers, and wrun
//! leaves no process running.

mod ahead;
mod dnf;
mod file;
mod inquiry;
mod query;
mod removals;
mod version;

pub(crate) use dnf::DnfPackage;
pub(crate) use file::RpmPackage;

use super::along::Along;
use super::{copies, lock};
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

/// Time limit of a query. With a cold cache, the tool fetches its lists first.
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
    /// A simulation, for a tool that removes other packages by itself.
    ahead: Option<LookAhead>,
    /// The packages that the tool may change.
    _granted: Vec<GrantedPackage>,
    /// The packages to change, with their state when planned.
    found: Vec<Thing>,
}

/// A package file, and its content when planned.
#[derive(Debug)]
struct RpmFile {
    /// Its real path in the root.
    path: String,
    held: Vec<(String, Version)>,
    /// The packages that it replaces if they are installed.
    replaces: Vec<Replaces>,
}

impl RpmFile {
    /// Reads the content of the file with this real path.
    fn read(path: String, view: &mut View<'_>) -> Result<Self, Raised> {
        let (held, replaces) = (query::in_file(view, &path)?, query::replaced_by_file(view, &path)?);
        Ok(Self { path, held, replaces })
    }

    /// Copies the file to a private folder, and checks the copy.
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

/// A simulation by dnf or yum. It is repeated with the copy of a package file.
#[derive(Debug)]
struct LookAhead {
    options: Withheld<Vec<String>>,
    words: Withheld<Vec<String>>,
    /// The packages that the tool may change.
    along: Vec<Along>,
}

impl LookAhead {
    fn question(&self, path: Option<&str>) -> Vec<String> {
        ahead::simulation(&self.options.0, self.words.0.iter().map(String::as_str).chain(path).map(str::to_owned))
    }
}

impl RpmTransaction {
    /// Returns the state of the packages when planned. It is not checked again before the tool starts. The check would cost
    /// as much as the tool, which locks the database only then.
    pub(crate) fn found(&self) -> Found {
        Found::of(self.found.clone())
    }

    /// Runs the tool to its end. dnf and yum wait for each other's locks themselves, but not for those of rpm's database.
    ///
    /// # Errors
    /// Another process locks the database for too long, or the tool cannot be started, takes too long, or fails.
    pub(crate) fn carry_out(self, writer: &mut Writer<'_>) -> Result<(), Raised> {
        lock::wait(writer, &lock::RPM_LOCKS)?;
        let copy = self.file.as_ref().map(|file| file.copy(writer)).transpose()?;
        if let (Some(file), Some(copy), Some(ahead)) = (&self.file, &copy, &self.ahead) {
            let along = ahead::foreseen_now(self.program, ahead.question(Some(copy.path())), writer)?;
            if along.iter().any(|one| !ahead.along.contains(one)) {
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

/// Returns the state of a package. `None` means that it is not installed.
fn package(name: &str, installed: Option<&Version>) -> Thing {
    match installed {
        None => Thing::absent("package", name),
        Some(version) => Thing::new("package", name).with("version", version.text()),
    }
}

/// Tells whether a text can be a package name. Other texts never reach a tool, because `*`, `@`, `/` or a leading `-` would
/// have another meaning there.
fn is_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.' | b'_');
    name.len() <= 200 && name.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric()) && name.bytes().all(plain)
}
