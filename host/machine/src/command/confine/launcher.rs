//! The launcher, a process between wrun and a confined program: a second wrun process that gives up all its rights.
//!
//! The launcher is a separate process because the program must be traced from its first instruction. So the process that
//! starts it must already be traced, and a thread of wrun cannot trace another thread of wrun. wrun sends the [`Request`].
//! The launcher makes the view, gives up its rights, sends `Ready`, and waits until wrun traces it. Then it starts the
//! program as the first process of a process namespace: when that process ends, the kernel ends all others in it.

use super::PLACED;
use super::view::{self, Obstacle, Writable};
use super::worker::close_the_rest;
use super::{calls, reply::Reply};
use crate::command::start::{self, Ids};
use landlock::{
    ABI, Access as _, AccessFs, AccessNet, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetStatus, Scope,
};
use nix::sched::{CloneFlags, unshare};
use rustix::fs::Mode;
use rustix::process::{Resource, Rlimit};
use rustix::thread::{CapabilitySet, CapabilitySets};
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

/// The capabilities that remain: to read everything, and to become another user.
///
/// Overriding file modes looks like too much. But with this right, a refused access cannot come from a file mode, so the
/// tracer knows that a mount caused it.
const KEPT: CapabilitySet = CapabilitySet::DAC_OVERRIDE
    .union(CapabilitySet::DAC_READ_SEARCH)
    .union(CapabilitySet::SETUID)
    .union(CapabilitySet::SETGID);

/// The maximum size of a file, in bytes. It is less than the size of a scratch directory, so that a signal reports the
/// excess.
const MAX_FILE: u64 = 64 << 20;

/// The longest request, in bytes: the kernel refuses longer arguments anyway.
const MAX_REQUEST: u64 = 16 << 20;

/// The program to run, and its identity.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Request {
    pub(super) words: Vec<String>,
    pub(super) arg0: Option<String>,
    pub(super) environment: Vec<(String, String)>,
    pub(super) cwd: String,
    pub(super) umask: u32,
    pub(super) ids: Option<Ids>,
    pub(super) root: PathBuf,
    /// Names and contents of files that the command examines.
    pub(super) placed: Vec<(String, Vec<u8>)>,
    /// More directories below the root where the program may write. These writes are discarded.
    pub(super) scratch: Vec<String>,
    /// Locks count as taken, and are not.
    pub(super) pretends_locks: bool,
    pub(super) lacks_network: bool,
}

/// Runs the launcher from start to end. Its standard streams are pipes to wrun, and later the program's.
pub fn launch_confined() -> ExitCode {
    // Files that wrun inherited open would lead out of the view.
    let closed = close_the_rest().map_err(Obstacle::at("close files"));
    let streams = (io::stdin().as_fd().try_clone_to_owned(), io::stdout().as_fd().try_clone_to_owned());
    let (Ok(input), Ok(output)) = streams else { return ExitCode::FAILURE };
    let (mut input, mut output) = (File::from(input), File::from(output));
    let asked = closed.map_err(Reason::from).and_then(|()| read_request(&mut input));
    let mut command = match asked.and_then(|request| prepare(&request)) {
        Ok(command) => command,
        Err(Reason::Reply(reply)) => return say(&mut output, &reply),
        Err(Reason::Obstacle(obstacle)) => return say(&mut output, &Reply::Impossible(obstacle.to_string())),
    };
    // From here on files open only if the tracer permits it.
    if say(&mut output, &Reply::Ready) == ExitCode::FAILURE || input.read_exact(&mut [0]).is_err() {
        return ExitCode::FAILURE;
    }
    drop(input);
    match command.spawn() {
        Ok(mut program) => {
            drop(output);
            let _ = program.wait();
            ExitCode::SUCCESS
        }
        Err(error) => say(&mut output, &Reply::NotStarted(error.raw_os_error().unwrap_or_default())),
    }
}

