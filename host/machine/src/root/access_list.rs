//! Access lists (`setfacl`). They can let users and groups write that the file mode does not name.

use super::pinned::in_proc;
use super::{Entry, Kind};
use rustix::fd::{AsFd, AsRawFd as _};
use rustix::fs::{AtFlags, CWD, Mode};
use rustix::io::Errno;

/// The attribute with the list of the file or directory itself.
pub(super) const ACCESS: &str = "system.posix_acl_access";

/// The attribute with the list that a directory passes on to new entries. If it exists, the file mode creation mask does not
/// apply.
const DEFAULT: &str = "system.posix_acl_default";

/// The kernel's number of the only existing format.
const VERSION: [u8; 4] = [2, 0, 0, 0];

/// A size in bytes that is enough for most lists: 31 entries.
const USUAL_LIST: usize = 4 + 31 * 8;

/// Maximum size of a list, in bytes: more than file systems store. Each read costs the kernel as many bytes to clear, so the
/// smaller size is tried first.
const MAX_LIST: usize = 64 << 10;

const MAY_READ: u8 = 4;
const MAY_WRITE: u8 = 2;
const USER: u16 = 0x02;
const OWNING_GROUP: u16 = 0x04;
const GROUP: u16 = 0x08;
const OTHERS: u16 = 0x20;

/// Tells whether the access list of an open file names a writer besides its owner, root and one user. It ignores the mask,
/// because the next `chmod` may change the mask. An unreadable list counts as one with such a writer.
pub(super) fn lets_others_write(handle: impl AsFd, kind: Kind, uid: u32) -> bool {
    kind != Kind::Link && names_somebody(&handle, ACCESS, MAY_WRITE, uid)
}

/// The same of reading.
pub(super) fn lets_others_read(handle: impl AsFd, kind: Kind, uid: u32) -> bool {
    kind != Kind::Link && names_somebody(&handle, ACCESS, MAY_READ, uid)
}

/// Tells whether new entries in an open directory may be written by users other than their owner, root and one user.
pub(super) fn passes_writers_on(handle: impl AsFd, kind: Kind, uid: u32) -> bool {
    kind == Kind::Directory && names_somebody(&handle, DEFAULT, MAY_WRITE, uid)
}

/// Takes both lists from something open that somebody else made them for. Its group keeps what the list gave to it, and not
/// what the list gave to others at most, which the kernel shows in the mode.
///
/// # Errors
/// The kernel refuses. That there is no list is no error.
pub(super) fn remove(handle: impl AsFd) -> Result<(), Errno> {
    let entry = Entry::of(&rustix::fs::fstat(&handle)?);
    if entry.kind == Kind::Link {
        return Ok(());
    }
    let path = in_proc("self", handle.as_fd().as_raw_fd());
    let group = match read_whole(&path, ACCESS) {
        Err(errno) if is_absent(errno) => None,
        list => Some(rights_of_group(&list?)),
    };
    for list in [ACCESS, DEFAULT] {
        match rustix::fs::removexattr(&path, list) {
            Err(errno) if !is_absent(errno) => return Err(errno),
            _ => {}
        }
    }
    let Some(group) = group else { return Ok(()) };
    let bits = entry.mode & 0o7777 & (!0o070 | u32::from(group) << 3);
    rustix::fs::chmodat(CWD, path, Mode::from_raw_mode(bits), AtFlags::empty())
}

fn names_somebody(handle: &impl AsFd, list: &str, right: u8, uid: u32) -> bool {
    // The attributes of a descriptor without rights to the content can be read only through /proc.
    let path = in_proc("self", handle.as_fd().as_raw_fd());
    let value = read_whole(&path, list);
    value.map_or_else(|errno| !is_absent(errno), |value| is_for_others(&value, list == DEFAULT, right, uid))
}

/// Whether there is no list, or no file system that keeps one.
fn is_absent(errno: Errno) -> bool {
    matches!(errno, Errno::NODATA | Errno::OPNOTSUPP)
}

fn read_whole(path: &str, list: &str) -> Result<Vec<u8>, Errno> {
    match read(path, list, USUAL_LIST) {
        Err(Errno::RANGE) => read(path, list, MAX_LIST),
        read => read,
    }
}

