//! A root that is not the running system speaks for itself, and the machine for kernel and hardware.

use std::os::unix::fs::symlink;

use crate::support::{NOW, at, facts, tree, write};
use facts::{Facts, FactsError, Settings, Which};
use serde_json::{Value, json};

fn check(found: &Facts, expect: &[(&[&str], Value)]) {
    for (path, value) in expect {
        assert_eq!(&at(found, path), value, "for {path:?}");
    }
}

#[test]
fn an_empty_root_knows_nothing_of_the_host() {
    let root = tree(&[]);
    let found = facts(root.path(), std::path::Path::new("/"));
    check(
        &found,
        &[
            (&["packages"], Value::Null),
            (&["etc"], Value::Null),
            (&["current_user"], Value::Null),
            (&["root_group"], Value::Null),
            (&["os_release"], Value::Null),
            (&["machine_id"], Value::Null),
            (&["shells"], Value::Null),
            (&["systemd_paths"], Value::Null),
            (&["hostnamectl"], Value::Null),
            (&["platform"], json!("linux")),
            (&["lsb"], json!({})),
            (&["machinename"], json!("localhost")),
            (&["fqdn"], json!("localhost")),
            (&["init_package"], json!("init")),
            (&["time", "timezone"], json!("UTC")),
            (&["keys"], json!({"ssh": {}})),
        ],
    );
    assert!(found.get("memory").is_some() && found.get("cpu").is_some() && found.get("kernel").is_some());
}

#[test]
fn a_root_speaks_for_itself() {
    let root = tree(&[
        ("etc/os-release", "ID=debian\nVERSION_ID=\"12\"\n"),
        ("etc/hostname", "# the web server\nweb1\n"),
        ("etc/hosts", "127.0.0.1 localhost\n127.0.1.1 web1.example.org web1\n"),
        ("etc/passwd", "root:x:0:7:root:/root:/bin/sh\n"),
        ("etc/group", "wheel:x:7:root\n"),
        ("etc/machine-id", "0123456789abcdef0123456789abcdef\n"),
        ("etc/shells", "# shells\n/bin/sh\n\n/bin/bash\nno path\n"),
        ("etc/ssh/sshd_config", "Port 22\nHostKey /etc/ssh/own_key\n# HostKey /etc/ssh/other\n"),
        ("etc/ssh/own_key.pub", "ssh-rsa AAAAown comment\n"),
        ("etc/ssh/ssh_host_rsa_key.pub", "ssh-rsa AAAAusual\n"),
        ("etc/ssh/ssh_host_ecdsa_key.pub", "ecdsa-sha2-nistp256 AAAAecdsa root@x\n"),
        ("etc/ssh/ssh_host_ed25519_key.pub", "garbage\n"),
        ("var/lib/dpkg/status", "Package: bash\nStatus: install ok installed\nArchitecture: amd64\nVersion: 5.2\n"),
        ("usr/bin/docker", ""),
        ("usr/share/perl/5.36.0/strict.pm", ""),
        ("usr/bin/perl", ""),
        (".dockerenv", ""),
    ]);
    std::fs::create_dir(root.path().join("sbin")).unwrap();
    symlink("/lib/systemd/systemd", root.path().join("sbin/init")).unwrap();
    write(root.path(), "etc/localtime", &central_europe());
    let machine = tree(&[]);
    let found = facts(root.path(), machine.path());
    check(
        &found,
        &[
            (&["machinename"], json!("web1")),
            (&["hostname"], json!("web1")),
            (&["fqdn"], json!("web1.example.org")),
            (&["domain"], json!("example.org")),
            (&["root_group"], json!("wheel")),
            (&["etc", "group"], json!({"wheel": {"gid": 7, "members": ["root"]}})),
            (&["machine_id"], json!("0123456789abcdef0123456789abcdef")),
            (&["shells"], json!(["/bin/sh", "/bin/bash"])),
            (&["init_package"], json!("systemd")),
            (
                &["keys", "ssh"],
                json!({
                    "host_rsa_public": "AAAAown",
                    "host_ecdsa_public": "AAAAecdsa",
                    "host_ecdsa_type": "ecdsa-sha2-nistp256",
                }),
            ),
            (&["packages"], json!({"bash": {"version": "5.2", "arch": "amd64", "status": "installed"}})),
            (&["virtualization"], json!({"systems": {"docker": "guest"}, "system": "docker", "role": "guest"})),
            (&["languages"], json!({"perl": {"version": "5.36.0"}})),
            (&["time"], json!({"timezone": "CET"})),
            (&["ohai_time"], json!(1_700_000_000.5)),
            (&["memory"], Value::Null),
            (&["cpu"], Value::Null),
            (&["block_device"], Value::Null),
            (&["filesystem"], Value::Null),
        ],
    );
    let summer = NOW + jiff::SignedDuration::from_hours(24 * 200);
    let settings = Settings { root: root.path().to_owned(), machine: machine.path().to_owned(), now: summer };
    assert_eq!(
        Facts::gather(&settings, Which::Keys(&["time", "nonsense"])).unwrap(),
        json!({"time": {"timezone": "CEST"}})
    );
}

