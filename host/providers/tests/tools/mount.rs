//! `mount`: file systems that are really mounted, and tables that are really written.

use crate::support::{Bench, exists};
use contract::Certainty;
use serde_json::{Value, json};
use std::process::Command;

/// Unmounts whatever a test that failed left mounted.
struct Mounted(Bench);

impl Drop for Mounted {
    fn drop(&mut self) {
        let _not_mounted = Command::new("umount").arg("-l").arg(self.0.path("mnt")).output();
    }
}

impl Mounted {
    fn on(bench: Bench) -> Self {
        std::fs::create_dir(bench.path("mnt")).unwrap();
        Self(bench)
    }

    #[track_caller]
    fn check(&self, action: &str, properties: Value, expect: &[&str]) {
        let done = self.0.run("mount", "ROOT/mnt", action, properties).unwrap();
        let expect: Vec<String> = expect.iter().map(|sentence| self.0.text(sentence)).collect();
        assert_eq!(done.sentences(), expect, "{action}");
    }

    fn options(&self) -> String {
        let output = Command::new("findmnt").args(["-rno", "FSTYPE,OPTIONS"]).arg(self.0.path("mnt")).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    }
}

fn memory() -> Value {
    json!({"device": "tmpfs", "fstype": "tmpfs", "options": ["size=1m", "nosuid"], "pass": 0})
}

#[test]
fn a_file_system_is_mounted_and_unmounted() {
    let mounted = Mounted::on(Bench::whole("").unlimited());
    mounted.check("umount", memory(), &[]);
    mounted.check("remount", memory(), &[]);
    mounted.check("mount", memory(), &["mount tmpfs to ROOT/mnt"]);
    assert!(mounted.options().starts_with("tmpfs ") && mounted.options().contains("nosuid"), "{}", mounted.options());
    mounted.check("mount", memory(), &[]);
    let changed =
        json!({"device": "tmpfs", "fstype": "tmpfs", "options": ["size=1m", "noexec"], "supports": {"remount": true}});
    mounted.check("remount", changed, &["remount tmpfs"]);
    assert!(mounted.options().contains("noexec"), "{}", mounted.options());
    mounted.check("remount", memory(), &["unmount tmpfs", "mount tmpfs"]);
    assert!(!mounted.options().contains("noexec"), "{}", mounted.options());
    mounted.check("unmount", memory(), &["unmount tmpfs"]);
    assert_eq!(mounted.options(), "");
}

#[test]
fn a_folder_is_bound_to_another() {
    let mounted = Mounted::on(Bench::whole("").unlimited());
    std::fs::create_dir(mounted.0.path("data")).unwrap();
    std::fs::write(mounted.0.path("data/x"), "").unwrap();
    let bound = json!({"device": "ROOT/data", "fstype": "none", "options": "bind"});
    mounted.check("mount", bound.clone(), &["mount ROOT/data to ROOT/mnt"]);
    assert!(exists(&mounted.0.path("mnt/x")));
    mounted.check("umount", bound, &["unmount ROOT/data"]);
    assert!(!exists(&mounted.0.path("mnt/x")));
}

#[test]
fn what_must_be_there_is() {
    let bench = Bench::whole("").unlimited();
    let raised = |properties: Value| bench.run("mount", "ROOT/mnt", "mount", properties).unwrap_err();
    let absent = raised(json!({"device": "/dev/no-such-device"}));
    let expect = ("Chef::Exceptions::Mount", "Device /dev/no-such-device does not exist");
    assert_eq!((absent.class(), absent.message.as_str()), expect);
    assert_eq!(raised(memory()).message, bench.text("Mount point ROOT/mnt does not exist"));
    let done = bench.why_run("mount", "ROOT/mnt", "mount", memory()).unwrap();
    assert_eq!(done.sentences(), [bench.text("mount tmpfs to ROOT/mnt")]);
    assert!(matches!(done.certainty.as_slice(), [Certainty::Assumed(_)]));
    std::fs::create_dir(bench.path("mnt")).unwrap();
    let failed = raised(json!({"device": "tmpfs", "fstype": "tmpfs", "options": ["size=rubbish"]}));
    assert_eq!(failed.class(), "Mixlib::ShellOut::ShellCommandFailed");
}

const TABLE: &str = "# a remark\n/dev/sda1 / ext4 errors=remount-ro 0 1\nLABEL=data /srv ext4 defaults 0 2\n";

