//! The machine as a policy's guest sees it: one denied case beside every granted one.

#![cfg(test)]

mod support;

use contract::{CommandTest, HttpRequest, Machine as _, MachineChange, MachineError, StatKind};
use machine::guest::GuestMachine;
use serde_json::json;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt, symlink};
use support::{Bench, exists};

const TABLE: &str = "paths = [\"/srv/**\"]\nread_paths = [\"/etc/hostname\", \"/etc/passwd\", \"/etc/group\", \"/data/**\"]\ncommands = [\"true\", \"exit 3\"]\n";

fn bench() -> Bench {
    let bench = Bench::new(TABLE);
    for directory in ["srv", "data/dir", "secret"] {
        std::fs::create_dir_all(bench.path(directory)).unwrap();
    }
    std::fs::write(bench.path("data/file"), "0123456789").unwrap();
    std::fs::write(bench.path("secret/key"), "secret").unwrap();
    std::fs::write(bench.path("etc/shadow"), "root:x").unwrap();
    std::fs::write(bench.path("etc/passwd"), "root:x:0:0::/root:/bin/sh\nalice:x:5:5:A:/a:/b\n").unwrap();
    std::fs::write(bench.path("etc/group"), "root:x:0:\nweb:x:7:alice\n").unwrap();
    symlink("/data/file", bench.path("data/link")).unwrap();
    symlink("/secret", bench.path("srv/way")).unwrap();
    symlink("/secret/key", bench.path("data/leak")).unwrap();
    symlink("../../../../../../etc/hostname", bench.path("data/out")).unwrap();
    bench
}

fn machine(bench: &Bench) -> GuestMachine {
    bench.providers(false).machine()
}

#[track_caller]
fn is_denied<T: std::fmt::Debug>(result: Result<T, MachineError>, line: &str) {
    match result {
        Err(MachineError::Denied(text)) => assert!(text.contains(line), "{text}"),
        other => panic!("should be denied: {other:?}"),
    }
}

#[track_caller]
fn is_absent<T: std::fmt::Debug>(result: Result<T, MachineError>) {
    assert!(matches!(&result, Err(MachineError::System(name, _)) if name == "ENOENT"), "{result:?}");
}

#[test]
fn reads_within_the_grants() {
    let bench = bench();
    let mut machine = machine(&bench);
    let stat = machine.stat("/data/file", true).unwrap().unwrap();
    assert_eq!((stat.kind, stat.size, stat.links), (StatKind::File, 10, 1));
    assert_eq!(machine.stat("/data/link", false).unwrap().unwrap().kind, StatKind::Link);
    assert_eq!(machine.stat("/data/link", true).unwrap().unwrap().kind, StatKind::File);
    assert_eq!(machine.stat("/data/nothing/at/all", true), Ok(None));
    assert_eq!(machine.read_file("/data/link", 2, 3).unwrap(), b"234");
    assert_eq!(machine.read_file("/data/file", 100, 3).unwrap(), b"");
    assert_eq!(machine.list_directory("/data").unwrap(), ["dir", "file", "leak", "link", "out"]);
    assert_eq!(machine.read_link("/data/link").unwrap(), "/data/file");
    assert_eq!(machine.real_path("/data/link").unwrap(), "/data/file");
    is_absent(machine.read_file("/data/nothing", 0, 1));
    is_absent(machine.real_path("/data/nothing"));
    assert!(matches!(machine.read_file("/data/file", 0, u64::MAX), Err(MachineError::TooMuch(_))));
}

