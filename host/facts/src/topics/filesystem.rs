//! `filesystem`: by device, by mount point and by pair of both. Ohai's plugin Filesystem.
//!
//! Ohai combines the output of `df`, `df -i`, `mount`, `lsblk` and `blkid`, in their formats. Sizes are texts in kibibytes.
//! Only file systems with a size have one, and if a device is mounted twice, only one of the mounts has it. For a root that
//! is not running, the mounts below it are reported with their paths inside it.

use std::path::Path;

use plain_files::mounts::{unescaped, waits_for_others};
use serde_json::{Value, json};

use crate::limits;
use crate::machine::{Gathered, Machine};
use crate::topics::filesystem_identity::{block_devices, real_root_device};
use crate::topics::{known, one};

/// File system types without files of their own, which `df` therefore skips. Reading the size of an automount point would
/// trigger a mount.
const WITHOUT_SIZE: &[&str] = &[
    "autofs",
    "proc",
    "subfs",
    "debugfs",
    "devpts",
    "fusectl",
    "fuse.portal",
    "mqueue",
    "rpc_pipefs",
    "sysfs",
    "devfs",
    "kernfs",
    "ignore",
    "none",
];

/// One line of the kernel's table of mounts.
#[derive(Debug, PartialEq)]
struct Mount {
    device: String,
    /// The mount point, as seen from inside the root.
    point: String,
    kind: String,
    options: String,
}

impl Mount {
    /// Whether a server answers for it that may be silent. If that of the root itself is silent, nothing runs.
    fn waits_for_others(&self) -> bool {
        waits_for_others(&self.kind, &self.device) && self.point != "/"
    }

    fn holds(&self, other: &Self) -> bool {
        Path::new(&other.point).starts_with(&self.point)
    }
}

pub(crate) fn gather(machine: &Machine) -> Gathered {
    let Some(table) = machine.machine.first_lines("/proc/self/mounts", limits::MOUNTS) else {
        return Gathered::new();
    };
    let mut mounts = mounts_below(parse(&table), machine);
    for mount in &mut mounts {
        if mount.device == "/dev/root" {
            mount.device = real_root_device(machine, &mount.point).unwrap_or_else(|| mount.device.clone());
        }
    }
    let mut pairs = Gathered::new();
    for mount in with_sizes(machine, &mounts) {
        insert_fields(&mut pairs, &mount.0.device, &mount.0.point, mount.1);
    }
    for mount in &mounts {
        let options: Vec<&str> = mount.options.split(',').collect();
        let fields = known([("fs_type", Some(json!(mount.kind))), ("mount_options", Some(json!(options)))]);
        insert_fields(&mut pairs, &mount.device, &mount.point, fields);
    }
    for device in block_devices(machine) {
        add_device(&mut pairs, &device.path, &device.identity, machine.is_running_system);
    }
    let mut filesystem = one("by_device", view(&pairs, "device", "mount", "mounts"));
    filesystem.extend(one("by_mountpoint", view(&pairs, "mount", "device", "devices")));
    filesystem.extend(one("by_pair", pairs));
    one("filesystem", filesystem)
}

/// Returns the mounts of a table, without those whose names are longer than what can be a fact.
fn parse(table: &str) -> Vec<Mount> {
    let mounts = table.lines().filter_map(|line| {
        let mut fields = line.split(' ').map(unescaped);
        Some(Mount { device: fields.next()?, point: fields.next()?, kind: fields.next()?, options: fields.next()? })
    });
    let is_nameable = |mount: &Mount| mount.device.len().max(mount.point.len()) <= limits::MOUNT_NAME;
    mounts.filter(is_nameable).collect()
}

/// Returns the mounts that are visible from inside the root, with their mount points as seen from there. The file system of
/// the root's own directory is `/`.
fn mounts_below(mounts: Vec<Mount>, machine: &Machine) -> Vec<Mount> {
    if machine.is_running_system {
        return mounts;
    }
    let root = machine.root_path.as_path();
    let holder = mounts.iter().filter(|mount| root.starts_with(&mount.point)).map(|mount| mount.point.len()).max();
    let seen = mounts.into_iter().filter_map(|mut mount| {
        let is_holder = root.starts_with(&mount.point) && Some(mount.point.len()) == holder;
        mount.point = match Path::new(&mount.point).strip_prefix(root) {
            Ok(below) => format!("/{}", below.to_str()?),
            Err(_) if is_holder => "/".to_owned(),
            Err(_) => return None,
        };
        Some(mount)
    });
    seen.collect()
}

