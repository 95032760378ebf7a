//! Starts a program with its own identity. The parent module explains why this takes a thread.

use super::end::{self, PATIENCE};
use super::failure::Nobody;
use super::fence::NoFence;
use super::unended::Unended;
use super::{CommandFailure, DEFAULT_PATH, Launch, SHELL, SHELL_NAME, fence, process_tree};
use crate::users::Users;
use contract::{CommandOutcome, MachineUser};
use errors::chef;
use nix::errno::Errno;
use nix::sched::{CloneFlags, unshare};
use process_wrap::std::{CommandWrap, ProcessSession};
use rustix::fs::{Access, AtFlags, CWD, Mode, OFlags};
use rustix::process::{Gid, Pid, Uid};
use rustix::thread::CapabilitySet;
use serde::{Deserialize, Serialize};
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

/// How often to look whether a start takes too long.
const LOOK: Duration = Duration::from_millis(200);

/// The reason for a child that is held up until it is killed.
const STOPPED: &str = "another process of its user stops it";

/// The reason if the start itself does not return.
const SILENT: &str = "the file system of its program or directory does not answer";

/// How many starts there were, to tell their threads apart by name.
static STARTS: AtomicU64 = AtomicU64::new(0);

/// The user and groups that a program runs as.
#[derive(Debug, Clone)]
pub(super) struct Identity {
    pub(super) name: String,
    pub(super) home: String,
    pub(super) shell: String,
    /// The numeric ids to take on. `None`: those of wrun.
    pub(super) ids: Option<Ids>,
}

/// The numeric ids of an identity.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Ids {
    pub(super) uid: Option<u32>,
    gid: u32,
    groups: Vec<u32>,
}

impl Ids {
    /// Returns the user, if it is not wrun's own.
    fn other_user(&self) -> Option<u32> {
        self.uid.filter(|uid| *uid != rustix::process::getuid().as_raw())
    }
}

/// The reason why the child process was not started.
pub(super) enum Refusal {
    Failure(CommandFailure),
    /// For the caller it looks as if the program had run and failed.
    Outcome(CommandOutcome),
}

impl Identity {
    /// Looks up the identity of a launch, by name or number.
    ///
    /// # Errors
    /// The user or the group does not exist in the root.
    pub(super) fn of(launch: &Launch, users: &mut Users) -> Result<Self, Nobody> {
        let group = launch.group.as_deref().map(|group| group_number(group, users)).transpose()?;
        let Some(wanted) = launch.user.as_deref() else {
            let own = rustix::process::getuid().as_raw();
            let user = users.user_by_id(own).cloned().unwrap_or_else(|| unknown(own));
            let ids = group.map(|gid| Ids { uid: None, gid, groups: vec![gid] });
            return Ok(Self { name: user.name, home: user.home, shell: user.shell, ids });
        };
        let user = find_user(wanted, users)?;
        let gid = group.unwrap_or(user.gid);
        let mut groups = users.supplementary(&user.name);
        groups.push(gid);
        groups.sort_unstable();
        groups.dedup();
        let ids = Some(Ids { uid: Some(user.uid), gid, groups });
        Ok(Self { name: user.name, home: user.home, shell: user.shell, ids })
    }
}

fn find_user(wanted: &str, users: &mut Users) -> Result<MachineUser, Nobody> {
    if let Some(user) = users.user(wanted) {
        return Ok(user.clone());
    }
    let nobody = || Nobody { kind: "user", name: wanted.into() };
    let uid: u32 = wanted.parse().ok().filter(|uid| *uid != u32::MAX).ok_or_else(nobody)?;
    Ok(users.user_by_id(uid).cloned().unwrap_or_else(|| unknown(uid)))
}

fn group_number(wanted: &str, users: &mut Users) -> Result<u32, Nobody> {
    let found = users.group(wanted).map(|group| group.gid);
    let number = found.or_else(|| wanted.parse().ok().filter(|gid| *gid != u32::MAX));
    number.ok_or_else(|| Nobody { kind: "group", name: wanted.into() })
}

