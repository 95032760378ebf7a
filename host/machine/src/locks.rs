//! Locks that other processes hold on files.

use crate::root::Root;
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::FlockOperation;
use rustix::io::Errno;

/// The description of a process in another namespace.
const UNSEEN: &str = "a process that cannot be seen from here";

/// Returns a description of the process that holds a lock on a file, or `None` if the file is not locked.
pub fn holder(root: &Root, path: &str) -> Option<String> {
    let (file, _) = root.locate(path).ok()?.open_file().ok()?;
    holder_of_range(&file).or_else(|| holder_of_file(&file))
}

/// Returns the holder of a lock of `fcntl`, which package databases have.
fn holder_of_range(file: &OwnedFd) -> Option<String> {
    let mut lock = nix::libc::flock {
        l_type: i16::try_from(nix::libc::F_WRLCK).ok()?,
        l_whence: i16::try_from(nix::libc::SEEK_SET).ok()?,
        l_start: 0,
        l_len: 0,
        l_pid: 0,
    };
    nix::fcntl::fcntl(file, nix::fcntl::FcntlArg::F_GETLK(&mut lock)).ok()?;
    if i32::from(lock.l_type) == nix::libc::F_UNLCK {
        return None;
    }
    // 0 means a process of another namespace; -1: a lock that belongs to an open file and not to a process.
    let seen = lock.l_pid > 0;
    Some(if seen { name_process(lock.l_pid) } else { UNSEEN.into() })
}

/// Returns the holder of a lock of `flock`, which debconf has. The kernel answers only who tries to take it.
fn holder_of_file(file: &OwnedFd) -> Option<String> {
    match rustix::fs::flock(file, FlockOperation::NonBlockingLockShared) {
        Err(Errno::WOULDBLOCK) => {}
        Ok(()) => {
            let _ = rustix::fs::flock(file, FlockOperation::Unlock);
            return None;
        }
        Err(_) => return None,
    }
    let inode = rustix::fs::fstat(file.as_fd()).ok()?.st_ino;
    let table = std::fs::read_to_string("/proc/locks").unwrap_or_default();
    let process = table.lines().find_map(|line| process_of_lock(line, inode));
    Some(process.map_or_else(|| UNSEEN.into(), name_process))
}

/// Parses a line of `/proc/locks`: `1: FLOCK ADVISORY WRITE 123 fe:00:4567 0 EOF`. Returns the process if the line is about this
/// inode. (The device in it is not always the one that `stat` tells.)
fn process_of_lock(line: &str, inode: u64) -> Option<i32> {
    let mut words = line.split_ascii_whitespace().skip(1);
    let is_flock = words.next()? == "FLOCK";
    let process = words.nth(2)?.parse().ok().filter(|process| *process > 0)?;
    let is_it = words.next()?.rsplit(':').next()?.parse() == Ok(inode);
    (is_flock && is_it).then_some(process)
}

fn name_process(pid: i32) -> String {
    let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    let name = name.trim().chars().filter(|c| !c.is_control()).collect::<String>();
    if name.is_empty() { format!("process {pid}") } else { format!("process {pid} ({name})") }
}

#[cfg(test)]
mod tests {
    use super::process_of_lock;

    #[test]
    fn the_kernels_table_of_locks_is_read() {
        let line = "2: FLOCK  ADVISORY  WRITE 123 fe:00:4567 0 EOF";
        assert_eq!(process_of_lock(line, 4567), Some(123));
        assert_eq!(process_of_lock(line, 456), None);
        for line in
            ["", "1: POSIX  ADVISORY  READ 5 fe:00:4567 0 EOF", "1: -> FLOCK  ADVISORY  WRITE 9 fe:00:4567 0 EOF"]
        {
            assert_eq!(process_of_lock(line, 4567), None, "{line}");
        }
    }
}
