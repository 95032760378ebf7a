//! `execute`, scripts, `log`, `notify_group` and guards, with real commands.

#![cfg(test)]

mod support;

use contract::{CommandTest, GuardResult, LogLevel, Machine as _, Providers as _, StopReason};
use serde_json::{Value, json};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt};
use support::{Bench, exists, run};

fn machine() -> Bench {
    Bench::whole("").unlimited()
}

#[test]
fn a_command_runs_and_says_so() {
    let bench = machine();
    let done = bench.run("execute", "touch ROOT/a", "run", json!({})).unwrap();
    assert_eq!(done.sentences(), [bench.text("execute touch ROOT/a")]);
    assert!(exists(&bench.path("a")));
    let done = bench.run("execute", "with words", "run", json!({"command": ["touch", "ROOT/b c"]})).unwrap();
    assert_eq!(done.sentences(), [bench.text("execute [\"touch\", \"ROOT/b c\"]")]);
    assert!(exists(&bench.path("b c")));
}

#[test]
fn the_properties_that_decide_how() {
    let bench = machine();
    let run = |name: &str, properties: Value| bench.run("execute", name, "run", properties).unwrap();
    run("cwd", json!({"command": "pwd > out", "cwd": "ROOT"}));
    assert_eq!(bench.read("out"), format!("{}\n", bench.root.display()));
    run("echo $GREETING > ROOT/env", json!({"environment": {"GREETING": "hello there"}}));
    assert_eq!(bench.read("env"), "hello there\n");
    run("env > ROOT/unset", json!({"environment": {"LANG": null, "A": "1"}}));
    assert!(!bench.read("unset").contains("LANG=") && bench.read("unset").contains("A=1\n"), "{}", bench.read("unset"));
    // A file without `#!` is the shell's, as for Ruby.
    std::fs::write(bench.path("plain"), "echo $1 > ROOT/of-plain\n".replace("ROOT", bench.root.to_str().unwrap()))
        .unwrap();
    std::fs::set_permissions(bench.path("plain"), PermissionsExt::from_mode(0o755)).unwrap();
    run("ROOT/plain word", json!({}));
    assert_eq!(bench.read("of-plain"), "word\n");
    run("umask", json!({"command": "touch ROOT/masked", "umask": "077"}));
    assert_eq!(bench.path("masked").metadata().unwrap().permissions().mode() & 0o777, 0o600);
    run("returns", json!({"command": "exit 3", "returns": [0, 3]}));
    run("returns one", json!({"command": "exit 3", "returns": 3}));
    run("cat > ROOT/input", json!({"input": "some text"}));
    assert_eq!(bench.read("input"), "some text");
}

#[test]
fn the_environment_is_clean_and_the_users_own() {
    let bench = machine();
    bench.run("execute", "env > ROOT/env", "run", json!({})).unwrap();
    let text = bench.read("env");
    let mut names: Vec<&str> = text.lines().filter_map(|line| line.split('=').next()).collect();
    names.sort_unstable();
    names.retain(|name| !matches!(*name, "_" | "PWD" | "OLDPWD" | "SHLVL"));
    assert_eq!(names, ["HOME", "LANG", "LANGUAGE", "LC_ALL", "LOGNAME", "PATH", "USER"], "{text}");
    assert!(text.contains("PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\n"), "{text}");
    assert!(text.contains("HOME=/root\n") && text.contains("USER=root\n"), "{text}");
}