#[test]
fn the_table_gets_one_line() {
    let bench = Bench::new("").unlimited();
    std::fs::write(bench.path("etc/fstab"), TABLE).unwrap();
    let check = |name: &str, action: &str, properties: Value, sentence: &[&str], table: &str| {
        assert_eq!(
            bench.run("mount", name, action, properties).unwrap().sentences().get(..1).unwrap_or_default(),
            sentence
        );
        assert_eq!(bench.read("etc/fstab"), table);
    };
    let share = json!({"device": "host:/export", "fstype": "nfs", "options": "rw,soft"});
    let with_share = format!("{TABLE}host:/export /mnt nfs rw,soft 0 2\n");
    check("/mnt", "enable", share.clone(), &["enable host:/export"], &with_share);
    check("/mnt", "enable", share.clone(), &[], &with_share);
    let labelled = json!({"device": "data", "device_type": "label", "fstype": "ext4", "options": "noatime"});
    let changed = with_share.replace("defaults 0 2", "noatime 0 2");
    // Which device has the label is asked of `findfs`, which this root lacks.
    let raised = bench.run("mount", "/srv", "enable", labelled).unwrap_err();
    assert_eq!(raised.class(), "Errno::ENOENT");
    let by_name = json!({"device": "LABEL=data", "fstype": "ext4", "options": "noatime"});
    check("/srv", "enable", by_name.clone(), &["enable LABEL=data"], &changed);
    check(
        "/srv",
        "disable",
        by_name,
        &["disable LABEL=data"],
        &changed.replace("LABEL=data /srv ext4 noatime 0 2\n", ""),
    );
    check(
        "/mnt",
        "disable",
        share.clone(),
        &["disable host:/export"],
        &TABLE.replace("LABEL=data /srv ext4 defaults 0 2\n", ""),
    );
    let before = bench.read("etc/fstab");
    check("/mnt", "disable", share, &[], &before);
}

#[test]
fn a_link_to_a_mount_point_is_not_entered_in_the_table() {
    let bench = Bench::new("mounts = [\"tmpfs on /srv/data type tmpfs (size=1m,nosuid)\"]");
    std::fs::create_dir_all(bench.path("srv/data")).unwrap();
    std::os::unix::fs::symlink("/srv/data", bench.path("srv/link")).unwrap();
    std::fs::write(bench.path("etc/fstab"), TABLE).unwrap();
    bench.run("mount", "/srv/link", "enable", memory()).unwrap();
    let with_data = format!("{TABLE}tmpfs /srv/data tmpfs size=1m,nosuid 0 0\n");
    assert_eq!(bench.read("etc/fstab"), with_data);
    assert_eq!(bench.run("mount", "/srv/data", "enable", memory()).unwrap().sentences(), [""; 0]);
    // A line with the link, of older days, is the same mount's.
    std::fs::write(bench.path("etc/fstab"), with_data.replace("/srv/data", "/srv/link")).unwrap();
    bench.run("mount", "/srv/link", "enable", memory()).unwrap();
    assert_eq!(bench.read("etc/fstab"), with_data);
    std::fs::remove_file(bench.path("srv/link")).unwrap();
    std::os::unix::fs::symlink("/etc", bench.path("srv/link")).unwrap();
    assert_eq!(bench.run("mount", "/srv/link", "enable", memory()).unwrap_err().class(), "Wrun::Denied");
}

#[test]
fn mount_options_a_folder_to_bind_is_the_one_a_link_leads_to() {
    let bench = Bench::new("mounts = [\"/srv/real on /srv/data type none (bind)\"]");
    std::fs::create_dir_all(bench.path("srv/real")).unwrap();
    std::os::unix::fs::symlink("/srv/real", bench.path("srv/link")).unwrap();
    std::fs::write(bench.path("etc/fstab"), TABLE).unwrap();
    let bound = || json!({"device": "/srv/link", "fstype": "none", "options": "bind", "pass": 0});
    bench.run("mount", "/srv/data", "enable", bound()).unwrap();
    assert_eq!(bench.read("etc/fstab"), format!("{TABLE}/srv/real /srv/data none bind 0 0\n"));
    std::fs::remove_file(bench.path("srv/link")).unwrap();
    std::os::unix::fs::symlink("/etc", bench.path("srv/link")).unwrap();
    assert_eq!(bench.run("mount", "/srv/data", "enable", bound()).unwrap_err().class(), "Wrun::Denied");
}

