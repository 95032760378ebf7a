//! The machine as a policy's guest sees it: reads, commands and changes, each checked against the policy's grants.
//!
//! A guest cannot probe for files that it may not read: the host tells whether a path exists only if reading is granted.
//! Changes use the same proofs as those of resources. A dry run changes nothing on the machine, but the guest sees its own
//! changes as if they were made.

mod change;
mod dry;
mod layer;
mod named;
mod planned;

pub use layer::{LeftOut, Overlay};
pub(crate) use planned::TOO_MANY;
pub use planned::{ForeseenFile, Planned, PlannedAccess, in_memory};

use crate::command::{self, CommandFailure, CommandOptions, Commands, Launch};
use crate::denied;
use crate::download::Downloads;
use crate::root::{Entry, Fault, Kind, Place, Root, absent};
use crate::users::Users;
use crate::written;
use contract::{
    Account, Applied, CommandOutcome, CommandTest, ErrorKind, FileCall, HttpRequest, HttpResponse, Machine,
    MachineChange, MachineError, MachineGroup, MachineUser, Raised, Stat, StatKind, SystemError,
};
use grants::{Asker, Denied, PolicyGrants};
use node::origin::Origin;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

/// Maximum size of one read, in bytes: they are copied into the guest's memory.
const MAX_READ: u64 = 64 << 20;

/// Maximum number of names in one directory listing.
const MAX_NAMES: usize = 1_000_000;

/// The rights and limits of a policy's guest on the machine.
pub struct Access {
    /// The policy's limits and its costs so far.
    pub account: Account,
    /// The operator's grants for this policy. Each call is checked against them.
    pub grants: Arc<PolicyGrants>,
    /// Limits of a download.
    pub downloads: Downloads,
    /// True if the whole run is a dry run, which changes nothing.
    pub why_run: bool,
}

/// The machine within one policy's grants.
pub struct GuestMachine {
    settings: Access,
    root: Arc<Root>,
    commands: Commands,
    users: Users,
}

impl GuestMachine {
    pub fn new(settings: Access, root: Arc<Root>, commands: Commands) -> Self {
        Self { settings, root, commands, users: Users::default() }
    }

    /// Returns the place that a path leads to, if the policy may read it, or `None` if nothing can exist there.
    fn readable(&self, path: &str, follow: bool) -> Result<Option<Place>, MachineError> {
        let place = if follow { self.root.locate_target(path) } else { self.root.locate(path) };
        let real = match &place {
            Ok(place) => place.real().to_owned(),
            Err(fault) => fault.real().map_or_else(|| self.root.asked_about(path), str::to_owned),
        };
        // The reason why nothing can exist there is returned only after this check.
        let _proof = self.settings.grants.read_path(&real).map_err(|denial| self.denied(denial, path))?;
        absent(place).map_err(fault)
    }

    /// Does the same, but fails if nothing can exist there.
    fn existing(&self, path: &str, follow: bool) -> Result<Place, MachineError> {
        self.readable(path, follow)?
            .ok_or_else(|| MachineError::System(SystemError::NotFound.name().into(), path.into()))
    }

    /// Reads a part of a file of the machine.
    fn read_machine(&self, path: &str, offset: u64, length: u64) -> Result<Vec<u8>, MachineError> {
        let (handle, _entry) = self.existing(path, true)?.open_file().map_err(fault)?;
        part_of(handle, path, offset, length)
    }

    /// Checks something of the machine that was opened by a real path. In a survey the policy may read it as every user may,
    /// and users may have exchanged names since its path was checked.
    fn require_same(&self, key: &str, identity: (u64, u64), path: &str) -> Result<(), MachineError> {
        let is_open = !self.settings.grants.reads_as_every_user(key) || self.root.is_open_to_all_as(key, identity);
        if is_open { Ok(()) } else { Err(MachineError::System(SystemError::Access.name().into(), path.into())) }
    }

    /// Converts a denial to an error that names the path as the guest wrote it.
    fn denied(&self, denial: Denied, path: &str) -> MachineError {
        raised(written::as_asked(denied::denied(denial), path, &self.settings.grants))
    }

    fn is_dry_run(&self, why_run: bool) -> bool {
        why_run || self.settings.why_run
    }
}