#[test]
fn another_user_with_its_groups_and_nothing_else() {
    let bench = machine();
    std::fs::set_permissions(bench.directory.path(), PermissionsExt::from_mode(0o755)).unwrap();
    std::fs::set_permissions(&bench.root, PermissionsExt::from_mode(0o777)).unwrap();
    let script = "id -un; id -gn; id -G; echo $HOME; umask; grep -E '^(Uid|Gid|CapEff)' /proc/self/status";
    let command = format!("({script}) > ROOT/who; touch ROOT/his");
    bench.run("execute", "who", "run", json!({"command": command, "user": "nobody", "umask": "027"})).unwrap();
    let said = bench.read("who");
    let expect = "nobody\nnogroup\n65534\n/nonexistent\n0027\nUid:\t65534\t65534\t65534\t65534\nGid:\t65534\t65534\t65534\t65534\nCapEff:\t0000000000000000\n";
    assert_eq!(said, expect);
    assert_eq!(bench.path("his").metadata().unwrap().uid(), 65534);
    bench
        .run("execute", "group", "run", json!({"command": "id -gn > ROOT/group", "user": "nobody", "group": "daemon"}))
        .unwrap();
    assert_eq!(bench.read("group"), "daemon\n");
    bench.run("execute", "number", "run", json!({"command": "id -u > ROOT/number", "user": 12345})).unwrap();
    assert_eq!(bench.read("number"), "12345\n");
    assert_eq!(rustix_identity(), (0, 0), "the process itself stays who it is");
}

fn rustix_identity() -> (u32, u32) {
    let metadata = std::fs::metadata("/proc/self").unwrap();
    (metadata.uid(), metadata.gid())
}

#[test]
fn creates_says_when_there_is_nothing_to_do() {
    let bench = machine();
    let twice = |properties: Value| {
        let first = bench.run("execute", "x", "run", properties.clone()).unwrap().updated;
        (first, bench.run("execute", "x", "run", properties).unwrap().updated)
    };
    assert_eq!(twice(json!({"command": "touch ROOT/made", "creates": "ROOT/made"})), (true, false));
    assert_eq!(twice(json!({"command": "touch rel", "cwd": "ROOT", "creates": "rel"})), (true, false));
    let raised = bench.run("execute", "x", "run", json!({"command": "true", "creates": "rel"})).unwrap_err();
    assert_eq!(raised.class(), "Chef::Exceptions::Execute");
}

#[test]
fn creates_needs_the_right_to_look() {
    let table = "commands = [\"touch ROOT/made\", \"true\"]\n";
    let bench = Bench::whole(table);
    std::fs::write(bench.path("there"), "").unwrap();
    let mut lines = vec![];
    for path in ["ROOT/there", "ROOT/gone", "ROOT/gone/x/../y"] {
        let raised = bench.run("execute", "true", "run", json!({"creates": path})).unwrap_err();
        assert_eq!(raised.class(), "Wrun::Denied", "{}", raised.message);
        lines.extend(raised.hint);
    }
    assert!(lines[0].contains(&bench.text("read_paths = [\"ROOT/there\"]")), "{lines:?}");
    let bench = Bench::whole(&format!("{table}read_paths = [\"ROOT/made\"]\n"));
    let run = || bench.run("execute", "touch ROOT/made", "run", json!({"creates": "ROOT/made"})).unwrap().updated;
    assert_eq!((run(), run()), (true, false));
}

#[track_caller]
fn check_failure(properties: Value, class: &str, message: &str) {
    let bench = machine();
    let raised = bench.run("execute", "x", "run", properties).unwrap_err();
    assert_eq!((raised.class(), &raised.message), (class, &bench.text(message)));
}

