//! wrun's own package and services, and the units that start, stop and suspend the machine. A policy that stops or starts
//! them ends the runs of all others. A rule with wildcards was hardly meant for that: `services = ["*"]` is not the right to
//! reboot the machine.

/// The name of the package, and the beginning of all service names.
const OWN: &str = "wrun";

/// Types of units that are more than a service. They start and stop other units, contain all services, or mount file systems,
/// for which there is a separate right.
const KINDS: [&str; 7] = [".target", ".slice", ".scope", ".mount", ".automount", ".swap", ".device"];

/// systemd services that start, stop or suspend the machine, create file systems, load modules, or provide its log and
/// devices.
const SYSTEM: [&str; 31] = [
    "debug-shell",
    "emergency",
    "rescue",
    "dbus",
    "initrd-cleanup",
    "initrd-parse-etc",
    "initrd-switch-root",
    "initrd-udevadm-cleanup-db",
    "kexec",
    "modprobe",
    "systemd-cryptsetup",
    "systemd-exit",
    "systemd-factory-reset",
    "systemd-firstboot",
    "systemd-fsck",
    "systemd-growfs",
    "systemd-halt",
    "systemd-hibernate",
    "systemd-hybrid-sleep",
    "systemd-journald",
    "systemd-kexec",
    "systemd-logind",
    "systemd-makefs",
    "systemd-mkswap",
    "systemd-poweroff",
    "systemd-reboot",
    "systemd-repart",
    "systemd-soft-reboot",
    "systemd-suspend",
    "systemd-suspend-then-hibernate",
    "systemd-udevd",
];

/// Init scripts that stop the machine, change its run level, kill processes, or mount and unmount its disks. They exist on
/// Debian and similar systems. Some have `.sh` after their name.
const SCRIPTS: [&str; 25] = [
    "checkfs",
    "checkroot",
    "checkroot-bootclean",
    "cryptdisks",
    "cryptdisks-early",
    "eudev",
    "halt",
    "killall",
    "killprocs",
    "mount-ro",
    "mountall",
    "mountdevsubfs",
    "mountkernfs",
    "mountnfs",
    "poweroff",
    "rc",
    "rcS",
    "reboot",
    "sendsigs",
    "shutdown",
    "single",
    "udev",
    "umountfs",
    "umountnfs",
    "umountroot",
];

/// Services by which people and wrun reach the machine, and that its network and its further disks need. A rule with wildcards
/// covers them, for cookbooks often manage them.
const REACHABLE: [&str; 38] = [
    "NetworkManager",
    "autofs",
    "cloud-config",
    "cloud-final",
    "cloud-init",
    "connman",
    "dhclient",
    "dhcpcd",
    "firewalld",
    "ifup",
    "ifupdown",
    "iscsid",
    "iwd",
    "lvm2",
    "multipathd",
    "netctl",
    "netfilter-persistent",
    "netplan",
    "network",
    "networkd-dispatcher",
    "networking",
    "nfs-client",
    "nfs-common",
    "nftables",
    "open-iscsi",
    "openvswitch-switch",
    "rpcbind",
    "ssh",
    "sshd",
    "systemd-networkd",
    "systemd-remount-fs",
    "systemd-resolved",
    "systemd-tmpfiles",
    "systemd-user-sessions",
    "user",
    "wicked",
    "wpa_supplicant",
    "zfs",
];

/// Types of units that start the service of the same name.
const STARTERS: [&str; 4] = [".service", ".socket", ".timer", ".path"];

/// Tells whether a package is wrun's own, with or without an architecture.
pub(crate) fn package(name: &str) -> bool {
    name.split(':').next() == Some(OWN)
}

/// Returns the name of the service that a socket, timer or path unit starts; for other units, the name itself.
pub(crate) fn unit_stem(name: &str) -> &str {
    STARTERS.iter().find_map(|kind| name.strip_suffix(kind)).unwrap_or(name)
}

/// Tells whether a unit belongs to wrun, or is one that the whole machine depends on. That includes units that start it, its
/// parts and its aliases (`systemd-journald-dev-log.socket`, `dbus-org.freedesktop.login1`).
pub(crate) fn service(name: &str) -> bool {
    let stem = unit_stem(name);
    let is_of =
        |own: &str| stem.strip_prefix(own).is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '.', '@']));
    let is_script = SCRIPTS.contains(&stem.strip_suffix(".sh").unwrap_or(stem));
    is_of(OWN) || is_script || KINDS.iter().any(|kind| name.ends_with(kind)) || SYSTEM.iter().any(|own| is_of(own))
}

/// Tells whether people and wrun may need a service to reach the machine.
pub(crate) fn keeps_machine_reachable(name: &str) -> bool {
    let stem = unit_stem(name);
    REACHABLE
        .iter()
        .any(|one| stem.strip_prefix(one).is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '.', '@'])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn services_that_the_network_needs() {
        for name in ["ssh", "ssh.service", "sshd@a", "networking", "systemd-networkd.socket", "zfs-mount", "user@0"] {
            assert!(keeps_machine_reachable(name), "{name}");
        }
        for name in ["sshguard", "nginx", "userd", "networks"] {
            assert!(!keeps_machine_reachable(name), "{name}");
        }
    }

    #[test]
    fn packages_and_units_of_wruns_own() {
        for name in ["wrun", "wrun-agent", "wrun-agent.service", "wrun-converge.timer", "wrun.slice", "wrun@x"] {
            assert!(service(name), "{name}");
        }
        for name in [
            "reboot.target",
            "systemd-poweroff",
            "systemd-poweroff.service",
            "debug-shell",
            "system.slice",
            "home.mount",
            "dbus.socket",
            "dbus-org.freedesktop.login1.service",
            "systemd-journald-dev-log.socket",
            "systemd-udevd-kernel.socket",
            "wrun-agent.socket",
            "halt",
            "reboot",
            "sendsigs",
            "umountroot",
            "umountnfs.sh",
            "single",
            "rcS",
            "killprocs",
            "kexec",
            "kexec-load",
            "initrd-switch-root",
            "modprobe@evil",
        ] {
            assert!(service(name), "{name}");
        }
        for name in ["systemd-timesyncd", "target", "hwclock", "hwclock.sh", "rc-local", "rsync", "haltd"] {
            assert!(!service(name), "{name}");
        }
        assert!(package("wrun") && package("wrun:amd64"));
        for name in ["wrunner", "swrun", "nginx", ""] {
            assert!(!service(name) && !package(name), "{name}");
        }
    }
}
