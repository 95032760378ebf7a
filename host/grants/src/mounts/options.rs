//! The mount options that a wildcard of a rule stands for.
//!
//! Rejected: a list of dangerous options. Options go to the kernel and to helpers that run as root, such as `mount.cifs` and
//! `sshfs`. Some name another server, a file with credentials or a program, and no list of those is complete. So a wildcard
//! stands for the options of this list alone, and the operator writes every other option into the rule.

/// The values that a wildcard stands for.
#[derive(Debug, Clone, Copy)]
enum Values {
    /// The option does not have a value.
    Nothing,
    /// A number of at most ten digits.
    Number,
    /// A number with a unit (`k`, `m`, `g`, `t`, `p`, `e`) or a percentage.
    Size,
    /// Permission bits of a directory in octal digits, without set-id bits: `0755`, `1777`.
    DirectoryMode,
    /// Permission bits in octal digits, without set-id bits and the sticky bit: `0644`.
    Permissions,
    /// One of these words.
    Words(&'static [&'static str]),
}

/// Options with the same types and values.
struct Harmless {
    /// The file system types; empty for every type.
    kinds: &'static [&'static str],
    names: &'static [&'static str],
    values: Values,
    /// True if the rule must name the option, as in `uid=*`. `*` alone does not stand for it.
    named: bool,
}

const fn harmless(kinds: &'static [&'static str], names: &'static [&'static str], values: Values) -> Harmless {
    Harmless { kinds, names, values, named: false }
}

const fn if_named(kinds: &'static [&'static str], names: &'static [&'static str], values: Values) -> Harmless {
    Harmless { kinds, names, values, named: true }
}

/// The options that every file system has: they take rights away, or decide about access times and the start of the machine.
const OF_ALL: [&str; 18] = [
    "nosuid",
    "nodev",
    "noexec",
    "nosymfollow",
    "ro",
    "noatime",
    "nodiratime",
    "relatime",
    "strictatime",
    "lazytime",
    "nolazytime",
    "sync",
    "async",
    "dirsync",
    "auto",
    "noauto",
    "nofail",
    "_netdev",
];

const EXT: [&str; 3] = ["ext2", "ext3", "ext4"];
const NFS: [&str; 2] = ["nfs", "nfs4"];
const SHARES: [&str; 2] = ["cifs", "smb3"];
const FAT: [&str; 3] = ["vfat", "msdos", "exfat"];

const HARMLESS: [Harmless; 21] = [
    harmless(&[], &OF_ALL, Values::Nothing),
    harmless(&["tmpfs"], &["size", "nr_inodes"], Values::Size),
    harmless(&["tmpfs"], &["mode"], Values::DirectoryMode),
    if_named(&["tmpfs", "vfat", "msdos", "exfat", "cifs", "smb3"], &["uid", "gid"], Values::Number),
    harmless(&EXT, &["discard", "nodiscard", "acl", "user_xattr"], Values::Nothing),
    harmless(&EXT, &["commit"], Values::Number),
    harmless(&EXT, &["data"], Values::Words(&["journal", "ordered", "writeback"])),
    harmless(&EXT, &["errors"], Values::Words(&["continue", "remount-ro"])),
    harmless(&["xfs"], &["discard", "nodiscard", "inode32", "inode64", "largeio", "nolargeio"], Values::Nothing),
    harmless(&["xfs"], &["allocsize", "logbsize"], Values::Size),
    harmless(&["xfs"], &["logbufs"], Values::Number),
    harmless(&["btrfs"], &["autodefrag", "noautodefrag", "ssd", "nossd", "discard", "nodiscard"], Values::Nothing),
    harmless(&["btrfs"], &["commit"], Values::Number),
    harmless(&["btrfs"], &["compress"], Values::Words(&["zlib", "lzo", "zstd", "no"])),
    harmless(&NFS, &["hard", "soft", "softerr", "intr", "nointr", "bg", "fg", "ac", "noac"], Values::Nothing),
    harmless(
        &NFS,
        &["rsize", "wsize", "timeo", "retrans", "acregmin", "acregmax", "acdirmin", "acdirmax", "actimeo", "nconnect"],
        Values::Number,
    ),
    harmless(&NFS, &["vers", "nfsvers"], Values::Words(&["3", "4", "4.0", "4.1", "4.2"])),
    harmless(&SHARES, &["hard", "soft", "serverino", "noserverino"], Values::Nothing),
    harmless(&SHARES, &["rsize", "wsize", "actimeo"], Values::Number),
    if_named(&SHARES, &["file_mode", "dir_mode"], Values::Permissions),
    if_named(&FAT, &["umask", "fmask", "dmask"], Values::Permissions),
];

