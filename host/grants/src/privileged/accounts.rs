//! Users and groups whose rights are worth more than their own files.

/// How much more than its own files an account reaches on this machine. Providers find it out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Standing {
    /// An account of the operator's or of a policy's, or one that does not exist yet.
    #[default]
    Ordinary,
    /// An account of the system or of a package: its number is below those of people.
    System,
    /// As good as root: number 0, named in sudoers, or a member of a group that is.
    Elevated,
}

impl Standing {
    /// What a group's name alone says of it.
    pub fn by_name_of_group(name: &str) -> Self {
        if group(name) { Self::Elevated } else { Self::Ordinary }
    }
}

/// Groups whose members can become root, or read or change what belongs to all.
const GROUPS: [&str; 34] = [
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
    "incus",
    "incus-admin",
    "microk8s",
    "snap_daemon",
    "ssl-cert",
    "wireshark",
    "input",
    "video",
    "render",
    "backup",
    "crontab",
    "lpadmin",
];

/// Returns whether membership of the group is worth more than the group's own files. sudo takes `SUDO` for `sudo`.
pub(crate) fn group(name: &str) -> bool {
    GROUPS.iter().any(|group| group.eq_ignore_ascii_case(name))
}

/// Returns whether the user is root, also to sudo, for which `ROOT` is.
pub(crate) fn user(name: &str) -> bool {
    name.eq_ignore_ascii_case("root")
}
