//! File systems that may keep whoever looks at them waiting: a server, or a program, answers for them.

/// Kinds of file systems whose server is on another machine. If it is silent, whoever asks it waits for ever.
const REMOTE: &[&str] = &[
    "9p",
    "acfs",
    "afs",
    "auristorfs",
    "beegfs",
    "ceph",
    "cifs",
    "coda",
    "davfs",
    "glusterfs",
    "gpfs",
    "lustre",
    "ncp",
    "ncpfs",
    "nfs",
    "nfs3",
    "nfs4",
    "ocfs2",
    "orangefs",
    "pvfs2",
    "smb3",
    "smbfs",
    "vboxsf",
    "virtiofs",
];

/// Tells whether a mount point makes a program of the machine mount what a path below it, or the point itself, names. That program
/// may wait for a server. Where the kernel's own formats of programs are registered, no server is involved.
pub fn is_automounter(kind: &str, point: &str) -> bool {
    kind == "autofs" && !point.starts_with("/proc/")
}

/// Tells whether a server answers for a mounted file system, or a program of any user's (`fuse.sshfs`; not `fuseblk`, a disk).
/// Either may be silent.
pub fn waits_for_others(kind: &str, device: &str) -> bool {
    let is_program = kind == "fuse" || kind.starts_with("fuse.");
    REMOTE.contains(&kind) || device.contains(":/") || is_program
}

/// Decodes a field of the kernel's tables of mounts, in which blanks and backslashes are written as `\040`.
pub fn unescaped(field: &str) -> String {
    let mut plain = Vec::with_capacity(field.len());
    let mut bytes = field.as_bytes();
    while let Some((first, rest)) = bytes.split_first() {
        let octal = rest.get(..3).and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok());
        match octal.filter(|_| *first == b'\\') {
            Some(byte) => {
                plain.push(byte);
                bytes = rest.get(3..).unwrap_or_default();
            }
            None => {
                plain.push(*first);
                bytes = rest;
            }
        }
    }
    String::from_utf8_lossy(&plain).into_owned()
}
