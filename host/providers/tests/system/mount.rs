//! `mount` beside a user who exchanges directories: the programs that mount do it themselves here, right before they look.

use crate::node::Node;
use serde_json::{Value, json};

/// What the user does once wrun has decided, then what `mount` does: here it leaves a mark in what it would mount on, and says
/// what it would mount.
const MOUNT: &str = r#"#!/bin/sh
/srv/exchange
for last; do before=$device; device=$last; done
device=$before
echo "$*" >> /srv/log
echo "device $(readlink -f "$device")" >> /srv/log
touch "$last/marked" 2>/dev/null || echo mounted >> "$last"
"#;

/// Exchanges `/srv/app/mp` and `/srv/app/data` for links.
const EXCHANGE: &str = "#!/bin/sh\ncd /srv/app || exit\nfor name in mp data; do [ -L $name ] || mv $name old-$name\n\
                        ln -sfn /usr/local/sbin $name; done\n";

fn node(rules: &str, mounted: &str) -> Node {
    let node = Node::granting(rules);
    node.root.write_program("/usr/bin/mount", MOUNT).unwrap();
    node.root.write_program("/usr/bin/findmnt", format!("#!/bin/sh\necho '{mounted}'\n")).unwrap();
    node.root.write_program("/usr/bin/umount", "#!/bin/sh\necho umount \"$*\" >> /srv/log\n").unwrap();
    node.root.write_program("/srv/exchange", EXCHANGE).unwrap();
    let proc = node.root.path().join("proc");
    let mounted = std::process::Command::new("mount").args(["-t", "proc", "proc"]).arg(proc).status().unwrap();
    assert!(mounted.success());
    node.output("mkdir -p /srv/app/mp /srv/app/data /mnt/own && chown -R nobody /srv/app && touch /srv/log");
    node
}

fn memory() -> Value {
    json!({"device": "tmpfs", "fstype": "tmpfs", "options": ["size=1m"], "supports": {"remount": true}})
}

#[test]
fn a_mount_point_that_its_owner_exchanges_is_the_one_that_was_granted() {
    let mut node = node("mounts = [\"tmpfs on /srv/app/mp type tmpfs (size=1m)\"]", "");
    // What is there afterwards is looked at again, and is not what was granted any more.
    let _denied = node.act("mount", "/srv/app/mp", "mount", memory());
    assert!(node.root.exists("/srv/app/old-mp/marked"), "{}", node.root.read("/srv/log").unwrap());
    assert!(!node.root.exists("/usr/local/sbin/marked"));
}

#[test]
fn a_folder_to_bind_that_its_owner_exchanges_is_the_one_that_was_granted() {
    let mut node = node("mounts = [\"/srv/app/data on /mnt/own type none (bind)\"]", "");
    let bound = json!({"device": "/srv/app/data", "fstype": "none", "options": "bind"});
    let _denied = node.act("mount", "/mnt/own", "mount", bound);
    let log = node.root.read("/srv/log").unwrap();
    assert!(log.contains("device /srv/app/old-data\n"), "{log}");
    assert!(node.root.exists("/mnt/own/marked"));
}

#[test]
fn options_are_set_where_it_was_granted() {
    let mut node =
        node("mounts = [\"tmpfs on /srv/app/mp type tmpfs (size=1m)\"]", "/srv/app/mp tmpfs tmpfs rw,size=1024k");
    let _denied = node.act("mount", "/srv/app/mp", "remount", memory());
    assert!(node.root.exists("/srv/app/old-mp/marked") && !node.root.exists("/usr/local/sbin/marked"));
}

#[test]
fn what_cannot_be_held_open_is_refused() {
    let mut node = node(
        "mounts = [\"/srv/app/image on /mnt/own type ext4 (loop)\", \"/dev/shm/link on /mnt/own type none (bind)\", \
         \"none on /mnt/own type overlay (lowerdir=/srv/app/data)\", \"/srv/image on /mnt/own type ext4 (loop)\"]",
        "",
    );
    node.output("echo x > /srv/app/image; echo x > /srv/image");
    let shared = node.root.path().join("dev/shm");
    std::fs::create_dir_all(&shared).unwrap();
    std::os::unix::fs::symlink("/etc", shared.join("link")).unwrap();
    let mut refused = |device: &str, kind: &str, options: &str| {
        let properties = json!({"device": device, "fstype": kind, "options": options});
        node.act("mount", "/mnt/own", "mount", properties).unwrap_err()
    };
    for (device, kind, options) in [("/srv/app/image", "ext4", "loop"), ("none", "overlay", "lowerdir=/srv/app/data")] {
        let raised = refused(device, kind, options);
        assert_eq!(raised.class(), "Chef::Exceptions::Mount");
        assert!(raised.message.contains("others than root may exchange"), "{}", raised.message);
    }
    // Anybody may lay links below it, so it is not one of the system's own devices.
    assert_eq!(refused("/dev/shm/link", "none", "bind").class(), "Wrun::Denied");
    assert_eq!(node.root.read("/srv/log").unwrap(), "");
    let image = json!({"device": "/srv/image", "fstype": "ext4", "options": "loop"});
    // The program mounts nothing here, so that it is still to do afterwards.
    let _not_mounted = node.act("mount", "/mnt/own", "mount", image);
    let log = node.root.read("/srv/log").unwrap();
    assert!(log.starts_with("-t ext4 -o loop /srv/image /mnt/own\n"), "root's own paths are said as they are: {log}");
}

