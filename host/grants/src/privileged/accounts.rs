//! Users and groups with more rights than those to their own files.

/// The power of an account on this machine. Providers determine it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Standing {
    /// An ordinary account of the operator or a policy, or one that does not exist yet.
    #[default]
    Ordinary,
    /// An account of the system or of a package. Its id is below those of people.
    System,
    /// An account with the power of root: id 0, named in sudoers, or a member of such a group.
    Elevated,
}

impl Standing {
    /// Returns the standing of a group by its name alone.
    pub fn by_name_of_group(name: &str) -> Self {
        if group(name) { Self::Elevated } else { Self::Ordinary }
    }
}

/// Groups whose members can become root, or can read or change the files of everybody.
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

/// Tells whether membership of the group gives more rights than those to the group's own files. Case is ignored, as sudo
/// accepts `SUDO` for `sudo`.
pub(crate) fn group(name: &str) -> bool {
    GROUPS.iter().any(|group| group.eq_ignore_ascii_case(name))
}

/// Tells whether the user is root. Case is ignored, as sudo accepts `ROOT`.
pub(crate) fn user(name: &str) -> bool {
    name.eq_ignore_ascii_case("root")
}
