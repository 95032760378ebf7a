//! File systems for which a server or a program answers, and that may be silent: NFS, or FUSE.
//!
//! A look at such a file system waits in the kernel until its server answers, and no signal may end that. Any policy names
//! paths, and a path is looked at before the right to it is decided, since a link may lead elsewhere. So wrun does not go into
//! such a file system before it has answered another process: `stat -f`, which always asks the server. If no answer comes in
//! time, the look fails. The process stays behind until it has its answer, and holds nothing of wrun's.
//!
//! An automounter (`autofs`) is such a program, too: a name in its folder makes it mount something, or the folder itself does.
//! There the other process looks at this name.
//!
//! Rejected: a thread that asks. A thread that waits in the kernel also holds the end of its process. Also rejected: refusing
//! to go into such a file system without a right to something there. Homes are often on NFS, and accounts, jobs and git's
//! settings lead there without any right to a path.

use crate::command;
use contract::Account;
use plain_files::mounts::{is_automounter, unescaped, waits_for_others};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::AsRawFd as _;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use std::borrow::Cow;
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

/// The number of answers from which on old ones are forgotten.
const MAX_ANSWERS: usize = 1_000;

/// The answers of this process's mounts.
static ANSWERS: LazyLock<Mutex<HashMap<Mount, Answer>>> = LazyLock::new(Mutex::default);

/// A mounted file system that waits for others.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Mount {
    /// The kernel's number of the mount, which a later mount may get once this one is gone.
    number: String,
    device: String,
    /// The path of the mount point on this machine.
    point: String,
    /// The same path, as seen from inside the root.
    inside: String,
    /// True for an automounter.
    mounts_others: bool,
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

    /// Tells whether no such mount exists at present. This is the common case, and costs at most one call.
    pub(super) fn is_empty(&self) -> bool {
        self.read_if(Table::has_changed).is_empty()
    }

    /// Fails unless the servers of all mounts on the way to a path, which is seen from inside the root, answer in time.
    ///
    /// # Errors
    /// `ETIMEDOUT`; or a limit of the account is exceeded meanwhile.
    pub(super) fn require_answers(&self, path: &str, account: &Account) -> Result<(), Errno> {
        let mounts = self.now();
        let mut on_the_way = mounts.iter().filter(|mount| mount.is_on_the_way_to(path));
        on_the_way.try_for_each(|mount| require_answer(&mount.asked_for(path), account))
    }

    /// Tells whether there is an automounter. Then a look that crosses no mount may make it mount something.
    pub(super) fn have_automounters(&self) -> bool {
        self.read_if(Table::has_changed).iter().any(|mount| mount.mounts_others)
    }

    /// Fails if an automounter on the way to a path, which is seen from inside the root, does not mount in time what the path
    /// names.
    ///
    /// # Errors
    /// As [`require_answers`](Self::require_answers).
    pub(super) fn require_automounts(&self, path: &str, account: &Account) -> Result<(), Errno> {
        let mounts = self.read_if(Table::has_changed);
        let mut on_the_way = mounts.iter().filter(|mount| mount.mounts_others && mount.is_on_the_way_to(path));
        on_the_way.try_for_each(|mount| require_answer(&mount.asked_for(path), account))
    }

    /// Does the same for a path of this machine. The error has the path as seen from inside the root.
    ///
    /// # Errors
    /// As [`require_answers`](Self::require_answers).
    pub(super) fn require_automounts_at(&self, path: &str, account: &Account) -> Result<(), (Errno, String)> {
        let Some(inside) = path.strip_prefix(&*self.root).filter(|inside| inside.starts_with('/')) else {
            return Ok(());
        };
        self.require_automounts(inside, account).map_err(|errno| (errno, inside.to_owned()))
    }

    /// Fails unless the server of a mount at a path of this machine answers in time. The error has the path as seen from
    /// inside the root.
    ///
    /// # Errors
    /// As [`require_answers`](Self::require_answers).
    pub(super) fn require_answer_at(&self, point: &str, account: &Account) -> Result<(), (Errno, String)> {
        let now = self.now();
        let Some(mount) = now.iter().find(|mount| mount.point == point) else { return Ok(()) };
        require_answer(mount, account).map_err(|errno| (errno, mount.inside.clone()))
    }

    /// Returns the present mounts. The table is read again: the kernel does not report that a folder above a mount was renamed.
    fn now(&self) -> Arc<[Mount]> {
        self.read_if(|_| true)
    }

    fn read_if(&self, is_due: impl FnOnce(&mut Table) -> bool) -> Arc<[Mount]> {
        let table = self.table.get_or_init(|| Table::open(&self.root).ok().map(Mutex::new));
        let Some(table) = table else { return Arc::default() };
        let mut table = locked(table);
        // If the table cannot be read again, the mounts known so far count.
        if is_due(&mut table) {
            let _ = table.read(&self.root);
        }
        Arc::clone(&table.mounts)
    }
}

