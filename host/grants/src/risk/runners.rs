//! Programs that run other programs.

use crate::commands::WordPattern;

/// Programs that run code or another program that their arguments name. Versions and `-` with more may follow the name.
const RUNNERS: [&str; 53] = [
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

/// Whether the program runs code, or another program, that its arguments name.
pub(super) fn runs_others(words: &[WordPattern]) -> bool {
    let Some(WordPattern::Word(program)) = words.first() else { return true };
    let name = program.rsplit('/').next().unwrap_or(program);
    let plain = name.trim_end_matches(|last: char| last.is_ascii_digit() || matches!(last, '.' | '-'));
    RUNNERS.contains(&name) || RUNNERS.contains(&plain)
}