#[test]
fn nothing_is_said_about_the_rest() {
    let bench = bench();
    let mut machine = machine(&bench);
    for path in ["/secret/key", "/secret/nothing"] {
        is_denied(machine.stat(path, true), "read_paths = [\"/secret/");
        is_denied(machine.read_file(path, 0, 1), "read_paths = [\"/secret/");
        is_denied(machine.real_path(path), "read_paths = [\"/secret/");
    }
    // Where a link leads is told to nobody who may not go there.
    for path in ["/srv/way/key", "/data/leak", "/data/../secret/key"] {
        for refused in [machine.stat(path, true).map(drop), machine.read_file(path, 0, 1).map(drop)] {
            let Err(MachineError::Denied(said)) = refused else { panic!("{path}: {refused:?}") };
            let plain = path == "/data/../secret/key" || !said.contains("/secret");
            assert!(plain && said.contains(&format!("may not read path `{path}`")), "{said}");
            assert!(
                said.ends_with("the list of denials at the end of the run has the line that would allow it"),
                "{said}"
            );
        }
    }
    is_denied(machine.list_directory("/secret"), "read_paths = [\"/secret\"]");
    is_denied(machine.read_link("/secret/key"), "read_paths");
    is_denied(machine.read_file("/etc/shadow", 0, 1), "read_paths = [\"/etc/shadow\"]");
    // A link out of the root leads into the root's own directories.
    is_absent(machine.read_file("/data/out", 0, 1));
}

#[test]
fn users_and_groups_are_the_roots() {
    let bench = bench();
    let names: Vec<String> = machine(&bench).users().unwrap().into_iter().map(|user| user.name).collect();
    assert_eq!(names, ["root", "alice"]);
    assert_eq!(machine(&bench).groups().unwrap()[1].members, ["alice"]);
    let narrow = Bench::new("").providers(false).machine().users();
    is_denied(narrow, "read_paths = [\"/etc/passwd\"]");
}

#[test]
fn commands_within_the_grants() {
    let bench = Bench::whole("commands = [\"true\", \"exit 3\", \"sleep 30\"]");
    let mut machine = machine(&bench);
    assert_eq!(machine.run(&CommandTest::text("true"), false).unwrap().code, Some(0));
    assert_eq!(machine.run(&CommandTest::text("exit 3"), false).unwrap().code, Some(3));
    let outcome = machine.run(&CommandTest { timeout: Some(1), ..CommandTest::text("sleep 30") }, false).unwrap();
    assert!(outcome.timed_out && outcome.code.is_none());
    is_denied(machine.run(&CommandTest::text("exit 4"), false), "commands = [\"exit 4\"]");
    assert_eq!(machine.run(&CommandTest::text("exit 3"), true).unwrap().code, Some(3), "see the tests of `confined`");
}

#[test]
fn changes_within_the_grants() {
    let bench = bench();
    let mut machine = machine(&bench);
    let mut apply = |path: &str, change: MachineChange| machine.apply(path, change, false);
    assert_eq!(apply("/srv/d", MachineChange::MakeDirectory(0o750)).unwrap().what, "create new directory /srv/d");
    let written = apply("/srv/d/f", MachineChange::Write(b"one".into(), 0o640)).unwrap();
    assert_eq!((written.what.as_str(), written.path.as_str()), ("write file /srv/d/f", "/srv/d/f"));
    assert_eq!(bench.path("srv/d/f").metadata().unwrap().permissions().mode() & 0o7777, 0o640);
    std::os::unix::fs::chown(bench.path("srv/d/f"), Some(65534), Some(65534)).unwrap();
    apply("/srv/d/f", MachineChange::Append(b" two".into(), 0o600)).unwrap();
    let metadata = bench.path("srv/d/f").metadata().unwrap();
    assert_eq!(bench.read("srv/d/f"), "one two");
    assert_eq!((metadata.mode() & 0o7777, metadata.uid(), metadata.gid()), (0o640, 65534, 65534), "its looks stay");
    apply("/srv/l", MachineChange::Link("d/f".into())).unwrap();
    assert_eq!(bench.read("srv/l"), "one two");
    assert_eq!(apply("/srv/l", MachineChange::Mode(0o600)).unwrap().what, "change mode of /srv/d/f to '0600'");
    apply("/srv/d/f", MachineChange::Owner(Some(1), None)).unwrap();
    apply("/srv/d/f", MachineChange::Times(1, 2)).unwrap();
    let metadata = bench.path("srv/d/f").metadata().unwrap();
    assert_eq!((metadata.mode() & 0o7777, metadata.uid(), metadata.gid(), metadata.mtime()), (0o600, 1, 65534, 2));
    apply("/srv/d/f", MachineChange::Rename("/srv/g".into())).unwrap();
    apply("/srv/d", MachineChange::Rename("/srv/e".into())).unwrap();
    assert!(exists(&bench.path("srv/g")) && exists(&bench.path("srv/e")) && !exists(&bench.path("srv/d")));
    apply("/srv/e", MachineChange::RemoveDirectory).unwrap();
    apply("/srv/l", MachineChange::Remove).unwrap();
    assert!(!exists(&bench.path("srv/e")) && !exists(&bench.path("srv/l")));
    is_absent(apply("/srv/none/f", MachineChange::Write(vec![], 0o600)));
}

