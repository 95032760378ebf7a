//! What a composite may look at.
//!
//! A policy learns nothing of things that it may not see. There are three kinds of questions. Paths and texts that are the same on
//! all machines are not secret ([`Machine::exists`], [`Machine::system_text`]). The answer of a program is used only after
//! [`Machine::granted`] has found that the policy may run the command that the answer is about. All other paths follow the policy's
//! grants ([`Machine::seen_text`], [`Machine::is_absent`]), and so do commands whose output is content ([`Machine::run`]).

use super::invalid;
use crate::plan::View;
use contract::{CommandLine, CommandOutcome, CommandTest, ErrorKind, Raised};
use machine::command::{Answer, CommandFailure, CommandOptions, Launch};
use machine::denied::denied;
use machine::guest::ForeseenFile;
use machine::root::Place;
use std::io::Read as _;

/// Maximum size in bytes of a file of the machine that a composite reads.
const MAXIMUM_FILE: u64 = 1 << 20;

/// The machine, as a composite sees it.
pub(crate) struct Machine<'m, 'v> {
    /// The view of a provider.
    pub(crate) view: &'m mut View<'v>,
    /// The run asks for everything that the action could need, whatever the machine looks like now.
    pub(crate) is_survey: bool,
}

/// The kinds of distributions that composites tell apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    /// Debian and its descendants. A root that does not say what it is counts as one.
    Debian,
    /// Fedora, Red Hat and their descendants.
    RedHat,
    /// SUSE, openSUSE and their descendants.
    Suse,
    /// A distribution of another kind.
    Other,
}

impl Machine<'_, '_> {
    /// Fails if the policy is not granted a command, by program and arguments.
    pub(super) fn granted(&self, words: &[&str]) -> Result<(), Raised> {
        let line = CommandLine::Arguments(words.iter().map(|word| (*word).to_owned()).collect());
        self.may_run(&CommandTest { line, ..CommandTest::text("") })
    }

    /// Fails if the policy is not granted a command.
    pub(super) fn may_run(&self, command: &CommandTest) -> Result<(), Raised> {
        self.view.command(command).map(drop)
    }

    /// Fails if the policy may not manage a path.
    pub(super) fn managed(&self, path: &str) -> Result<(), Raised> {
        self.view.grants.manage_path(path).map(drop).map_err(denied)
    }

    /// Fails if a path that programs get as text could lead elsewhere by the time they look: over a link, or over a directory
    /// that others than root may exchange.
    pub(super) fn fixed(&self, path: &str) -> Result<(), Raised> {
        let is_fixed = self.view.root.asked_about(path) == path
            && match self.view.root.is_roots_alone(path) {
                // An earlier resource may make the folder.
                Err(fault) if fault.is_absence() && self.view.why_run => true,
                known => known?,
            };
        if is_fixed {
            return Ok(());
        }
        let message = format!("{path} leads over a link, or a directory that others than root may exchange");
        Err(invalid(message)
            .with_hint("say its resolved path, below directories that root owns and nobody else may write to"))
    }

    /// Returns the output of a program of the host's own choosing, or `None` if it cannot be asked. Arguments from a guest must
    /// not be able to become options.
    pub(super) fn printed(&mut self, program: &str, arguments: &[&str]) -> Option<String> {
        printed_by(self.view.query(&Launch::program(program, arguments.iter().copied())).ok()?)
    }

    /// As [`printed`](Self::printed), of a program that reads what a policy may have written, or that writes files of its own: it
    /// sees the machine as a dry run's commands do and can change nothing, in real runs too.
    pub(super) fn printed_confined(&mut self, program: &str, arguments: &[&str]) -> Option<String> {
        match self.view.ask(&Launch::program(program, arguments.iter().copied())) {
            Answer::Ended(outcome) => printed_by(outcome),
            Answer::Unknown(_) => None,
        }
    }

    /// Runs a granted command that prints something and changes nothing, and returns it with its answer. A dry run confines it.
    /// No error shows what it printed, which may be a secret.
    ///
    /// # Errors
    /// It is not granted; in a real run also that it cannot be started, or takes too long.
    pub(super) fn run(&mut self, command: &CommandTest) -> Result<(Launch, Answer), Raised> {
        let granted = self.view.command(command)?;
        let launch = Launch::granted(&granted, &CommandOptions::default()).shown_as_words();
        let failure = match self.view.answer(&launch) {
            Ok(answer) => return Ok((launch, answer)),
            Err(CommandFailure::TimedOut { shown, after, outcome }) => {
                CommandFailure::TimedOut { shown, after, outcome: CommandOutcome { output: vec![], ..outcome } }
            }
            Err(failure) => failure,
        };
        Err(failure.into_raised(&launch))
    }

    /// Tells whether something is at a path that is the same on all machines.
    pub(super) fn exists(&self, path: &'static str) -> bool {
        self.view.root.target_entry(path).is_ok_and(|entry| entry.is_some())
    }

    /// Tells whether the machine has the file of a time zone, by a name that was checked.
    pub(super) fn has_zone(&self, zone: &str) -> bool {
        self.view.root.target_entry(&format!("/usr/share/zoneinfo/{zone}")).is_ok_and(|entry| entry.is_some())
    }