#[test]
fn failures_have_chefs_classes_and_words() {
    check_failure(
        json!({"command": "echo out; echo err >&2; exit 7"}),
        "Mixlib::ShellOut::ShellCommandFailed",
        "Expected process to exit with [0], but received '7'\n---- Begin output of echo out; echo err >&2; exit 7 ----\nSTDOUT: out\nSTDERR: err\n---- End output of echo out; echo err >&2; exit 7 ----\nRan echo out; echo err >&2; exit 7 returned 7",
    );
    // A line for a shell is told of by the shell; so is a script's interpreter, which Chef has a shell start.
    let of_shell = |code: u32, shown: &str, errors: &str| {
        format!(
            "Expected process to exit with [0], but received '{code}'\n---- Begin output of {shown} ----\nSTDOUT: \n\
             STDERR: {errors}\n---- End output of {shown} ----\nRan {shown} returned {code}"
        )
    };
    let failed = "Mixlib::ShellOut::ShellCommandFailed";
    check_failure(
        json!({"command": ["false; wrun-no"]}),
        failed,
        &of_shell(127, "[\"false; wrun-no\"]", "sh: 1: wrun-no: not found"),
    );
    let bench = machine();
    for (interpreter, code, words) in [("wrun-no", 127, "not found"), ("/etc/passwd", 126, "Permission denied")] {
        let properties = json!({"interpreter": interpreter, "code": "x"});
        let raised = bench.run("script", "x", "run", properties).unwrap_err();
        let shown = format!("\"{interpreter}\" ");
        assert_eq!(raised.message, of_shell(code, &shown, &format!("sh: 1: {interpreter}: {words}")));
    }
    check_failure(
        json!({"command": ["wrun-no-such-command"]}),
        "Errno::ENOENT",
        "No such file or directory - wrun-no-such-command",
    );
    check_failure(json!({"command": "/etc/passwd"}), "Errno::EACCES", "Permission denied - /etc/passwd");
    check_failure(
        json!({"command": "true", "cwd": "ROOT/nowhere"}),
        "Mixlib::ShellOut::ShellCommandFailed",
        "Expected process to exit with [0], but received '1'\n---- Begin output of true ----\nSTDOUT: \nSTDERR: in `chdir': No such file or directory @ dir_s_chdir - ROOT/nowhere (Errno::ENOENT)\n---- End output of true ----\nRan true returned 1",
    );
    check_failure(
        json!({"command": "sleep 20", "timeout": 1}),
        "Mixlib::ShellOut::CommandTimeout",
        "Command timed out after 1s:\nCommand exceeded allowed execution time, process terminated\n---- Begin output of sleep 20 ----\nSTDOUT: \nSTDERR: \n---- End output of sleep 20 ----\nRan sleep 20 returned ",
    );
    for (kind, call) in [("user", "getpwnam"), ("group", "getgrnam")] {
        check_failure(
            json!({"command": "true", kind: "wrun-nobody"}),
            "Mixlib::ShellOut::ShellCommandFailed",
            &format!(
                "Expected process to exit with [0], but received '1'\n---- Begin output of true ----\nSTDOUT: \nSTDERR: in `{call}': can't find {kind} for wrun-nobody (ArgumentError)\n---- End output of true ----\nRan true returned 1"
            ),
        );
    }
}

#[test]
fn what_is_sensitive_is_shown_nowhere() {
    let bench = machine();
    let mut declaration = bench.declaration("execute", "x", json!({"command": "echo topsecret; exit 7"}));
    declaration.sensitive = true;
    let raised = run(&mut bench.providers(false), &declaration, "run", false).unwrap_err();
    assert_eq!(raised.class(), "Mixlib::ShellOut::ShellCommandFailed");
    assert_eq!(raised.message, "Command execution failed. STDOUT/STDERR suppressed for sensitive resource");
    let told = run(&mut bench.providers(true), &declaration, "run", true).unwrap();
    assert_eq!(told.sentences(), ["execute sensitive resource"]);
    let suppressed = "Command execution failed. STDOUT/STDERR suppressed for sensitive resource";
    let failed = "Mixlib::ShellOut::ShellCommandFailed";
    for (properties, class, message) in [
        (json!({"command": "wrun-no topsecret"}), "Errno::ENOENT", "No such file or directory - wrun-no"),
        (json!({"command": "topsecret", "user": "wrun-nobody"}), failed, suppressed),
    ] {
        let mut declaration = bench.declaration("execute", "x", properties);
        declaration.sensitive = true;
        let raised = run(&mut bench.providers(false), &declaration, "run", false).unwrap_err();
        assert_eq!((raised.class(), raised.message.as_str()), (class, message));
    }
    let narrow = Bench::whole("");
    let raised = run(&mut narrow.providers(false), &declaration, "run", false).unwrap_err();
    assert!(raised.class() == "Wrun::Denied" && !format!("{raised:?}").contains("topsecret"), "{raised:?}");
}

