//! The file system on a block device: its type, UUID and label, as `lsblk` and `blkid` report them.
//!
//! udev stores its data about every device in a file. If udev does not run (in containers and small virtual machines), the
//! superblocks of common file systems are read from the device itself.

use std::fmt::Write as _;

use rustix::fs::{major, minor};

use crate::machine::{Gathered, Machine};
use crate::topics::known;

/// Maximum number of devices whose superblocks are read. Each needs a few reads from the disk.
const MOST_PROBES: usize = 64;

/// The number of bytes read from a device. It includes the farthest superblock, that of btrfs: 4 kB at 64 kB.
const PROBE_LENGTH: usize = 68 * 1024;

/// One block device, with the identity of the file system on it.
pub(crate) struct BlockDevice {
    /// The path of the device: `/dev/vda1`, `/dev/mapper/name`.
    pub(crate) path: String,
    /// `fs_type`, `uuid` and `label`, if they are known.
    pub(crate) identity: Gathered,
}

/// Returns the block devices in the order of their names, without those that `lsblk` hides: RAM disks and unused loop
/// devices.
pub(crate) fn block_devices(machine: &Machine) -> Vec<BlockDevice> {
    let files = &machine.machine;
    let mut probes = MOST_PROBES;
    let devices = files.names("/sys/class/block").into_iter().filter_map(|name| {
        let directory = format!("/sys/class/block/{name}");
        let size: u64 = files.number(&format!("{directory}/size"))?;
        if name.starts_with("ram") || (size == 0 && name.starts_with("loop")) {
            return None;
        }
        let mapped = files.line(&format!("{directory}/dm/name")).map(|name| format!("/dev/mapper/{name}"));
        let path = mapped.unwrap_or_else(|| format!("/dev/{}", name.replace('!', "/")));
        let number = files.line(&format!("{directory}/dev"))?;
        let identity = match files.text(&format!("/run/udev/data/b{number}")) {
            Some(record) => identity_in_udev(&record),
            None if probes > 0 => {
                probes -= 1;
                files
                    .device_bytes(&path, 0, PROBE_LENGTH)
                    .map(|start| identity_in_superblock(&start))
                    .unwrap_or_default()
            }
            None => Gathered::new(),
        };
        Some(BlockDevice { path, identity })
    });
    devices.collect()
}

/// Returns the device of the file system that is mounted at `point`. It replaces the name `/dev/root`, which does not exist
/// as a device.
pub(crate) fn real_root_device(machine: &Machine, point: &str) -> Option<String> {
    let (_, number) = machine.root.space(point)?;
    let link = machine.machine.link_target(&format!("/sys/dev/block/{}:{}", major(number), minor(number)))?;
    Some(format!("/dev/{}", link.rsplit('/').next()?))
}

fn identity_in_udev(record: &str) -> Gathered {
    let value = |name: &str| {
        let value = record.lines().find_map(|line| line.strip_prefix("E:")?.strip_prefix(name)?.strip_prefix('='))?;
        (!value.is_empty()).then(|| value.to_owned())
    };
    known([("fs_type", value("ID_FS_TYPE")), ("uuid", value("ID_FS_UUID")), ("label", value("ID_FS_LABEL"))])
}