/// The rules of central Europe in the format of tzfile(5): no transitions, and the rule for all times at the end.
fn central_europe() -> Vec<u8> {
    let mut block = b"TZif2".to_vec();
    block.extend([0; 15]);
    for count in [0_u32, 0, 0, 0, 1, 4] {
        block.extend(count.to_be_bytes());
    }
    block.extend(3600_u32.to_be_bytes());
    block.extend([0, 0]);
    block.extend(b"CET\0");
    [&block[..], &block[..], b"\nCET-1CEST,M3.5.0,M10.5.0/3\n"].concat()
}

#[test]
fn a_machine_of_files() {
    let machine = tree(&[
        (
            "proc/cpuinfo",
            "processor: 0\nvendor_id: GenuineIntel\nmodel name: Xeon\nflags: vmx hypervisor lm\nphysical id: 0\n\
                          core id: 0\n\nprocessor: 1\nvendor_id: GenuineIntel\nmodel name: Xeon\nphysical id: 0\ncore id: 1\n",
        ),
        ("sys/devices/system/cpu/online", "0-1\n"),
        ("sys/devices/system/cpu/present", "0-3\n"),
        ("sys/class/dmi/id/sys_vendor", "QEMU\n"),
        ("sys/class/dmi/id/product_name", "Standard PC\n"),
        ("sys/class/dmi/id/product_serial", "S1\n"),
        ("sys/class/dmi/id/product_uuid", "U1\n"),
        ("sys/class/dmi/id/chassis_type", "1\n"),
        ("sys/class/dmi/id/chassis_version", "\n"),
        ("proc/uptime", "90061.99 100.0\n"),
        ("proc/meminfo", "MemTotal: 2048 kB\n"),
        ("proc/modules", "ext4 983040 1 - Live 0x0\nodd\n"),
        ("sys/module/ext4/version", "1.0\n"),
        ("sys/block/vda/size", "100\n"),
        ("sys/block/vda/device/vendor", "0x1af4\n"),
        ("sys/block/vda/queue/rotational", "1\n"),
        ("sys/class/block/vda1/size", "100\n"),
        ("sys/class/block/vda1/dev", "254:1\n"),
        ("run/udev/data/b254:1", "E:ID_FS_TYPE=ext4\nE:ID_FS_UUID=u-1\nE:ID_FS_LABEL=data\n"),
        ("proc/sys/crypto/fips_enabled", "1\n"),
    ]);
    let root = tree(&[("etc/hostname", "a\n"), ("srv/x", "")]);
    let inside = root.path().canonicalize().unwrap().join("srv");
    let mounts = format!("/dev/vda1 {} ext4 rw,noatime 0 0\nproc /proc proc rw 0 0\n", inside.display());
    write(machine.path(), "proc/self/mounts", mounts.as_bytes());
    let found = facts(root.path(), machine.path());
    check(
        &found,
        &[
            (&["cpu", "total"], json!(2)),
            (&["cpu", "real"], json!(1)),
            (&["cpu", "cores"], json!(2)),
            (&["cpu", "cpus"], json!(4)),
            (&["cpu", "virtualization"], json!("VT-x")),
            (&["cpu", "hypervisor_vendor"], json!("KVM")),
            (
                &["cpu", "1"],
                json!({"vendor_id": "GenuineIntel", "model_name": "Xeon", "physical_id": "0", "core_id": "1", "cores": "2"}),
            ),
            (&["dmi", "system", "manufacturer"], json!("QEMU")),
            (
                &["dmi", "chassis"],
                json!({
                    "all_records": [{
                        "size": "3", "application_identifier": "Chassis Information", "Type": "Other",
                        "Version": "Not Specified",
                    }],
                    "type": "Other",
                    "version": "Not Specified",
                }),
            ),
            (&["dmi", "bios"], Value::Null),
            (&["virtualization"], json!({"systems": {"kvm": "guest"}, "system": "kvm", "role": "guest"})),
            (&["uptime_seconds"], json!(90_061)),
            (&["uptime"], json!("1 day 01 hours 01 minutes 01 seconds")),
            (&["idletime_seconds"], json!(100)),
            (&["memory", "total"], json!("2048kB")),
            (&["kernel", "modules"], json!({"ext4": {"size": "983040", "refcount": "1", "version": "1.0"}})),
            (&["block_device", "vda"], json!({"size": "100", "vendor": "0x1af4", "rotational": "1"})),
            (&["fips"], json!({"kernel": {"enabled": true}})),
            // The first seven digits of the MD5 digest of "aS1U1", as a number.
            (&["shard_seed"], json!(SEED_OF_A_S1_U1)),
            (&["filesystem", "by_mountpoint", "/proc"], Value::Null),
        ],
    );
    let mount = at(&found, &["filesystem", "by_pair", "/dev/vda1,/srv"]);
    for (key, expect) in [
        ("mount", json!("/srv")),
        ("fs_type", json!("ext4")),
        ("mount_options", json!(["rw", "noatime"])),
        ("uuid", json!("u-1")),
        ("label", json!("data")),
    ] {
        assert_eq!(mount.get(key), Some(&expect), "for {key}");
    }
    assert!(mount["kb_size"].as_str().unwrap().parse::<u64>().unwrap() > 0);
}

