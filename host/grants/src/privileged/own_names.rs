//! wrun's own package and services, and the units with which the machine starts, ends and sleeps. A policy that stops or starts
//! them ends the runs of all others, so a rule with wildcards was hardly meant for them. `services = ["*"]` is not the right to
//! restart the machine.

/// The package, and how the names of all services begin.
const OWN: &str = "wrun";

/// Units that are more than a service: they start and end others, are what all services run in, or mount file systems, for
/// which there is a right of its own.
const KINDS: [&str; 7] = [".target", ".slice", ".scope", ".mount", ".automount", ".swap", ".device"];

/// Services of systemd with which the machine begins, ends, sleeps, makes file systems, loads modules, or does without its log and
/// its devices.
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

/// Init scripts of Debian, and of others that still have them, that end the machine, change its run level, kill what runs, or mount
/// and unmount its disks. Some have `.sh` after their name.
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

/// Units that start the service of their name.
const STARTERS: [&str; 4] = [".service", ".socket", ".timer", ".path"];

/// Returns whether a package is wrun's own. The architecture may follow its name.
pub(crate) fn package(name: &str) -> bool {
    name.split(':').next() == Some(OWN)
}

/// The name of the service that a socket, a timer or a path unit starts; the name itself of other units.
pub(crate) fn unit_stem(name: &str) -> &str {
    STARTERS.iter().find_map(|kind| name.strip_suffix(kind)).unwrap_or(name)
}

/// Returns whether a service, a timer or another unit is wrun's own, or one that the whole machine depends on: with what starts
/// it, and with its parts and aliases (`systemd-journald-dev-log.socket`, `dbus-org.freedesktop.login1`).
pub(crate) fn service(name: &str) -> bool {
    let stem = unit_stem(name);
    let is_of =
        |own: &str| stem.strip_prefix(own).is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '.', '@']));
    let is_script = SCRIPTS.contains(&stem.strip_suffix(".sh").unwrap_or(stem));
    is_of(OWN) || is_script || KINDS.iter().any(|kind| name.ends_with(kind)) || SYSTEM.iter().any(|own| is_of(own))
}

#[cfg(test)]
mod tests {
    use super::*;

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