#[test]
fn a_link_is_not_unmounted_through() {
    let mut node = node("mounts = [\"tmpfs on /srv/app/mp type tmpfs (size=1m)\"]", "");
    let host = |path: &str| node.root.path().join(path.trim_start_matches('/'));
    let mount = |path: &str| {
        let ended = std::process::Command::new("mount").args(["-t", "tmpfs", "tmpfs"]).arg(host(path)).status();
        assert!(ended.unwrap().success());
    };
    node.output("mkdir -p /usr/local/other");
    mount("/usr/local/other");
    std::fs::write(host("/usr/local/other/kept"), "").unwrap();
    // Looked up just before, it was mounted; then its owner exchanged the directory above it.
    let findmnt = "#!/bin/sh\ncd /srv && mv app gone && mkdir app && ln -s /usr/local/other app/mp && chown nobody app\n\
                   echo '/srv/app/mp tmpfs tmpfs rw'\n";
    node.root.write_program("/usr/bin/findmnt", findmnt).unwrap();
    let raised = node.act("mount", "/srv/app/mp", "umount", memory()).unwrap_err();
    assert!(node.root.exists("/usr/local/other/kept"), "{}", raised.message);
    assert_eq!(node.root.read("/srv/log").unwrap(), "");
}

/// A path with signs that addresses have is a path all the same: `mount` follows the links in it.
#[test]
fn attack_a_folder_to_bind_is_resolved_whatever_signs_its_path_has() {
    let mut node =
        node("mounts = [\"/srv/app/* on /mnt/own type none (bind)\", \"/srv/app/* on /mnt/own type cifs (bind)\"]", "");
    node.output("ln -s /etc /srv/app/x; ln -s /etc /srv/app/y:z");
    for device in ["/srv/app/x", "/srv/app//x", "//srv/app/x", "/srv/app/y:z"] {
        for kind in ["none", "cifs"] {
            for action in ["mount", "enable"] {
                let bound = json!({"device": device, "fstype": kind, "options": "bind", "pass": 0});
                let raised = node.act("mount", "/mnt/own", action, bound).unwrap_err();
                assert_eq!(raised.class(), "Wrun::Denied", "{device} {kind} {action}: {}", raised.message);
            }
        }
    }
    assert_eq!(node.root.read("/srv/log").unwrap(), "");
    assert!(!node.root.exists("/etc/fstab") || !node.root.read("/etc/fstab").unwrap().contains("/mnt/own"));
}

/// mergerfs takes several folders for its device, and follows whatever lies there.
#[test]
fn attack_a_device_of_several_folders_has_none_that_others_may_exchange() {
    let rules = "mounts = [\"/mnt/a:/srv/app/data on /mnt/own type fuse.mergerfs (ro)\", \
                 \"/mnt/link/x:/mnt/a on /mnt/own type fuse.mergerfs (ro)\", \
                 \"/mnt/a:/mnt/b on /mnt/own type fuse.mergerfs (ro)\"]";
    let mut node = node(rules, "");
    node.output("mkdir -p /mnt/a /mnt/b; ln -s /srv/app /mnt/link");
    let device = |device: &str| json!({"device": device, "fstype": "fuse.mergerfs", "options": "ro", "pass": 0});
    for several in ["/mnt/a:/srv/app/data", "/mnt/link/x:/mnt/a"] {
        for action in ["mount", "enable"] {
            let raised = node.act("mount", "/mnt/own", action, device(several)).unwrap_err();
            assert!(raised.message.contains("others than root may exchange"), "{action}: {}", raised.message);
        }
    }
    assert_eq!(node.root.read("/srv/log").unwrap(), "");
    // The program mounts nothing here, so that it is still to do afterwards.
    let _not_mounted = node.act("mount", "/mnt/own", "mount", device("/mnt/a:/mnt/b"));
    let log = node.root.read("/srv/log").unwrap();
    assert!(log.starts_with("-t fuse.mergerfs -o ro /mnt/a:/mnt/b /mnt/own\n"), "{log}");
}