#[test]
fn changes_elsewhere_are_denied() {
    let bench = bench();
    let mut machine = machine(&bench);
    let changes = || {
        [
            MachineChange::Write(b"x".into(), 0o644),
            MachineChange::Append(b"x".into(), 0o644),
            MachineChange::Mode(0o777),
            MachineChange::Owner(Some(1), None),
            MachineChange::Times(0, 0),
            MachineChange::Remove,
            MachineChange::Rename("/srv/x".into()),
        ]
    };
    for path in ["/secret/key", "/srv/way/key", "/srv/../secret/key", "/etc/shadow", "/secret/new/file"] {
        for change in changes() {
            let said = if path.contains("way") || path.contains("..") { path } else { "paths = [\"/" };
            is_denied(machine.apply(path, change, false), said);
        }
    }
    is_denied(machine.apply("/data/file", MachineChange::Rename("/srv/x".into()), false), "paths = [\"/data/file\"]");
    std::fs::write(bench.path("srv/mine"), "x").unwrap();
    is_denied(
        machine.apply("/srv/mine", MachineChange::Rename("/etc/cron.d/x".into()), false),
        "paths = [\"/etc/cron.d/x\"]",
    );
    is_denied(machine.apply("/srv/mine", MachineChange::Mode(0o4755), false), "setuid = [\"/srv/mine\"]");
    is_denied(machine.apply("/srv/new", MachineChange::Write(vec![], 0o4755), false), "setuid = [\"/srv/new\"]");
    assert_eq!(bench.read("secret/key"), "secret");
    assert!(!exists(&bench.path("srv/new")));
}

#[test]
fn a_renamed_directory_must_be_granted_with_all_that_is_in_it() {
    let bench = Bench::new("paths = [\"/srv/**\"]\ndeny_paths = [\"/srv/team/theirs\"]\n");
    std::fs::create_dir_all(bench.path("srv/team/theirs")).unwrap();
    let renamed = bench.providers(false).machine().apply("/srv/team", MachineChange::Rename("/srv/x".into()), false);
    // A rule that denies beats whatever could be added.
    is_denied(renamed, "no new line in [policy.database] of the grants would allow it");
    assert!(exists(&bench.path("srv/team/theirs")));
}

#[test]
fn the_trial_run_of_a_real_one_keeps_nothing() {
    let bench = bench();
    let mut machine = machine(&bench);
    let told = machine.apply("/srv/x", MachineChange::Write(b"x".into(), 0o644), true);
    assert_eq!(told.unwrap_err(), MachineError::DryRun("write file /srv/x".into()));
    assert_eq!(machine.stat("/srv/x", true), Ok(None));
    is_denied(machine.apply("/secret/x", MachineChange::Write(b"x".into(), 0o644), true), "paths");
}

/// A folder's owner may have files in it opened to others, and does not open what root's code makes there.
#[test]
fn attack_a_directory_that_code_makes_in_anothers_folder_passes_no_list_of_theirs_on() {
    const NAME: &str = "system.posix_acl_default";
    let bench = bench();
    let entries = [(1_u16, 7_u16, u32::MAX), (2, 7, 1500), (4, 5, u32::MAX), (0x10, 7, u32::MAX), (0x20, 0, u32::MAX)];
    let mut list = vec![2, 0, 0, 0];
    for (tag, rights, id) in entries {
        list.extend(tag.to_le_bytes().iter().chain(&rights.to_le_bytes()).chain(&id.to_le_bytes()));
    }
    rustix::fs::setxattr(bench.path("srv"), NAME, &list, rustix::fs::XattrFlags::empty()).unwrap();
    let has_list = |path: &str| rustix::fs::getxattr(bench.path(path), NAME, &mut [0_u8; 64][..]).is_ok();
    let mut machine = machine(&bench);
    machine.apply("/srv/own", MachineChange::MakeDirectory(0o750), false).unwrap();
    std::os::unix::fs::chown(bench.path("srv"), Some(1500), None).unwrap();
    machine.apply("/srv/theirs", MachineChange::MakeDirectory(0o750), false).unwrap();
    assert!(has_list("srv/own") && !has_list("srv/theirs"));
}