/// Reads a list of at most `limit` bytes.
fn read(path: &str, list: &str, limit: usize) -> Result<Vec<u8>, Errno> {
    let mut value = Vec::with_capacity(limit);
    rustix::fs::getxattr(path, list, rustix::buffer::spare_capacity(&mut value))?;
    Ok(value)
}

/// The rights that a list gives to the owning group; none where it cannot be read.
fn rights_of_group(list: &[u8]) -> u8 {
    let mut entries = list.strip_prefix(&VERSION).unwrap_or_default().chunks(8);
    let rights = entries.find_map(|entry| match entry {
        [tag, tag_high, rights, ..] if u16::from_le_bytes([*tag, *tag_high]) == OWNING_GROUP => Some(rights & 7),
        _ => None,
    });
    rights.unwrap_or_default()
}

/// Whether a list gives a right to others. Of the mode's own entries, the list of a thing itself says nothing new.
fn is_for_others(list: &[u8], is_default: bool, right: u8, uid: u32) -> bool {
    let Some(entries) = list.strip_prefix(&VERSION) else { return true };
    entries.chunks(8).any(|entry| {
        let [tag, tag_high, rights, _, id @ ..] = entry else { return true };
        let id = id.try_into().map_or(u32::MAX, u32::from_le_bytes);
        let is_other = match u16::from_le_bytes([*tag, *tag_high]) {
            USER => id != 0 && id != uid,
            GROUP => true,
            OWNING_GROUP | OTHERS => is_default,
            _ => false,
        };
        is_other && rights & right != 0
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A list as the kernel gives it: tag, rights and number of each entry.
    fn list(entries: &[(u16, u16, u32)]) -> Vec<u8> {
        let mut bytes = VERSION.to_vec();
        for (tag, rights, id) in entries {
            bytes.extend(tag.to_le_bytes().iter().chain(&rights.to_le_bytes()).chain(&id.to_le_bytes()));
        }
        bytes
    }

    #[test]
    fn a_list_of_many_users_is_read_to_its_end() {
        const NO_ID: u32 = u32::MAX;
        let mut entries = vec![(1, 7, NO_ID)];
        entries.extend((2000..2100).map(|id| (USER, 5, id)));
        entries.extend([(USER, 7, 2100), (OWNING_GROUP, 5, NO_ID), (0x10, 7, NO_ID), (OTHERS, 5, NO_ID)]);
        let file = tempfile::NamedTempFile::new().unwrap();
        rustix::fs::setxattr(file.path(), ACCESS, &list(&entries), rustix::fs::XattrFlags::empty()).unwrap();
        assert!(lets_others_write(&file, Kind::File, 0));
        assert!(!lets_others_write(tempfile::NamedTempFile::new().unwrap(), Kind::File, 0));
        entries[101].1 = 5;
        rustix::fs::setxattr(file.path(), ACCESS, &list(&entries), rustix::fs::XattrFlags::empty()).unwrap();
        assert!(!lets_others_write(&file, Kind::File, 0));
    }

    #[test]
    fn lists_that_let_others_write_are_told_from_harmless_ones() {
        const NOBODY: u32 = u32::MAX;
        let owner = (1, 7, NOBODY);
        let check = |entries: &[(u16, u16, u32)], access: bool, default: bool| {
            let bytes = list(entries);
            assert_eq!(is_for_others(&bytes, false, MAY_WRITE, 1000), access, "{entries:?}");
            assert_eq!(is_for_others(&bytes, true, MAY_WRITE, 1000), default, "{entries:?}");
        };
        check(&[owner, (OWNING_GROUP, 5, NOBODY), (OTHERS, 5, NOBODY)], false, false);
        check(&[owner, (OWNING_GROUP, 7, NOBODY), (OTHERS, 5, NOBODY)], false, true);
        check(&[owner, (OTHERS, 2, NOBODY)], false, true);
        check(&[owner, (USER, 7, 1001)], true, true);
        check(&[owner, (USER, 5, 1001), (0x10, 7, NOBODY)], false, false);
        check(&[owner, (USER, 7, 1000), (USER, 7, 0)], false, false);
        check(&[owner, (GROUP, 2, 5)], true, true);
        for odd in [&[][..], &[2, 0, 0, 0, 1]] {
            assert!(is_for_others(odd, false, MAY_WRITE, 0), "not a list");
        }
    }
}
