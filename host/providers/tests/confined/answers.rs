//! Commands that only ask, or write scratch files: they are answered as in a real run.

use crate::support::Bench;
use crate::{ask, asked, is_stopped, machine};
use contract::{CommandTest, GuardResult, Machine as _, MachineError, Providers as _};
use serde_json::json;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

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
        "command -v sh > /dev/null",
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
        assert_eq!(ask(line), GuardResult::True, "{line}");
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
        assert_eq!(ask(line), GuardResult::False, "{line}");
    }
}

#[test]
fn a_commands_options_are_kept_to() {
    let as_nobody = |line: &str| asked(&CommandTest { user: Some("nobody".into()), ..CommandTest::text(line) });
    assert_eq!(as_nobody("test \"$(id -un)\" = nobody && test $HOME = /nonexistent"), GuardResult::True);
    assert_eq!(as_nobody("cat /etc/shadow"), GuardResult::False, "nobody may not, confined or not");
    is_stopped(&as_nobody("/bin/mount > /dev/null; /bin/su -c true"), "nobody's mount", "needs rights");
    let group = CommandTest { group: Some("daemon".into()), ..CommandTest::text("test $(id -gn) = daemon") };
    assert_eq!(asked(&group), GuardResult::True);
    let cwd = CommandTest { cwd: Some("/etc".into()), ..CommandTest::text("test $PWD = /etc && test -f passwd") };
    assert_eq!(asked(&cwd), GuardResult::True);
    let nowhere = CommandTest { cwd: Some("/wrun-no-such".into()), ..CommandTest::text("true") };
    assert_eq!(asked(&nowhere), GuardResult::False, "as in a real run");
    let environment = vec![("GREETING".to_owned(), "hello there".to_owned())];
    let greeting = CommandTest { environment, ..CommandTest::text("test \"$GREETING\" = 'hello there'") };
    assert_eq!(asked(&greeting), GuardResult::True);
    let mask = CommandTest { umask: Some(0o27), ..CommandTest::text("test $(umask) = 0027") };
    assert_eq!(asked(&mask), GuardResult::True);
    let input = CommandTest { input: Some("some text".into()), ..CommandTest::text("test \"$(cat)\" = 'some text'") };
    assert_eq!(asked(&input), GuardResult::True);
    let script = CommandTest { interpreter: Some("bash".into()), ..CommandTest::text("[[ abc == a* ]]") };
    assert_eq!(asked(&script), GuardResult::True);
    let words = CommandTest {
        line: contract::CommandLine::Arguments(vec!["test".into(), "-d".into(), "/".into()]),
        ..CommandTest::text("")
    };
    assert_eq!(asked(&words), GuardResult::True);
    is_stopped(&ask("wrun-no-such-program"), "missing program", "its program is not on this machine");
    let stranger = CommandTest { user: Some("wrun-nobody".into()), ..CommandTest::text("true") };
    is_stopped(&asked(&stranger), "missing user", "can't find user for wrun-nobody");
    let slow = CommandTest { timeout: Some(1), ..CommandTest::text("sleep 30") };
    is_stopped(&asked(&slow), "slow", "longer than 1 s");
}

#[test]
fn scratch_files_are_thrown_away() {
    let bench = machine();
    std::fs::write(bench.directory.path().join("there"), "there\n").unwrap();
    let truth = |line: &str| ask(&line.replace("DIR", bench.directory.path().to_str().unwrap()));
    assert_eq!(truth("grep -q there DIR/there && echo more >> DIR/there && grep -q more DIR/there"), GuardResult::True);
    assert_eq!(truth("echo x > DIR/new && mkdir /tmp/wrun-scratch /var/tmp/wrun-scratch"), GuardResult::True);
    assert_eq!(truth("rm -r DIR && ! test -e DIR"), GuardResult::True);
    assert_eq!(truth("perl -e 'open(F, \">\", \"/dev/shm/wrun-scratch\") or exit 1'"), GuardResult::True);
    assert_eq!(std::fs::read_to_string(bench.directory.path().join("there")).unwrap(), "there\n");
    for path in ["/tmp/wrun-scratch", "/var/tmp/wrun-scratch", "/dev/shm/wrun-scratch"] {
        assert!(!Path::new(path).exists(), "{path}");
    }
    is_stopped(&truth("head -c 300000000 /dev/zero > DIR/big"), "too much", "wrote too much");
}

#[test]
fn a_clean_process_and_few_rights() {
    // Nothing of wrun's is open (the fourth is the directory that is listed), and there is no terminal to type into.
    assert_eq!(ask("test $(ls /proc/self/fd | wc -l) -eq 4"), GuardResult::True);
    assert_eq!(ask("true < /dev/tty"), GuardResult::False);
    assert_eq!(
        ask("grep -q 'NoNewPrivs:.1' /proc/self/status && grep -q 'Seccomp:.2' /proc/self/status"),
        GuardResult::True
    );
    assert_eq!(ask("grep -q 'CapBnd:.00000000000000c6' /proc/self/status"), GuardResult::True);
    assert_eq!(ask("test $$ -eq 1 && test $(cat /proc/self/oom_score_adj) -eq 1000"), GuardResult::True);
    assert_eq!(ask("sh -c 'kill -SEGV $$'; test $? -eq 139"), GuardResult::True);
    assert_eq!(ask("env | grep -q WRUN"), GuardResult::False);
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
    assert_eq!(ask("test \"$(echo /*)\" = '/bin /etc /lib /lib64 /tmp'"), GuardResult::True);
    assert_eq!(ask("test -e /usr || exit 1"), GuardResult::False, "the host's files are not the root's");
    assert_eq!(ask("echo x > /tmp/scratch && test -f /tmp/scratch"), GuardResult::True);
    is_stopped(&ask("echo x > /etc/new"), "a file", "openat /etc/new");
    let alice = CommandTest { user: Some("alice".into()), ..CommandTest::text("test $HOME = /home/alice") };
    assert_eq!(bench.providers(true).guard(&alice, true).unwrap(), GuardResult::True);
    is_stopped(&ask("/usr/bin/id -u"), "a program", "its program is not on this machine");
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
    assert_eq!(started_as(""), GuardResult::True);
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
