//! Runs apt-get, dpkg and related tools, and interprets their failures.

use super::found::{self, FoundPackage};
use super::{database, lock};
use crate::found::Found;
use crate::plan::{View, Writer};
use crate::withheld::Withheld;
use contract::{Change, CommandOutcome, ErrorKind, LogLevel, Raised};
use grants::GrantedPackage;
use machine::command::{Launch, require_success};
use machine::remarks::remark;
use std::time::Duration;

/// Time limit of a query: with a cold cache apt reads some hundred megabytes of lists.
pub(super) const QUERY: Duration = Duration::from_secs(120);

/// Time limit for refreshing the lists.
const REFRESH: Duration = Duration::from_secs(600);

/// The sentence for people about refreshing the lists.
pub(super) const REFRESH_SENTENCE: &str = "refresh the lists of available packages";

/// Options that keep apt from writing files for a query: the index of its lists, which takes a second each time, and a log of
/// its planning.
const WITHOUT_WRITING: [&str; 6] =
    ["-o", "Dir::Cache::pkgcache=", "-o", "Dir::Cache::srcpkgcache=", "-o", "Dir::Log::Planner=/dev/null"];

/// Returns the arguments that select a release.
pub(super) fn release_options(release: Option<&str>) -> Vec<String> {
    release.map_or_else(Vec::new, |release| vec!["-o".into(), format!("APT::Default-Release={release}")])
}

/// Runs a tool that only reads, and returns its output.
pub(super) fn ask(view: &mut View<'_>, program: &str, arguments: Vec<String>) -> Result<String, Raised> {
    let mut all = vec![];
    if view.why_run && program.starts_with("apt") {
        all.extend(WITHOUT_WRITING.map(str::to_owned));
    }
    all.extend(arguments);
    let launch = Launch::program(program, all).timeout(QUERY);
    let outcome = view.query(&launch).map_err(|failure| failure.into_raised(&launch))?;
    require_success(&launch, &outcome, &[0])?;
    Ok(String::from_utf8_lossy(&outcome.output).into_owned())
}

/// One start of a tool that changes packages.
#[derive(Debug, Clone)]
pub(crate) struct Transaction {
    pub(super) program: &'static str,
    pub(super) arguments: Withheld<Vec<String>>,
    /// The arguments as messages show them. `None`: unchanged.
    pub(super) shown: Withheld<Option<Vec<String>>>,
    pub(super) environment: Withheld<Vec<(String, String)>>,
    pub(super) timeout: Duration,
    /// The tool's standard input.
    pub(super) input: Withheld<Option<Vec<u8>>>,
    /// The packages that the tool may change.
    pub(super) granted: Vec<GrantedPackage>,
    /// The packages to change, with their state when planned.
    pub(super) found: Vec<FoundPackage>,
}

impl Transaction {
    /// Returns the state of the packages when planned.
    pub(crate) fn found(&self) -> Found {
        found::found(&self.found)
    }

    fn launch(&self) -> Launch {
        let mut launch = Launch::program(self.program, self.arguments.0.clone()).timeout(self.timeout);
        for (name, value) in PROTECTING {
            launch = launch.environment(name, value);
        }
        for (name, value) in &self.environment.0 {
            launch = launch.environment(name, value);
        }
        if let Some(shown) = &self.shown.0 {
            launch = launch.shown_as(&format!("{} {}", self.program, shown.join(" ")));
        }
        match &self.input.0 {
            Some(input) => launch.input(input.clone()),
            None => launch,
        }
    }

    /// Waits for other tools to end, then runs this one to its end.
    ///
    /// # Errors
    /// Another process holds dpkg's lock for too long or has changed the packages, dpkg was interrupted earlier, or the tool
    /// failed.
    pub(super) fn run(&self, writer: &mut Writer<'_>) -> Result<(), Raised> {
        let outcome = self.start(writer)?;
        self.judge(&outcome)
    }

    /// Does the same as [`run`](Self::run), as a complete operation.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub(crate) fn carry_out(self, writer: &mut Writer<'_>) -> Result<(), Raised> {
        self.run(writer)
    }

    fn start(&self, writer: &mut Writer<'_>) -> Result<CommandOutcome, Raised> {
        lock::wait(writer, &lock::DPKG_LOCKS)?;
        if database::is_interrupted(writer.root) {
            return Err(interrupted("dpkg was interrupted"));
        }
        // A tool that wrun waited for may have changed the packages.
        found::require(&self.found, writer)?;
        let launch = self.launch();
        let outcome = writer.launch(&launch).map_err(|failure| failure.into_raised(&launch));
        writer.caches.packages.transaction_ended(writer.root);
        outcome
    }

    fn judge(&self, outcome: &CommandOutcome) -> Result<(), Raised> {
        let errors = String::from_utf8_lossy(&outcome.errors);
        if outcome.code != Some(0) && errors.contains("dpkg was interrupted") {
            return Err(interrupted("dpkg was interrupted"));
        }
        require_success(&self.launch(), outcome, &[0])
    }
}

