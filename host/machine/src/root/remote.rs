//! File systems for which a server or a program answers, and that may be silent: NFS, or FUSE.
//!
//! A look at such a file system waits in the kernel until its server answers, and no signal may end that. Any policy names
//! paths, and a path is looked at before the right to it is decided, since a link may lead elsewhere. So wrun does not go into
//! such a file system before it has answered another process: `stat -f`, which always asks the server. If no answer comes in
//! time, the look fails. The process stays behind until it has its answer, and holds nothing of wrun's.
//!
//! Rejected: a thread that asks. A thread that waits in the kernel also holds the end of its process. Also rejected: refusing
//! to go into such a file system without a right to something there. Homes are often on NFS, and accounts, jobs and git's
//! settings lead there without any right to a path.

use crate::command;
use contract::Account;
use plain_files::mounts::{unescaped, waits_for_others};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::AsRawFd as _;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read as _, Seek as _};
use std::os::fd::AsFd;
use std::process::{Child, Stdio};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// The time that a server has for its answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// The time for which an answer counts.
const FRESH: Duration = Duration::from_secs(10);

/// The time for which the kernel is not asked again whether mounts came. A run looks at thousands of paths in a row. A file
/// system that came within this time has just been mounted.
const KNOWN: Duration = Duration::from_millis(1);

/// The longest pause between two looks whether there is an answer. The first pauses are shorter.
const LONGEST_PAUSE: Duration = Duration::from_millis(20);

/// The kernel's table of mounts, as the calling thread sees it.
const TABLE: &str = "/proc/thread-self/mountinfo";

/// Maximum size of the table, in bytes. Mounts beyond it are not known.
const MAX_TABLE: u64 = 16 << 20;

/// The answers of this process's mounts.
static ANSWERS: LazyLock<Mutex<HashMap<Mount, Answer>>> = LazyLock::new(Mutex::default);

/// A mounted file system that waits for others.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Mount {
    /// The kernel's number of the mount, which a later mount may get once this one is gone.
    number: String,
    device: String,
    /// The path of the mount point on this machine.
    point: String,
    /// The same path, as seen from inside the root.
    inside: String,
}

/// The state of a server, as far as it is known.
#[derive(Debug)]
enum Answer {
    /// The server answered at that time.
    At(Instant),
    /// It did not answer in time, and this process still waits.
    Silent(Child),
}

/// The mounts below one root that wait for others.
#[derive(Debug)]
pub(super) struct RemoteMounts {
    /// The path of the root on this machine.
    root: String,
    /// The kernel's table, opened at the first look. `None`: the machine does not show it.
    table: OnceLock<Option<Mutex<Table>>>,
}

#[derive(Debug)]
struct Table {
    file: File,
    mounts: Arc<[Mount]>,
    /// The time of the last question whether mounts came or went.
    asked: Instant,
}

impl RemoteMounts {
    /// The mounts below an open directory. The table is read when it is needed.
    pub(super) fn below(root: impl AsFd) -> Self {
        let link = format!("/proc/self/fd/{}", root.as_fd().as_raw_fd());
        let root = rustix::fs::readlink(link, vec![]).ok().and_then(|path| path.into_string().ok());
        match root.filter(|path| path.starts_with('/')) {
            Some(root) => Self { root: root.trim_end_matches('/').to_owned(), table: OnceLock::new() },
            None => Self { root: String::new(), table: OnceLock::from(None) },
        }
    }

    /// Returns the present mounts.
    pub(super) fn now(&self) -> Arc<[Mount]> {
        let table = self.table.get_or_init(|| Table::open(&self.root).ok().map(Mutex::new));
        let Some(table) = table else { return Arc::default() };
        let mut table = locked(table);
        // If the table cannot be read again, the mounts known so far count.
        if table.asked.elapsed() >= KNOWN {
            table.asked = Instant::now();
            if table.has_changed() {
                let _ = table.read(&self.root);
            }
        }
        Arc::clone(&table.mounts)
    }
}

