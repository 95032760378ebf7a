//! What root or the system runs, reads as code, or trusts. Rules with wildcards do not reach these things; see
//! [`crate`].
//!
//! The lists are those of a Debian machine. They can never be complete: a daemon that runs as root and reads its hooks
//! from `/opt` is privileged too. They are a second wall; the first is that rules are narrow.

mod variables;

pub(crate) use variables::variable;

use std::sync::LazyLock;

/// Each of these, all below it, and every directory that leads to it.
const PATHS: [&str; 94] = [
    // Programs and libraries.
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/boot",
    "/usr/bin",
    "/usr/sbin",
    "/usr/lib",
    "/usr/lib32",
    "/usr/lib64",
    "/usr/libexec",
    "/usr/libx32",
    "/usr/local/bin",
    "/usr/local/sbin",
    "/usr/local/lib",
    "/usr/share",
    "/usr/local/share",
    "/etc/ld.so.preload",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/ld.so.cache",
    "/etc/alternatives",
    // Started by time, at boot, at login, on events.
    "/etc/cron.d",
    "/etc/cron.hourly",
    "/etc/cron.daily",
    "/etc/cron.weekly",
    "/etc/cron.monthly",
    "/etc/cron.yearly",
    "/etc/crontab",
    "/etc/cron.allow",
    "/etc/cron.deny",
    "/etc/anacrontab",
    "/etc/at.allow",
    "/etc/at.deny",
    "/var/spool/cron",
    "/var/spool/at",
    "/etc/systemd",
    "/run/systemd",
    "/etc/init.d",
    "/etc/init",
    "/etc/inittab",
    "/etc/rc.local",
    "/etc/rc0.d",
    "/etc/rc1.d",
    "/etc/rc2.d",
    "/etc/rc3.d",
    "/etc/rc4.d",
    "/etc/rc5.d",
    "/etc/rc6.d",
    "/etc/rcS.d",
    "/etc/xinetd.d",
    "/etc/inetd.conf",
    "/etc/logrotate.d",
    "/etc/logrotate.conf",
    "/etc/update-motd.d",
    "/etc/udev",
    "/etc/modprobe.d",
    "/etc/modules",
    "/etc/modules-load.d",
    "/etc/sysctl.conf",
    "/etc/sysctl.d",
    "/etc/tmpfiles.d",
    "/etc/sysusers.d",
    "/etc/binfmt.d",
    "/etc/initramfs-tools",
    "/etc/kernel",
    "/etc/network",
    "/etc/dhcp",
    "/etc/NetworkManager",
    "/etc/profile",
    "/etc/profile.d",
    "/etc/bash.bashrc",
    "/etc/environment",
    "/etc/dbus-1",
    "/etc/polkit-1",
    "/etc/skel",
    // Who may become whom.
    "/etc/sudoers",
    "/etc/sudoers.d",
    "/etc/doas.conf",
    "/etc/pam.d",
    "/etc/pam.conf",
    "/etc/security",
    "/etc/nsswitch.conf",
    "/etc/ssh",
    "/root",
    // Where packages come from and what their tools run.
    "/etc/apt",
    "/etc/dpkg",
    "/var/lib/dpkg",
    // The kernel's own, and ours.
    "/proc",
    "/sys",
    "/dev",
    "/etc/wrun",
];

/// More of them: what is mounted at boot, state of ours, and the databases of users.
const MORE_PATHS: [&str; 15] = [
    "/etc/fstab",
    "/var/lib/wrun",
    "/var/cache/wrun",
    "/var/lib/apt",
    "/var/cache/apt",
    "/etc/passwd",
    "/etc/passwd-",
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/group",
    "/etc/group-",
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/subuid",
    "/etc/subgid",
];

/// Names that are privileged wherever they stand: keys and what they open.
const NAMES: [&str; 3] = [".ssh", ".gnupg", ".rhosts"];

/// All of them in order, so that thousands of files can be looked up.
static PLACES: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let mut places: Vec<&str> = PATHS.iter().chain(&MORE_PATHS).copied().collect();
    places.sort_unstable();
    places
});