#[test]
fn a_dry_run_has_no_effect() {
    let bench = machine();
    let done = bench.why_run("execute", "touch ROOT/a", "run", json!({})).unwrap();
    assert_eq!(done.sentences(), [bench.text("execute touch ROOT/a")]);
    assert!(!exists(&bench.path("a")));
    let truth = bench.providers(true).guard(&CommandTest::text(&bench.text("touch ROOT/a")), true).unwrap();
    assert_eq!(truth, GuardResult::True, "scratch files are thrown away");
    assert!(!exists(&bench.path("a")));
    assert!(!exists(&bench.directory.path().join("cache")) && !exists(&bench.directory.path().join("backup")));
}

#[test]
fn only_granted_commands_run() {
    let bench = Bench::whole(
        "commands = [\"touch ROOT/a\", { shell = \"echo x > ROOT/b\" }, { argv = [\"id\"], user = \"nobody\" }]",
    );
    bench.run("execute", "touch ROOT/a", "run", json!({})).unwrap();
    bench.run("execute", "echo x > ROOT/b", "run", json!({})).unwrap();
    bench.run("execute", "id", "run", json!({"user": "nobody"})).unwrap();
    for (name, properties) in [
        ("touch ROOT/c", json!({})),
        ("touch ROOT/a; touch ROOT/c", json!({})),
        ("touch ROOT/a", json!({"user": "nobody"})),
        ("touch ROOT/a", json!({"environment": {"LD_PRELOAD": "/tmp/x.so"}})),
        ("touch ROOT/a", json!({"environment": {"HOME": null}})),
        ("list", json!({"command": ["touch ROOT/a; touch ROOT/c"]})),
        ("touch ROOT/a", json!({"cwd": "/etc"})),
        ("touch ROOT/a", json!({"umask": "000"})),
        ("touch ROOT/a", json!({"input": "x"})),
        ("id", json!({})),
    ] {
        let raised = bench.run("execute", name, "run", properties).unwrap_err();
        assert_eq!(raised.class(), "Wrun::Denied", "{name}");
        let hint = raised.hint.unwrap();
        assert!(hint.starts_with("to allow it: commands = [") && hint.ends_with("] in [policy.database]"), "{hint}");
    }
    let raised = bench.run("execute", "reboot", "run", json!({})).unwrap_err();
    let expect =
        "policy `database` may not run command `reboot` (execute[reboot], declared by database mysql::default)";
    assert_eq!(raised.message, expect);
    assert!(!exists(&bench.path("c")));
}

#[test]
fn a_commands_directory_is_granted_by_where_it_is() {
    let bench = Bench::whole(
        "commands = [{ argv = [\"touch\", \"marker\"], cwd = \"ROOT/granted/**\" }, { argv = [\"touch\", \"at-home\"], \
         user = \"nobody\" }]",
    );
    std::fs::create_dir_all(bench.path("granted/in")).unwrap();
    std::fs::create_dir(bench.path("foreign")).unwrap();
    std::os::unix::fs::symlink(bench.path("foreign"), bench.path("granted/out")).unwrap();
    std::os::unix::fs::symlink("in", bench.path("granted/again")).unwrap();
    bench.run("execute", "touch marker", "run", json!({"cwd": "ROOT/granted/again/"})).unwrap();
    assert!(exists(&bench.path("granted/in/marker")));
    let denied = |name: &str, properties: Value| {
        let raised = bench.run("execute", name, "run", properties).unwrap_err();
        assert_eq!(raised.class(), "Wrun::Denied", "{raised:?}");
        raised.hint.unwrap()
    };
    let hint = denied("touch marker", json!({"cwd": "ROOT/granted/out"}));
    assert!(!hint.contains("foreign"), "where the link leads is for the operator's list: {hint}");
    denied("touch marker", json!({"cwd": "granted"}));
    let hint = denied("touch at-home", json!({"login": true, "user": "nobody"}));
    assert!(hint.contains("cwd = \"/nonexistent\""), "{hint}");
    let guard = CommandTest { cwd: Some(bench.text("ROOT/granted/out")), ..CommandTest::text("touch marker") };
    assert_eq!(bench.providers(false).guard(&guard, false).unwrap_err().class(), "Wrun::Denied");
    let own = CommandTest { cwd: Some(bench.text("ROOT/granted/in")), ..guard.clone() };
    assert_eq!(bench.providers(false).guard(&own, false), Ok(GuardResult::True));
    let mut machine = bench.providers(false).machine();
    let refused = machine.run(&guard, false).unwrap_err();
    assert!(matches!(refused, contract::MachineError::Denied(_)), "{refused:?}");
    assert_eq!(machine.run(&own, false).unwrap().code, Some(0));
    assert!(!exists(&bench.path("foreign/marker")));
}