/// Returns the name of an option: the text before `=`.
pub(super) fn name(option: &str) -> &str {
    option.split_once('=').map_or(option, |(name, _)| name)
}

/// Tells whether a wildcard stands for an option of a file system type. `named`: the rule writes the option's name, as in
/// `uid=*`.
pub(super) fn is_harmless(option: &str, kind: &str, named: bool) -> bool {
    let (name, value) = option.split_once('=').map_or((option, None), |(name, value)| (name, Some(value)));
    HARMLESS.iter().any(|one| {
        (one.kinds.is_empty() || one.kinds.contains(&kind))
            && one.names.contains(&name)
            && (named || !one.named)
            && one.values.contain(value)
    })
}

impl Values {
    fn contain(self, value: Option<&str>) -> bool {
        let Some(value) = value else { return matches!(self, Self::Nothing) };
        match self {
            Self::Nothing => false,
            Self::Number => is_number(value),
            Self::Size => is_number(value.strip_suffix(is_unit).unwrap_or(value)),
            Self::DirectoryMode => is_octal(value, "01"),
            Self::Permissions => is_octal(value, "0"),
            Self::Words(words) => words.contains(&value),
        }
    }
}

fn is_number(text: &str) -> bool {
    (1..=10).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_unit(last: char) -> bool {
    matches!(last.to_ascii_lowercase(), 'k' | 'm' | 'g' | 't' | 'p' | 'e' | '%')
}

/// Tells whether a text has three octal digits, with at most one of `first` before them.
fn is_octal(text: &str, first: &str) -> bool {
    let digits = if text.len() == 4 { text.strip_prefix(|digit| first.contains(digit)).unwrap_or(text) } else { text };
    digits.len() == 3 && digits.bytes().all(|byte| matches!(byte, b'0'..=b'7'))
}

/// Tells whether options keep a failed mount from stopping the start of the machine. systemd takes the last of two opposite
/// options, so none may be there.
pub(super) fn may_fail_at_start(options: &str) -> bool {
    let has = |name: &str| options.split(',').any(|option| option == name);
    (has("nofail") && !has("fail")) || (has("noauto") && !has("auto"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(kind: &str, option: &str, expect: [bool; 2]) {
        assert_eq!([is_harmless(option, kind, false), is_harmless(option, kind, true)], expect, "{kind} {option}");
    }

    #[test]
    fn a_wildcard_stands_for_known_options_of_the_type() {
        for option in ["nosuid", "ro", "size=10m", "size=50%", "nr_inodes=4k", "mode=1777", "mode=755"] {
            check("tmpfs", option, [true, true]);
        }
        for (kind, option) in [("ext4", "errors=remount-ro"), ("nfs", "rsize=1048576"), ("nfs4", "vers=4.2")] {
            check(kind, option, [true, true]);
        }
        for (kind, option) in [("tmpfs", "uid=33"), ("cifs", "file_mode=0644"), ("vfat", "umask=022")] {
            check(kind, option, [false, true]);
        }
    }

    #[test]
    fn attack_a_wildcard_does_not_stand_for_another_place_program_or_protection() {
        for (kind, option) in [
            ("cifs", "ip=203.0.113.6"),
            ("cifs", "addr=203.0.113.6"),
            ("cifs", "credentials=/root/x"),
            ("cifs", "servern=x"),
            ("cifs", "file_mode=4755"),
            ("cifs", "uid=0,suid"),
            ("btrfs", "subvol=/x"),
            ("ext4", "errors=panic"),
            ("tmpfs", "symfollow"),
            ("tmpfs", "suid"),
            ("tmpfs", "rw"),
            ("tmpfs", "size=/srv/a:/srv/b"),
            ("tmpfs", "size=nonsense"),
            ("tmpfs", "size="),
            ("tmpfs", "size"),
            ("tmpfs", "mode=4755"),
            ("tmpfs", "mode=01777"),
            ("tmpfs", "comment=\""),
            ("tmpfs", "nosuid=x"),
            ("tmpfs", "rsize=1"),
            ("fuse.sshfs", "ssh_command=/srv/x"),
            ("fuse.sshfs", "size=1m"),
            ("ext4", "helper=x"),
            ("ext4", "x-systemd.requires=x"),
            ("none", "bind"),
        ] {
            check(kind, option, [false, false]);
        }
    }

    #[test]
    fn a_mount_may_fail_at_the_start_if_its_options_say_so() {
        for (options, expect) in [
            ("nosuid,nofail", true),
            ("noauto", true),
            ("nosuid", false),
            ("nofail,fail", false),
            ("noauto,auto", false),
            ("comment=nofail", false),
        ] {
            assert_eq!(may_fail_at_start(options), expect, "{options}");
        }
    }
}