/// The mounts whose size can be asked for without waiting for others: neither are they themselves such, nor does the way to
/// them lead through one.
fn with_prompt_answers(mounts: &[Mount]) -> impl Iterator<Item = &Mount> {
    let slow: Vec<&Mount> = mounts.iter().filter(|mount| mount.waits_for_others()).collect();
    let is_prompt = move |mount: &&Mount| !slow.iter().any(|slow| slow.holds(mount));
    mounts.iter().filter(|mount| !WITHOUT_SIZE.contains(&mount.kind.as_str())).filter(is_prompt)
}

/// The mounts that `df -l` lists, with its figures. Of several mounts of one device it lists the one with the shortest path.
fn with_sizes<'a>(machine: &Machine, mounts: &'a [Mount]) -> Vec<(&'a Mount, Gathered)> {
    let mut listed: Vec<(&Mount, Gathered, u64)> = Vec::new();
    for mount in with_prompt_answers(mounts) {
        let Some((space, number)) = machine.root.space(&mount.point) else { continue };
        let fields = figures(&space);
        if fields.is_empty() {
            continue;
        }
        match listed.iter_mut().find(|(_, _, other)| *other == number) {
            Some(entry) if mount.point.len() < entry.0.point.len() => *entry = (mount, fields, number),
            Some(_) => {}
            None => listed.push((mount, fields, number)),
        }
    }
    listed.into_iter().map(|(mount, fields, _)| (mount, fields)).collect()
}

/// Returns the columns of `df -P` and `df -iP`; empty if the file system has no blocks.
fn figures(space: &rustix::fs::StatVfs) -> Gathered {
    let kibibytes = |blocks: u64| {
        let bytes = u128::from(blocks) * u128::from(space.f_frsize);
        bytes.div_ceil(1024).to_string()
    };
    let used = space.f_blocks.saturating_sub(space.f_bfree);
    let Some(percent) = percent_of(used, used.saturating_add(space.f_bavail)).filter(|_| space.f_blocks > 0) else {
        return Gathered::new();
    };
    let nodes_used = space.f_files.saturating_sub(space.f_ffree);
    let nodes_percent = percent_of(nodes_used, space.f_files);
    let nodes = |count: u64| nodes_percent.as_ref().map(|_| count.to_string());
    known([
        ("kb_size", Some(kibibytes(space.f_blocks))),
        ("kb_used", Some(kibibytes(used))),
        ("kb_available", Some(kibibytes(space.f_bavail))),
        ("percent_used", Some(percent)),
        ("total_inodes", nodes(space.f_files)),
        ("inodes_used", nodes(nodes_used)),
        ("inodes_available", nodes(space.f_ffree)),
        ("inodes_percent_used", nodes_percent.clone()),
    ])
}

/// Returns a share in whole percent, rounded up as in `df`. Returns `None` if the whole is zero.
fn percent_of(part: u64, whole: u64) -> Option<String> {
    (whole > 0).then(|| format!("{}%", (u128::from(part) * 100).div_ceil(u128::from(whole))))
}

fn insert_fields(pairs: &mut Gathered, device: &str, point: &str, fields: Gathered) {
    let entry = pairs.entry(format!("{device},{point}")).or_insert_with(|| json!({"device": device}));
    let Value::Object(entry) = entry else { return };
    // In Ohai the mount point comes after the figures. Only the order of keys differs here.
    entry.insert("mount".to_owned(), point.into());
    entry.extend(fields);
}

/// Adds the identity of a block device to its mounts. On a running system, a device that is not mounted gets its own entry.
fn add_device(pairs: &mut Gathered, path: &str, identity: &Gathered, is_running_system: bool) {
    let mut is_mounted = false;
    for (_, entry) in pairs.iter_mut().filter(|(_, entry)| entry.get("device").and_then(Value::as_str) == Some(path)) {
        is_mounted = true;
        if let Value::Object(entry) = entry {
            entry.extend(identity.clone());
        }
    }
    if !is_mounted && is_running_system {
        let mut entry = one("device", path);
        entry.extend(identity.clone());
        pairs.insert(format!("{path},"), Value::Object(entry));
    }
}

