//! The machine as a composite sees it.
//!
//! A policy must not learn anything about things that it may not see. There are three kinds of reads. Paths and files that
//! are the same on all machines are not secret ([`Machine::exists`], [`Machine::system_text`]). The output of a program is
//! used only after [`Machine::granted`] has confirmed that the policy may run the related command. All other paths need the
//! policy's grants ([`Machine::seen_text`], [`Machine::is_absent`]), and so do commands whose output becomes content
//! ([`Machine::run`]).

use super::invalid;
use crate::plan::View;
use contract::{CommandLine, CommandOutcome, CommandTest, ErrorKind, Purpose, Raised};
use machine::command::{Answer, CommandFailure, CommandOptions, Launch};
use machine::denied::denied;
use machine::guest::ForeseenFile;
use machine::root::{Place, is_swap_space};
use std::cell::RefCell;
use std::io::Read as _;

/// Maximum size in bytes of a file of the machine that a composite reads.
const MAX_FILE: u64 = 1 << 20;

/// The machine, as a composite sees it.
pub(crate) struct Machine<'m, 'v> {
    /// The view of a provider.
    pub(crate) view: &'m mut View<'v>,
    /// True in a survey, which checks every grant that the action could need, whatever the machine's state is.
    pub(super) is_survey: bool,
    /// True for a question: denials are recorded and end nothing. See [`Purpose::Question`].
    pub(super) is_question: bool,
    /// The paths that a question was denied to manage. The right to manage one of them would include reading it.
    refused: RefCell<Vec<String>>,
}

/// What is at the path of a swap file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SwapFile {
    /// Nothing has the name.
    Absent,
    /// A swap file, as wrun makes one.
    Empty,
    /// Something else, or something that cannot be read.
    Other,
}

/// The kinds of distributions that composites tell apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    /// Debian and its descendants. A root without `/etc/os-release` counts as Debian.
    Debian,
    /// Fedora, Red Hat and their descendants.
    RedHat,
    /// SUSE, openSUSE and their descendants.
    Suse,
    /// A distribution of another kind.
    Other,
}

impl<'m, 'v> Machine<'m, 'v> {
    /// Returns the machine for a composition with this purpose.
    pub(crate) fn new(view: &'m mut View<'v>, purpose: Purpose) -> Self {
        let (is_survey, is_question) = (purpose == Purpose::Survey, purpose == Purpose::Question);
        Self { view, is_survey, is_question, refused: RefCell::default() }
    }
}

impl Machine<'_, '_> {
    /// Returns the outcome of a check. For a question, a denial counts as a success, since the journal has it.
    fn forgiven<T: Default>(&self, checked: Result<T, Raised>) -> Result<T, Raised> {
        match checked {
            Err(raised) if self.is_question && raised.kind == ErrorKind::Denied => Ok(T::default()),
            checked => checked,
        }
    }

    /// Fails if the policy is not granted a command, by program and arguments.
    pub(super) fn granted(&self, words: &[&str]) -> Result<(), Raised> {
        let line = CommandLine::Arguments(words.iter().map(|word| (*word).to_owned()).collect());
        self.may_run(&CommandTest { line, ..CommandTest::text("") })
    }

    /// Fails if the policy is not granted a command.
    pub(super) fn may_run(&self, command: &CommandTest) -> Result<(), Raised> {
        self.forgiven(self.view.command(command).map(drop))
    }

    /// Fails if the policy may not manage a path.
    pub(super) fn managed(&self, path: &str) -> Result<(), Raised> {
        let managed = self.view.grants.manage_path(path).map(drop).map_err(denied);
        if managed.is_err() {
            self.refused.borrow_mut().push(path.to_owned());
        }
        self.forgiven(managed)
    }