#[test]
fn scripts_come_by_standard_input() {
    let bench = machine();
    let code = "set -e\nx=1\necho $x $0 > ROOT/out\n";
    let done = bench.run("bash", "b", "run", json!({"code": code})).unwrap();
    assert_eq!(done.sentences(), ["execute \"bash\" "]);
    assert_eq!(bench.read("out"), "1 bash\n");
    let done = bench
        .run("script", "s", "run", json!({"interpreter": "sh", "flags": "-e -u", "code": "echo $- > ROOT/flags"}))
        .unwrap();
    assert_eq!(done.sentences(), ["execute \"sh\" -e -u"]);
    assert!(bench.read("flags").contains('e') && bench.read("flags").contains('u'), "{}", bench.read("flags"));
    let raised = bench.run("bash", "b", "run", json!({"code": "echo working\nfalse\n"})).unwrap_err();
    assert_eq!(
        raised.message,
        "Expected process to exit with [0], but received '1'\n---- Begin output of \"bash\"  ----\nSTDOUT: working\nSTDERR: \n---- End output of \"bash\"  ----\nRan \"bash\"  returned 1"
    );
    assert!(bench.run("bash", "b", "run", json!({"code": "true", "flags": "-c $(reboot)"})).is_err());
    assert_eq!(bench.run("bash", "b", "run", json!({})).unwrap_err().message, "code is a required property");
    assert_eq!(
        bench.run("script", "b", "run", json!({"code": "x"})).unwrap_err().message,
        "interpreter is a required property"
    );
}

#[test]
fn scripts_are_granted_by_interpreter_and_text() {
    let bench = Bench::whole("commands = [{ interpreter = [\"bash\"], script = \"touch ROOT/a\" }]");
    bench.run("bash", "b", "run", json!({"code": "touch ROOT/a"})).unwrap();
    assert!(exists(&bench.path("a")));
    for (kind, properties) in [
        ("bash", json!({"code": "touch ROOT/b"})),
        ("bash", json!({"code": "touch ROOT/a", "flags": "-x"})),
        ("script", json!({"code": "touch ROOT/a", "interpreter": "sh"})),
    ] {
        assert_eq!(bench.run(kind, "b", "run", properties).unwrap_err().class(), "Wrun::Denied");
    }
}

