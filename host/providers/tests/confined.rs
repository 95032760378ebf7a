//! Commands of a dry run, as root: none of them has an effect, and what was stopped is not taken for an answer.

#![cfg(test)]
#![cfg(target_arch = "x86_64")]

mod support;

use converge::{CommandTest, Machine as _, MachineError, Providers as _, Truth};
use serde_json::json;
use std::io::Read as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use support::Bench;

/// A directory that is no scratch directory, with things to be changed; away with the value.
struct Victim {
    directory: tempfile::TempDir,
    process: Child,
}

impl Victim {
    fn new() -> Self {
        let directory = tempfile::Builder::new().prefix("wrun-confined-").tempdir_in("/var/lib").unwrap();
        let at = |name: &str| directory.path().join(name);
        std::fs::set_permissions(directory.path(), PermissionsExt::from_mode(0o755)).unwrap();
        std::fs::write(at("kept"), "kept\n").unwrap();
        std::fs::create_dir(at("open")).unwrap();
        std::fs::set_permissions(at("open"), PermissionsExt::from_mode(0o777)).unwrap();
        std::fs::write(at("open/kept"), "kept\n").unwrap();
        std::fs::set_permissions(at("open/kept"), PermissionsExt::from_mode(0o666)).unwrap();
        let made = |arguments: &[&str]| {
            let made = Command::new("mknod").args(arguments).current_dir(directory.path()).status().unwrap();
            assert!(made.success(), "{arguments:?}");
        };
        made(&["-m", "666", "pipe", "p"]);
        made(&["-m", "666", "zero", "c", "1", "5"]);
        // An old time of access, which a read would make new.
        let touched = Command::new("touch").args(["-a", "-d", "2001-01-01"]).arg(at("kept")).status().unwrap();
        assert!(touched.success());
        let process = Command::new("sleep").arg("600").stdin(Stdio::null()).spawn().unwrap();
        Self { directory, process }
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    /// All that can be seen of it.
    fn snapshot(&self) -> Vec<String> {
        fn walk(at: &Path, seen: &mut Vec<String>) {
            let is = at.symlink_metadata().unwrap();
            // That this looks into a directory is an access of its own.
            let accessed = if is.is_dir() { 0 } else { is.atime() };
            let times = (accessed, is.mtime(), is.mtime_nsec(), is.ctime(), is.ctime_nsec());
            let (path, mode) = (at.display(), is.mode());
            seen.push(format!("{path} {mode:o} {} {} {} {times:?}", is.uid(), is.nlink(), is.len()));
            if is.is_dir() {
                let mut names: Vec<PathBuf> = at.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
                names.sort();
                names.iter().for_each(|name| walk(name, seen));
            }
        }
        let mut seen = Vec::new();
        walk(self.path(), &mut seen);
        seen
    }

    /// `DIR` and `PID` in a command stand for the directory and the process.
    fn named(&self, line: &str) -> String {
        line.replace("DIR", self.path().to_str().unwrap()).replace("PID", &self.process.id().to_string())
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn machine() -> Bench {
    Bench::whole("").unlimited()
}

fn asked(command: &CommandTest) -> Truth {
    machine().providers(true).guard(command, true).unwrap()
}

fn ask(line: &str) -> Truth {
    asked(&CommandTest::text(line))
}

#[track_caller]
fn is_stopped(truth: &Truth, line: &str, at: &str) {
    match truth {
        Truth::Unknown(why) => assert!(why.contains(at), "{line}: {why}"),
        known => panic!("{line}: {known:?}"),
    }
}

#[test]
fn questions_are_answered() {
    let yes = [
        "true",
        "test -f /etc/passwd",
        "grep -q '^root:' /etc/passwd",
        "dpkg -l | grep -q base-files",
        "dpkg -s dpkg > /dev/null 2>&1",
        "dpkg-query -W -f '${Status}' dpkg | grep -q installed",
        "test $(id -u) -eq 0",
        "which sh",
        "command -v sh",
        "getent passwd root",
        "cat /etc/passwd | sort | uniq | head -n 1 > /dev/null",
        "f=$(mktemp) && echo x > $f && grep -q x $f && rm $f",
        "test -c /dev/null && test -d /proc/1 && test -d /sys/class",
        "mount | grep -q ' / '",
        "sleep 0.01 & wait",
        "kill -0 $$",
        "test -r /etc/shadow && grep -q root /etc/shadow",
        "perl -e 'exit 0'",
        "find /etc -maxdepth 1 -name passwd | grep -q passwd",
        "diff /etc/passwd /etc/passwd",
        "ps -e > /dev/null",
        "test \"$(uname -n)\" = \"$(cat /proc/sys/kernel/hostname)\"",
        "bash -c 'cat <<< text'",
        "echo 51 > /proc/self/coredump_filter || true",
        "setpriv --reuid=nobody --regid=nogroup --clear-groups sh -c 'test $(id -un) = nobody'",
    ];
    for line in yes {
        assert_eq!(ask(line), Truth::True, "{line}");
    }
    let no = [
        "false",
        "test -f /etc/wrun-no-such-file",
        "grep -q wrun-nobody /etc/passwd",
        "dpkg -s wrun-no-such-package",
        "which wrun-no-such-program",
        "getent passwd wrun-nobody",
        "test -x /etc/passwd",
        "kill -0 4194303",
        "cat /etc/wrun-no-such-file",
        "ls /root/wrun-no-such-file; exit 3",
    ];
    for line in no {
        assert_eq!(ask(line), Truth::False, "{line}");
    }
}

#[test]
fn a_commands_options_are_kept_to() {
    let as_nobody = |line: &str| asked(&CommandTest { user: Some("nobody".into()), ..CommandTest::text(line) });
    assert_eq!(as_nobody("test \"$(id -un)\" = nobody && test $HOME = /nonexistent"), Truth::True);
    assert_eq!(as_nobody("cat /etc/shadow"), Truth::False, "nobody may not, confined or not");
    is_stopped(&as_nobody("/bin/mount > /dev/null; /bin/su -c true"), "nobody's mount", "needs rights");
    let group = CommandTest { group: Some("daemon".into()), ..CommandTest::text("test $(id -gn) = daemon") };
    assert_eq!(asked(&group), Truth::True);
    let cwd = CommandTest { cwd: Some("/etc".into()), ..CommandTest::text("test $PWD = /etc && test -f passwd") };
    assert_eq!(asked(&cwd), Truth::True);
    let nowhere = CommandTest { cwd: Some("/wrun-no-such".into()), ..CommandTest::text("true") };
    assert_eq!(asked(&nowhere), Truth::False, "as in a real run");
    let environment = vec![("GREETING".to_owned(), "hello there".to_owned())];
    let greeting = CommandTest { environment, ..CommandTest::text("test \"$GREETING\" = 'hello there'") };
    assert_eq!(asked(&greeting), Truth::True);
    let mask = CommandTest { umask: Some(0o27), ..CommandTest::text("test $(umask) = 0027") };
    assert_eq!(asked(&mask), Truth::True);
    let input = CommandTest { input: Some("some text".into()), ..CommandTest::text("test \"$(cat)\" = 'some text'") };
    assert_eq!(asked(&input), Truth::True);
    let script = CommandTest { interpreter: Some("bash".into()), ..CommandTest::text("[[ abc == a* ]]") };
    assert_eq!(asked(&script), Truth::True);
    let words = CommandTest {
        line: converge::CommandLine::Arguments(vec!["test".into(), "-d".into(), "/".into()]),
        ..CommandTest::text("")
    };
    assert_eq!(asked(&words), Truth::True);
    is_stopped(&ask("wrun-no-such-program"), "missing program", "could not be started: No such file");
    let stranger = CommandTest { user: Some("wrun-nobody".into()), ..CommandTest::text("true") };
    is_stopped(&asked(&stranger), "missing user", "can't find user for wrun-nobody");
    let slow = CommandTest { timeout: Some(1), ..CommandTest::text("sleep 30") };
    is_stopped(&asked(&slow), "slow", "longer than 1 s");
}

#[test]
fn nothing_is_written() {
    let victim = Victim::new();
    let before = victim.snapshot();
    let cases = [
        ("cat DIR/kept; echo x > DIR/new", "openat DIR/new"),
        ("echo x >> DIR/kept", "openat DIR/kept"),
        ("echo x > DIR/new || true", "openat DIR/new"),
        ("cd DIR && echo x > new", "openat new"),
        ("rm -f DIR/kept", "unlink"),
        ("rm -rf DIR", "unlinkat"),
        ("mv DIR/kept DIR/moved", "rename"),
        ("mkdir DIR/directory", "mkdir DIR/directory"),
        ("ln -s kept DIR/link", "symlink"),
        ("ln DIR/kept DIR/link", "link"),
        ("chmod 600 DIR/kept", "chmod"),
        ("chown nobody DIR/kept", "chown"),
        ("touch DIR/kept", "openat DIR/kept"),
        ("touch -h DIR/kept", "utimensat"),
        ("truncate -s 0 DIR/kept", "openat DIR/kept"),
        ("perl -e 'truncate(\"DIR/kept\", 0)'", "truncate DIR/kept"),
        ("chattr +i DIR/kept", "ioctl"),
        ("mkfifo DIR/other", "mknod"),
        ("test -w DIR/kept", "DIR/kept"),
        (
            "perl -e '$a = \"DIR/kept\"; $b = \"user.x\"; exit(syscall(188, $a, $b, $b, 1, 0) ? 1 : 0)'",
            "setxattr DIR/kept",
        ),
        ("echo x > /proc/PID/root/DIR/kept", "/proc/PID/root"),
        ("ls /proc/PID/root/", "/proc/PID/root"),
        ("echo 0 > /proc/PID/oom_score_adj", "/proc/PID/oom_score_adj"),
        ("echo 33 > /proc/sys/vm/swappiness", "/proc/sys/vm/swappiness"),
        (
            "cat /sys/kernel/mm/transparent_hugepage/enabled; echo x > /sys/kernel/mm/transparent_hugepage/enabled",
            "/sys/kernel/mm",
        ),
        ("flock DIR/kept true", "flock"),
    ];
    let swappiness = std::fs::read("/proc/sys/vm/swappiness").unwrap();
    for (line, at) in cases {
        is_stopped(&ask(&victim.named(line)), line, &victim.named(at));
    }
    assert_eq!(victim.snapshot(), before);
    assert_eq!(std::fs::read_to_string(victim.path().join("kept")).unwrap(), "kept\n");
    assert_eq!(std::fs::read("/proc/sys/vm/swappiness").unwrap(), swappiness);
    let as_nobody =
        |line: &str| asked(&CommandTest { user: Some("nobody".into()), ..CommandTest::text(&victim.named(line)) });
    is_stopped(&as_nobody("echo x > DIR/open/new"), "nobody's file", "open/new");
    is_stopped(&as_nobody("echo x > DIR/open/kept"), "nobody's file", "open/kept");
    is_stopped(&as_nobody("echo x > DIR/pipe"), "nobody's pipe", "pipe");
    is_stopped(&as_nobody("cat DIR/zero"), "nobody's device", "zero");
}

#[test]
fn another_process_of_the_same_user_is_no_way_out() {
    let victim = Victim::new();
    let mut other = Command::new("setpriv");
    other.args(["--reuid=nobody", "--regid=nogroup", "--clear-groups", "sleep", "600"]);
    let mut other = other.spawn().unwrap();
    // It is nobody's only after it has become so.
    while std::fs::metadata(format!("/proc/{}", other.id())).unwrap().uid() == 0 {
        std::thread::yield_now();
    }
    let before = victim.snapshot();
    for line in
        ["echo x > /proc/OTHER/root/DIR/open/kept", "kill OTHER", "cd /proc/OTHER/cwd", "cat /proc/OTHER/environ"]
    {
        let line = victim.named(line).replace("OTHER", &other.id().to_string());
        let truth = asked(&CommandTest { user: Some("nobody".into()), ..CommandTest::text(&line) });
        assert_ne!(truth, Truth::True, "{line}");
    }
    assert_eq!(victim.snapshot(), before);
    assert_eq!(other.try_wait().unwrap(), None, "it still runs");
    other.kill().unwrap();
    other.wait().unwrap();
}

#[test]
fn scratch_files_are_thrown_away() {
    let bench = machine();
    std::fs::write(bench.directory.path().join("there"), "there\n").unwrap();
    let truth = |line: &str| ask(&line.replace("DIR", bench.directory.path().to_str().unwrap()));
    assert_eq!(truth("grep -q there DIR/there && echo more >> DIR/there && grep -q more DIR/there"), Truth::True);
    assert_eq!(truth("echo x > DIR/new && mkdir /tmp/wrun-scratch /var/tmp/wrun-scratch"), Truth::True);
    assert_eq!(truth("rm -r DIR && ! test -e DIR"), Truth::True);
    assert_eq!(truth("perl -e 'open(F, \">\", \"/dev/shm/wrun-scratch\") or exit 1'"), Truth::True);
    assert_eq!(std::fs::read_to_string(bench.directory.path().join("there")).unwrap(), "there\n");
    for path in ["/tmp/wrun-scratch", "/var/tmp/wrun-scratch", "/dev/shm/wrun-scratch"] {
        assert!(!Path::new(path).exists(), "{path}");
    }
    is_stopped(&truth("head -c 300000000 /dev/zero > DIR/big"), "too much", "wrote too much");
}

#[test]
fn no_process_is_reached_and_none_is_left() {
    let mut victim = Victim::new();
    is_stopped(&ask(&victim.named("kill PID")), "kill", "kill");
    is_stopped(&ask(&victim.named("kill -0 PID")), "kill -0", "kill");
    is_stopped(&ask(&victim.named("perl -e 'exit(syscall(101, 16, PID, 0, 0) == 0 ? 0 : 1)'")), "ptrace", "ptrace");
    let _whatever = ask("kill -9 -1");
    assert_eq!(victim.process.try_wait().unwrap(), None, "it still runs");
    let mark = format!("77.{}", std::process::id());
    let begin = std::time::Instant::now();
    assert_eq!(ask(&format!("(setsid sleep {mark} > /dev/null 2>&1 &); true")), Truth::True);
    assert_eq!(ask(&format!("setsid sleep {mark} & true")), Truth::True);
    assert!(begin.elapsed().as_secs() < 30, "a daemon is not waited for");
    let left = std::fs::read_dir("/proc").unwrap().flatten().filter_map(|process| {
        let words = std::fs::read(process.path().join("cmdline")).ok()?;
        words.split(|byte| *byte == 0).any(|word| word == mark.as_bytes()).then_some(words)
    });
    assert_eq!(left.count(), 0);
}

#[test]
fn nobody_is_talked_to() {
    let victim = Victim::new();
    let listener = UnixListener::bind(victim.path().join("socket")).unwrap();
    listener.set_nonblocking(true).unwrap();
    let network = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    network.set_nonblocking(true).unwrap();
    let datagrams = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    datagrams.set_nonblocking(true).unwrap();
    let port = |address: std::net::SocketAddr| address.port().to_string();
    let (tcp, udp) = (port(network.local_addr().unwrap()), port(datagrams.local_addr().unwrap()));
    let cases = [
        (
            r#"perl -MSocket -e 'socket(S, 1, 1, 0); connect(S, sockaddr_un("DIR/socket")) or exit 1'"#,
            "connect DIR/socket",
        ),
        (r#"perl -MSocket -e 'socket(S, 1, 1, 0); connect(S, sockaddr_un("\0wrun")) or exit 1'"#, "connect wrun"),
        (r#"perl -MSocket -e 'socket(S, 1, 2, 0); send(S, "x", 0, sockaddr_un("DIR/socket")) or exit 1'"#, "sendto"),
        ("bash -c 'echo x > /dev/tcp/127.0.0.1/TCP'", "socket"),
        ("bash -c 'echo x > /dev/udp/127.0.0.1/UDP' || true", "socket"),
        ("perl -e 'socket(S, 16, 3, 0) or exit 1'", "socket"),
        ("perl -e 'socket(S, 40, 1, 0) or exit 1'", "socket"),
        ("perl -e 'exit(syscall(29, 0, 100, 0666 | 01000) < 0 ? 1 : 0)'", "shmget"),
    ];
    for (line, at) in cases {
        let line = victim.named(line).replace("TCP", &tcp).replace("UDP", &udp);
        is_stopped(&ask(&line), &line, &victim.named(at));
    }
    // Where nobody listens, that is the answer.
    let absent =
        r#"perl -MSocket -e 'socket(S, 1, 1, 0); connect(S, sockaddr_un("DIR/absent")) or exit($!{ENOENT} ? 3 : 1)'"#;
    assert_eq!(ask(&victim.named(absent)), Truth::False);
    assert!(listener.accept().is_err() && network.accept().is_err() && datagrams.recv(&mut [0; 8]).is_err());
}

#[test]
fn pipes_and_devices_stay_as_they_are() {
    let victim = Victim::new();
    let pipe = victim.path().join("pipe");
    let mut reader = std::fs::OpenOptions::new().read(true).custom_flags(0o4000).open(&pipe).unwrap();
    let cases = [
        ("echo x > DIR/pipe", "pipe"),
        ("cd DIR; echo x > pipe", "pipe"),
        ("cat DIR/pipe", "pipe"),
        ("head -c 1 DIR/zero", "DIR/zero"),
        ("echo x > DIR/zero", "DIR/zero"),
        ("echo x > /dev/kmsg", "/dev/kmsg"),
        ("mknod /tmp/kmsg c 1 11", "mknod"),
    ];
    for (line, at) in cases {
        is_stopped(&ask(&victim.named(line)), line, &victim.named(at));
    }
    let mut read = [0; 8];
    assert_eq!(reader.read(&mut read).unwrap(), 0, "nobody wrote: {read:?}");
    assert_eq!(
        ask("echo x > /dev/null && head -c 1 /dev/zero > /dev/null && head -c 1 /dev/urandom > /dev/null"),
        Truth::True
    );
}

#[test]
fn the_kernel_is_not_asked_for_favours() {
    let name = nix::unistd::gethostname().unwrap();
    let cases = [
        ("mount -o remount,rw /", "mount"),
        ("mount -t tmpfs none /mnt", ""),
        ("umount /proc", ""),
        ("perl -e '$a = \"/proc\"; exit(syscall(166, $a, 0) ? 1 : 0)'", "umount"),
        ("unshare -m true", "unshare"),
        ("unshare -r true", "unshare"),
        ("nsenter -t 1 -m true", ""),
        ("chroot / true", "chroot"),
        ("hostname wrun-confined", "sethostname"),
        ("date -s @0", "settime"),
        ("perl -e '$a = pack(\"qq\", 0, 0); exit(syscall(227, 0, $a) ? 1 : 0)'", "clock_settime"),
        ("perl -e '$a = pack(\"x208\"); exit(syscall(159, $a) < 0 ? 1 : 0)'", "adjtimex"),
        ("perl -e '$a = \"\"; exit(syscall(175, 0, 0, $a) ? 1 : 0)'", "init_module"),
        ("perl -e '$a = \"wrun\"; exit(syscall(176, $a, 0) ? 1 : 0)'", "delete_module"),
        ("perl -e 'exit(syscall(169, 0, 0, 0) ? 1 : 0)'", "reboot"),
        ("perl -e 'exit(syscall(246, 0, 0, 0, 0) ? 1 : 0)'", "kexec_load"),
        ("perl -e 'exit(syscall(250, 0, 0, 0, 0) < 0 ? 1 : 0)'", "keyctl"),
        ("perl -e 'exit(syscall(321, 0, 0, 0) < 0 ? 1 : 0)'", "bpf"),
        ("perl -e 'exit(syscall(298, 0, 0, 0, 0, 0) < 0 ? 1 : 0)'", "perf_event_open"),
        ("perl -e 'exit(syscall(304, 0, 0, 0) < 0 ? 1 : 0)'", "open_by_handle_at"),
        ("perl -e 'exit(syscall(308, 0, 0) < 0 ? 1 : 0)'", "setns"),
        ("perl -e '$a = \"/dev/null\"; exit(syscall(167, $a, 0) < 0 ? 1 : 0)'", "swapon"),
        ("perl -e 'exit(syscall(323, 0) < 0 ? 1 : 0)'", "system call 323"),
        ("perl -e 'exit(syscall(56, 0x10000000 | 17, 0, 0, 0, 0) < 0 ? 1 : 0)'", "clone"),
        ("perl -e 'exit(syscall(317, 0, 0, 0) < 0 ? 1 : 0)'", "seccomp"),
        ("perl -e 'exit(syscall(157, 22, 2, 0) < 0 ? 1 : 0)'", "prctl"),
        ("perl -e 'exit(syscall(56, 0x800000 | 17, 0, 0, 0, 0) < 0 ? 1 : 0)'", "clone"),
        ("perl -e 'exit(syscall(0x40000000 | 41, 2, 1, 0) < 0 ? 1 : 0)'", "system call"),
        ("perl -e 'exit(syscall(100000) < 0 ? 1 : 0)'", "system call 100000"),
    ];
    for (line, at) in cases {
        is_stopped(&ask(line), line, at);
    }
    assert_eq!(nix::unistd::gethostname().unwrap(), name);
    assert!(std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs() > 1_000_000_000);
    // As if the kernel were older, which programs can live with.
    assert_eq!(ask("perl -e 'exit(syscall(425, 1, 0) < 0 && $!{ENOSYS} ? 0 : 1)'"), Truth::True);
}

#[test]
fn a_clean_process_and_few_rights() {
    // Nothing of wrun's is open (the fourth is the directory that is listed), and there is no terminal to type into.
    assert_eq!(ask("test $(ls /proc/self/fd | wc -l) -eq 4"), Truth::True);
    assert_eq!(ask("true < /dev/tty"), Truth::False);
    assert_eq!(ask("grep -q 'NoNewPrivs:.1' /proc/self/status && grep -q 'Seccomp:.2' /proc/self/status"), Truth::True);
    assert_eq!(ask("grep -q 'CapBnd:.00000000000000c6' /proc/self/status"), Truth::True);
    assert_eq!(ask("test $$ -eq 1 && test $(cat /proc/self/oom_score_adj) -eq 1000"), Truth::True);
    assert_eq!(ask("sh -c 'kill -SEGV $$'; test $? -eq 139"), Truth::True);
    assert_eq!(ask("env | grep -q WRUN"), Truth::False);
}

#[test]
fn another_root_is_seen_alone() {
    let bench = Bench::new("").unlimited();
    // A root with one program in it: a shell with the libraries that it loads.
    for file in ["/bin/sh", "/lib64/ld-linux-x86-64.so.2", "/lib/x86_64-linux-gnu/libc.so.6"] {
        let inside = bench.path(file);
        std::fs::create_dir_all(inside.parent().unwrap()).unwrap();
        std::fs::copy(file, inside).unwrap();
    }
    std::fs::write(bench.path("etc/passwd"), "root:x:0:0::/root:/bin/sh\nalice:x:4711:4712::/home/alice:/bin/sh\n")
        .unwrap();
    std::fs::write(bench.path("etc/group"), "alice:x:4712:\n").unwrap();
    std::fs::create_dir(bench.path("tmp")).unwrap();
    let ask = |line: &str| bench.providers(true).guard(&CommandTest::text(line), true).unwrap();
    assert_eq!(ask("test \"$(echo /*)\" = '/bin /etc /lib /lib64 /tmp'"), Truth::True);
    assert_eq!(ask("test -e /usr || exit 1"), Truth::False, "the host's files are not the root's");
    assert_eq!(ask("echo x > /tmp/scratch && test -f /tmp/scratch"), Truth::True);
    is_stopped(&ask("echo x > /etc/new"), "a file", "openat /etc/new");
    let alice = CommandTest { user: Some("alice".into()), ..CommandTest::text("test $HOME = /home/alice") };
    assert_eq!(bench.providers(true).guard(&alice, true).unwrap(), Truth::True);
    is_stopped(&ask("/usr/bin/id -u"), "a program", "could not be started");
    assert!(!bench.path("tmp/scratch").exists() && !bench.path("etc/new").exists());
}

#[test]
fn where_it_cannot_be_confined_nothing_runs() {
    let bench = machine();
    let started_as = |line: &str| {
        let launcher = bench.directory.path().join("launcher");
        let program = specs::program::executable().unwrap();
        std::fs::write(&launcher, format!("#!/bin/sh\nexec {line} {} \"$@\"\n", program.display())).unwrap();
        std::fs::set_permissions(&launcher, PermissionsExt::from_mode(0o755)).unwrap();
        let settings = providers::Settings { launcher: Some(launcher), ..bench.settings(true) };
        let mut providers = providers::MachineProviders::new(std::sync::Arc::new(settings)).unwrap();
        providers.guard(&CommandTest::text(&bench.text("touch ROOT/ran; true")), true).unwrap()
    };
    assert_eq!(started_as(""), Truth::True);
    // As in most containers, and as any other user.
    is_stopped(&started_as("setpriv --bounding-set=-sys_admin"), "few rights", "could not confine it: make namespaces");
    is_stopped(
        &started_as("setpriv --bounding-set=-sys_chroot,-setpcap"),
        "few rights",
        "could not confine it: give up",
    );
    is_stopped(&started_as("true"), "no launcher", "could not confine it");
    is_stopped(&started_as("no-such-program"), "no launcher", "could not confine it");
    assert!(!bench.path("ran").exists());
}

#[test]
fn asking_is_cheap() {
    let bench = machine();
    let mut providers = bench.providers(true);
    let begin = std::time::Instant::now();
    for _ in 0..20 {
        assert_eq!(providers.guard(&CommandTest::text("true"), true), Ok(Truth::True));
    }
    let each = begin.elapsed() / 20;
    assert!(each.as_millis() < 200, "{each:?} each");
}

#[test]
fn new_content_is_verified_where_nobody_sees_it() {
    let bench = machine();
    std::fs::write(bench.path("conf"), "good old\n").unwrap();
    let doubts = |content: &str, verify: &str| {
        let properties = json!({"content": content, "verify": [verify]});
        let done = bench.why_run("file", "ROOT/conf", "create", properties).unwrap();
        assert_eq!(done.changes.len(), 1);
        format!("{:?}", done.certainty)
    };
    let says = |content: &str, verify: &str, what: &str| {
        let doubts = doubts(content, verify);
        assert!(doubts.contains(what), "{verify}: {doubts}");
    };
    assert_eq!(doubts("good new\n", "grep -q good %{path}"), "[]");
    assert_eq!(doubts("good new\n", "test $(basename %{path}) = conf && test $(stat -c %a %{path}) = 600"), "[]");
    assert_eq!(doubts("{}", ":json"), "[]");
    says("bad\n", "grep -q good %{path}", "rejects the new content");
    says("{", ":json", "rejects the new content");
    says("good\n", "touch /etc/wrun-verified; true %{path}", "a dry run stopped it at: openat /etc/wrun-verified");
    says(&"good\n".repeat(1_000_000), "grep -q good %{path}", "not known");
    assert_eq!(bench.read("conf"), "good old\n");
    assert!(!Path::new("/etc/wrun-verified").exists() && !Path::new("/tmp/.wrun-asked").exists());
}

#[test]
fn ruby_code_asks_in_the_same_way() {
    let bench = Bench::whole("commands = [\"echo hello\", \"false\", \"touch /etc/wrun-confined\"]");
    let mut machine = bench.providers(true).machine();
    let outcome = machine.run(&CommandTest::text("echo hello"), true).unwrap();
    assert_eq!((outcome.code, outcome.output.as_slice()), (Some(0), b"hello\n".as_slice()));
    assert_eq!(machine.run(&CommandTest::text("false"), true).unwrap().code, Some(1));
    let refused = machine.run(&CommandTest::text("touch /etc/wrun-confined"), true).unwrap_err();
    let MachineError::DryRun(what) = refused else { panic!("{refused:?}") };
    assert!(what.starts_with("run touch /etc/wrun-confined: a dry run stopped it at: openat"), "{what}");
    let denied = machine.run(&CommandTest::text("true"), true).unwrap_err();
    assert!(matches!(denied, MachineError::Denied(_)), "{denied:?}");
    assert!(!Path::new("/etc/wrun-confined").exists());
}

#[test]
fn output_is_kept_as_it_is() {
    let mut machine = machine().providers(true).machine();
    let input = "0123456789abcde\n".repeat(200_000);
    let echo =
        CommandTest { input: Some(input.clone().into_bytes()), ..CommandTest::text("cat; echo done >&2; exit 7") };
    let outcome = machine.run(&echo, true).unwrap();
    assert_eq!(outcome.code, Some(7));
    assert!(outcome.output == input.as_bytes() && outcome.errors == b"done\n");
    let killed = machine.run(&CommandTest::text("sh -c 'kill -9 $$'; exit 5"), true).unwrap();
    assert_eq!((killed.code, killed.signal), (Some(5), None));
}