    /// Fails if a path that programs get as text could lead elsewhere when they use it. That is so if it has a link, or a
    /// directory that users other than root may replace.
    pub(super) fn fixed(&self, path: &str) -> Result<(), Raised> {
        let is_fixed = self.view.root.asked_about(path) == path
            && match self.view.root.is_roots_alone(path) {
                // An earlier resource may create the folder.
                Err(fault) if fault.is_absence() && self.view.why_run => true,
                known => known?,
            };
        if is_fixed || self.is_question {
            return Ok(());
        }
        let message = format!("{path} leads over a link, or a directory that others than root may exchange");
        Err(invalid(message)
            .with_hint("say its resolved path, below directories that root owns and nobody else may write to"))
    }

    /// Returns the output of a program that the host chooses, or `None` if it fails. Arguments from a guest must not be able
    /// to become options.
    pub(super) fn printed(&mut self, program: &str, arguments: &[&str]) -> Option<String> {
        printed_by(self.view.query(&Launch::program(program, arguments.iter().copied())).ok()?)
    }

    /// Does the same as [`printed`](Self::printed) for a program that reads files of the policy, or that writes files of its
    /// own. The program runs confined, as in a dry run, and can change nothing, even in real runs.
    pub(super) fn printed_confined(&mut self, program: &str, arguments: &[&str]) -> Option<String> {
        self.asked_confined(&Launch::program(program, arguments.iter().copied()))
    }

    /// Returns the output of a confined call of a program that the host chooses, or `None` if it fails.
    pub(super) fn asked_confined(&mut self, launch: &Launch) -> Option<String> {
        match self.view.ask(launch) {
            Answer::Ended(outcome) => printed_by(outcome),
            Answer::Unknown(_) => None,
        }
    }

    /// Runs a granted command that prints something and changes nothing, and returns it with its answer. A dry run confines
    /// it. No error message contains the output, which may be secret.
    ///
    /// # Errors
    /// The command is not granted. In a real run also: it cannot be started, or takes too long.
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

    /// Tells whether a path exists. The path must be the same on all machines.
    pub(super) fn exists(&self, path: &'static str) -> bool {
        self.view.root.target_entry(path).is_ok_and(|entry| entry.is_some())
    }

    /// Tells whether the machine has the file of a time zone. The name must have been checked.
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

    /// Tells whether the running kernel belongs to the root. Below another root it belongs to the machine that wrun runs on,
    /// and no resource may change it.
    pub(super) fn has_own_kernel(&self) -> bool {
        self.view.root.is_whole()
    }

    /// Tells whether the machine is a Docker container.
    pub(super) fn is_container(&self) -> bool {
        self.exists("/.dockerenv") || self.exists("/.dockerinit")
    }

    /// Returns the time of the last change of a file that exists on all machines, in seconds since 1970.
    pub(super) fn changed_at(&self, path: &'static str) -> Option<i64> {
        Some(self.view.root.target_entry(path).ok()??.modified)
    }