/// Runs the same changes and looks in a real run and in a dry one: what the guest hears is the same.
#[test]
fn a_dry_run_tells_the_guest_what_a_real_one_would() {
    use MachineChange::{Append, Link, MakeDirectory, Mode, Owner, Remove, RemoveDirectory, Rename, Times, Write};
    let write = |text: &str| Write(text.into(), 0o640);
    let rename = |to: &str| Rename(to.into());
    let changes = [
        ("/srv/d", MakeDirectory(0o750)),
        ("/srv/d", MakeDirectory(0o750)),
        ("/srv/d/f", write("one")),
        ("/srv/d/f", Append(b" two".into(), 0o600)),
        ("/srv/d", write("x")),
        ("/srv/none/f", write("x")),
        ("/srv/l", Link("d".into())),
        ("/srv/l/g", write("over a link")),
        ("/srv/l/f", Mode(0o600)),
        ("/srv/d", RemoveDirectory),
        ("/srv/d", Remove),
        ("/srv/d/g", rename("/srv/g")),
        ("/srv/d", rename("/srv/e")),
        ("/srv/e", rename("/srv/e/below")),
        ("/srv/old/file", write("new")),
        ("/srv/old/kept", Append(b"more".into(), 0o600)),
        ("/srv/old/gone", Remove),
        ("/srv/old/gone", Remove),
        ("/srv/old/empty", RemoveDirectory),
        ("/srv/old", RemoveDirectory),
        ("/srv/old/moved", rename("/srv/moved")),
        ("/srv/old/looks", Mode(0o600)),
        ("/srv/old/looks", Times(1, 2)),
        ("/srv/old/looks", Owner(Some(5), None)),
        ("/srv/way", rename("/srv/old/way")),
        ("/srv/g", RemoveDirectory),
        ("/srv/old/again", MakeDirectory(0o700)),
        ("/srv/again", Link("/srv/old/again".into())),
        ("/srv/again/x", write("1")),
        ("/srv/f", Link("f".into())),
        ("/srv/f", write("in a circle")),
        ("/secret/x", write("x")),
        ("/srv/s", Write(vec![], 0o4755)),
        ("/srv/old/looks", Mode(0o4755)),
        ("/srv/old/pipe", write("x")),
        ("/srv/old/pipe", Append(b"x".into(), 0o600)),
        ("/srv/old/pipe", Mode(0o600)),
    ];
    let looks = |machine: &mut GuestMachine| {
        let mut seen = Vec::new();
        let paths = ["d", "d/f", "e", "e/f", "g", "l", "moved", "old", "old/file", "old/kept", "old/gone", "old/empty"];
        let more = ["old/moved", "old/looks", "old/way", "way", "again", "again/x", "f", "none/x", "s"];
        for path in paths.into_iter().chain(more).map(|path| format!("/srv/{path}")) {
            for follow in [true, false] {
                let stat = machine.stat(&path, follow).map(|stat| {
                    stat.map(|it| {
                        let size = if it.kind == StatKind::Directory { 0 } else { it.size };
                        (it.kind, it.mode, it.uid, size, if it.modified == 2 { 2 } else { 0 })
                    })
                });
                seen.push(format!("{path} {follow} {stat:?}"));
            }
            let names = machine.list_directory(&path);
            let content = machine.read_file(&path, 0, 100).map(|bytes| String::from_utf8(bytes).unwrap());
            let (says, real) = (machine.read_link(&path), machine.real_path(&path));
            seen.push(format!("{path} {names:?} {content:?} {says:?} {real:?}"));
        }
        seen
    };
    let run = |dry: bool| {
        let bench = bench();
        for directory in ["srv/old/empty", "srv/old/sub"] {
            std::fs::create_dir_all(bench.path(directory)).unwrap();
        }
        for name in ["file", "kept", "gone", "moved", "looks"] {
            std::fs::write(bench.path(&format!("srv/old/{name}")), name).unwrap();
        }
        let (pipe, here) = (bench.path("srv/old/pipe"), rustix::fs::CWD);
        rustix::fs::mknodat(here, pipe, rustix::fs::FileType::Fifo, 0o640.into(), 0).unwrap();
        let mut machine = bench.providers(dry).machine();
        let heard: Vec<_> = changes
            .iter()
            .map(|(path, change)| format!("{path} {change:?}: {:?}", machine.apply(path, change.clone(), false)))
            .collect();
        let seen = looks(&mut machine);
        (bench, heard, seen)
    };
    let (_, heard, seen) = run(false);
    let (bench, dry_heard, dry_seen) = run(true);
    for (dry, real) in dry_heard.iter().zip(&heard).chain(dry_seen.iter().zip(&seen)) {
        assert_eq!(dry, real);
    }
    assert!(heard.iter().any(|line| line.contains("ELOOP")) && seen.iter().any(|line| line.contains("keptmore")));
    // And nothing was done.
    assert_eq!(bench.read("srv/old/file"), "file");
    for path in ["srv/d", "srv/e", "srv/l", "srv/moved", "srv/again"] {
        assert!(!exists(&bench.path(path)), "{path}");
    }
    assert!(exists(&bench.path("srv/old/gone")) && exists(&bench.path("srv/way")));
}