/// Returns a user for a number without a name. Its group has the same number, as for a user that was created with its own
/// group.
fn unknown(uid: u32) -> MachineUser {
    MachineUser {
        name: uid.to_string(),
        uid,
        gid: uid,
        comment: String::new(),
        home: "/".into(),
        shell: "/bin/sh".into(),
    }
}

/// Starts the program. Returns once it runs or could not be started.
///
/// A process of the program's user can stop the child before it has become the program. A file system whose server is silent
/// holds the thread or the child in the kernel, where nothing ends them. So `is_over` is asked now and then whether the start
/// takes too long. Then the child is killed, and if the thread does not return soon, it is left behind: what it has started by
/// then, it ends itself.
pub(super) fn start(
    launch: &Launch,
    root: Option<PathBuf>,
    identity: Identity,
    environment: Vec<(String, String)>,
    is_over: &dyn Fn(Duration) -> bool,
) -> Result<Child, Refusal> {
    let failed = |error: io::Error| Refusal::Failure(CommandFailure::of_system(&error, &launch.shown));
    let began = Instant::now();
    let (done, started) = mpsc::channel();
    let name = format!("command {}", STARTS.fetch_add(1, Ordering::Relaxed) % 1_000_000);
    let own = launch.clone();
    let run = move || {
        let outcome = in_this_thread(&own, root.as_deref(), &identity, &environment);
        if let Err(mpsc::SendError(Ok(mut child))) = done.send(outcome) {
            let _ = child.kill();
            let _ = child.wait();
        }
    };
    std::thread::Builder::new().name(name.clone()).spawn(run).map_err(failed)?;
    let mut killed: Option<(Instant, Vec<Pid>)> = None;
    let held_up = |why| CommandFailure::HeldUp { shown: launch.shown.clone(), after: began.elapsed(), why };
    loop {
        match started.recv_timeout(LOOK) {
            Ok(Ok(mut child)) if killed.is_some() => {
                let pid = Pid::from_child(&child);
                end::await_end(&mut child, pid).map_err(failed)?;
                return Err(Refusal::Failure(held_up(STOPPED)));
            }
            Ok(outcome) => return outcome,
            Err(RecvTimeoutError::Disconnected) => return Err(failed(io::Error::other("thread ended"))),
            Err(RecvTimeoutError::Timeout) if is_over(began.elapsed()) => {
                let children = process_tree::kill_children_of_thread(&name);
                let (since, first) = killed.get_or_insert_with(|| (Instant::now(), children));
                if since.elapsed() >= PATIENCE {
                    return Err(Refusal::Failure(match Unended::among(first) {
                        Some(unended) => CommandFailure::of_system(&unended.into(), &launch.shown),
                        None => held_up(SILENT),
                    }));
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

/// Starts the program from the calling thread, which is good for nothing else afterwards.
fn in_this_thread(
    launch: &Launch,
    root: Option<&Path>,
    identity: &Identity,
    environment: &[(String, String)],
) -> Result<Child, Refusal> {
    let failure = |error: io::Error| Refusal::Failure(CommandFailure::of_system(&error, &launch.shown));
    enter(launch, root, identity).map_err(failure)?;
    let cwd = directory(launch);
    if let Err(error) = go_to(&cwd) {
        return Err(Refusal::Outcome(no_directory(&io::Error::from(error), &cwd)));
    }
    if let Some(fence) = &launch.fence {
        let found = command(&launch.words, launch.arg0, environment).map_err(failure)?;
        fence::put_up(fence, Path::new(found.get_program())).map_err(|why| match why {
            NoFence::System(error) => failure(error),
            NoFence::UnknownProgram(what) => {
                let program = found.get_program().to_string_lossy().into_owned();
                Refusal::Failure(CommandFailure::NotLimited { program, what })
            }
        })?;
    }
    let user = identity.ids.as_ref().and_then(Ids::other_user);
    spawn(&launch.words, launch.arg0, environment, user).map_err(|error| {
        let program = launch.words.first().map_or("", String::as_str);
        match launch.from_shell.then(|| shell_says(&error, program)).flatten() {
            Some(outcome) => Refusal::Outcome(outcome),
            None => Refusal::Failure(CommandFailure::of_system(&error, program)),
        }
    })
}

/// Makes the calling thread what the program is to be, but for its user. There is no way back: the thread ends after the start.
fn enter(launch: &Launch, root: Option<&Path>, identity: &Identity) -> io::Result<()> {
    match root {
        None => unshare(CloneFlags::CLONE_FS)?,
        Some(root) => {
            // A program below another root must not change this machine's host name. A process that may not make a namespace
            // may not set the name either.
            match unshare(CloneFlags::CLONE_FS | CloneFlags::CLONE_NEWUTS) {
                Err(Errno::EPERM) => unshare(CloneFlags::CLONE_FS)?,
                other => other?,
            }
            nix::unistd::chroot(root)?;
        }
    }
    rustix::process::umask(Mode::from_raw_mode(launch.umask & 0o777));
    identity.ids.as_ref().map_or(Ok(()), look_as)
}

/// Returns the directory in which the program starts.
pub(super) fn directory(launch: &Launch) -> String {
    launch.cwd.clone().unwrap_or_else(|| "/".into())
}

/// Changes to a directory that was resolved before. If somebody put a link into the path since then, it fails: a program
/// starts only in the very directory that was granted.
pub(super) fn go_to(cwd: &str) -> Result<(), rustix::io::Errno> {
    rustix::process::chdir(cwd)?;
    let there = rustix::process::getcwd(Vec::new())?;
    if cwd.starts_with('/') && there.to_bytes() != cwd.as_bytes() {
        return Err(rustix::io::Errno::LOOP);
    }
    Ok(())
}

/// Returns the home directory of a user, by name or number; without a user, that of wrun's own user. Returns `None` if the
/// user does not exist.
pub fn home(user: Option<&str>, users: &mut Users) -> Option<String> {
    match user {
        Some(user) => find_user(user, users).ok().map(|user| user.home),
        None => users.user_by_id(rustix::process::getuid().as_raw()).map(|user| user.home.clone()),
    }
}

/// Gives the calling thread the groups of an identity, and its user's rights on files. The child of a spawn with
/// [`Ids::other_user`] keeps these groups and becomes the user.
fn look_as(ids: &Ids) -> io::Result<()> {
    let Some(user) = ids.other_user() else { return take_on(ids) };
    take_on(&Ids { uid: None, ..ids.clone() })?;
    leave_keyring()?;
    // It takes the rights of root on files away, too.
    let user = nix::unistd::Uid::from_raw(user);
    nix::unistd::setfsuid(user);
    if nix::unistd::setfsuid(user) != user {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    // With this right, the standard library would take the groups away when the child becomes the user.
    let mut sets = rustix::thread::capabilities(None)?;
    sets.effective.remove(CapabilitySet::SETGID);
    Ok(rustix::thread::set_capabilities(None, sets)?)
}

/// Gives the calling thread an empty session keyring. In that of whoever started wrun lie keys for its possessor, such as a
/// Kerberos ticket of root's.
fn leave_keyring() -> io::Result<()> {
    match keyutils::Keyring::join_anonymous_session() {
        Ok(_) => Ok(()),
        // A kernel without keys, or a container that does not let anybody at them, the program included.
        Err(error) if matches!(Errno::from_raw(error.0), Errno::ENOSYS | Errno::EPERM) => Ok(()),
        Err(error) => Err(io::Error::from_raw_os_error(error.0)),
    }
}

/// Sets the numeric ids of the calling thread. Only for a process that has no other purpose: see the parent module.
pub(super) fn take_on(ids: &Ids) -> io::Result<()> {
    let groups: Vec<Gid> = ids.groups.iter().map(|gid| Gid::from_raw(*gid)).collect();
    let gid = Gid::from_raw(ids.gid);
    rustix::thread::set_thread_groups(&groups)?;
    rustix::thread::set_thread_res_gid(gid, gid, gid)?;
    if let Some(uid) = ids.uid.map(Uid::from_raw) {
        rustix::thread::set_thread_res_uid(uid, uid, uid)?;
    }
    Ok(())
}

/// Returns the outcome that the child of Mixlib::ShellOut reports for a missing directory: it fails as a program would.
pub(super) fn no_directory(error: &io::Error, cwd: &str) -> CommandOutcome {
    let CommandFailure::NotStarted { error, sentence, .. } = CommandFailure::of_system(error, cwd) else {
        return CommandOutcome { code: Some(1), ..CommandOutcome::default() };
    };
    let errors = chef::without_directory(&sentence, error, cwd).into_bytes();
    CommandOutcome { code: Some(1), errors, ..CommandOutcome::default() }
}

/// Returns the outcome that a shell reports for a program that it cannot start, or `None` if the shell has no message for the
/// error.
fn shell_says(error: &io::Error, program: &str) -> Option<CommandOutcome> {
    let (code, words) = match error.kind() {
        io::ErrorKind::NotFound => (127, "not found"),
        io::ErrorKind::PermissionDenied => (126, "Permission denied"),
        _ => return None,
    };
    let errors = format!("{SHELL_NAME}: 1: {program}: {words}\n").into_bytes();
    Some(CommandOutcome { code: Some(code), errors, ..CommandOutcome::default() })
}

/// Starts it as a user, or as wrun's own; a file that the kernel knows no format of is a shell's script.
fn spawn(
    words: &[String],
    arg0: Option<&str>,
    environment: &[(String, String)],
    user: Option<u32>,
) -> io::Result<Child> {
    match spawn_piped(command(words, arg0, environment)?, user) {
        Err(error) if is_formless(&error) => {
            spawn_piped(by_shell(&command(words, arg0, environment)?, environment), user)
        }
        other => other,
    }
}

/// Tells whether the error means that the file is executable but has no known format.
fn is_formless(error: &io::Error) -> bool {
    rustix::io::Errno::from_io_error(error) == Some(rustix::io::Errno::NOEXEC)
}

/// Builds the command that runs the same file with the same arguments through a shell.
fn by_shell(command: &Command, environment: &[(String, String)]) -> Command {
    let mut shell = Command::new(SHELL);
    shell.arg0(SHELL_NAME).arg(command.get_program()).args(command.get_args());
    shell.env_clear().envs(environment.iter().map(|(name, value)| (name, value)));
    shell
}

fn spawn_piped(mut command: Command, user: Option<u32>) -> io::Result<Child> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    if let Some(user) = user {
        command.uid(user);
    }
    // A program of wrun's own user has a process group of its own: Ctrl-C in a terminal does not reach the program, and a
    // timeout ends everything it started. Such a program could harm wrun in any case, and a new session costs a copy of the
    // page tables.
    if user.is_none() && !has_terminal() {
        command.process_group(0);
        return command.spawn();
    }
    // Also a session of its own. It has no terminal: any process with the operator's terminal can type into it, whoever its
    // user is. And it cannot join a process group of wrun's session, where no timeout would find it.
    let mut command = CommandWrap::from(command);
    command.wrap(ProcessSession);
    let mut started = Err(io::ErrorKind::NotFound.into());
    // wrun waits for the child itself, so the wrapper must not create one.
    let _wrapped = command.spawn_with(|command| {
        started = command.spawn();
        Err(io::ErrorKind::Other.into())
    });
    started
}

/// Tells whether wrun has a terminal that a program could inherit.
fn has_terminal() -> bool {
    static HAS: OnceLock<bool> = OnceLock::new();
    *HAS.get_or_init(|| {
        rustix::fs::open("/dev/tty", OFlags::RDONLY | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty()).is_ok()
    })
}

/// Builds the command, with the program looked up as the calling thread sees the file system.
pub(crate) fn command(words: &[String], arg0: Option<&str>, environment: &[(String, String)]) -> io::Result<Command> {
    let (program, arguments) = words.split_first().ok_or(io::ErrorKind::NotFound)?;
    let path = environment.iter().find(|(name, _)| name == "PATH").map_or(DEFAULT_PATH, |(_, path)| path.as_str());
    let mut command = Command::new(find_program(program, path)?);
    command
        .arg0(arg0.unwrap_or(program))
        .args(arguments)
        .env_clear()
        .envs(environment.iter().map(|(name, value)| (name, value)));
    Ok(command)
}

/// Looks a program up as a shell does, with the thread's root and rights. Left to the standard library, the variable
/// `PATH` in the child's environment would cost a fork of the whole process.
fn find_program(program: &str, path: &str) -> io::Result<PathBuf> {
    if program.contains('/') {
        return Ok(program.into());
    }
    let mut refused = rustix::io::Errno::NOENT;
    for directory in path.split(':').filter(|_| !program.is_empty()) {
        let directory = if directory.is_empty() { "." } else { directory };
        let candidate = Path::new(directory).join(program);
        match rustix::fs::stat(&candidate) {
            Ok(stat) if rustix::fs::FileType::from_raw_mode(stat.st_mode).is_file() => {}
            _ => continue,
        }
        // By the rights that the thread has on files, which need not be those of its user.
        match rustix::fs::accessat(CWD, &candidate, Access::EXEC_OK, AtFlags::EACCESS) {
            Ok(()) => return Ok(candidate),
            Err(errno) => refused = errno,
        }
    }
    Err(refused.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::CommandFailure;
    use keyutils::keytypes::User;
    use keyutils::{Keyring, SpecialKeyring};
    use nix::sys::fanotify::{EventFFlags, Fanotify, InitFlags, MarkFlags, MaskFlags};
    use std::os::unix::fs::PermissionsExt as _;

    /// Debian's `nobody`, in a group beside its own.
    fn nobody() -> Ids {
        Ids { uid: Some(65_534), gid: 65_534, groups: vec![1, 65_534] }
    }

    #[test]
    fn attack_a_users_processes_cannot_signal_the_thread_that_starts_its_program() {
        let look = || {
            look_as(&nobody()).unwrap();
            std::fs::read_to_string("/proc/thread-self/status").unwrap()
        };
        let status = std::thread::spawn(look).join().unwrap();
        let of = |key: &str| status.lines().find_map(|line| line.strip_prefix(key)).unwrap().trim().to_owned();
        // Real, effective and saved: one of them would be enough for a signal. The last counts for files.
        assert_eq!(of("Uid:"), "0\t0\t0\t65534");
        assert_eq!(of("Gid:"), "65534\t65534\t65534\t65534");
        assert_eq!(of("Groups:"), "1 65534");
        let read = || {
            look_as(&nobody()).unwrap();
            std::fs::read("/etc/shadow").map(drop)
        };
        assert!(std::thread::spawn(read).join().unwrap().is_err(), "it has the user's rights on files");
    }

    #[test]
    fn attack_a_users_program_has_no_key_of_whoever_started_wrun() {
        let find = || {
            let mut session = Keyring::join_anonymous_session().unwrap();
            session.add_key::<User, _, _>("wrun-test", b"secret".as_slice()).unwrap();
            let nowhere = || None::<&mut Keyring>;
            let found = |session: Keyring| session.search_for_key::<User, _, _>("wrun-test", nowhere()).is_ok();
            let before = found(session);
            look_as(&nobody()).unwrap();
            (before, found(Keyring::attach(SpecialKeyring::Session).unwrap()))
        };
        assert_eq!(std::thread::spawn(find).join().unwrap(), (true, false));
    }

    #[test]
    fn attack_a_child_that_is_held_up_before_it_is_the_program_is_ended() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
        let program = folder.path().join("program");
        std::fs::copy("/bin/true", &program).unwrap();
        // Whoever is asked for leave to execute the file, and never answers.
        let asked = Fanotify::init(InitFlags::FAN_CLASS_CONTENT, EventFFlags::O_RDONLY).unwrap();
        asked.mark(MarkFlags::FAN_MARK_ADD, MaskFlags::FAN_OPEN_EXEC_PERM, CWD, Some(&program)).unwrap();
        let launch = Launch::program(&program.to_string_lossy(), [""; 0]);
        let identity =
            Identity { name: "nobody".into(), home: "/".into(), shell: "/bin/sh".into(), ids: Some(nobody()) };
        let started = start(&launch, None, identity, vec![], &|waited| waited >= LOOK);
        let Err(Refusal::Failure(failure @ CommandFailure::HeldUp { .. })) = started else { panic!("it began") };
        assert!(failure.to_string().contains("another process of its user stops it"), "{failure}");
    }
}
