use super::support::{Machine, resource};
use contract::Certainty;
use serde_json::{Value, json};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

pub(super) fn file(path: &str, action: &str, properties: Value) -> super::support::Asked {
    resource("file", path, action, properties)
}

#[test]
fn create_makes_corrects_and_leaves_alone() {
    let mut machine = Machine::open();
    let asked =
        file("/etc/motd", "create", json!({ "content": "hello\n", "mode": "0640", "owner": "web", "group": "www" }));
    let made = machine.check(
        &asked,
        &[
            "create new file /etc/motd",
            "update content in file /etc/motd from none to 5891b5",
            "change mode from '' to '0640'",
            "change owner from '' to 'web'",
            "change group from '' to 'www'",
        ],
    );
    assert_eq!(made.diffs, ["--- /etc/motd (before)\n+++ /etc/motd (after)\n@@ -0,0 +1 @@\n+hello\n"]);
    assert_eq!((machine.read("/etc/motd").as_str(), machine.mode("/etc/motd")), ("hello\n", 0o640));
    assert_eq!(machine.owner("/etc/motd"), (1001, 1002));
    assert_eq!(machine.names("/etc"), ["group", "motd", "passwd"]);

    machine.check(
        &file("/etc/motd", "create", json!({ "content": "bye\n" })),
        &["update content in file /etc/motd from 5891b5 to abc6fd"],
    );
    assert_eq!((machine.mode("/etc/motd"), machine.owner("/etc/motd")), (0o640, (1001, 1002)), "kept");
    machine.check(
        &file("/etc/motd", "create", json!({ "mode": "0600", "owner": 0 })),
        &["change mode from '0640' to '0600'", "change owner from '1001' to '0'"],
    );
    machine.check(&file("/etc/motd", "create", json!({ "group": "root" })), &["change group from 'www' to 'root'"]);
    machine.check(&file("/etc/empty", "create", json!({})), &["create new file /etc/empty"]);
    assert_eq!(machine.mode("/etc/empty"), 0o644);
    machine.check(
        &file("other name", "create", json!({ "path": "/etc/other", "content": "x" })),
        &["create new file /etc/other", "update content in file /etc/other from none to 2d7116"],
    );
    machine.check(
        &file("/etc/raw", "create", json!({})).bytes("content", b"\0\xff"),
        &["create new file /etc/raw", "update content in file /etc/raw from none to 06eb7d"],
    );
    assert_eq!(std::fs::read(machine.at("/etc/raw")).unwrap(), b"\0\xff");
}

#[test]
fn modes_in_all_forms() {
    let mut machine = Machine::open();
    for (written, bits, shown) in [
        (json!("0644"), 0o644, "0644"),
        (json!("755"), 0o755, "0755"),
        (json!(0o600), 0o600, "0600"),
        (json!("4755"), 0o4755, "04755"),
        (json!("02755"), 0o2755, "02755"),
        (json!("1777"), 0o1777, "01777"),
        (json!("0"), 0, "00"),
    ] {
        let path = format!("/tmp/f{bits:o}");
        machine.check(
            &file(&path, "create", json!({ "mode": written })),
            &[&format!("create new file {path}"), &format!("change mode from '' to '{shown}'")],
        );
        assert_eq!(machine.mode(&path), bits);
    }
    machine.fails(&file("/tmp/x", "create", json!({ "mode": 0o10000 })), "Chef::Exceptions::ValidationFailed", "mode");
    machine.fails(
        &file("/tmp/x", "create", json!({ "owner": u64::MAX })),
        "Chef::Exceptions::ValidationFailed",
        "owner",
    );
    machine.check(&file("/tmp/masked", "create", json!({})).umask(0o077), &["create new file /tmp/masked"]);
    assert_eq!(machine.mode("/tmp/masked"), 0o600);
    // A change of owner takes set-user-id away; it is set again.
    std::fs::write(machine.at("/tmp/suid"), "").unwrap();
    std::fs::set_permissions(machine.at("/tmp/suid"), PermissionsExt::from_mode(0o4755)).unwrap();
    machine.check(
        &file("/tmp/suid", "create", json!({ "mode": "4755", "owner": "web" })),
        &["change mode from '04755' to '04755'", "change owner from 'root' to 'web'"],
    );
    assert_eq!(machine.mode("/tmp/suid"), 0o4755);
}