#[test]
fn what_a_dry_run_keeps_is_bounded_and_needs_the_grants() {
    let bench = bench();
    let mut machine = bench.providers(true).machine();
    let half = || MachineChange::Write(vec![0; 33 << 20], 0o600);
    machine.apply("/srv/a", half(), false).unwrap();
    assert!(matches!(machine.apply("/srv/b", half(), false), Err(MachineError::TooMuch(_))));
    // What was copied from a file that may not be read cannot be read either.
    let bench = Bench::new("paths = [\"/srv/**\"]\ndeny_read_paths = [\"/srv/key\"]\n");
    std::fs::create_dir_all(bench.path("srv")).unwrap();
    std::fs::write(bench.path("srv/key"), "secret").unwrap();
    for dry in [true, false] {
        let mut machine = bench.providers(dry).machine();
        machine.apply("/srv/key", MachineChange::Append(b"x".into(), 0o600), false).unwrap();
        assert!(matches!(machine.read_file("/srv/key", 0, 9), Err(MachineError::Denied(_))));
    }
}

#[test]
fn what_may_not_be_read_stays_unread_under_another_name() {
    let rules = "paths = [\"/srv/**\"]\ndeny_read_paths = [\"/srv/key\", \"/srv/d/key\", \"/srv/hidden/**\"]\n";
    for dry in [true, false] {
        let bench = Bench::new(rules);
        std::fs::create_dir_all(bench.path("srv/d")).unwrap();
        std::fs::create_dir_all(bench.path("srv/hidden")).unwrap();
        for file in ["srv/key", "srv/d/key", "srv/open"] {
            std::fs::write(bench.path(file), "secret").unwrap();
        }
        let mut machine = bench.providers(dry).machine();
        let mut rename = |old: &str, new: &str| machine.apply(old, MachineChange::Rename(new.into()), false);
        assert!(matches!(rename("/srv/key", "/srv/other"), Err(MachineError::Denied(_))), "{dry}");
        let whole = rename("/srv/d", "/srv/e");
        assert!(matches!(whole, Err(MachineError::Denied(_) | MachineError::DryRun(_))), "{dry} {whole:?}");
        rename("/srv/open", "/srv/moved").unwrap();
        rename("/srv/key", "/srv/hidden/key").unwrap();
        assert!(matches!(machine.read_file("/srv/hidden/key", 0, 9), Err(MachineError::Denied(_))), "{dry}");
        assert_eq!(machine.read_file("/srv/moved", 0, 9).unwrap(), b"secret");
    }
}