#[test]
fn commands_of_another_root_see_only_that() {
    let bench = Bench::new("").unlimited();
    // A root with one program in it: a shell with the libraries that it loads.
    for file in ["/bin/sh", "/lib64/ld-linux-x86-64.so.2", "/lib/x86_64-linux-gnu/libc.so.6"] {
        let inside = bench.path(file);
        std::fs::create_dir_all(inside.parent().unwrap()).unwrap();
        std::fs::copy(file, inside).unwrap();
    }
    std::fs::write(bench.path("etc/passwd"), "root:x:0:0::/root:/bin/sh\nalice:x:4711:4712::/home/alice:/bin/sh\n")
        .unwrap();
    std::fs::write(bench.path("etc/group"), "alice:x:4712:\nextra:x:4713:alice\n").unwrap();
    bench.run("execute", "x", "run", json!({"command": "echo /* > /listing"})).unwrap();
    assert_eq!(bench.read("listing"), "/bin /etc /lib /lib64\n");
    std::fs::create_dir(bench.path("home")).unwrap();
    std::os::unix::fs::chown(bench.path("home"), Some(4711), Some(4712)).unwrap();
    bench.run("execute", "x", "run", json!({"command": "echo $HOME > /home/who", "user": "alice"})).unwrap();
    let made = bench.path("home/who").metadata().unwrap();
    assert_eq!((made.uid(), made.gid(), bench.read("home/who")), (4711, 4712, "/home/alice\n".into()));
    let raised = bench.run("execute", "x", "run", json!({"command": "true", "user": "nobody"})).unwrap_err();
    let said = "STDERR: in `getpwnam': can't find user for nobody (ArgumentError)\n---- End output of true ----";
    assert!(raised.message.contains(said), "the host's users are not the root's: {raised:?}");
    assert_eq!(raised.class(), "Mixlib::ShellOut::ShellCommandFailed");
    let raised = bench.run("execute", "x", "run", json!({"command": "/usr/bin/id"})).unwrap_err();
    assert_eq!(raised.class(), "Errno::ENOENT", "the host's programs are not the root's");
}

