//! Appends reports to a file, one line each. Readers of the file must never see two reports on one line, even if a run was
//! killed while it wrote.

use super::own_file::OwnFile;
use rustix::fs::FlockOperation;
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

/// Time between two attempts to lock the file.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// The end of a report file.
#[derive(Debug, PartialEq, Eq)]
enum End {
    /// The file ends with a complete line, or is empty.
    Whole,
    /// The file ends with this many bytes of the line that is to be added, because a run was killed while it wrote them.
    Begun(usize),
    /// The file ends with a part of another line.
    Other,
}

/// Appends a line, which must end with a line break. The line is on the disk when the function returns. After a failure a
/// part of it may be in the file. The next call completes the part if it adds the same line, and ends it with a line break
/// otherwise.
///
/// # Errors
/// Of the kind `StorageFull` if fewer than `least_free` bytes would be free on the disk.
pub(super) fn add(path: &Path, line: &[u8], time: Duration, least_free: u64) -> io::Result<()> {
    let own = OwnFile::append(path)?;
    lock(&own.file, time)?;
    // The file may have been removed while another process held the lock.
    own.check()?;
    leave_free(&own.file, line.len() as u64, least_free)?;
    let length = own.file.metadata()?.len();
    let mut file = &own.file;
    match end(file, length, line)? {
        End::Whole => file.write_all(line)?,
        End::Begun(bytes) => file.write_all(line.get(bytes..).unwrap_or_default())?,
        End::Other => file.write_all(&[&b"\n"[..], line].concat())?,
    }
    file.sync_all()?;
    if length == 0 { own.sync_name() } else { Ok(()) }
}

/// Refuses to add so many bytes unless that many are free on the file's disk afterwards. A file that is full of what a policy
/// reports would stop the runs of all policies.
fn leave_free(file: &File, bytes: u64, least_free: u64) -> io::Result<()> {
    let free = plain_files::free_bytes(file)?;
    if least_free == 0 || free.saturating_sub(bytes) >= least_free {
        return Ok(());
    }
    let (free, least) = (free >> 20, least_free >> 20);
    Err(io::Error::new(
        io::ErrorKind::StorageFull,
        format!("its disk has {free} MiB free, and {least} MiB are always left"),
    ))
}

/// Locks the file for as long as it is open.
fn lock(file: &File, time: Duration) -> io::Result<()> {
    let until = Instant::now() + time;
    loop {
        match rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(()),
            Err(Errno::INTR) => {}
            Err(Errno::WOULDBLOCK) if Instant::now() < until => std::thread::sleep(LOOK_EVERY),
            Err(Errno::WOULDBLOCK) => return Err(io::Error::other("another process holds its lock")),
            Err(errno) => return Err(errno.into()),
        }
    }
}

/// Returns the end of a file of this length, compared with the line that is to be added.
fn end(file: &File, length: u64, line: &[u8]) -> io::Result<End> {
    let Some(last) = length.checked_sub(1) else { return Ok(End::Whole) };
    let mut byte = [0];
    file.read_exact_at(&mut byte, last)?;
    if byte == *b"\n" {
        return Ok(End::Whole);
    }
    let from = length.saturating_sub(line.len() as u64);
    let mut tail = vec![0; usize::try_from(length - from).unwrap_or_default()];
    file.read_exact_at(&mut tail, from)?;
    let begun = match tail.iter().rposition(|byte| *byte == b'\n') {
        Some(at) => tail.get(at + 1..).unwrap_or_default(),
        None if from == 0 => tail.as_slice(),
        None => return Ok(End::Other),
    };
    Ok(if line.starts_with(begun) { End::Begun(begun.len()) } else { End::Other })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[track_caller]
    fn check(before: &str, line: &str, after: &str) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("runs.ndjson");
        fs::write(&path, before).unwrap();
        add(&path, line.as_bytes(), Duration::ZERO, 0).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), after);
    }

    #[test]
    fn no_line_is_glued_to_half_of_another() {
        check("", "{\"a\":1}\n", "{\"a\":1}\n");
        check("{\"a\":1}\n", "{\"a\":2}\n", "{\"a\":1}\n{\"a\":2}\n");
        // A run was killed while it wrote this very line.
        check("{\"a\":1}\n{\"a\"", "{\"a\":2}\n", "{\"a\":1}\n{\"a\":2}\n");
        check("{\"a\":2}", "{\"a\":2}\n", "{\"a\":2}\n");
        check("{", "{\"a\":2}\n", "{\"a\":2}\n");
        // Nobody knows the rest of another line.
        check("{\"a\":1}\n{\"b\"", "{\"a\":2}\n", "{\"a\":1}\n{\"b\"\n{\"a\":2}\n");
        check("{\"a much longer line", "{\"a\":2}\n", "{\"a much longer line\n{\"a\":2}\n");
    }

    #[test]
    fn a_file_that_another_process_writes_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("runs.ndjson");
        fs::write(&path, "half").unwrap();
        let other = File::options().append(true).open(&path).unwrap();
        lock(&other, Duration::ZERO).unwrap();
        let refused = add(&path, b"{}\n", Duration::ZERO, 0).unwrap_err();
        assert_eq!(refused.to_string(), "another process holds its lock");
        (&other).write_all(b" and half\n").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "half and half\n");
        drop(other);
        add(&path, b"{}\n", Duration::ZERO, 0).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "half and half\n{}\n");
    }

    #[test]
    fn attack_large_reports_leave_room_for_runs() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("runs.ndjson");
        let refused = add(&path, b"{}\n", Duration::ZERO, u64::MAX).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::StorageFull);
        assert!(refused.to_string().contains("MiB free"), "{refused}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "");
    }
}