impl Mount {
    /// Tells whether a path, as seen from inside the root, is the mount point or lies below it.
    fn is_on_the_way_to(&self, path: &str) -> bool {
        path.strip_prefix(&*self.inside).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// Returns the mount whose server has to answer for a path at or below this one. An automounter answers for each name in its
    /// folder alone.
    fn asked_for(&self, path: &str) -> Cow<'_, Self> {
        let rest = path.strip_prefix(&*self.inside).unwrap_or_default();
        match rest.split('/').nth(1).filter(|name| self.mounts_others && !name.is_empty()) {
            Some(name) => Cow::Owned(Self {
                point: format!("{}/{name}", self.point),
                inside: format!("{}/{name}", self.inside),
                ..self.clone()
            }),
            None => Cow::Borrowed(self),
        }
    }
}

impl Table {
    fn open(root: &str) -> io::Result<Self> {
        let file = File::from(rustix::fs::open(TABLE, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?);
        let mut table = Self { file, mounts: Arc::default(), asked: Instant::now() };
        table.read(root)?;
        Ok(table)
    }

    /// Tells whether mounts came or went since the last call. The kernel reports that once to each opened table, and is not
    /// asked again at once.
    fn has_changed(&mut self) -> bool {
        if self.asked.elapsed() < KNOWN {
            return false;
        }
        self.asked = Instant::now();
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
        let mounts_others = is_automounter(&kind, &point);
        let mount = (mounts_others || waits_for_others(&kind, &device)).then(|| Mount {
            number: number.to_owned(),
            device,
            inside: inside.to_owned(),
            point: point.clone(),
            mounts_others,
        });
        latest.insert(point, mount);
    }
    let mut mounts: Vec<Mount> = latest.into_values().flatten().collect();
    mounts.sort_by(|a, b| (a.inside.len(), &a.inside).cmp(&(b.inside.len(), &b.inside)));
    mounts
}

/// Fails unless the server of a mount answers in time.
fn require_answer(mount: &Mount, account: &Account) -> Result<(), Errno> {
    let mut answers = locked(&ANSWERS);
    let now = Instant::now();
    if answers.len() >= MAX_ANSWERS {
        answers.retain(|_, answer| !matches!(answer, Answer::At(then) if now.duration_since(*then) >= FRESH));
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_automounter_is_asked_about_the_name_in_its_folder() {
        let table = "30 1 0:40 / /r/net rw - autofs -hosts rw\n31 1 0:41 / /r/srv/nfs rw - nfs4 host:/x rw\n\
                     32 1 0:42 / /proc/sys/fs/binfmt_misc rw - autofs systemd-1 rw\n33 1 8:1 / /r/data rw - ext4 /dev/sda1 rw\n";
        let mounts = parse(table, "/r");
        let asked = |path: &str| {
            let on_the_way = mounts.iter().filter(|mount| mount.is_on_the_way_to(path));
            on_the_way.map(|mount| mount.asked_for(path).point.clone()).collect::<Vec<_>>()
        };
        assert_eq!(asked("/net"), ["/r/net"]);
        assert_eq!(asked("/net/host/export/a"), ["/r/net/host"]);
        assert_eq!(asked("/srv/nfs/a/b"), ["/r/srv/nfs"]);
        assert_eq!(asked("/network"), [""; 0]);
        assert_eq!(asked("/data/a"), [""; 0]);
        assert!(parse(table, "").iter().all(|mount| !mount.point.starts_with("/proc")));
    }
}