fn denied(denial: Denied) -> MachineError {
    raised(denied::denied(denial))
}

fn fault(fault: Fault) -> MachineError {
    MachineError::System(fault.error().name().into(), fault.path)
}

fn raised(raised: Raised) -> MachineError {
    match raised.kind {
        ErrorKind::System(error) => MachineError::System(error.name().into(), raised.message),
        ErrorKind::Denied => MachineError::Denied(format!("{}\n{}", raised.message, raised.hint.unwrap_or_default())),
        _ => MachineError::System(SystemError::Invalid.name().into(), raised.message),
    }
}

/// Maps a network failure to the names of system errors. A timeout while reading is `ETIME`, an early end `ENODATA`, failed
/// encryption `EPROTO`, and an invalid response `EBADMSG`.
fn unreachable(failure: Raised) -> MachineError {
    let name = match failure.kind {
        ErrorKind::Unreachable => "EAI_NONAME",
        ErrorKind::ConnectTimeout => "ETIMEDOUT",
        ErrorKind::ReadTimeout => "ETIME",
        ErrorKind::EndOfInput | ErrorKind::LengthMismatch => "ENODATA",
        ErrorKind::Tls => "EPROTO",
        ErrorKind::HttpBadResponse => "EBADMSG",
        _ => return raised(failure),
    };
    MachineError::System(name.into(), failure.message)
}

fn stat_of(entry: &Entry) -> Stat {
    Stat {
        kind: match entry.kind {
            Kind::File => StatKind::File,
            Kind::Directory => StatKind::Directory,
            Kind::Link => StatKind::Link,
            _ => StatKind::Special,
        },
        mode: entry.mode,
        uid: entry.uid,
        gid: entry.gid,
        size: entry.size,
        modified: entry.modified,
        identity: entry.identity,
        links: entry.links,
    }
}

/// Reads a part of an open file. `path` is for error messages.
fn part_of(handle: OwnedFd, path: &str, offset: u64, length: u64) -> Result<Vec<u8>, MachineError> {
    let system = |error: std::io::Error| {
        let errno = rustix::io::Errno::from_io_error(&error).unwrap_or(rustix::io::Errno::IO);
        fault(Fault::new(errno, FileCall::Read, path))
    };
    let mut file = File::from(handle);
    file.seek(SeekFrom::Start(offset)).map_err(system)?;
    let mut content = Vec::new();
    file.take(length).read_to_end(&mut content).map_err(system)?;
    Ok(content)
}

fn asker(place: &Origin) -> Asker {
    Asker { cookbook: place.cookbook.clone(), file: place.file.clone(), line: place.line, ..Asker::default() }
}

impl Machine for GuestMachine {
    fn called_from(&mut self, place: Option<&Origin>) {
        self.settings.grants.journal().asks_at(place.map(asker));
    }

    fn denied_at(&mut self, place: &Origin) {
        let grants = &self.settings.grants;
        grants.journal().denied_at(grants.policy(), asker(place));
    }

    fn stat(&mut self, path: &str, follow: bool) -> Result<Option<Stat>, MachineError> {
        if !self.is_untouched() {
            return self.dry_stat(path, follow);
        }
        let Some(place) = self.readable(path, follow)? else { return Ok(None) };
        let entry = absent(place.entry()).map_err(fault)?;
        Ok(entry.as_ref().map(stat_of))
    }

    fn read_file(&mut self, path: &str, offset: u64, length: u64) -> Result<Vec<u8>, MachineError> {
        if length > MAX_READ {
            return Err(MachineError::TooMuch(format!("one read returns at most {MAX_READ} bytes")));
        }
        if self.is_untouched() { self.read_machine(path, offset, length) } else { self.dry_read(path, offset, length) }
    }

    fn list_directory(&mut self, path: &str) -> Result<Vec<String>, MachineError> {
        if !self.is_untouched() {
            return self.dry_list(path);
        }
        let names = self.existing(path, true)?.names().map_err(fault)?;
        if names.len() > MAX_NAMES {
            return Err(MachineError::TooMuch(format!("one listing returns at most {MAX_NAMES} names")));
        }
        Ok(names)
    }

    fn read_link(&mut self, path: &str) -> Result<String, MachineError> {
        if !self.is_untouched() {
            return self.dry_read_link(path);
        }
        self.existing(path, false)?.read_link().map_err(fault)
    }