/// An installation from apt's repositories.
#[derive(Debug)]
pub(crate) struct InstallFromArchives {
    pub(super) transaction: Transaction,
}

impl InstallFromArchives {
    /// Returns the state of the packages when planned, and the chosen versions.
    pub(crate) fn found(&self) -> Found {
        self.transaction.found()
    }

    /// Installs the packages. If a package file is no longer at the address in the lists, the lists are refreshed. The
    /// provider then plans again, since another version may be available.
    ///
    /// # Errors
    /// As [`Transaction::run`].
    pub(crate) fn carry_out(self, writer: &mut Writer<'_>) -> Result<(), Raised> {
        let outcome = self.transaction.start(writer)?;
        let gone = outcome.code != Some(0) && is_gone(&outcome) && !writer.caches.packages.was_refreshed();
        if !gone {
            return self.transaction.judge(&outcome);
        }
        RefreshLists.carry_out(writer)
    }
}

/// The operation that refreshes apt's lists; the provider then plans again.
#[derive(Debug)]
pub(crate) struct RefreshLists;

impl RefreshLists {
    /// Refreshes the lists and requests a new plan.
    ///
    /// # Errors
    /// As [`refresh`].
    pub(crate) fn carry_out(self, writer: &mut Writer<'_>) -> Result<(), Raised> {
        refresh(writer)?;
        writer.plan_again(vec![Change::new(REFRESH_SENTENCE)]);
        Ok(())
    }
}

/// Variables that keep tools from asking questions, because nobody can answer them.
const PROTECTING: [(&str, &str); 3] = [
    ("DEBIAN_FRONTEND", "noninteractive"),
    ("DEBCONF_NONINTERACTIVE_SEEN", "true"),
    ("APT_LISTCHANGES_FRONTEND", "none"),
];

/// Refreshes apt's lists, once per run. An unreachable repository is not an error by itself; a package that is missing
/// afterwards is.
///
/// # Errors
/// The lists are locked for too long, or apt-get cannot be started.
pub(super) fn refresh(writer: &mut Writer<'_>) -> Result<(), Raised> {
    lock::wait(writer, &lock::LIST_LOCKS)?;
    let mut launch = Launch::program("apt-get", ["-q", "update"]).timeout(REFRESH);
    for (name, value) in PROTECTING {
        launch = launch.environment(name, value);
    }
    let outcome = writer.launch(&launch).map_err(|failure| failure.into_raised(&launch))?;
    let errors = String::from_utf8_lossy(&outcome.errors).into_owned();
    let complaint = errors.lines().find(|line| line.starts_with("E:") || line.starts_with("W:"));
    let complaint = complaint.map(|line| text::without_credentials(line).into_owned());
    if let Some(complaint) = &complaint {
        remark(&writer.settings.account, LogLevel::Warn, &format!("apt-get update: {complaint}"));
    }
    writer.caches.packages.lists_refreshed(complaint);
    Ok(())
}

/// Returns the error for an interrupted dpkg, with a hint for repairing it.
pub(super) fn interrupted(what: &str) -> Raised {
    Raised::new(ErrorKind::Package, format!("{what}, so no package can be changed"))
        .with_hint("run `dpkg --configure -a`, which finishes what was interrupted, then converge again")
}

/// Tells whether a package file was not found at the address in the lists.
fn is_gone(outcome: &CommandOutcome) -> bool {
    let errors = String::from_utf8_lossy(&outcome.errors);
    errors.contains("404  Not Found")
        || errors.contains("Unable to fetch some archives")
        || errors.contains("Hash Sum mismatch")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vanished_archive_is_told_from_other_failures() {
        let check = |errors: &str, expect: bool| {
            let outcome = CommandOutcome { code: Some(100), errors: errors.into(), ..CommandOutcome::default() };
            assert_eq!(is_gone(&outcome), expect, "{errors}");
        };
        check(
            "E: Failed to fetch http://x/h_1.deb  404  Not Found [IP: 1.2.3.4 80]\nE: Unable to fetch some archives",
            true,
        );
        check("E: Unable to locate package x", false);
        check("E: Sub-process /usr/bin/dpkg returned an error code (1)", false);
    }
}
