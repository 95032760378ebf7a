//! Programs that run other programs, change accounts, or start containers.

use crate::commands::WordPattern;

/// Programs that run code or another program that their arguments name. A version, or `-` with more text, may follow the
/// name.
const RUNNERS: [&str; 54] = [
    "sh",
    "ash",
    "bash",
    "csh",
    "dash",
    "fish",
    "ksh",
    "mksh",
    "rbash",
    "tcsh",
    "zsh",
    "busybox",
    "toybox",
    "env",
    "sudo",
    "su",
    "doas",
    "pkexec",
    "runuser",
    "setpriv",
    "capsh",
    "nsenter",
    "unshare",
    "chroot",
    "systemd-run",
    "start-stop-daemon",
    "find",
    "xargs",
    "parallel",
    "nohup",
    "nice",
    "ionice",
    "timeout",
    "setsid",
    "stdbuf",
    "flock",
    "script",
    "watch",
    "strace",
    "gdb",
    "expect",
    "python",
    "perl",
    "ruby",
    "php",
    "node",
    "lua",
    "tclsh",
    "awk",
    "gawk",
    "mawk",
    "make",
    "ssh",
    "socat",
];

/// Programs that can make an account as powerful as root.
const ACCOUNT_TOOLS: [&str; 15] = [
    "adduser",
    "chpasswd",
    "chsh",
    "gpasswd",
    "groupmems",
    "groupmod",
    "newusers",
    "passwd",
    "pwconv",
    "useradd",
    "userdel",
    "usermod",
    "vigr",
    "vipw",
    "visudo",
];

/// Programs that start containers, whose root user may be that of the machine.
const CONTAINER_TOOLS: [&str; 12] = [
    "buildah",
    "crictl",
    "crun",
    "ctr",
    "docker",
    "docker-compose",
    "incus",
    "lxc",
    "machinectl",
    "nerdctl",
    "podman",
    "runc",
];

/// Tells whether the program changes accounts.
pub(super) fn changes_accounts(words: &[WordPattern]) -> bool {
    name(words).is_some_and(|name| ACCOUNT_TOOLS.contains(&name))
}

/// Tells whether the program starts containers.
pub(super) fn starts_containers(words: &[WordPattern]) -> bool {
    name(words).is_some_and(|name| CONTAINER_TOOLS.contains(&name))
}

/// Returns the program's name without its directory.
fn name(words: &[WordPattern]) -> Option<&str> {
    let Some(WordPattern::Word(program)) = words.first() else { return None };
    Some(program.rsplit('/').next().unwrap_or(program))
}

/// Tells whether the program runs code, or another program, that its arguments name.
pub(super) fn runs_others(words: &[WordPattern]) -> bool {
    let Some(name) = name(words) else { return true };
    let plain = name.trim_end_matches(|last: char| last.is_ascii_digit() || matches!(last, '.' | '-'));
    RUNNERS.contains(&name) || RUNNERS.contains(&plain)
}
