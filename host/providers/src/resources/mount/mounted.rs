//! Parses the output of `findmnt -rn` for one place.

use contract::{CommandOutcome, Raised};
use machine::command::{Launch, require_success};

/// Builds the command that lists all mounts.
pub(super) fn launch() -> Launch {
    Launch::program("findmnt", ["-rn"])
}

/// Returns the output of [`launch`] as text.
///
/// # Errors
/// `findmnt` failed.
pub(super) fn answer(outcome: &CommandOutcome) -> Result<String, Raised> {
    require_success(&launch(), outcome, &[0])?;
    Ok(String::from_utf8_lossy(&outcome.output).into_owned())
}

/// Returns the lines for a place, in the order of mounting.
pub(super) fn lines(text: &str, place: &str) -> String {
    let is_about = |line: &&str| line.split(' ').next().is_some_and(|target| decode(target) == place);
    text.lines().filter(is_about).collect::<Vec<_>>().join("\n")
}

/// Tells whether the device is mounted at the place. Of several mounts at one place, the last one is on top.
pub(super) fn is_mounted(
    text: &str,
    place: &str,
    device: &str,
    is_device: impl Fn(&str) -> bool,
    loops: impl FnOnce() -> String,
) -> bool {
    let mut loops = Some(loops);
    let mut mounted = false;
    for line in text.lines() {
        let mut words = line.split(' ').map(decode);
        let (Some(target), Some(source)) = (words.next(), words.next()) else { continue };
        if target != place {
            continue;
        }
        // `/dev/sda1[/folder]`: a part of a file system, as a bind mount is.
        let (base, part) = match source.strip_suffix(']').and_then(|inner| inner.split_once('[')) {
            Some((base, part)) => (base.to_owned(), Some(part.to_owned())),
            None => (source.clone(), None),
        };
        if is_device(&source) || is_device(&base) || part.is_some_and(|part| is_device(&part)) {
            mounted = true;
        } else if is_loop(&source) {
            // For a mounted image file, `findmnt` shows the loop device.
            if let Some(loops) = loops.take() {
                mounted |= !device.is_empty() && loops().contains(device);
            }
        } else {
            mounted = false;
        }
    }
    mounted
}

fn is_loop(source: &str) -> bool {
    source
        .strip_prefix("/dev/loop")
        .is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Decodes the escapes (`\x20`) of a word.
fn decode(word: &str) -> String {
    let mut bytes = Vec::with_capacity(word.len());
    let mut rest = word;
    while let Some((before, after)) = rest.split_once("\\x") {
        bytes.extend_from_slice(before.as_bytes());
        match after.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                bytes.extend_from_slice(b"\\x");
                rest = after;
            }
        }
    }
    bytes.extend_from_slice(rest.as_bytes());
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "/ /dev/sda1 ext4 rw\n/proc proc proc rw\n/srv /dev/sdb1 ext4 rw\n/srv/a\\x20b //host/c\\x20d cifs rw\n\
                        /srv/bound /dev/sda1[/var/data] ext4 rw\n/srv/file /dev/loop3 ext4 rw\n/srv/nfs host:/x[/y] nfs rw\n\
                        /mnt /dev/sdb1 ext4 rw\n/mnt tmpfs tmpfs rw\n";

    #[test]
    fn what_is_mounted_where() {
        let check = |place: &str, device: &str, expect: bool| {
            let loops = || "/dev/loop3: [0001]:12 (/srv/image.img)\n".to_owned();
            assert_eq!(is_mounted(TEXT, place, device, |name| name == device, loops), expect, "{device} at {place}");
        };
        check("/srv", "/dev/sdb1", true);
        check("/srv", "/dev/sdb", false);
        check("/srv/other", "/dev/sdb1", false);
        check("/srv/a b", "//host/c d", true);
        check("/srv/bound", "/var/data", true);
        check("/srv/bound", "/dev/sda1", true);
        check("/srv/file", "/srv/image.img", true);
        check("/srv/file", "/srv/other.img", false);
        check("/srv/nfs", "host:/x", true);
        check("/mnt", "tmpfs", true);
        check("/mnt", "/dev/sdb1", false);
        check("/srv/file", "", false);
    }

    #[test]
    fn escapes_are_undone() {
        assert_eq!(decode("a\\x20b\\x5cc"), "a b\\c");
        assert_eq!(decode("a\\xZZ\\x2"), "a\\xZZ\\x2");
        assert_eq!(decode("\\xc3\\xa9"), "é");
    }
}