#[test]
fn other_actions() {
    let mut machine = Machine::open();
    machine.write("/etc/keep", "as it is");
    machine.check(&file("/etc/keep", "create_if_missing", json!({ "content": "new", "mode": "0600" })), &[]);
    machine.check(
        &file("/etc/made", "create_if_missing", json!({ "content": "new" })),
        &["create new file /etc/made", "update content in file /etc/made from none to 11507a"],
    );
    machine.check(&file("/etc/keep", "delete", json!({})), &["delete file /etc/keep"]);
    assert!(!machine.at("/etc/keep").exists());
    machine.check(&file("/none/x", "delete", json!({})), &[]);
    machine.fails(&file("/srv", "delete", json!({})), "Errno::EISDIR", "Is a directory @ apply2files - /srv");

    let times = |machine: &Machine| std::fs::metadata(machine.at("/etc/made")).unwrap().mtime();
    let past = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1000);
    std::fs::File::open(machine.at("/etc/made")).unwrap().set_modified(past).unwrap();
    assert_eq!(times(&machine), 1000);
    let touch = file("/etc/made", "touch", json!({}));
    for _ in 0..2 {
        assert_eq!(machine.run(&touch).unwrap().changes, ["update utime on file /etc/made"]);
        assert!(times(&machine) > 1000);
    }
    let new = machine.run(&file("/etc/touched", "touch", json!({ "content": "x" }))).unwrap();
    assert_eq!(new.changes.last().unwrap(), "update utime on file /etc/touched");
    assert_eq!(machine.read("/etc/touched"), "x");
    assert_eq!(
        machine.run(&file("/srv", "touch", json!({ "mode": "0700" }))).unwrap().changes,
        ["change mode from '0755' to '0700'", "update utime on file /srv",]
    );
}

#[test]
fn failures_have_chefs_classes_and_sentences() {
    let mut machine = Machine::open();
    machine.write("/etc/file", "x");
    std::fs::create_dir(machine.at("/etc/dir")).unwrap();
    for (path, properties, class, message) in [
        (
            "/no/such/dir/x",
            json!({}),
            "Chef::Exceptions::EnclosingDirectoryDoesNotExist",
            "Parent directory /no/such/dir does not exist.",
        ),
        (
            "/etc/file/x",
            json!({}),
            "Chef::Exceptions::EnclosingDirectoryDoesNotExist",
            "Parent directory /etc/file does not exist.",
        ),
        (
            "/etc/dir",
            json!({ "content": "x" }),
            "Chef::Exceptions::FileTypeMismatch",
            "File /etc/dir exists, but is a directory, set force_unlink to true to remove",
        ),
        (
            "/etc/x",
            json!({ "owner": "nobody-here" }),
            "Chef::Exceptions::UserIDNotFound",
            "cannot determine user id for 'nobody-here', does the user exist on this system?",
        ),
        (
            "/etc/x",
            json!({ "group": "nobody-here" }),
            "Chef::Exceptions::GroupIDNotFound",
            "cannot determine group id for 'nobody-here', does the group exist on this system?",
        ),
        (
            "/etc/x",
            json!({ "content": "y", "checksum": "0".repeat(64) }),
            "Chef::Exceptions::ChecksumMismatch",
            "Checksum on resource (000000...) does not match checksum on content (a1fce4...)",
        ),
        ("relative", json!({}), "Errno::EINVAL", "Invalid argument @ rb_sysopen - relative"),
        ("/a\0b", json!({}), "Errno::EINVAL", "Invalid argument"),
    ] {
        machine.fails(&file(path, "create", properties), class, message);
    }
    assert!(!machine.at("/etc/x").exists());
}