    /// Tells whether a program is in one of the usual folders.
    pub(super) fn has_program(&self, name: &'static str) -> bool {
        let folders = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];
        folders
            .iter()
            .any(|folder| self.view.root.target_entry(&format!("{folder}/{name}")).is_ok_and(|entry| entry.is_some()))
    }

    /// Tells whether the running kernel is the machine's own. Below another root it is that of the machine that wrun runs on, so
    /// that nothing may change in it.
    pub(super) fn has_own_kernel(&self) -> bool {
        self.view.root.is_whole()
    }

    /// Tells whether the machine is a container of Docker's.
    pub(super) fn is_container(&self) -> bool {
        self.exists("/.dockerenv") || self.exists("/.dockerinit")
    }

    /// Returns the time at which a file that is on all machines changed last, in seconds since 1970.
    pub(super) fn changed_at(&self, path: &'static str) -> Option<i64> {
        Some(self.view.root.target_entry(path).ok()??.modified)
    }

    /// Returns the text of a file that every process of a machine may read, such as `/etc/os-release`.
    pub(super) fn system_text(&self, path: &'static str) -> Option<String> {
        let bytes = bytes_of(path, &self.view.root.locate_target(path).ok()?).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Returns a value of `/etc/os-release`.
    pub(super) fn release(&self, key: &str) -> Option<String> {
        let text = self.system_text("/etc/os-release")?;
        let mut lines = text.lines().filter_map(|line| line.split_once('='));
        lines.find(|(name, _)| *name == key).map(|(_, value)| value.trim_matches(['"', '\'']).to_owned())
    }

    /// Returns the kind of the distribution.
    pub(super) fn family(&self) -> Family {
        let Some(id) = self.release("ID") else { return Family::Debian };
        let like = self.release("ID_LIKE").unwrap_or_default();
        let mut names = [id.as_str()].into_iter().chain(like.split_whitespace());
        let family = |name: &str| match name {
            "debian" | "ubuntu" | "linuxmint" | "raspbian" => Some(Family::Debian),
            "fedora" | "rhel" | "centos" | "amzn" | "ol" | "rocky" | "almalinux" => Some(Family::RedHat),
            "suse" | "sles" | "opensuse" | "opensuse-leap" | "opensuse-tumbleweed" => Some(Family::Suse),
            _ => None,
        };
        names.find_map(family).unwrap_or(Family::Other)
    }

    /// Returns the type that Chef's `package` becomes on this distribution, as reports name it.
    pub(super) fn package_type(&self) -> &'static str {
        if self.family() == Family::Debian { "apt_package" } else { "package" }
    }

    /// Returns the text of a file that the policy may read, all links followed, or `None` if the file is absent.
    ///
    /// # Errors
    /// The policy may not read it; it is not a file; it is larger than [`MAXIMUM_FILE`].
    pub(super) fn readable_text(&self, path: &str) -> Result<Option<String>, Raised> {
        Ok(self.readable_bytes(path)?.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// Returns the bytes of a file, as [`readable_text`](Self::readable_text).
    ///
    /// # Errors
    /// As [`readable_text`](Self::readable_text).
    pub(super) fn readable_bytes(&self, path: &str) -> Result<Option<Vec<u8>>, Raised> {
        let found = self.view.readable(path)?;
        let real =
            found.as_ref().map_or_else(|| self.view.root.asked_about(path), |(place, _)| place.real().to_owned());
        match (self.view.foreseen_file(&real), found) {
            (Some(ForeseenFile::There { content, .. }), _) => Ok(Some(content)),
            (Some(ForeseenFile::Absent), _) | (None, None) => Ok(None),
            (None, Some((place, _))) => bytes_of(path, &place).map(Some),
        }
    }

    /// Returns the text of a file, as [`readable_text`](Self::readable_text); a file that the policy may not see counts as absent.
    pub(super) fn seen_text(&self, path: &str) -> Option<String> {
        match self.view.seen_target(path) {
            Some(Ok(Some(_))) => self.readable_text(path).ok().flatten(),
            _ => None,
        }
    }

    /// Tells whether the policy may see that something is at a path.
    pub(super) fn is_seen(&self, path: &str) -> bool {
        matches!(self.view.seen_target(path), Some(Ok(Some(_))))
    }

    /// Tells whether the policy may see that nothing is at a path. A path that it may not see does not count as absent.
    pub(super) fn is_absent(&self, path: &str) -> bool {
        matches!(self.view.seen_target(path), Some(Ok(None)))
    }
}

/// The output of a program that succeeded.
fn printed_by(outcome: CommandOutcome) -> Option<String> {
    (outcome.code == Some(0)).then(|| String::from_utf8_lossy(&outcome.output).into_owned())
}

fn bytes_of(path: &str, place: &Place) -> Result<Vec<u8>, Raised> {
    let (file, entry) = place.open_file()?;
    if entry.size > MAXIMUM_FILE {
        return Err(invalid(format!("{path} is larger than {MAXIMUM_FILE} bytes")));
    }
    let mut content = Vec::new();
    let read = std::fs::File::from(file).take(MAXIMUM_FILE).read_to_end(&mut content);
    read.map_err(|error| Raised::new(ErrorKind::InputOutput, format!("{path}: {error}")))?;
    Ok(content)
}