/// Whether writing there can make somebody root, or change who is trusted.
pub(crate) fn path(path: &str) -> bool {
    lies_below(path) || has_privileged_name(path)
}

/// Whether the path is privileged, or something privileged with a fixed place lies below it.
pub(crate) fn lies_below(path: &str) -> bool {
    let ends = path.match_indices('/').map(|(at, _)| at).skip(1).chain([path.len()]);
    let mut beginnings = ends.filter_map(|end| path.get(..end));
    if beginnings.any(|beginning| PLACES.binary_search(&beginning).is_ok()) {
        return true;
    }
    let below = format!("{}/", path.trim_end_matches('/'));
    let next = PLACES.partition_point(|place| *place < below.as_str());
    PLACES.get(next).is_some_and(|place| place.starts_with(&below))
}

fn has_privileged_name(path: &str) -> bool {
    path.split('/').any(|part| NAMES.contains(&part))
}

/// Whether a path is one of these places, lies below one, or leads to one.
pub(crate) fn meets(path: &str, places: &[String]) -> bool {
    places.iter().any(|place| is_within(path, place) || is_within(place, path))
}

/// Whether a path is one of these places or lies below one.
pub(crate) fn lies_in(path: &str, places: &[String]) -> bool {
    places.iter().any(|place| is_within(path, place))
}

/// Whether a path is a place or below it.
fn is_within(path: &str, place: &str) -> bool {
    place == "/" || path.strip_prefix(place).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// What holds secrets: wide rules for reading do not reach it.
const SECRETS: [&str; 12] = [
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/ssl/private",
    "/etc/wrun",
    "/var/lib/wrun",
    "/var/cache/wrun",
    "/root",
    "/proc",
    "/dev",
    "/etc/sudoers.d",
];

/// Whether reading it gives away what lets one become somebody else.
pub(crate) fn secret(path: &str) -> bool {
    let host_key = path.strip_prefix("/etc/ssh/ssh_host_").is_some_and(|rest| !rest.ends_with(".pub"));
    host_key || SECRETS.iter().any(|place| is_within(path, place)) || has_privileged_name(path)
}

/// Groups whose members can become root or read everything.
const GROUPS: [&str; 22] = [
    "root",
    "sudo",
    "wheel",
    "admin",
    "adm",
    "disk",
    "shadow",
    "docker",
    "lxd",
    "libvirt",
    "kvm",
    "kmem",
    "staff",
    "sys",
    "bin",
    "daemon",
    "tty",
    "utmp",
    "systemd-journal",
    "netdev",
    "operator",
    "podman",
];

/// Whether membership of the group is worth more than the group's own files.
pub(crate) fn group(name: &str) -> bool {
    GROUPS.contains(&name)
}

/// Whether the user is root.
pub(crate) fn user(name: &str) -> bool {
    name == "root"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(asked: &str, expect: bool) {
        assert_eq!(path(asked), expect, "{asked}");
    }

    #[test]
    fn privileged_paths() {
        for asked in [
            "/usr/share/perl5/x.pm",
            "/usr/local/share/wrun/runtime.native",
            "/etc/cron.d/x",
            "/etc/systemd/system/x.service",
            "/etc/sudoers",
            "/etc/sudoers.d/x",
            "/root/.ssh/authorized_keys",
            "/etc/ld.so.preload",
            "/home/a/.ssh/authorized_keys",
            "/usr/local/bin/x",
            "/etc/passwd",
            "/",
            "/etc",
            "/usr/local",
            "/var/spool",
            "/proc/sys/kernel/core_pattern",
            "/etc/wrun/grants.toml",
        ] {
            check(asked, true);
        }
        for asked in
            ["/etc/motd", "/etc/mysql/my.cnf", "/srv", "/var/lib/mysql", "/etc/cron.d2", "/home/a", "/opt/x", "/tmp/x"]
        {
            check(asked, false);
        }
    }

    #[test]
    fn secrets() {
        assert!(secret("/etc/shadow") && secret("/etc/ssh/ssh_host_rsa_key") && secret("/home/a/.ssh/id_rsa"));
        assert!(!secret("/etc/passwd") && !secret("/etc/ssh/ssh_host_rsa_key.pub"));
    }
}