#[test]
fn links_at_the_path() {
    let mut machine = Machine::open();
    machine.write("/srv/target", "old");
    symlink("/srv/target", machine.at("/etc/link")).unwrap();
    machine.check(
        &file("/etc/link", "create", json!({ "content": "one", "mode": "0600" })),
        &[
            &format!("update content in file /etc/link from {} to {}", short("old"), short("one")),
            "change mode from '0644' to '0600'",
        ],
    );
    assert_eq!((machine.read("/srv/target").as_str(), machine.mode("/srv/target")), ("one", 0o600));
    assert!(machine.at("/etc/link").is_symlink());
    let own = json!({ "content": "two", "manage_symlink_source": false });
    machine.fails(
        &file("/etc/link", "create", own),
        "Chef::Exceptions::FileTypeMismatch",
        "File /etc/link exists, but is a symlink, set force_unlink to true to remove",
    );
    let forced = json!({ "content": "two", "manage_symlink_source": false, "force_unlink": true });
    machine.check(
        &file("/etc/link", "create", forced),
        &[
            "unlink symlink at /etc/link",
            "create new file /etc/link",
            &format!("update content in file /etc/link from none to {}", short("two")),
        ],
    );
    assert_eq!((machine.read("/srv/target"), machine.read("/etc/link")), ("one".into(), "two".into()));
    symlink("b", machine.at("/etc/a")).unwrap();
    symlink("a", machine.at("/etc/b")).unwrap();
    symlink("nowhere", machine.at("/etc/dangling")).unwrap();
    symlink("/srv", machine.at("/etc/dir-link")).unwrap();
    let followed = || json!({ "content": "x", "manage_symlink_source": true });
    for (path, properties, class, message) in [
        (
            "/etc/a",
            followed(),
            "Chef::Exceptions::InvalidSymlink",
            "Symlink at /etc/a (pointing to b) exists but attempting to resolve it creates a loop",
        ),
        (
            "/etc/dangling",
            followed(),
            "Chef::Exceptions::InvalidSymlink",
            "Symlink at /etc/dangling (pointing to nowhere) exists but attempting to resolve it leads to a nonexistent file",
        ),
        (
            "/etc/a",
            json!({ "content": "x" }),
            "Errno::ELOOP",
            "Too many levels of symbolic links @ rb_check_realpath_internal - /etc/a",
        ),
        (
            "/etc/dangling",
            json!({ "content": "x" }),
            "Errno::ENOENT",
            "No such file or directory @ rb_check_realpath_internal - /etc/dangling",
        ),
        (
            "/etc/dir-link",
            json!({ "content": "x" }),
            "Chef::Exceptions::FileTypeMismatch",
            "File /etc/dir-link exists, but is a symlink to /srv which is a directory. Disable manage_symlink_source and set \
             force_unlink to remove it.",
        ),
    ] {
        machine.fails(&file(path, "create", properties), class, message);
    }
    machine.fails(
        &file("/etc/dangling", "delete", json!({})),
        "Errno::ENOENT",
        "No such file or directory @ rb_check_realpath_internal - /etc/dangling",
    );
    machine.check(&file("/etc/dangling", "delete", json!({ "manage_symlink_source": true })), &[]);
    machine.check(&file("/etc/dir-link", "delete", json!({})), &["delete file /etc/dir-link"]);
    assert!(machine.at("/srv/target").exists());
    std::fs::create_dir_all(machine.at("/etc/tree/below")).unwrap();
    machine.check(
        &file("/etc/tree", "create", json!({ "content": "x", "force_unlink": true })),
        &[
            "unlink directory at /etc/tree",
            "create new file /etc/tree",
            &format!("update content in file /etc/tree from none to {}", short("x")),
        ],
    );
}

