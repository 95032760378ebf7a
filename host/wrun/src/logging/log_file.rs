//! The file that the log is written to.

use std::fs::File;
use std::io::{self, Write};

/// A file that is not written to while too little is free on its disk. What policies log would else fill the disk over
/// several runs, and stop the runs of all.
pub(super) struct LogFile {
    file: File,
    /// The bytes that stay free. They are twice as many as runs leave, so that the log stops before a run does.
    least_free: u64,
    /// The bytes that may be written before the disk is asked again.
    room: u64,
    /// True if lines were left out since the last written one.
    left_out: bool,
}

impl LogFile {
    /// The bytes between two questions about the disk.
    const STEP: u64 = 64 << 10;

    pub(super) fn new(file: File, least_free: u64) -> Self {
        Self { file, least_free, room: 0, left_out: false }
    }

    fn has_room(&mut self, bytes: u64) -> io::Result<bool> {
        if self.least_free > 0 && self.room < bytes {
            let free = plain_files::free_bytes(&self.file)?.saturating_sub(self.least_free);
            self.room = free.min(bytes.max(Self::STEP));
        }
        let has_room = self.least_free == 0 || self.room >= bytes;
        self.room = self.room.saturating_sub(bytes);
        Ok(has_room)
    }
}

impl Write for LogFile {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if !self.has_room(line.len() as u64)? {
            self.left_out = true;
            return Ok(line.len());
        }
        if std::mem::take(&mut self.left_out) {
            writeln!(self.file, "wrun: lines are missing here: less than {} MiB were free", self.least_free >> 20)?;
        }
        self.file.write_all(line)?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::OpenOptions;

    #[test]
    fn attack_the_log_leaves_room_for_runs() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let open = || OpenOptions::new().create(true).append(true).open(&path).unwrap();
        LogFile::new(open(), 1).write_all(b"written\n").unwrap();
        let mut full = LogFile::new(open(), u64::MAX);
        full.write_all(b"left out\n").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "written\n");
        // There is room again.
        full.least_free = 1;
        full.write_all(b"written again\n").unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("written\nwrun: lines are missing here"), "{text}");
        assert!(text.ends_with("written again\n"), "{text}");
    }
}
