//! Locks that other processes hold on files.

use crate::root::Root;

/// Returns a description of the process that holds a lock on a file, or `None` if the file is not locked.
pub fn holder(root: &Root, path: &str) -> Option<String> {
    let (file, _) = root.locate(path).ok()?.open_file().ok()?;
    let mut lock = nix::libc::flock {
        l_type: i16::try_from(nix::libc::F_WRLCK).ok()?,
        l_whence: i16::try_from(nix::libc::SEEK_SET).ok()?,
        l_start: 0,
        l_len: 0,
        l_pid: 0,
    };
    nix::fcntl::fcntl(&file, nix::fcntl::FcntlArg::F_GETLK(&mut lock)).ok()?;
    if i32::from(lock.l_type) == nix::libc::F_UNLCK {
        return None;
    }
    // 0 means a process of another namespace; -1: a lock that belongs to an open file and not to a process.
    let seen = lock.l_pid > 0;
    Some(if seen { name_process(lock.l_pid) } else { "a process that cannot be seen from here".into() })
}

fn name_process(pid: i32) -> String {
    let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    let name = name.trim().chars().filter(|c| !c.is_control()).collect::<String>();
    if name.is_empty() { format!("process {pid}") } else { format!("process {pid} ({name})") }
}
