//! Commands that want to change something: files, processes, services, the kernel.

use crate::victim::Victim;
use crate::{ask, asked, is_stopped, machine};
use contract::{Account, AccountLimits, CommandTest, GuardResult, Machine as _, Meters, Providers as _};
use providers::{MachineProviders, Settings};
use std::io::Read as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::os::unix::net::UnixListener;
use std::process::Command;
use std::sync::Arc;

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
        assert_ne!(truth, GuardResult::True, "{line}");
    }
    assert_eq!(victim.snapshot(), before);
    assert_eq!(other.try_wait().unwrap(), None, "it still runs");
    other.kill().unwrap();
    other.wait().unwrap();
}

#[test]
fn no_process_is_reached_and_none_is_left() {
    let mut victim = Victim::new();
    is_stopped(&ask(&victim.named("kill PID")), "kill", "kill");
    is_stopped(&ask(&victim.named("kill -0 PID")), "kill -0", "kill");
    is_stopped(&ask(&victim.named("perl -e 'exit(syscall(101, 16, PID, 0, 0) == 0 ? 0 : 1)'")), "ptrace", "ptrace");
    let _whatever = ask("kill -9 -1");
    assert_eq!(victim.process.try_wait().unwrap(), None, "it still runs");
    // A daemon is not waited for: the command's time limit is shorter than its life, and would make the answer unknown.
    let mark = format!("7777.{}", std::process::id());
    assert_eq!(ask(&format!("(setsid sleep {mark} > /dev/null 2>&1 &); true")), GuardResult::True);
    assert_eq!(ask(&format!("setsid sleep {mark} & true")), GuardResult::True);
    assert_eq!(with_word(&mark), 0);
}

/// Dry-fork and suggest-fork: the processes of a confined command count as those of any other.
#[test]
fn dry_fork() {
    for of_guest in [false, true] {
        let limits = AccountLimits { processes: 4, ..AccountLimits::default() };
        let account = Account::new("database", limits, Meters::default());
        let bench = machine();
        let settings = Settings { account: account.clone(), ..bench.settings(true) };
        let mut providers = MachineProviders::new(Arc::new(settings)).unwrap();
        let ask = |providers: &mut MachineProviders, line: &str| {
            let command = CommandTest { timeout: Some(20), ..CommandTest::text(line) };
            match of_guest {
                false => match providers.guard(&command, true).unwrap() {
                    GuardResult::Unknown(why) => why,
                    known => format!("{known:?}"),
                },
                true => format!("{:?}", providers.machine().run(&command, true)),
            }
        };
        ask(&mut providers, "sleep 0.5 & wait");
        assert_eq!((account.verdict(), account.usage().processes), (Ok(()), 2));
        let mark = format!("8888.{}", std::process::id());
        let many = format!("for one in 1 2 3 4 5 6; do setsid sleep {mark} & sleep {mark} & done; wait");
        let why = ask(&mut providers, &many);
        assert!(why.contains("it was ended: the policy used up its 4 of processes at a time: it used "), "{why}");
        assert!(account.verdict().is_err(), "the policy is at its end");
        assert_eq!(with_word(&mark), 0, "none is left");
    }
}

/// How many processes have a word on their command line.
fn with_word(word: &str) -> usize {
    let has = |process: &std::fs::DirEntry| {
        let words = std::fs::read(process.path().join("cmdline")).unwrap_or_default();
        words.split(|byte| *byte == 0).any(|other| other == word.as_bytes())
    };
    std::fs::read_dir("/proc").unwrap().flatten().filter(has).count()
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
    assert_eq!(ask(&victim.named(absent)), GuardResult::False);
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
        GuardResult::True
    );
}

/// Paths that are another file to each process, so that whoever looks for the program must look as the program.
#[test]
fn dry_run_pipe_is_found_by_whatever_way_leads_there() {
    let victim = Victim::new();
    let pipe = victim.path().join("pipe");
    let mut both = std::fs::OpenOptions::new().read(true).write(true).open(&pipe).unwrap();
    std::io::Write::write_all(&mut both, b"job for its reader").unwrap();
    let ways = [
        "head -c 5 /proc/self/cwd/pipe",
        "head -c 5 /proc/thread-self/cwd/pipe",
        "head -c 5 /proc/self/cwd/../$(basename $PWD)/pipe",
        "head -c 5 /proc/self/root/DIR/pipe",
        "exec 7< .; head -c 5 /proc/self/fd/7/pipe",
        "exec 7< .; head -c 5 /dev/fd/7/pipe",
        "ln -s /proc/self/cwd /tmp/way; head -c 5 /tmp/way/pipe",
        "ln -s ../proc/self/cwd/pipe /tmp/way; head -c 5 /tmp/way",
        "perl -e 'open(F, \"<\", \"/proc/self/task/$$/cwd/pipe\") or open(F, \"<\", \"/proc/self/cwd/pipe\"); sysread(F, $x, 5)'",
        "head -c 5 pipe",
        "head -c 5 ./open/../pipe",
        "head -c 5 < pipe",
        "cat < /proc/self/cwd/pipe",
    ];
    for way in ways {
        let line = victim.named(&format!("{way}; true"));
        let command = CommandTest { cwd: Some(victim.path().display().to_string()), ..CommandTest::text(&line) };
        is_stopped(&asked(&command), way, "open");
    }
    let mut left = [0; 18];
    both.read_exact(&mut left).unwrap();
    assert_eq!(&left, b"job for its reader");
    // Pipes without a name are the program's own.
    for line in ["echo x | cat /dev/stdin", "echo x | head -c 1 /proc/self/fd/0", "bash -c 'cat <(echo x)'"] {
        assert_eq!(ask(line), GuardResult::True, "{line}");
    }
}