impl Table {
    fn open(root: &str) -> io::Result<Self> {
        let file = File::from(rustix::fs::open(TABLE, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?);
        let mut table = Self { file, mounts: Arc::default(), asked: Instant::now() };
        table.read(root)?;
        Ok(table)
    }

    /// Tells whether mounts came or went since the last call. The kernel reports that once to each opened table.
    fn has_changed(&self) -> bool {
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        let mut polled = [PollFd::new(&self.file, PollFlags::PRI)];
        poll(&mut polled, Some(&at_once)).is_ok()
            && polled.iter().any(|polled| polled.revents().intersects(PollFlags::PRI | PollFlags::ERR))
    }

    fn read(&mut self, root: &str) -> io::Result<()> {
        self.file.rewind()?;
        let mut text = Vec::new();
        (&self.file).take(MAX_TABLE).read_to_end(&mut text)?;
        self.mounts = parse(&String::from_utf8_lossy(&text), root).into();
        Ok(())
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the mounts below a root that wait for others, the outer ones first. Of several at one point, the last one counts.
fn parse(table: &str, root: &str) -> Vec<Mount> {
    let mut latest: HashMap<String, Option<Mount>> = HashMap::new();
    for line in table.lines() {
        let Some((before, after)) = line.split_once(" - ") else { continue };
        let (mut before, mut after) = (before.split(' '), after.split(' ').map(unescaped));
        let (Some(number), Some(point)) = (before.next(), before.nth(3).map(unescaped)) else { continue };
        let (Some(kind), Some(device)) = (after.next(), after.next()) else { continue };
        // If the server of the root itself is silent, nothing runs.
        let Some(inside) = point.strip_prefix(root).filter(|inside| inside.len() > 1 && inside.starts_with('/')) else {
            continue;
        };
        let mount = waits_for_others(&kind, &device).then(|| Mount {
            number: number.to_owned(),
            device,
            inside: inside.to_owned(),
            point: point.clone(),
        });
        latest.insert(point, mount);
    }
    let mut mounts: Vec<Mount> = latest.into_values().flatten().collect();
    mounts.sort_by(|a, b| (a.inside.len(), &a.inside).cmp(&(b.inside.len(), &b.inside)));
    mounts
}

/// Fails unless the servers of all mounts on the way to a path, which is seen from inside the root, answer in time.
///
/// # Errors
/// `ETIMEDOUT`; or a limit of the account is exceeded meanwhile.
pub(super) fn require_answers(mounts: &[Mount], path: &str, account: &Account) -> Result<(), Errno> {
    let is_on_the_way =
        |mount: &&Mount| path.strip_prefix(&*mount.inside).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    mounts.iter().filter(is_on_the_way).try_for_each(|mount| require_answer(mount, account))
}

fn require_answer(mount: &Mount, account: &Account) -> Result<(), Errno> {
    let mut answers = locked(&ANSWERS);
    let now = Instant::now();
    let (mut asker, until) = match answers.remove(mount) {
        Some(Answer::At(then)) if now.duration_since(then) < FRESH => {
            answers.insert(mount.clone(), Answer::At(then));
            return Ok(());
        }
        Some(Answer::Silent(asker)) => (asker, now),
        _ => match ask(&mount.point) {
            Ok(asker) => (asker, now + PATIENCE),
            // A machine without the program cannot ask, and needs its homes on NFS all the same.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(_) => return Err(Errno::TIMEDOUT),
        },
    };
    let (outcome, state) = wait(&mut asker, until, account);
    match state {
        State::Answered => drop(answers.insert(mount.clone(), Answer::At(Instant::now()))),
        State::Silent => drop(answers.insert(mount.clone(), Answer::Silent(asker))),
        State::Killed => {}
    }
    outcome
}

/// What has become of a process that asks a server.
enum State {
    Answered,
    Silent,
    /// It has no answer, and the next look asks again.
    Killed,
}

/// Starts the program that asks the server. Its outcome does not matter: an error is an answer, too.
fn ask(point: &str) -> io::Result<Child> {
    let words = ["stat", "-f", "--", point].map(str::to_owned);
    let mut command = command::prepared(&words, None, &[])?;
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()
}

/// Waits for the answer, and returns the result of the look.
fn wait(asker: &mut Child, until: Instant, account: &Account) -> (Result<(), Errno>, State) {
    let mut pause = Duration::from_millis(1);
    loop {
        match asker.try_wait() {
            Ok(Some(status)) if status.code().is_some() => return (Ok(()), State::Answered),
            Ok(None) if Instant::now() < until => {}
            Ok(None) => return (Err(Errno::TIMEDOUT), State::Silent),
            Ok(Some(_)) | Err(_) => return (Err(Errno::TIMEDOUT), State::Killed),
        }
        if let Err(ended) = account.verdict() {
            return (Err(super::fault::errno_of(&ended)), State::Silent);
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}