/// Groups the pairs by one of their halves. `list` has the other halves. If entries of one half differ, the last one is used.
fn view(pairs: &Gathered, half: &str, other: &str, list: &str) -> Gathered {
    let mut view = Gathered::new();
    for entry in pairs.values().filter_map(Value::as_object) {
        let Some(name) = entry.get(half).and_then(Value::as_str) else { continue };
        let Value::Object(joined) = view.entry(name).or_insert_with(|| json!({})) else { continue };
        let fields = entry.iter().filter(|(key, _)| *key != half && *key != other);
        joined.extend(fields.map(|(key, value)| (key.clone(), value.clone())));
        if let Value::Array(listed) = joined.entry(list).or_insert_with(|| json!([])) {
            listed.extend(entry.get(other).cloned());
        }
    }
    view
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_mounts() {
        for (table, expect) in [
            ("/dev/sda1 /mnt/a\\040b ext4 rw,noatime 0 0\n", Some(("/dev/sda1", "/mnt/a b", "ext4", "rw,noatime"))),
            ("a\\134b / x y", Some(("a\\b", "/", "x", "y"))),
            ("tail\\04 / x y", Some(("tail\\04", "/", "x", "y"))),
            ("a\\777 / x y", Some(("a\\777", "/", "x", "y"))),
            (format!("{} /mnt ext4 rw", "x".repeat(2001)).as_str(), None),
            (format!("x /{} ext4 rw", "x".repeat(2000)).as_str(), None),
            ("too few fields", None),
            ("", None),
        ] {
            let expect: Vec<Mount> = expect
                .into_iter()
                .map(|(device, point, kind, options)| Mount {
                    device: device.to_owned(),
                    point: point.to_owned(),
                    kind: kind.to_owned(),
                    options: options.to_owned(),
                })
                .collect();
            assert_eq!(parse(table), expect, "for {table:?}");
        }
    }

    #[test]
    fn attack_silent_servers_are_not_asked_for_sizes() {
        let table = "/dev/sda1 / ext4 rw\nhost:/x /srv/net nfs4 rw\n/dev/sdb1 /srv/net/disk ext4 rw\n\
                     /dev/sdc1 /srv/network ext4 rw\na@b: /home/a/far fuse.sshfs rw\nx /home/a/y fuse rw\n\
                     /dev/sdd1 /media/usb fuseblk rw\n//host/share /mnt/share cifs rw\nodd:/x /mnt/odd newfs rw\n\
                     pool/a:b /tank zfs rw\nproc /proc proc rw\n";
        let mounts = parse(table);
        let asked: Vec<&str> = with_prompt_answers(&mounts).map(|mount| mount.point.as_str()).collect();
        assert_eq!(asked, ["/", "/srv/network", "/media/usb", "/tank"]);
        let diskless = parse("host:/root / nfs rw\ntmpfs /tmp tmpfs rw\n");
        assert_eq!(with_prompt_answers(&diskless).count(), 2);
    }

    #[test]
    fn shares() {
        for (part, whole, expect) in [(0, 0, None), (0, 5, Some("0%")), (1, 1000, Some("1%")), (5, 5, Some("100%"))] {
            assert_eq!(percent_of(part, whole).as_deref(), expect);
        }
        assert!(percent_of(u64::MAX, 1).is_some());
    }

    #[test]
    fn views() {
        let pairs = json!({
            "tmpfs,/run": {"device": "tmpfs", "mount": "/run", "fs_type": "tmpfs", "kb_size": "1"},
            "tmpfs,/tmp": {"device": "tmpfs", "mount": "/tmp", "fs_type": "tmpfs"},
            "/dev/sdb,": {"device": "/dev/sdb", "uuid": "u"},
        });
        let pairs = pairs.as_object().unwrap();
        assert_eq!(
            Value::Object(view(pairs, "device", "mount", "mounts")),
            json!({
                "tmpfs": {"fs_type": "tmpfs", "kb_size": "1", "mounts": ["/run", "/tmp"]},
                "/dev/sdb": {"uuid": "u", "mounts": []},
            })
        );
        assert_eq!(
            Value::Object(view(pairs, "mount", "device", "devices")),
            json!({
                "/run": {"fs_type": "tmpfs", "kb_size": "1", "devices": ["tmpfs"]},
                "/tmp": {"fs_type": "tmpfs", "devices": ["tmpfs"]},
            })
        );
    }
}