/// Reads the superblock at the start of a device. Layouts: the kernel's `fs/ext4/ext4.h`, `fs/xfs/libxfs/xfs_format.h`,
/// `include/uapi/linux/btrfs_tree.h`, `include/linux/swap.h`; all except XFS use fixed offsets.
fn identity_in_superblock(start: &[u8]) -> Gathered {
    let at = |offset: usize, length: usize| start.get(offset..offset.checked_add(length)?);
    let is = |offset: usize, magic: &[u8]| at(offset, magic.len()) == Some(magic);
    let identity = |kind: &str, uuid: usize, label: usize, length: usize| {
        known([
            ("fs_type", Some(kind.to_owned())),
            ("uuid", at(uuid, 16).and_then(uuid_text)),
            ("label", at(label, length).and_then(label_text)),
        ])
    };
    if is(0x438, &[0x53, 0xef]) {
        let compatible = at(0x45c, 1).and_then(<[u8]>::first).copied().unwrap_or(0);
        let incompatible =
            at(0x460, 2).map_or(0, |bytes| bytes.iter().rev().fold(0_u16, |sum, byte| (sum << 8) | u16::from(*byte)));
        // Extents, 64 bits and flexible groups came with ext4; ext3 is ext2 with a journal.
        let kind = match (incompatible & 0x02c0 != 0, compatible & 0x4 != 0) {
            (true, _) => "ext4",
            (false, true) => "ext3",
            (false, false) => "ext2",
        };
        return identity(kind, 0x468, 0x478, 16);
    }
    if is(0, b"XFSB") {
        return identity("xfs", 32, 108, 12);
    }
    if is(0x1_0040, b"_BHRfS_M") {
        return identity("btrfs", 0x1_0020, 0x1_012b, 256);
    }
    if [4096, 16_384, 65_536].iter().any(|page| is(page - 10, b"SWAPSPACE2")) {
        return identity("swap", 1036, 1052, 16);
    }
    Gathered::new()
}

fn uuid_text(bytes: &[u8]) -> Option<String> {
    if bytes.iter().all(|byte| *byte == 0) {
        return None;
    }
    let mut text = String::with_capacity(36);
    for (position, byte) in bytes.iter().enumerate() {
        let hyphen = if matches!(position, 4 | 6 | 8 | 10) { "-" } else { "" };
        write!(text, "{hyphen}{byte:02x}").ok()?;
    }
    Some(text)
}

fn label_text(bytes: &[u8]) -> Option<String> {
    let text: Vec<u8> = bytes.iter().copied().take_while(|byte| *byte != 0).collect();
    let text = String::from_utf8_lossy(&text).trim().to_owned();
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn device(fields: &[(usize, &[u8])]) -> Vec<u8> {
        let mut device = vec![0; PROBE_LENGTH];
        for (offset, bytes) in fields {
            device[*offset..offset + bytes.len()].copy_from_slice(bytes);
        }
        device
    }

    #[test]
    fn superblocks() {
        let uuid: Vec<u8> = (1..=16).collect();
        let text = "01020304-0506-0708-090a-0b0c0d0e0f10";
        for (fields, expect) in [
            (
                vec![
                    (0x438, &[0x53, 0xef][..]),
                    (0x45c, &[4]),
                    (0x460, &[0xc2, 2]),
                    (0x468, &uuid),
                    (0x478, b"data\0x"),
                ],
                json!({"fs_type": "ext4", "uuid": text, "label": "data"}),
            ),
            (vec![(0x438, &[0x53, 0xef][..]), (0x45c, &[4])], json!({"fs_type": "ext3"})),
            (vec![(0, &b"XFSB"[..]), (32, &uuid)], json!({"fs_type": "xfs", "uuid": text})),
            (
                vec![(0x1_0040, &b"_BHRfS_M"[..]), (0x1_0020, &uuid), (0x1_012b, b"pool")],
                json!({"fs_type": "btrfs", "uuid": text, "label": "pool"}),
            ),
            (vec![(4086, &b"SWAPSPACE2"[..]), (1036, &uuid)], json!({"fs_type": "swap", "uuid": text})),
            (vec![], json!({})),
        ] {
            assert_eq!(Value::Object(identity_in_superblock(&device(&fields))), expect);
        }
        for length in [0, 1, 0x439, 0x43a, 0x1_0048] {
            identity_in_superblock(&vec![0x53; length]);
        }
    }

    #[test]
    fn udev_records() {
        assert_eq!(
            Value::Object(identity_in_udev(
                "S:disk\nE:ID_FS_TYPE=ext4\nE:ID_FS_UUID=1-2\nE:ID_FS_UUID_ENC=x\nE:ID_FS_LABEL=\n"
            )),
            json!({"fs_type": "ext4", "uuid": "1-2"})
        );
    }
}