#[test]
fn backups_are_kept_and_counted() {
    let mut machine = Machine::open();
    machine.write("/etc/file", "0");
    std::fs::set_permissions(machine.at("/etc/file"), PermissionsExt::from_mode(0o640)).unwrap();
    let copies = |machine: &Machine| {
        let entries = std::fs::read_dir(machine.beside("backups/etc")).map(|all| all.count());
        entries.unwrap_or_default()
    };
    machine.check(
        &file("/etc/file", "create", json!({ "content": "none", "backup": false })),
        &[&format!("update content in file /etc/file from {} to {}", short("0"), short("none"))],
    );
    assert_eq!(copies(&machine), 0);
    for round in 1..=8 {
        machine.run(&file("/etc/file", "create", json!({ "content": round.to_string() }))).unwrap();
        assert_eq!(copies(&machine), round.min(5));
    }
    let entry = std::fs::read_dir(machine.beside("backups/etc")).unwrap().next().unwrap().unwrap();
    let name = entry.file_name().into_string().unwrap();
    let stamp = name.strip_prefix("file.chef-").unwrap();
    assert!(stamp.len() == 21 && stamp.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.'), "{name}");
    assert_eq!(entry.metadata().unwrap().permissions().mode() & 0o7777, 0o640);
    machine.run(&file("/etc/file", "delete", json!({ "backup": 2 }))).unwrap();
    assert_eq!(copies(&machine), 2);
    assert_eq!(machine.names("/etc"), ["group", "passwd"]);
}

#[test]
fn content_is_written_in_place_where_that_is_asked_for() {
    let mut machine = Machine::open();
    machine.write("/etc/mounted", "a longer old text");
    let inode = |machine: &Machine| std::fs::metadata(machine.at("/etc/mounted")).unwrap().ino();
    let before = inode(&machine);
    let asked = file("/etc/mounted", "create", json!({ "content": "new", "atomic_update": false, "mode": "0600" }));
    machine.check(
        &asked,
        &[
            &format!("update content in file /etc/mounted from {} to {}", short("a longer old text"), short("new")),
            "change mode from '0644' to '0600'",
        ],
    );
    assert_eq!((machine.read("/etc/mounted").as_str(), machine.mode("/etc/mounted")), ("new", 0o600));
    assert_eq!(inode(&machine), before);
    machine.run(&file("/etc/mounted", "create", json!({ "content": "newer" }))).unwrap();
    assert_ne!(inode(&machine), before);
    assert_eq!(machine.names("/etc"), ["group", "mounted", "passwd"]);
}

#[test]
fn diffs_are_summarised_where_they_must_be() {
    let mut machine = Machine::open();
    let secret = file("/etc/secret", "create", json!({ "content": "password" })).sensitive();
    let outcome = machine.run(&secret).unwrap();
    assert_eq!(outcome.diffs, ["suppressed sensitive resource"]);
    let huge = file("/etc/huge", "create", json!({ "content": "x".repeat(1_000_001) }));
    assert_eq!(machine.run(&huge).unwrap().diffs, ["(file sizes exceed 1000000 bytes, diff output suppressed)"]);
    let binary = file("/etc/binary", "create", json!({ "content": "a\u{1b}[2J" }));
    assert_eq!(machine.run(&binary).unwrap().diffs, ["(new content is binary, diff output suppressed)"]);
    let text = file("/etc/binary", "create", json!({ "content": "a" }));
    assert_eq!(machine.run(&text).unwrap().diffs, ["(current file is binary, diff output suppressed)"]);
}

#[test]
fn dry_runs_change_nothing_and_assume_what_chef_assumes() {
    let mut machine = Machine::dry();
    machine.write("/etc/file", "old");
    let plan = machine.plan(&file("/etc/file", "create", json!({ "content": "new", "mode": "0600" }))).unwrap();
    assert_eq!(plan.changes.len(), 2);
    let plan = machine.plan(&file("/no/dir/x", "create", json!({ "content": "new", "owner": "later" }))).unwrap();
    assert_eq!(plan.changes.first().unwrap(), "create new file /no/dir/x");
    assert_eq!(
        plan.certainty,
        [
            Certainty::Assumed("assuming user later would have been created".into()),
            Certainty::Assumed("assuming directory /no/dir would have been created".into()),
        ]
    );
    let plan = machine.plan(&file("/srv", "create", json!({ "content": "x" }))).unwrap();
    assert!(plan.changes.is_empty());
    assert_eq!(
        plan.certainty,
        [Certainty::Assumed("assuming directory at /srv would have been removed by a previous resource".into())]
    );
    // What would be there by now is removed, and then is not there.
    let plan = machine.plan(&file("/no/dir/x", "delete", json!({}))).unwrap();
    assert_eq!((plan.changes.as_slice(), plan.certainty.len()), (&["delete file /no/dir/x".to_owned()][..], 0));
    let plan = machine.plan(&file("/no/dir/x", "delete", json!({}))).unwrap();
    assert_eq!((plan.changes.len(), plan.certainty.len()), (0, 0));
    assert_eq!(
        (machine.read("/etc/file").as_str(), machine.names("/")),
        ("old", vec!["etc".into(), "srv".into(), "tmp".into()])
    );
    assert!(!machine.beside("backups").exists() && !machine.beside("cache").exists());
}

#[test]
fn only_granted_paths_are_managed() {
    let mut machine = Machine::granted("paths = [\"/srv/**\"]");
    machine.write("/etc/file", "old");
    machine.check(
        &file("/srv/ok", "create", json!({ "content": "x" })),
        &["create new file /srv/ok", &format!("update content in file /srv/ok from none to {}", short("x"))],
    );
    for action in ["create", "create_if_missing", "delete", "touch"] {
        let raised = machine.denies(&file("/etc/file", action, json!({ "content": "x" })));
        assert!(raised.message.contains("/etc/file"), "{}", raised.message);
        machine.denies(&file("/etc/new", action, json!({ "content": "x" })));
    }
    machine.denies(&file("/srv/../etc/file", "create", json!({ "content": "x" })));
    // A link in a granted place is not a right to what it leads to.
    symlink("/etc/file", machine.at("/srv/link")).unwrap();
    symlink("/etc", machine.at("/srv/dir")).unwrap();
    machine.denies(&file("/srv/link", "create", json!({ "content": "x" })));
    machine.denies(&file("/srv/link", "touch", json!({})));
    machine.denies(&file("/srv/dir/file", "create", json!({ "content": "x" })));
    machine.denies(&file("/srv/dir/new", "create", json!({ "content": "x" })));
    machine.denies(&file("/srv/dir/file", "delete", json!({})));
    assert_eq!((machine.read("/etc/file").as_str(), machine.names("/etc").len()), ("old", 3));
    // The link itself may be removed.
    machine.check(&file("/srv/link", "delete", json!({})), &["delete file /srv/link"]);
}

#[test]
fn set_id_bits_need_a_grant_of_their_own() {
    let mut machine = Machine::granted("paths = [\"/srv/**\"]");
    machine.denies(&file("/srv/shell", "create", json!({ "content": "x", "mode": "4755" })));
    assert!(!machine.at("/srv/shell").exists());
    machine.run(&file("/srv/shell", "create", json!({ "content": "x", "mode": "0755" }))).unwrap();
    machine.denies(&file("/srv/shell", "create", json!({ "mode": "2755" })));
    // New content in a program that runs as its owner is the owner's right, too.
    std::fs::set_permissions(machine.at("/srv/shell"), PermissionsExt::from_mode(0o4755)).unwrap();
    machine.denies(&file("/srv/shell", "create", json!({ "content": "mine" })));
    assert_eq!((machine.read("/srv/shell").as_str(), machine.mode("/srv/shell")), ("x", 0o4755));
}

pub(super) fn short(text: &str) -> String {
    use sha2::Digest as _;
    sha2::Sha256::digest(text).iter().take(3).map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn attack_a_file_that_somebody_has_open_is_written_anew_when_it_becomes_roots() {
    let mut machine = Machine::open();
    std::fs::write(machine.at("/etc/run.sh"), "right\n").unwrap();
    std::os::unix::fs::chown(machine.at("/etc/run.sh"), Some(1001), Some(1002)).unwrap();
    let theirs = std::fs::OpenOptions::new().write(true).open(machine.at("/etc/run.sh")).unwrap();
    let asked = file("/etc/run.sh", "create", json!({ "content": "right\n", "owner": 0, "group": 0 }));
    machine.check(&asked, &["change owner from '1001' to '0'", "change group from '1002' to '0'"]);
    std::os::unix::fs::FileExt::write_all_at(&theirs, b"wrong\n", 0).unwrap();
    assert_eq!(machine.read("/etc/run.sh"), "right\n");
    machine.check(&asked, &[]);
    assert_eq!((machine.mode("/etc/run.sh"), machine.owner("/etc/run.sh")), (0o644, (0, 0)));
    // Nobody loses anything: the file stays the one that it is.
    let before = std::fs::metadata(machine.at("/etc/run.sh")).unwrap().ino();
    machine.check(
        &file("/etc/run.sh", "create", json!({ "content": "right\n", "mode": "0755" })),
        &["change mode from '0644' to '0755'"],
    );
    assert_eq!(std::fs::metadata(machine.at("/etc/run.sh")).unwrap().ino(), before);
}