    fn real_path(&mut self, path: &str) -> Result<String, MachineError> {
        if !self.is_untouched() {
            return self.dry_real_path(path);
        }
        let place = self.existing(path, true)?;
        place.entry().map_err(fault)?;
        Ok(place.real().into())
    }

    fn run(&mut self, command: &CommandTest, why_run: bool) -> Result<CommandOutcome, MachineError> {
        let granted = command::check(&self.settings.grants, &self.root, command).map_err(raised)?;
        let timeout = command.timeout.map(|seconds| Duration::from_secs(seconds.into()));
        let launch = Launch::granted(&granted, &CommandOptions { timeout, ..CommandOptions::default() });
        self.users.doubt();
        self.users.refresh(&self.root);
        if self.is_dry_run(why_run) {
            return match self.commands.ask(&launch, &mut self.users) {
                command::Answer::Ended(outcome) => Ok(outcome),
                command::Answer::Unknown(why) => {
                    self.commands.overlay().left_out().note();
                    Err(MachineError::DryRun(format!("run {}: {why}", granted.shown())))
                }
            };
        }
        match self.commands.run(&launch, &mut self.users, None) {
            Ok(outcome) => Ok(outcome),
            Err(CommandFailure::TimedOut { outcome, .. }) => Ok(outcome),
            Err(failure @ (CommandFailure::HeldUp { .. } | CommandFailure::Unended { .. })) => {
                Err(MachineError::System("ETIMEDOUT".into(), failure.to_string()))
            }
            Err(CommandFailure::NotStarted { error, about, .. }) => {
                Err(MachineError::System(error.name().into(), about))
            }
            // A policy's command never has a fence, so this does not happen.
            Err(failure @ CommandFailure::NotLimited { .. }) => {
                Err(MachineError::System("EPERM".into(), failure.to_string()))
            }
            Err(stopped @ CommandFailure::Stopped { .. }) => {
                Err(MachineError::System("EINTR".into(), stopped.to_string()))
            }
            Err(CommandFailure::CannotLook { why, .. }) => Err(MachineError::System("EPERM".into(), why)),
        }
    }

    /// A dry run keeps the guest's changes in memory. The trial run for `:before`, inside a real run, keeps nothing.
    fn apply(&mut self, path: &str, change: MachineChange, why_run: bool) -> Result<Applied, MachineError> {
        if self.settings.why_run {
            return self.dry_apply(path, change);
        }
        change::apply(&self.root, &self.settings.grants, path, change, why_run)
    }

    /// Needs a grant of everything: such a policy may run every program, so it may also set variables that all of them read,
    /// such as the loader's.
    fn set_environment(&mut self, name: &str, value: Option<&str>) -> Result<(), MachineError> {
        if !self.settings.grants.is_unlimited() {
            let why = "a policy that is not granted everything may not set variables for the commands of its resources\n\
                       Each resource has an `environment` of its own, which the grant of its command names";
            return Err(MachineError::Denied(why.to_owned()));
        }
        self.commands.exported().set(name, value, self.settings.why_run)
    }

    fn users(&mut self) -> Result<Vec<MachineUser>, MachineError> {
        let _proof = self.settings.grants.read_path("/etc/passwd").map_err(denied)?;
        self.users.doubt();
        self.users.refresh(&self.root);
        Ok(self.users.users().to_vec())
    }

    fn groups(&mut self) -> Result<Vec<MachineGroup>, MachineError> {
        let _proof = self.settings.grants.read_path("/etc/group").map_err(denied)?;
        self.users.doubt();
        self.users.refresh(&self.root);
        Ok(self.users.groups().to_vec())
    }

    fn http(&mut self, request: &HttpRequest, why_run: bool) -> Result<HttpResponse, MachineError> {
        let url = self.settings.grants.download(&request.url).map_err(denied)?;
        if self.is_dry_run(why_run) && !matches!(request.method.as_str(), "GET" | "HEAD") {
            return Err(MachineError::DryRun(format!("send {} {}", request.method, url.url())));
        }
        let (grants, account) = (&self.settings.grants, self.root.account());
        crate::download::request_of(request, grants, self.settings.downloads, account).map_err(unreachable)
    }
}
