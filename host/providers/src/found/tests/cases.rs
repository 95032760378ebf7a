//! An action for each operation that was planned against something, and a change of what it was planned against.

use super::Asked;
use super::stage::{COMMITS, Stage};
use serde_json::{Value, json};
use std::os::unix::fs::{PermissionsExt as _, lchown, symlink};

/// A change of what an operation was planned against.
pub(super) type Meddle = fn(&Stage);

/// What becomes of a plan if somebody meddles before it is carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Then {
    /// It is refused, and the machine is as whoever meddled left it.
    Refused,
    /// It is refused, after earlier steps of the same action were carried out.
    RefusedLater,
    /// It is carried out: the state that it leads to does no harm, or only the tool itself can judge.
    CarriedOut,
}

pub(super) type Case = ((&'static str, &'static str, &'static str, Value), &'static [&'static str], Meddle, Then);

pub(super) fn cases() -> Vec<Case> {
    let file = json!({"content": "new\n"});
    let git = json!({
        "repository": "https://example.org/a",
        "revision": COMMITS[1],
        "enable_submodules": true,
        "additional_remotes": {"other": "https://example.org/b"},
    });
    let tmpfs = json!({"device": "tmpfs", "fstype": "tmpfs"});
    vec![
        // Files, directories and links.
        (
            ("file", "/srv/file", "create", file.clone()),
            &["WriteFile"],
            |stage| stage.write("srv/file", "else\n"),
            Then::Refused,
        ),
        (
            ("file", "/srv/file", "create", file.clone()),
            &["WriteFile"],
            |stage| {
                std::fs::set_permissions(stage.at("srv/file"), std::fs::Permissions::from_mode(0o600)).unwrap();
            },
            Then::Refused,
        ),
        (("file", "/srv/new", "create", file), &["WriteFile"], |stage| stage.write("srv/new", "else\n"), Then::Refused),
        (
            ("file", "/srv/old", "create", json!({"content": "x", "force_unlink": true})),
            &["WriteFile"],
            |stage| {
                std::fs::remove_dir(stage.at("srv/old")).unwrap();
                symlink("/srv/elsewhere", stage.at("srv/old")).unwrap();
                stage.write("srv/elsewhere", "");
            },
            Then::Refused,
        ),
        (
            ("file", "/srv/file", "create", json!({"mode": "0600"})),
            &["SetAccess"],
            |stage| std::fs::set_permissions(stage.at("srv/file"), std::fs::Permissions::from_mode(0o640)).unwrap(),
            Then::Refused,
        ),
        (
            ("directory", "/srv/old", "create", json!({"mode": "0700"})),
            &["SetAccess"],
            |stage| lchown(stage.at("srv/old"), Some(1), None).unwrap(),
            Then::Refused,
        ),
        (
            ("file", "/srv/file", "touch", json!({})),
            &["Touch"],
            |stage| std::fs::remove_file(stage.at("srv/file")).unwrap(),
            Then::Refused,
        ),
        (
            ("file", "/srv/file", "delete", json!({"backup": false})),
            &["RemoveFile"],
            |stage| {
                stage.write("srv/other", "else\n");
                lchown(stage.at("srv/other"), Some(1), None).unwrap();
                std::fs::rename(stage.at("srv/other"), stage.at("srv/file")).unwrap();
            },
            Then::Refused,
        ),
        (
            ("directory", "/srv/one/two", "create", json!({"recursive": true})),
            &["MakeDirectory"],
            |stage| std::fs::create_dir(stage.at("srv/one")).unwrap(),
            Then::Refused,
        ),
        (
            ("directory", "/srv/old", "delete", json!({"recursive": true})),
            &["RemoveDirectory"],
            |stage| {
                std::fs::rename(stage.at("srv/old"), stage.at("srv/aside")).unwrap();
                stage.write("srv/old/theirs", "");
                lchown(stage.at("srv/old"), Some(1), None).unwrap();
            },
            Then::Refused,
        ),
        (
            ("remote_directory", "/srv/site", "create", json!({"source": "site", "purge": true})),
            &["PurgeDirectory"],
            |stage| {
                std::fs::rename(stage.at("srv/site/extra"), stage.at("srv/aside")).unwrap();
                std::fs::create_dir(stage.at("srv/site/extra")).unwrap();
                lchown(stage.at("srv/site/extra"), Some(1), None).unwrap();
            },
            Then::Refused,
        ),
        (
            ("link", "/srv/link", "create", json!({"to": "/srv/b"})),
            &["MakeLink"],
            |stage| relink(stage, "srv/link", "/srv/c"),
            Then::Refused,
        ),
        (
            ("link", "/srv/new", "create", json!({"to": "/srv/b"})),
            &["MakeLink"],
            |stage| symlink("/srv/c", stage.at("srv/new")).unwrap(),
            Then::Refused,
        ),
        (
            ("link", "/srv/link", "delete", json!({})),
            &["RemoveLink"],
            |stage| relink(stage, "srv/link", "/srv/c"),
            Then::Refused,
        ),
        // Users and groups that somebody changes meanwhile.
        (
            ("group", "new", "create", json!({"gid": 1200})),
            &["MakeGroup"],
            |stage| stage.append("etc/group", "new:x:1300:\n"),
            Then::Refused,
        ),
        (
            ("group", "team", "modify", json!({"members": ["root"]})),
            &["ChangeGroup"],
            |stage| stage.replace("etc/group", "1100:ann", "1100:ann,daemon"),
            Then::Refused,
        ),
        (
            ("group", "team", "remove", json!({})),
            &["RemoveGroup"],
            |stage| stage.replace("etc/group", "1100:ann", "1100:ann,daemon"),
            Then::Refused,
        ),
        (
            ("user", "new", "create", json!({"shell": "/bin/bash"})),
            &["MakeUser"],
            |stage| stage.append("etc/passwd", "new:x:1300:1300::/:/bin/sh\n"),
            Then::Refused,
        ),
        (
            ("user", "ann", "modify", json!({"shell": "/bin/bash"})),
            &["ChangeUser"],
            |stage| stage.replace("etc/passwd", ":Ann:", ":Somebody else:"),
            Then::Refused,
        ),
        (
            ("user", "ann", "remove", json!({})),
            &["RemoveUser"],
            |stage| stage.replace("etc/passwd", ":Ann:", ":Somebody else:"),
            Then::Refused,
        ),
        (
            ("user", "ann", "lock", json!({})),
            &["LockUser"],
            |stage| stage.replace("etc/shadow", "ann:$6$x", "ann:!$6$x"),
            Then::Refused,
        ),
        // Commands and packages.
        (
            ("execute", "true", "run", json!({"creates": "/srv/made"})),
            &["RunCommand"],
            |stage| stage.write("srv/made", ""),
            Then::Refused,
        ),
        (
            ("apt_package", "new", "install", json!({"version": "2.0", "response_file": "seed"})),
            &["Preseed", "InstallFromArchives"],
            |stage| {
                stage.append("var/lib/dpkg/status", "Package: new\nStatus: install ok installed\nVersion: 0.5\n\n");
            },
            Then::RefusedLater,
        ),
        (
            ("apt_package", "tool", "remove", json!({})),
            &["ChangePackages"],
            |stage| stage.replace("var/lib/dpkg/status", "1.0", "1.0-2"),
            Then::Refused,
        ),
        (
            ("apt_package", "tool", "lock", json!({})),
            &["ChangePackages"],
            |stage| stage.replace("var/lib/dpkg/status", "1.0", "1.0-2"),
            Then::Refused,
        ),
        (
            ("dpkg_package", "tool", "purge", json!({})),
            &["ChangePackages"],
            |stage| stage.replace("var/lib/dpkg/status", "1.0", "1.0-2"),
            Then::Refused,
        ),
        (
            ("rpm_package", "tool", "remove", json!({})),
            &["ChangeRpmPackages"],
            |stage| stage.says("rpm", "tool (none) 1.1 1 noarch\n"),
            Then::CarriedOut,
        ),
        // Services.
        (
            ("service", "web", "enable", json!({})),
            &["EnableAtBoot"],
            |stage| stage.write("etc/systemd/system/multi-user.target.wants/web.service", "not a link"),
            Then::Refused,
        ),
        (
            ("service", "masked", "unmask", json!({})),
            &["ChangeUnitLinks"],
            |stage| {
                relink(stage, "etc/systemd/system/masked.service", "/dev/null");
                lchown(stage.at("etc/systemd/system/masked.service"), Some(1), None).unwrap();
            },
            Then::Refused,
        ),
        (
            ("service", "tool", "restart", json!({})),
            &["ControlService"],
            |stage| stage.says("running", "no"),
            Then::CarriedOut,
        ),
        (
            ("systemd_unit", "web.service", "restart", json!({})),
            &["ControlUnit"],
            |stage| {
                let wants = stage.at("etc/systemd/system/multi-user.target.wants");
                std::fs::create_dir_all(&wants).unwrap();
                symlink("/lib/systemd/system/web.service", wants.join("web.service")).unwrap();
            },
            Then::CarriedOut,
        ),
        // What brings several files.
        (
            ("archive_file", "/srv/archive.tar", "extract", json!({"destination": "/srv/out", "owner": "ann"})),
            &["MakeDestination", "UnpackArchive", "GiveAway"],
            |stage| {
                let content = std::fs::read(stage.at("srv/archive.tar")).unwrap();
                std::fs::write(stage.at("srv/archive.tar"), [content.as_slice(), &[0; 512]].concat()).unwrap();
            },
            Then::RefusedLater,
        ),
        (
            ("git", "/srv/checkout", "export", git.clone()),
            &["CloneRepository", "CheckOut", "UpdateSubmodules", "SetRemote", "RemoveRepository"],
            |stage| stage.write("srv/checkout/theirs", ""),
            Then::Refused,
        ),
        (
            ("git", "/srv/clone", "sync", git.clone()),
            &["Fetch", "SetRemote"],
            |stage| stage.replace("srv/clone/.git/config", "example.org/a", "example.org/other"),
            Then::CarriedOut,
        ),
        (
            ("git", "/srv/clone", "sync", git),
            &["Fetch", "UpdateSubmodules", "SetRemote"],
            |stage| stage.says("HEAD", COMMITS[2]),
            Then::Refused,
        ),
        // Tables.
        (
            ("cron", "job", "create", json!({"command": "/bin/x"})),
            &["WriteCrontab"],
            |stage| stage.says("crontab", "1 1 * * * /bin/other\n2 2 * * * /bin/theirs\n"),
            Then::Refused,
        ),
        (
            ("mount", "/mnt", "umount", tmpfs.clone()),
            &["ChangeMounts"],
            |stage| stage.says("findmnt", "/ /dev/sda1 ext4 rw\n/mnt tmpfs tmpfs ro\n"),
            Then::Refused,
        ),
        (
            ("mount", "/mnt", "enable", tmpfs),
            &["Sequence", "WriteFile"],
            |stage| stage.append("etc/fstab", "/dev/sdb1 /srv ext4 defaults 0 2\n"),
            Then::Refused,
        ),
    ]
}

/// The types whose operations are those of other types.
fn other_types() -> Vec<Case> {
    let rewrite: Meddle = |stage| stage.write("srv/file", "else\n");
    let other_version: Meddle = |stage| stage.says("rpm", "tool (none) 1.1 1 noarch\n");
    let file =
        |kind, properties| ((kind, "/srv/file", "create", properties), &["WriteFile"] as &[_], rewrite, Then::Refused);
    let rpm =
        |kind| ((kind, "tool", "remove", json!({})), &["ChangeRpmPackages"] as &[_], other_version, Then::CarriedOut);
    vec![
        file("cookbook_file", json!({"source": "x"})),
        file("template", json!({"source": "x", "content": "new\n"})),
        file("remote_file", json!({"source": ["file:///srv/site/kept"]})),
        (
            ("cron_d", "job", "create", json!({"command": "/bin/x"})),
            &["WriteFile"],
            |stage| stage.write("etc/cron.d/job", "# theirs\n"),
            Then::Refused,
        ),
        (
            ("bash", "x", "run", json!({"code": "true", "creates": "/srv/made"})),
            &["RunCommand"],
            |stage| stage.write("srv/made", ""),
            Then::Refused,
        ),
        (
            ("package", "tool", "remove", json!({})),
            &["ChangePackages"],
            |stage| stage.replace("var/lib/dpkg/status", "1.0", "1.0-2"),
            Then::Refused,
        ),
        (
            ("linux_user", "ann", "modify", json!({"shell": "/bin/bash"})),
            &["ChangeUser"],
            |stage| stage.replace("etc/passwd", ":Ann:", ":Somebody else:"),
            Then::Refused,
        ),
        rpm("dnf_package"),
        rpm("yum_package"),
    ]
}

pub(super) fn all_cases() -> impl Iterator<Item = Case> {
    cases().into_iter().chain(other_types())
}

fn relink(stage: &Stage, path: &str, to: &str) {
    // Beside the old one, so that it is another for sure.
    symlink(to, stage.at("srv/beside")).unwrap();
    std::fs::rename(stage.at("srv/beside"), stage.at(path)).unwrap();
}

/// Actions whose operations do the same whatever the machine is like, or hold a secret.
pub(super) fn without_fingerprints() -> Vec<(Asked, &'static [&'static str])> {
    let asked = |kind, name, action, properties: Value| Asked::new(kind, name, action, &properties);
    let sensitive = |mut asked: Asked| {
        asked.declaration.sensitive = true;
        asked
    };
    let password = json!({"device": "//h/x", "fstype": "cifs"});
    let private = json!({"repository": "https://example.org/a", "revision": COMMITS[1]});
    vec![
        (asked("notify_group", "x", "run", json!({})), &["Nothing"]),
        (asked("execute", "true", "run", json!({})), &["RunCommand"]),
        (asked("apt_package", "absent", "install", json!({})), &["RefreshLists"]),
        (asked("http_request", "x", "get", json!({"url": "https://example.org/x"})), &["SendRequest"]),
        (asked("ohai", "x", "reload", json!({})), &["GatherFacts"]),
        (asked("reboot", "x", "request_reboot", json!({})), &["RequestReboot"]),
        (asked("reboot", "x", "cancel", json!({})), &["CancelReboot"]),
        (asked("chef_sleep", "x", "sleep", json!({"seconds": 1})), &["Sleep"]),
        (asked("apt_package", "tool", "reconfig", json!({"response_file": "seed"})), &["Preseed"]),
        (asked("user", "ann", "modify", json!({"password": "$6$y"})), &["ChangeUser"]),
        (asked("mount", "/srv", "mount", password), &["ChangeMounts"]),
        (asked("git", "/srv/private", "sync", private), &["Fetch"]),
        (sensitive(asked("file", "/srv/file", "create", json!({"content": "x"}))), &["WriteFile"]),
        (
            sensitive(asked(
                "systemd_unit",
                "x.service",
                "create",
                json!({"content": "[Service]\nExecStart=/bin/x\n"}),
            )),
            &["WriteFile", "ReloadSystemd"],
        ),
    ]
}