#[test]
fn attack_a_file_that_may_not_be_read_is_not_given_away() {
    let bench = Bench::new("paths = [\"/srv/**\"]\ndeny_read_paths = [\"/srv/key\"]\n");
    std::fs::create_dir_all(bench.path("srv")).unwrap();
    for file in ["srv/key", "srv/open"] {
        std::fs::write(bench.path(file), "secret").unwrap();
        std::fs::set_permissions(bench.path(file), PermissionsExt::from_mode(0o600)).unwrap();
    }
    let mut machine = machine(&bench);
    for change in [MachineChange::Owner(Some(1500), None), MachineChange::Mode(0o644), MachineChange::Mode(0o604)] {
        is_denied(machine.apply("/srv/key", change.clone(), false), "/srv/key");
        machine.apply("/srv/open", change, false).unwrap();
    }
    // Bits that let nobody read it, and giving it back, need nothing.
    for change in [MachineChange::Mode(0o622), MachineChange::Mode(0o400), MachineChange::Owner(Some(0), Some(0))] {
        machine.apply("/srv/key", change, false).unwrap();
    }
    for properties in [json!({"mode": "0644"}), json!({"owner": 1500})] {
        let error = bench.run("file", "/srv/key", "create", properties).unwrap_err();
        assert_eq!(error.class(), "Wrun::Denied");
    }
    let seen = bench.path("srv/key").metadata().unwrap();
    assert_eq!((seen.uid(), seen.permissions().mode() & 0o7777), (0, 0o400));
}

#[test]
fn attack_a_hard_link_to_a_file_elsewhere_is_no_way_to_it() {
    let bench = Bench::new("paths = [\"/srv/x/**\"]\n");
    for directory in ["srv/x", "root"] {
        std::fs::create_dir_all(bench.path(directory)).unwrap();
    }
    std::fs::write(bench.path("root/secret"), "secret").unwrap();
    std::fs::set_permissions(bench.path("root/secret"), PermissionsExt::from_mode(0o600)).unwrap();
    std::fs::hard_link(bench.path("root/secret"), bench.path("srv/x/link")).unwrap();
    std::fs::write(bench.path("srv/x/one"), "mine").unwrap();
    std::fs::hard_link(bench.path("srv/x/one"), bench.path("srv/x/two")).unwrap();
    let mut machine = machine(&bench);
    for change in [MachineChange::Owner(Some(1500), None), MachineChange::Mode(0o644)] {
        is_denied(machine.apply("/srv/x/link", change.clone(), false), "/srv/x/link");
        machine.apply("/srv/x/one", change, false).unwrap();
    }
    for properties in [json!({"mode": "0644"}), json!({"owner": 1500}), json!({"content": "x", "atomic_update": false})]
    {
        let error = bench.run("file", "/srv/x/link", "create", properties.clone()).unwrap_err();
        assert_eq!(error.class(), "Wrun::Denied", "{properties}");
        assert!(error.message.contains("other names"), "{}", error.message);
        bench.run("file", "/srv/x/two", "create", properties).unwrap();
    }
    let seen = bench.path("root/secret").metadata().unwrap();
    assert_eq!((seen.uid(), seen.permissions().mode() & 0o7777), (0, 0o600));
    assert_eq!(bench.read("root/secret"), "secret");
    // New content is a new file under this name.
    bench.run("file", "/srv/x/link", "create", json!({"content": "x"})).unwrap();
    assert_eq!((bench.read("root/secret"), bench.read("srv/x/link")), ("secret".into(), "x".into()));
}

/// Its hidden names are ordinary where it is, and what a user's session runs where it becomes a home.
#[test]
fn attack_a_directory_with_hidden_names_becomes_no_home() {
    for why_run in [false, true] {
        let bench = Bench::new("paths = [\"/home/**\"]\n");
        std::fs::create_dir_all(bench.path("home/x")).unwrap();
        let providers = bench.providers(why_run);
        bench.settings(why_run).grants.learn_home("/home/ann");
        let mut machine = providers.machine();
        for directory in ["/home/x/sub", "/home/x/sub/.config", "/home/x/plain", "/home/x/plain/docs"] {
            machine.apply(directory, MachineChange::MakeDirectory(0o755), false).unwrap();
        }
        let direct = machine.apply("/home/ann/.config", MachineChange::MakeDirectory(0o755), false);
        is_denied(direct, "/home/ann/.config");
        let renamed = machine.apply("/home/x/sub", MachineChange::Rename("/home/ann".into()), false);
        is_denied(renamed, "may not manage path `/home/ann`");
        machine.apply("/home/x/plain", MachineChange::Rename("/home/ann".into()), false).unwrap();
    }
}

