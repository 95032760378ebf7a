//! A worker that has given up its rights: it computes, and reaches nothing.

use crate::victim::Victim;
use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process, setrlimit};
use std::io::Error;
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::Command;

/// Names the victim's directory, process and port to the worker.
const VARIABLE: &str = "WRUN_TEST_WORKER";

/// What a worker would like to do: each must fail, and because it is not permitted.
fn attempts(directory: &Path, process: i32, port: u16) -> Vec<(&'static str, Option<Error>)> {
    let process = Pid::from_raw(process).unwrap();
    let limit = Rlimit { current: Some(1 << 40), maximum: Some(1 << 40) };
    vec![
        ("read a file", std::fs::read(directory.join("kept")).err()),
        ("list a directory", std::fs::read_dir(directory).map(drop).err()),
        ("write a file", std::fs::write(directory.join("kept"), "changed").err()),
        ("make a file", std::fs::write(directory.join("new"), "new").err()),
        ("remove a file", std::fs::remove_file(directory.join("kept")).err()),
        ("write into a pipe", std::fs::OpenOptions::new().write(true).open(directory.join("pipe")).map(drop).err()),
        ("read its own files", std::fs::read("/proc/self/environ").map(drop).err()),
        ("connect", TcpStream::connect(("127.0.0.1", port)).map(drop).err()),
        ("connect to a socket of files", UnixStream::connect(directory.join("socket")).map(drop).err()),
        ("send", UdpSocket::bind("127.0.0.1:0").map(drop).err()),
        ("start a program", Command::new("/bin/true").spawn().map(drop).err()),
        ("end a process", kill_process(process, Signal::KILL).err().map(Into::into)),
        ("make a namespace", nix::sched::unshare(nix::sched::CloneFlags::CLONE_NEWUSER).err().map(Into::into)),
        ("raise a limit", setrlimit(Resource::Fsize, limit).err().map(Into::into)),
        (
            "become somebody else",
            rustix::thread::set_thread_uid(rustix::fs::Uid::from_raw(65_534)).err().map(Into::into),
        ),
        ("mount", nix::mount::umount("/proc").err().map(Into::into)),
    ]
}

#[test]
fn a_worker_computes_and_reaches_nothing() {
    if let Ok(names) = std::env::var(VARIABLE) {
        let [directory, process, port] = names.split(' ').collect::<Vec<_>>()[..] else { panic!("{names}") };
        machine::command::give_up_all_rights().unwrap();
        for (what, error) in attempts(Path::new(directory), process.parse().unwrap(), port.parse().unwrap()) {
            let code = error.as_ref().and_then(Error::raw_os_error);
            assert!(matches!(code, Some(1 | 13)), "it could {what}: {error:?}");
        }
        // It has all that computing takes.
        let sum = std::thread::spawn(|| vec![1_u64; 1 << 20].iter().sum::<u64>()).join().unwrap();
        assert_eq!(sum, 1 << 20);
        return;
    }
    let victim = Victim::new();
    let before = victim.snapshot();
    let _socket = UnixListener::bind(victim.path().join("open/socket")).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let names = format!("{} {} {port}", victim.path().display(), victim.process.id());
    let mut worker = Command::new(std::env::current_exe().unwrap());
    worker.args(["--exact", "worker::a_worker_computes_and_reaches_nothing"]).env(VARIABLE, names);
    let output = worker.output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "{}: {}", output.status, String::from_utf8_lossy(&said));
    std::fs::remove_file(victim.path().join("open/socket")).unwrap();
    let without_times =
        |lines: Vec<String>| lines.into_iter().filter(|line| !line.contains("/open ")).collect::<Vec<_>>();
    assert_eq!(without_times(victim.snapshot()), without_times(before));
}
