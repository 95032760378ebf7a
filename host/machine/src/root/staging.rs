//! Names of temporary files beside their targets, and removal of files that a killed process left under such names.
//!
//! A temporary file is locked while it is written. A killed process leaves its file without a lock, under a name that the
//! next process for the same target tries first. So the next converge removes it. Files of other users are left alone. A name
//! that nobody can foresee is noted in a directory of wrun's own before a file gets it. No file goes for the form of its name
//! alone: it may be somebody else's.

use super::{Entry, Kind, open};
use cap_std::fs::{Dir, OpenOptions};
use plain_files::random_bytes;
use rustix::fs::{AtFlags, FlockOperation};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

/// The number of names that every process tries for a target: more than the number of processes that write one target at
/// once.
const SHARED_NAMES: u32 = 8;

/// The number of attempts with names of this process. Other users' files may already have the first names.
const OWN_NAMES: u32 = 64;

/// The length of the part of a name that nobody can foresee, in hexadecimal digits.
const SECRET_DIGITS: usize = 32;

/// Stands for a digit in the form of a secret name. No name of a file has it.
const NO_DIGIT: &str = "\0";

/// Maximum length of a name in a file system, in bytes.
const MAX_NAME: usize = 255;

/// Creates a temporary file beside its target, and removes one that a killed process left there. Returns its name.
pub(super) fn unused_file(parent: &Dir, target: &str, options: &OpenOptions) -> io::Result<(String, File)> {
    for number in 0..SHARED_NAMES {
        let name = staged_name(target, &format!("wrun-{number}"));
        if let Some(file) = make_locked(parent, &name, options)? {
            return Ok((name, file));
        }
    }
    let mut made = None;
    let name = unused_name(target, |name| {
        made = Some(parent.open_with(name, options)?.into_std());
        Ok(())
    })?;
    made.map(|file| (name, file)).ok_or_else(|| Errno::IO.into())
}

/// Creates an entry under an unused name, and returns the name.
pub(super) fn unused_name(target: &str, mut make: impl FnMut(&str) -> io::Result<()>) -> io::Result<String> {
    for _ in 0..OWN_NAMES {
        let name = own_name(target);
        match make(&name) {
            Ok(()) => return Ok(name),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(Errno::EXIST.into())
}

/// Returns a name that this process never returns again.
pub(super) fn own_name(target: &str) -> String {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let process = rustix::process::getpid().as_raw_nonzero();
    staged_name(target, &format!("{process}-{}", COUNTER.fetch_add(1, Ordering::Relaxed)))
}

/// Returns a name that nobody can foresee.
pub(super) fn secret_name(target: &str) -> io::Result<String> {
    Ok(staged_name(target, &format!("{:032x}", u128::from_ne_bytes(random_bytes()?))))
}

/// Removes the files that a killed process left under noted names for a target. As with all temporary files, only a regular file
/// of this user goes, and none that a process has locked. Returns the names of those that stay.
pub(super) fn remove_noted_leftovers(parent: &Dir, target: &str, noted: Vec<String>) -> Vec<String> {
    let form = staged_name(target, &NO_DIGIT.repeat(SECRET_DIGITS));
    let stays = |name: &String| {
        has_form(name, &form) && parent.symlink_metadata(name).is_ok() && !remove_leftover(parent, name)
    };
    noted.into_iter().filter(stays).collect()
}

/// Tells whether a name is a secret one of a form, which has [`NO_DIGIT`] in place of each digit.
fn has_form(name: &str, form: &str) -> bool {
    let Some(at) = form.find(NO_DIGIT) else { return false };
    let (before, after) = (form.get(..at), form.get(at + SECRET_DIGITS..));
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    name.len() == form.len()
        && name.get(..at) == before
        && name.get(at + SECRET_DIGITS..) == after
        && name.get(at..at + SECRET_DIGITS).is_some_and(|digits| digits.bytes().all(is_digit))
}

/// Creates the file and locks it. Returns `None` if another user or process has the name.
fn make_locked(parent: &Dir, name: &str, options: &OpenOptions) -> io::Result<Option<File>> {
    let make = || parent.open_with(name, options).map(cap_std::fs::File::into_std);
    let file = match make() {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && remove_leftover(parent, name) => make(),
        made => made,
    };
    match file {
        Ok(file) if is_locked(&file) && rustix::fs::fstat(&file).is_ok_and(|stat| stat.st_nlink > 0) => Ok(Some(file)),
        // Another process removed it as a leftover before it was locked, or the file system does not support locks.
        Ok(file) => {
            if has_name(parent, name, &file) {
                parent.remove_file(name)?;
            }
            Ok(None)
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(None),
        Err(error) => Err(error),
    }
}

/// Removes a regular file of this user that no process has locked. Returns false if it is something else, or is being
/// written.
fn remove_leftover(parent: &Dir, name: &str) -> bool {
    let Ok(file) = parent.open_with(name, &open::to_read()) else { return false };
    let file = file.into_std();
    let is_own = rustix::fs::fstat(&file).is_ok_and(|stat| {
        let entry = Entry::of(&stat);
        entry.kind == Kind::File && entry.uid == rustix::process::geteuid().as_raw() && stat.st_nlink == 1
    });
    // Only the process with the lock may remove the name.
    is_own && is_locked(&file) && has_name(parent, name, &file) && parent.remove_file(name).is_ok()
}

/// Locks an open file as long as it is open. Returns false if another process has locked it.
fn is_locked(file: &File) -> bool {
    rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive).is_ok()
}

fn has_name(parent: &Dir, name: &str, file: &File) -> bool {
    let (Ok(open), Ok(named)) = (rustix::fs::fstat(file), rustix::fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW))
    else {
        return false;
    };
    (open.st_dev, open.st_ino) == (named.st_dev, named.st_ino)
}

/// Builds a name as Chef does: `.chef-NAME` with a unique part before the extension. Commands that verify a file look at the
/// extension.
fn staged_name(target: &str, unique: &str) -> String {
    let (stem, extension) = match target.find('.') {
        Some(at) if at > 0 => target.split_at(at),
        _ => (target, ""),
    };
    let room = MAX_NAME - ".chef--".len() - unique.len();
    let extension = if extension.len() > room { "" } else { extension };
    let mut length = stem.len().min(room - extension.len());
    while !stem.is_char_boundary(length) {
        length -= 1;
    }
    format!(".chef-{}-{unique}{extension}", stem.get(..length).unwrap_or_default())
}