/// What a path leaves by `..` is not looked at: whether there is a directory that the policy may not see must not be heard.
#[test]
fn attack_dots_in_a_dry_run_look_at_nothing_that_they_leave() {
    for why_run in [false, true] {
        let bench = Bench::new("paths = [\"/srv/**\"]");
        for directory in ["srv", "hid/there"] {
            std::fs::create_dir_all(bench.path(directory)).unwrap();
        }
        std::fs::write(bench.path("hid/file"), "").unwrap();
        std::fs::write(bench.path("srv/f"), "x").unwrap();
        let mut machine = bench.providers(why_run).machine();
        machine.apply("/srv/touched", MachineChange::Write(b"x".into(), 0o644), false).unwrap();
        for name in ["there", "absent", "file"] {
            let (leaving, link) = (format!("/hid/{name}/../../srv/f"), format!("/srv/l-{name}"));
            machine.apply(&link, MachineChange::Link(leaving.clone()), false).unwrap();
            assert_eq!(machine.read_file(&link, 0, 9).unwrap(), b"x", "{name}, {why_run}");
            assert_eq!(machine.real_path(&leaving).unwrap(), "/srv/f", "{name}, {why_run}");
        }
        // What is only at the beginning of a link's text leads up.
        machine.apply("/srv/up", MachineChange::Link("../srv/./f".into()), false).unwrap();
        assert_eq!(machine.read_file("/srv/up", 0, 9).unwrap(), b"x");
    }
}

#[test]
fn attack_links_of_processes_are_followed_in_no_dry_run() {
    for why_run in [false, true] {
        let bench =
            Bench::new("paths = [\"/srv/**\"]\nread_paths = [\"/proc/7/exe\", \"/proc/7/fd/3\", \"/proc/7/plain\"]");
        for directory in ["srv", "proc/7/fd"] {
            std::fs::create_dir_all(bench.path(directory)).unwrap();
        }
        std::fs::write(bench.path("srv/sleep"), "x").unwrap();
        for link in ["exe", "fd/3", "plain"] {
            symlink("/srv/sleep", bench.path("proc/7").join(link)).unwrap();
        }
        let mut machine = bench.providers(why_run).machine();
        machine.apply("/srv/touched", MachineChange::Write(b"x".into(), 0o644), false).unwrap();
        for link in ["exe", "fd/3"] {
            let led = machine.real_path(&format!("/proc/7/{link}"));
            assert!(
                matches!(&led, Err(MachineError::System(name, _)) if name == "EACCES"),
                "{link}, {why_run}: {led:?}"
            );
        }
        assert_eq!(machine.real_path("/proc/7/plain").unwrap(), "/srv/sleep");
    }
}

/// A directory of the machine is not moved in a dry run: all that is in it would have to be kept.
#[test]
fn a_directory_that_would_be_renamed_is_told() {
    let bench = bench();
    std::fs::create_dir_all(bench.path("srv/full/of")).unwrap();
    let told = bench.providers(true).machine().apply("/srv/full", MachineChange::Rename("/srv/x".into()), false);
    assert_eq!(told.unwrap_err(), MachineError::DryRun("rename /srv/full to /srv/x".into()));
}

#[test]
fn the_file_cache_is_made_where_it_is_missing_and_never_in_a_dry_run() {
    let bench = Bench::new("paths = [\"/var/chef/cache/policies/database/**\"]\nread_paths = [\"/var/chef/cache\"]");
    let providers = bench.providers(true);
    providers.make_file_cache("/var/chef/cache/policies/database").unwrap();
    // The guest finds it.
    let mut machine = providers.machine();
    assert_eq!(machine.list_directory("/var/chef/cache").unwrap(), ["policies"]);
    let file = "/var/chef/cache/policies/database/x";
    machine.apply(file, MachineChange::Write(b"x".into(), 0o600), false).unwrap();
    assert_eq!(machine.read_file(file, 0, 9).unwrap(), b"x");
    assert!(!exists(&bench.path("var/chef")));
    // The operator keeps it elsewhere; a link stays in the root.
    std::fs::create_dir_all(bench.path("srv/chef")).unwrap();
    std::fs::create_dir_all(bench.path("var")).unwrap();
    symlink("/srv/chef", bench.path("var/chef")).unwrap();
    for _ in 0..2 {
        bench.providers(false).make_file_cache("/var/chef/cache/policies/web").unwrap();
        assert!(bench.path("srv/chef/cache/policies/web").is_dir());
    }
}