#[test]
fn a_resources_umask_holds_for_its_commands_only() {
    let bench = machine();
    let mut declaration = bench.declaration("execute", "touch ROOT/a", json!({}));
    declaration.umask = Some(0o77);
    run(&mut bench.providers(false), &declaration, "run", false).unwrap();
    assert_eq!(bench.path("a").metadata().unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn guards_are_true_at_exit_code_zero() {
    let bench = machine();
    let guard = |command: &CommandTest| bench.providers(false).guard(command, false).unwrap();
    assert_eq!(guard(&CommandTest::text("true")), GuardResult::True);
    assert_eq!(guard(&CommandTest::text("exit 1")), GuardResult::False);
    let failed = |command: &CommandTest| bench.providers(false).guard(command, false).unwrap_err().class().to_owned();
    assert_eq!(failed(&CommandTest::text("wrun-no-such-command")), "Errno::ENOENT");
    let slow = CommandTest { timeout: Some(1), ..CommandTest::text("sleep 30") };
    assert_eq!(failed(&slow), "Mixlib::ShellOut::CommandTimeout");
    let script = CommandTest { interpreter: Some("bash".into()), ..CommandTest::text("[[ abc == a* ]]") };
    assert_eq!(guard(&script), GuardResult::True);
    let refused = Bench::whole("").providers(false).guard(&CommandTest::text("true"), false).unwrap_err();
    assert_eq!(refused.class(), "Wrun::Denied");
    let refused = Bench::whole("").providers(true).guard(&CommandTest::text("true"), true).unwrap_err();
    assert_eq!(refused.class(), "Wrun::Denied", "a plan shows what a run would be denied");
}

#[test]
fn a_timeout_ends_all_that_was_started() {
    let bench = machine();
    // No other process of the machine sleeps that long.
    let mark = format!("33.{}", std::process::id());
    let command = format!("(trap '' TERM; sleep {mark}; touch ROOT/late) & echo started; wait");
    // Long enough for a shell to say a word, on a busy machine too.
    let raised = bench.run("execute", "x", "run", json!({"command": command, "timeout": 5})).unwrap_err();
    assert_eq!(raised.class(), "Mixlib::ShellOut::CommandTimeout");
    assert!(raised.message.contains("STDOUT: started"), "{}", raised.message);
    let left: Vec<String> = std::fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|process| std::fs::read(process.path().join("cmdline")).ok())
        .filter(|words| words.split(|byte| *byte == 0).any(|word| word == mark.as_bytes()))
        .map(|words| String::from_utf8_lossy(&words).into_owned())
        .collect();
    assert!(left.is_empty(), "nothing of it may go on: {left:?}");
}

#[test]
fn what_a_daemon_holds_open_is_not_waited_for() {
    let bench = machine();
    bench.run("execute", "x", "run", json!({"command": "sleep 3600 & echo $! > ROOT/pid"})).unwrap();
    let ended = std::process::Command::new("kill").arg(bench.read("pid").trim()).status();
    assert!(ended.unwrap().success(), "the daemon lives longer than the command");
}

#[test]
fn much_input_and_output_go_through() {
    let bench = machine();
    let input = "0123456789abcde\n".repeat(200_000);
    bench.run("execute", "x", "run", json!({"command": "tee ROOT/copy", "input": input})).unwrap();
    assert_eq!(bench.read("copy"), input);
    bench.run("execute", "x", "run", json!({"command": "true", "input": input})).unwrap();
    let raised = bench.run("execute", "x", "run", json!({"command": "yes | head -c 20000000; exit 1"})).unwrap_err();
    assert!(raised.message.len() < 200_000);
}

#[test]
fn many_commands_are_cheap() {
    let bench = machine();
    let mut providers = bench.providers(false);
    // What the commands and other programs take does not count.
    let processor_time = || rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    let begin = processor_time();
    for _ in 0..50 {
        assert_eq!(providers.guard(&CommandTest::text("true"), false), Ok(GuardResult::True));
    }
    let seconds = processor_time().tv_sec - begin.tv_sec;
    assert!(seconds < 3, "{seconds} s of processor time for 50 commands");
}

#[test]
fn log_and_notify_group() {
    let bench = machine();
    let done = bench.run("log", "hello", "write", json!({"level": "warn"})).unwrap();
    assert!(!done.updated && done.changes.is_empty());
    bench.run("log", "x", "write", json!({"message": "other"})).unwrap();
    assert_eq!(*bench.log.lock().unwrap(), [(LogLevel::Warn, "hello".into()), (LogLevel::Info, "other".into())]);
    assert!(bench.run("log", "x", "write", json!({"level": "loud"})).is_err());
    let done = bench.run("notify_group", "all", "run", json!({})).unwrap();
    assert!(done.updated && done.changes.is_empty());
}

#[test]
fn a_pause_ends_when_the_run_is_to_stop() {
    let bench = machine();
    let settings = bench.settings(false);
    settings.stop.request(StopReason::Signal(2));
    let mut providers = providers::MachineProviders::new(std::sync::Arc::new(settings)).unwrap();
    let begin = std::time::Instant::now();
    providers.pause(3600);
    assert!(begin.elapsed().as_secs() < 1800, "a pause of an hour was not cut short");
}

#[test]
fn output_is_shown_while_it_is_written_if_asked_for() {
    let bench = machine();
    let heard: std::sync::Arc<std::sync::Mutex<Vec<u8>>> = std::sync::Arc::default();
    let ear = std::sync::Arc::clone(&heard);
    let mut settings = bench.settings(false);
    settings.live = Some(std::sync::Arc::new(move |bytes: &[u8]| ear.lock().unwrap().extend_from_slice(bytes)));
    let mut providers = providers::MachineProviders::new(std::sync::Arc::new(settings)).unwrap();
    let mut tell = |properties: Value, sensitive: bool| {
        let declaration = contract::Declaration { sensitive, ..bench.declaration("execute", "x", properties) };
        run(&mut providers, &declaration, "run", false).unwrap();
    };
    tell(json!({"command": "echo quiet"}), false);
    tell(json!({"command": "echo secret", "live_stream": true}), true);
    tell(json!({"command": "echo one; echo two >&2", "live_stream": true}), false);
    let heard = String::from_utf8(heard.lock().unwrap().clone()).unwrap();
    assert!(heard == "one\ntwo\n" || heard == "two\none\n", "{heard}");
}

#[test]
fn a_login_starts_at_home() {
    let bench = machine();
    bench
        .run(
            "execute",
            "x",
            "run",
            json!({"command": "pwd > ROOT/pwd; echo $SHELL >> ROOT/pwd", "login": true, "user": "root"}),
        )
        .unwrap();
    assert_eq!(bench.read("pwd").lines().next(), Some("/root"));
    assert!(bench.read("pwd").lines().nth(1).is_some_and(|shell| shell.ends_with("sh")));
}