const SEED_OF_A_S1_U1: u32 = 0x195e989;

#[test]
fn odd_files_make_keys_absent() {
    let root = tree(&[("etc/passwd/is-a-directory", ""), ("etc/shells", "")]);
    write(root.path(), "etc/hostname", b"\xff\xfe\n");
    write(root.path(), "etc/localtime", b"TZif2 but no rules");
    write(root.path(), "etc/group", b"\xff:x:1:\n:::\n");
    symlink("/dev/zero", root.path().join("etc/machine-id")).unwrap();
    symlink("machine-id-loop", root.path().join("etc/machine-id-loop")).unwrap();
    let machine = tree(&[
        ("proc/cpuinfo", ":::\nprocessor:\nprocessor: -1\nprocessor: 18446744073709551616\n"),
        ("proc/meminfo", "MemTotal: -5 kB\n\0\n"),
        ("proc/uptime", "soon\n"),
        ("proc/modules", "a\nb c d\n"),
        ("proc/self/mounts", "a b\n\\ \\0 \\08 \\\n"),
        ("sys/devices/system/cpu/online", "0-99999999999999999999\n"),
        ("sys/class/dmi/id/chassis_type", "255\n"),
        ("sys/block/x/size/y", ""),
        ("proc/self/cgroup", "::::\n\n0::/\n"),
    ]);
    let found = facts(root.path(), machine.path());
    check(
        &found,
        &[
            (&["etc"], json!({"group": {"\u{fffd}": {"gid": 1, "members": []}}})),
            (&["shells"], json!([])),
            (&["machinename"], json!("localhost")),
            (&["machine_id"], Value::Null),
            (&["time", "timezone"], json!("UTC")),
            (&["cpu"], Value::Null),
            (&["memory"], json!({"swap": {}, "hugepages": {}, "directmap": {}})),
            (&["uptime_seconds"], Value::Null),
            (&["uptime"], Value::Null),
            (&["kernel", "modules"], json!({})),
            (&["dmi", "chassis", "type"], json!("255")),
            (&["block_device"], json!({"x": {}})),
            (&["virtualization"], json!({"systems": {}})),
        ],
    );
    assert!(found.all().is_object());
}

#[test]
fn a_root_that_is_none_is_an_error() {
    let fault = Facts::new(&Settings::new("/nowhere/at/all", NOW)).unwrap_err();
    assert!(matches!(fault, FactsError::Root { .. }));
    assert_eq!(fault.to_string(), "cannot use /nowhere/at/all as the root of a system");
}

#[test]
fn facts_of_a_file_are_those_of_the_file() {
    let directory =
        tree(&[("node.json", r#"{"name": "n", "automatic": {"platform": "fedora", "cpu": {"total": 64}}}"#)]);
    let found = Facts::from_file(&directory.path().join("node.json")).unwrap();
    assert_eq!(found.keys(), ["platform", "cpu"]);
    assert_eq!(found.get("memory"), None);
    assert_eq!(found.all(), json!({"platform": "fedora", "cpu": {"total": 64}}));
    assert_eq!(found.minimal(), json!({"platform": "fedora"}));
}