fn say(output: &mut File, reply: &Reply) -> ExitCode {
    match output.write_all(&reply.to_line()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// The reason why the program is not started.
enum Reason {
    Reply(Reply),
    Obstacle(Obstacle),
}

impl From<Obstacle> for Reason {
    fn from(obstacle: Obstacle) -> Self {
        Self::Obstacle(obstacle)
    }
}

fn read_request(input: &mut File) -> Result<Request, Reason> {
    let mut length = [0; 8];
    input.read_exact(&mut length).map_err(Obstacle::at("read the request"))?;
    let length = u64::from_le_bytes(length).min(MAX_REQUEST);
    let mut body = Vec::new();
    input.take(length).read_to_end(&mut body).map_err(Obstacle::at("read the request"))?;
    Ok(serde_json::from_slice(&body).map_err(Obstacle::at("read the request"))?)
}

/// Gives up all rights, each before the right that is needed to give it up.
fn prepare(request: &Request) -> Result<Command, Reason> {
    rustix::process::setsid().map_err(Obstacle::at("leave the terminal"))?;
    // If memory runs out, the kernel should end this process and not a service of the machine. This is only a hint.
    let _ = std::fs::write("/proc/self/oom_score_adj", "1000");
    // The network namespace stays the machine's, so that `/proc` and `/sys` show the true network. No socket reaches it.
    let namespaces = CloneFlags::CLONE_NEWNS
        | CloneFlags::CLONE_NEWPID
        | CloneFlags::CLONE_NEWIPC
        | CloneFlags::CLONE_NEWUTS
        | CloneFlags::CLONE_FS;
    unshare(namespaces).map_err(Obstacle::at("make namespaces"))?;
    let writable = view::make(&request.root, &request.scratch, !request.placed.is_empty())?;
    restrict_files(&writable)?;
    if request.root != Path::new("/") {
        nix::unistd::chroot(&request.root).map_err(Obstacle::at("change the root"))?;
    }
    rustix::process::chdir("/").map_err(Obstacle::at("change the root"))?;
    // A limit of one byte makes the kernel ignore a crash. With zero it would still call the machine's crash handler.
    for (resource, most) in [(Resource::Fsize, MAX_FILE), (Resource::Core, 1)] {
        // A lower limit stays, because raising it needs a right.
        let most = rustix::process::getrlimit(resource).maximum.map_or(most, |known| known.min(most));
        let limit = Rlimit { current: Some(most), maximum: Some(most) };
        rustix::process::setrlimit(resource, limit).map_err(Obstacle::at("limit files"))?;
    }
    for (name, content) in &request.placed {
        place(name, content, &writable).map_err(Obstacle::at("place the file"))?;
    }
    rustix::process::umask(Mode::from_raw_mode(request.umask & 0o777));
    for capability in CapabilitySet::all().difference(KEPT).iter() {
        match rustix::thread::remove_capability_from_bounding_set(capability) {
            // This kernel does not know the capability.
            Ok(()) | Err(rustix::io::Errno::INVAL) => {}
            Err(errno) => return Err(Obstacle::at("give up rights")(errno).into()),
        }
    }
    if let Some(ids) = &request.ids {
        start::take_on(ids).map_err(Obstacle::at("become the user"))?;
    }
    if rustix::process::geteuid().is_root() {
        let sets = CapabilitySets { effective: KEPT, permitted: KEPT, inheritable: CapabilitySet::empty() };
        rustix::thread::set_capabilities(None, sets).map_err(Obstacle::at("give up rights"))?;
    }
    if let Err(errno) = start::go_to(&request.cwd) {
        return Err(Reason::Reply(Reply::NoDirectory(errno.raw_os_error())));
    }
    let command = command(request).map_err(|error| Reply::NotStarted(error.raw_os_error().unwrap_or_default()));
    let command = command.map_err(Reason::Reply)?;
    calls::restrict(request.pretends_locks, request.lacks_network).map_err(Obstacle::at("restrict system calls"))?;
    Ok(command)
}

/// Writes the file into its directory below the scratch directory. No other process sees it, and it disappears with the view.
fn place(name: &str, content: &[u8], writable: &Writable) -> io::Result<()> {
    // Without the throw-away layer the file would stay on the machine.
    if !writable.directories.iter().any(|directory| directory.ends_with("tmp") && !directory.ends_with("var/tmp")) {
        return Err(io::Error::other("there is no scratch directory"));
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(Path::new(PLACED).join(name))?;
    file.write_all(content)
}

fn command(request: &Request) -> io::Result<Command> {
    let mut command = start::command(&request.words, request.arg0.as_deref(), &request.environment)?;
    command.stdin(Stdio::inherit()).stdout(Stdio::inherit()).stderr(Stdio::inherit());
    Ok(command)
}

/// Restricts files by Landlock, which stops accesses that read-only mounts do not stop. These are writes to devices and named
/// pipes, and access to outside processes and, through them, their files. On newer kernels Landlock also covers accesses that
/// other measures already refuse.
fn restrict_files(writable: &Writable) -> Result<(), Obstacle> {
    let failed = || Obstacle::at::<landlock::RulesetError>("restrict files (Landlock)");
    let writes = AccessFs::from_write(ABI::V5);
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_write(ABI::V1))
        .map_err(failed())?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(writes)
        .map_err(failed())?
        .handle_access(AccessNet::from_all(ABI::V4))
        .map_err(failed())?
        .scope(Scope::from_all(ABI::V6))
        .map_err(failed())?
        .create()
        .map_err(failed())?;
    let devices = writable.devices.iter().map(|path| (path, AccessFs::from_file(ABI::V1) & writes));
    let places = writable.directories.iter().map(|path| (path, writes)).chain(devices);
    for (path, access) in places {
        let place = PathFd::new(path).map_err(Obstacle::at("restrict files (Landlock)"))?;
        rules = rules.add_rule(PathBeneath::new(place, access)).map_err(failed())?;
    }
    let status = rules.restrict_self().map_err(failed())?;
    if status.ruleset == RulesetStatus::NotEnforced || !status.no_new_privs {
        return Err(Obstacle::at("restrict files (Landlock)")("this kernel does not do it"));
    }
    Ok(())
}