#[test]
fn the_file_cache_is_not_made_where_a_link_leads_to_what_root_runs() {
    let bench = Bench::new("paths = [\"/var/chef\"]");
    std::fs::create_dir_all(bench.path("etc/cron.d")).unwrap();
    std::fs::create_dir_all(bench.path("var")).unwrap();
    symlink("/etc/cron.d", bench.path("var/chef")).unwrap();
    let raised = bench.providers(false).make_file_cache("/var/chef/cache/policies/web").unwrap_err();
    assert!(raised.class() == "Errno::ELOOP" && raised.message.contains("/var/chef/cache"), "{raised:?}");
    assert!(!exists(&bench.path("etc/cron.d/cache")));
}

#[test]
fn what_is_added_to_may_be_larger_than_what_is_read_at_once() {
    let bench = Bench::new("paths = [\"/srv/**\"]");
    std::fs::create_dir_all(bench.path("srv")).unwrap();
    let (large, mut machine) = (20 << 20, machine(&bench));
    std::fs::write(bench.path("srv/log"), vec![b'a'; large]).unwrap();
    machine.apply("/srv/log", MachineChange::Append(b"end".into(), 0o600), false).unwrap();
    let content = std::fs::read(bench.path("srv/log")).unwrap();
    assert!(content.len() == large + 3 && content.ends_with(b"aend"), "{}", content.len());
    std::fs::File::create(bench.path("srv/huge")).unwrap().set_len(65 << 20).unwrap();
    let told = machine.apply("/srv/huge", MachineChange::Append(b"end".into(), 0o600), false);
    assert!(matches!(told, Err(MachineError::TooMuch(_))), "{told:?}");
}

#[test]
fn servers_must_be_granted() {
    let bench = Bench::new("");
    let mut machine = machine(&bench);
    let request = |url: &str| HttpRequest { method: "GET".into(), url: url.into(), headers: vec![], body: None };
    is_denied(machine.http(&request("https://example.org/x"), false), "download_hosts = [\"https://example.org\"]");
    is_denied(machine.http(&request("file:///etc/shadow"), false), "no new line in [policy.database] of the grants");
    let bench = Bench::new("download_hosts = [\"http://127.0.0.1:9\"]");
    let post = HttpRequest { method: "POST".into(), ..request("http://127.0.0.1:9/x") };
    let told = bench.providers(false).machine().http(&post, true);
    assert!(matches!(told, Err(MachineError::DryRun(_))), "{told:?}");
    let refused = bench.providers(false).machine().http(&request("http://127.0.0.1:9/x"), false);
    assert!(matches!(&refused, Err(MachineError::System(name, _)) if name == "ECONNREFUSED"), "{refused:?}");
    let bench = Bench::new("download_hosts = [\"http://no-such-host.invalid\"]");
    let unknown = bench.providers(false).machine().http(&request("http://no-such-host.invalid/x"), false);
    assert!(matches!(&unknown, Err(MachineError::System(name, _)) if name == "EAI_NONAME"), "{unknown:?}");
}

#[test]
fn requests_have_the_methods_of_the_contract() {
    let bench = Bench::new("download_hosts = [\"http://127.0.0.1:1\"]");
    for method in ["CONNECT", "TRACE", "get", "GET x", "PROPFIND", ""] {
        let request =
            HttpRequest { method: method.into(), url: "http://127.0.0.1:1/".into(), headers: vec![], body: None };
        match machine(&bench).http(&request, false) {
            Err(MachineError::System(name, said)) => {
                assert!(name == "EINVAL" && said.contains("is not a method"), "{method}: {name} {said}");
            }
            other => panic!("{method}: {other:?}"),
        }
    }
}