#[test]
fn dry_run_pipe_devices_that_others_wait_for_are_not_opened() {
    let other = nix::pty::openpty(None, None).unwrap();
    let terminal = nix::unistd::ttyname(&other.slave).unwrap();
    for line in [format!("head -c 1 {} < /dev/null", terminal.display()), "exec 7<> /dev/ptmx".to_owned()] {
        is_stopped(&ask(&line), &line, "/dev/p");
    }
    assert_eq!(ask("head -c 1 /dev/urandom > /dev/null; cat < /dev/null"), GuardResult::True);
}

/// At a limit of one byte the kernel leaves a crash alone; at none it starts the machine's crash handler.
#[test]
fn dry_run_pipe_limits_are_not_raised_again() {
    let limits = "grep -E 'Max (core file|file) size' /proc/self/limits | grep -oE '[0-9]+ +[0-9]+' | tr -s ' ' | \
                  sort | tr '\\n' ';'";
    for line in
        ["true", "ulimit -c 0", "ulimit -S -c 0", "ulimit -H -c 0", "prlimit --core=0 --pid $$", "perl -e 'exit 0'"]
    {
        let line = format!("{line}; test \"$({limits})\" = '1 1;67108864 67108864;'");
        assert_eq!(ask(&line), GuardResult::True, "{line}");
    }
    // The hard limit cannot be raised: confined, root is not what it was.
    let raised = "perl -e '$a = pack(\"QQ\", 1 << 40, 1 << 40); exit(syscall(160, 1, $a) < 0 ? 0 : 1)'";
    assert_eq!(ask(raised), GuardResult::True);
}

#[test]
fn dry_run_pipe_sockets_of_other_families_are_refused() {
    for family in [2, 10, 16, 17, 21, 31, 38, 40, 44] {
        let line = format!("perl -e '$a = pack(\"ii\", 0, 0); exit(syscall(53, {family}, 1, 0, $a) < 0 ? 1 : 0)'");
        is_stopped(&ask(&line), &line, "socketpair");
        let line = format!("perl -e 'exit(syscall(41, {family}, 1, 0) < 0 ? 1 : 0)'");
        is_stopped(&ask(&line), &line, "socket");
    }
    let own = "perl -e '$a = pack(\"ii\", 0, 0); exit(syscall(53, 1, 1, 0, $a) < 0 ? 1 : 0)'";
    assert_eq!(ask(own), GuardResult::True);
}

/// Every call that no list allows is refused, those of new kernels too, or said to be missing.
#[test]
fn dry_run_pipe_each_call_that_is_not_allowed_is_refused() {
    let refused = [
        29, 30, 31, 49, 50, 64, 65, 66, 67, 68, 69, 70, 71, 73, 101, 103, 134, 136, 139, 153, 154, 155, 156, 159, 161,
        162, 163, 164, 165, 166, 167, 168, 169, 170, 171, 172, 173, 175, 176, 177, 178, 179, 180, 212, 216, 220, 227,
        246, 240, 241, 242, 243, 244, 245, 248, 249, 250, 256, 272, 279, 298, 300, 301, 304, 305, 306, 308, 310, 311,
        312, 313, 317, 320, 321, 323, 424, 426, 427, 428, 429, 430, 431, 432, 433, 438, 440, 442, 443, 447, 448, 467,
        471, 500, 1000,
    ];
    for number in refused {
        let line = format!("perl -e 'exit(syscall({number}, 0, 0, 0, 0, 0, 0) < 0 ? 1 : 0)'");
        is_stopped(&ask(&line), &line, "");
    }
    for number in [435, 437, 425, 457, 458, 459, 460, 461, 463, 464, 465, 466, 468, 469, 470] {
        let line = format!("perl -e 'exit(syscall({number}, 0, 0, 0, 0, 0, 0) < 0 && $!{{ENOSYS}} ? 0 : 1)'");
        assert_eq!(ask(&line), GuardResult::True, "{number}");
    }
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
    assert_eq!(ask("perl -e 'exit(syscall(425, 1, 0) < 0 && $!{ENOSYS} ? 0 : 1)'"), GuardResult::True);
}