/// The table is read at the next start, as root: who owns a folder on the way chooses then where a path leads.
#[test]
fn attack_a_place_that_others_may_exchange_is_not_entered_in_the_table() {
    let rules = "mounts = [\"/srv/* on /srv/* type none (bind,nofail)\", \
                 \"tmpfs on /srv/* type tmpfs (size=1m,nosuid,nofail)\", \
                 \"none on /srv/* type overlay (lowerdir=/srv/app/data,nofail)\"]";
    let bench = Bench::new(rules);
    for folder in ["srv/app/data", "srv/own/data"] {
        std::fs::create_dir_all(bench.path(folder)).unwrap();
    }
    std::os::unix::fs::chown(bench.path("srv/app"), Some(65534), None).unwrap();
    std::fs::write(bench.path("etc/fstab"), TABLE).unwrap();
    let bound = |device: &str| json!({"device": device, "fstype": "none", "options": "bind,nofail", "pass": 0});
    let memory =
        || json!({"device": "tmpfs", "fstype": "tmpfs", "options": ["size=1m", "nosuid", "nofail"], "pass": 0});
    for (place, properties) in [
        ("/srv/app/data", memory()),
        ("/srv/app/later/data", memory()),
        ("/srv/own/data", bound("/srv/app/data")),
        ("/srv/app/data", bound("/srv/own/data")),
        (
            "/srv/own/data",
            json!({"device": "none", "fstype": "overlay", "options": "lowerdir=/srv/app/data,nofail", "pass": 0}),
        ),
    ] {
        let raised = bench.run("mount", place, "enable", properties.clone()).unwrap_err();
        assert!(raised.message.contains("that others than root may exchange"), "{place} {properties}: {raised:?}");
    }
    assert_eq!(bench.read("etc/fstab"), TABLE);
    // What is not there yet is made below what is root's.
    for place in ["/srv/own/data", "/srv/own/new"] {
        bench.run("mount", place, "enable", memory()).unwrap();
        assert!(bench.read("etc/fstab").contains(&format!(" {place} tmpfs ")));
    }
}

/// A file system that cannot be mounted at the next start stops it in the emergency mode.
#[test]
fn attack_an_entry_that_nobody_tried_does_not_stop_the_next_start() {
    let bench = Bench::new("mounts = [\"tmpfs on /srv/data type tmpfs (nosuid,*)\"]");
    std::fs::create_dir_all(bench.path("srv/data")).unwrap();
    std::fs::write(bench.path("etc/fstab"), TABLE).unwrap();
    let enable = |options: &str| {
        let properties = json!({"device": "tmpfs", "fstype": "tmpfs", "options": options, "pass": 0});
        bench.run("mount", "/srv/data", "enable", properties)
    };
    for (options, part) in [
        ("nosuid,size=nonsense", "write the option into the rule"),
        ("nosuid,size=/srv/a:/srv/b", "write the option into the rule"),
        ("nosuid,size=1m", "add the option `nofail`"),
    ] {
        let raised = enable(options).unwrap_err();
        assert_eq!(raised.class(), "Wrun::Denied", "{options}");
        assert!(raised.message.contains(part), "{options}: {}", raised.message);
    }
    assert_eq!(bench.read("etc/fstab"), TABLE);
    enable("nosuid,size=1m,nofail").unwrap();
    assert_eq!(bench.read("etc/fstab"), format!("{TABLE}tmpfs /srv/data tmpfs nosuid,size=1m,nofail 0 0\n"));
}

#[test]
fn a_mount_needs_its_own_grant() {
    let rules =
        "paths = [\"/**\"]\ncommands = [\"mount\"]\nmounts = [\"tmpfs on ROOT/mnt type tmpfs (size=1m,nosuid)\"]";
    let mounted = Mounted::on(Bench::whole(rules));
    mounted.check("mount", memory(), &["mount tmpfs to ROOT/mnt"]);
    mounted.check("umount", memory(), &["unmount tmpfs"]);
    let bench = &mounted.0;
    std::os::unix::fs::symlink("/etc", bench.path("link")).unwrap();
    for (name, properties) in [
        ("ROOT/other", memory()),
        ("ROOT/link", memory()),
        ("ROOT/mnt", json!({"device": "/etc", "fstype": "none", "options": "bind"})),
        ("ROOT/mnt", json!({"device": "tmpfs", "fstype": "tmpfs", "options": ["size=1m", "suid"]})),
    ] {
        for action in ["mount", "umount", "enable", "disable"] {
            let raised = bench.run("mount", name, action, properties.clone()).unwrap_err();
            assert_eq!(raised.class(), "Wrun::Denied", "{name} {properties}");
        }
    }
}

/// Each link and each removal of a directory asks the table, also those of other policies.
#[test]
fn attack_a_large_table_grows_no_more_and_stops_nobody() {
    let bench = Bench::new("").unlimited();
    std::fs::write(bench.path("etc/fstab"), format!("# {}\n", "x".repeat(1 << 20))).unwrap();
    let raised = bench.run("mount", "/mnt", "enable", memory()).unwrap_err();
    assert!(raised.message.contains("would have more than"), "{raised:?}");
    bench.run("link", "/link", "create", json!({"to": "/etc"})).unwrap();
    bench.run("link", "/link", "delete", json!({})).unwrap();
}