    /// Returns the text of a file that every process of a machine may read, such as `/etc/os-release`.
    pub(super) fn system_text(&self, path: &'static str) -> Option<String> {
        let bytes = bytes_of(path, &self.view.root.locate_target(path).ok()?).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Returns what is at a path that the policy may swap to.
    pub(super) fn swap_file(&self, path: &str) -> SwapFile {
        match self.view.root.locate(path).and_then(|place| place.entry().map(|_| place)) {
            Err(fault) if fault.is_absence() => SwapFile::Absent,
            Ok(place) if place.open_file().is_ok_and(|(file, entry)| is_swap_space(file, entry.size) == Ok(true)) => {
                SwapFile::Empty
            }
            _ => SwapFile::Other,
        }
    }

    /// Returns the whole text of a file that is written anew with more in it, as earlier resources of a dry run would leave it.
    /// It is empty if the file is absent.
    ///
    /// # Errors
    /// Not all of the text is known, so that something of it would be lost: the file cannot be read, is larger than
    /// [`MAX_FILE`], or is not UTF-8.
    pub(super) fn whole_text(&self, path: &'static str) -> Result<String, Raised> {
        let bytes = match self.view.foreseen_file(&self.view.root.asked_about(path)) {
            Some(ForeseenFile::There { content, .. }) => content,
            Some(ForeseenFile::Absent) => return Ok(String::new()),
            None if self.view.root.target_entry(path)?.is_none() => return Ok(String::new()),
            None => bytes_of(path, &self.view.root.locate_target(path)?)?,
        };
        String::from_utf8(bytes).map_err(|_| Raised::new(ErrorKind::InputOutput, format!("{path} is not UTF-8")))
    }

    /// Returns the text of a symbolic link that every process of a machine may read, or `None` if nothing has the name.
    ///
    /// # Errors
    /// Something else than a link has the name, or the way to it cannot be followed.
    pub(super) fn link_text(&self, path: &'static str) -> Result<Option<String>, Raised> {
        match self.view.root.locate(path).and_then(|place| place.read_link()) {
            Ok(text) => Ok(Some(text)),
            Err(fault) if fault.is_absence() => Ok(None),
            Err(fault) => Err(fault.into()),
        }
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
    /// The policy may not read the file; it is not a regular file; it is larger than [`MAX_FILE`].
    pub(super) fn readable_text(&self, path: &str) -> Result<Option<String>, Raised> {
        Ok(self.readable_bytes(path)?.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// Returns the bytes of a file, as [`readable_text`](Self::readable_text).
    ///
    /// # Errors
    /// As [`readable_text`](Self::readable_text).
    pub(super) fn readable_bytes(&self, path: &str) -> Result<Option<Vec<u8>>, Raised> {
        if self.is_question && self.refused.borrow().iter().any(|refused| refused == path) {
            return Ok(None);
        }
        let found = match self.view.readable(path) {
            // A survey does without what the policy may not read yet, and names it.
            Err(raised) if self.is_survey && raised.kind == ErrorKind::Denied => None,
            found => self.forgiven(found)?,
        };
        let real =
            found.as_ref().map_or_else(|| self.view.root.asked_about(path), |(place, _)| place.real().to_owned());
        match (self.view.foreseen_file(&real), found) {
            (Some(ForeseenFile::There { content, .. }), _) => Ok(Some(content)),
            (Some(ForeseenFile::Absent), _) | (None, None) => Ok(None),
            (None, Some((place, _))) => bytes_of(path, &place).map(Some),
        }
    }

    /// Returns the text of a file as [`readable_text`](Self::readable_text) does. A file that the policy may not see counts
    /// as absent.
    pub(super) fn seen_text(&self, path: &str) -> Option<String> {
        self.seen_bytes(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Returns the bytes of a file, as [`seen_text`](Self::seen_text).
    pub(super) fn seen_bytes(&self, path: &str) -> Option<Vec<u8>> {
        match self.view.seen_target(path) {
            Some(Ok(Some(_))) => self.readable_bytes(path).ok().flatten(),
            _ => None,
        }
    }

    /// Asks for the right to read a file that the action can do without. Surveys and questions name the right.
    pub(super) fn would_read(&self, path: &str) {
        if self.is_survey || self.is_question {
            let _not_needed = self.view.readable(path);
        }
    }

    /// Tells whether a path exists and the policy may see it.
    pub(super) fn is_seen(&self, path: &str) -> bool {
        matches!(self.view.seen_target(path), Some(Ok(Some(_))))
    }

    /// Tells whether a path is absent and the policy may see that. A path that the policy may not see does not count as
    /// absent.
    pub(super) fn is_absent(&self, path: &str) -> bool {
        matches!(self.view.seen_target(path), Some(Ok(None)))
    }
}

/// Returns the output of a program if it succeeded.
fn printed_by(outcome: CommandOutcome) -> Option<String> {
    (outcome.code == Some(0)).then(|| String::from_utf8_lossy(&outcome.output).into_owned())
}

fn bytes_of(path: &str, place: &Place) -> Result<Vec<u8>, Raised> {
    let (file, _) = place.open_file()?;
    let mut content = Vec::new();
    let read = std::fs::File::from(file).take(MAX_FILE + 1).read_to_end(&mut content);
    let size = read.map_err(|error| Raised::new(ErrorKind::InputOutput, format!("{path}: {error}")))?;
    if size as u64 > MAX_FILE {
        return Err(invalid(format!("{path} is larger than {MAX_FILE} bytes")));
    }
    Ok(content)
}
