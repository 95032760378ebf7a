//! Queues of reports that wait for their destination: `reports/KEY/RUN.json`, one folder for each destination. Their number
//! and total size are limited; the oldest are dropped first.
//!
//! A folder has two locks. A process holds `lock` while it sends reports, which may take long. It holds `writing.lock` while
//! it writes one. So an unfinished file of a running writer can be distinguished from that of a killed process.

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime};

use rustix::fs::FlockOperation;
use rustix::io::Errno;

use crate::folder::{Folder, Survives};
use crate::{NewestFirst, RunId, StateError};

pub(crate) const FOLDER: &str = "reports";

const LOCK: &str = "lock";

const WRITING_LOCK: &str = "writing.lock";

/// The file with the destination in words, for people.
const PLACE: &str = "place";

const EXTENSION: &str = ".json";

/// The most reports that wait for one destination.
const MAX_WAITING: usize = 1_000;

/// How long a process waits for another one that writes a report.
const WRITE_WAIT: Duration = Duration::from_secs(5);

/// How often a waiting process tries again.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// The reports that wait for one destination.
#[derive(Debug)]
pub struct Outbox {
    queues: Folder,
    key: String,
    folder: Folder,
}

/// The right to send the reports of a queue. It ends when this value is dropped or the process ends.
#[derive(Debug)]
pub struct OutboxLock {
    // Closing the file releases the lock.
    _file: File,
}

impl Outbox {
    /// Opens the folder of a destination, whose key is lower-case hexadecimal digits.
    pub(crate) fn open(state: &Folder, key: &str) -> Result<Self, StateError> {
        let fits =
            !key.is_empty() && key.len() <= 64 && key.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        if !fits {
            let name = key.chars().take(100).collect();
            return Err(StateError::BadName {
                name,
                of: "key of a destination",
                why: "it should be hexadecimal digits",
            });
        }
        let queues = state.make(FOLDER)?;
        let folder = queues.make(key)?;
        Ok(Self { queues, key: key.to_owned(), folder })
    }

    /// Adds a report durably: it is on the disk when this returns. `place` is the destination in words, for people.
    ///
    /// # Errors
    /// The report cannot be written, or another process has been writing one for seconds.
    pub fn put(&self, run: &RunId, report: &[u8], place: &str) -> Result<(), StateError> {
        let _writing = self.lock_to_write(WRITE_WAIT)?;
        // This process holds the lock of writers, so unfinished files belong to a killed process.
        self.folder.sweep()?;
        if self.place().as_deref() != Some(place) {
            // The queue also works without this file, so an error is ignored.
            let _ = self.folder.replace(PLACE, format!("{place}\n").as_bytes(), Survives::Kill);
        }
        self.folder.replace(&file_of(run), report, Survives::PowerCut)
    }

    /// Drops the oldest reports until at most a thousand are left, with at most `bytes` in total. The report of the run
    /// `newest` is always kept. Returns the number of dropped reports.
    ///
    /// # Errors
    /// A report cannot be examined or removed.
    pub fn drop_oldest(&self, newest: &RunId, bytes: u64) -> Result<usize, StateError> {
        let mut others = self.waiting()?;
        others.retain(|run| run != newest);
        let (mut size, mut kept) = (self.folder.size_of(&file_of(newest))?, 0);
        for run in others.iter().rev() {
            size = size.saturating_add(self.folder.size_of(&file_of(run))?);
            // One more is the newest.
            if size > bytes || kept + 1 == MAX_WAITING {
                break;
            }
            kept += 1;
        }
        let dropped = others.len() - kept;
        others.iter().take(dropped).try_for_each(|run| self.remove(run))?;
        Ok(dropped)
    }

    /// The runs whose reports wait, oldest first. Runs in the future come first ([`NewestFirst`]).
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn waiting(&self) -> Result<Vec<RunId>, StateError> {
        let names = self.folder.names()?;
        let runs = names.iter().filter_map(|name| RunId::parse(name.strip_suffix(EXTENSION)?).ok());
        let mut runs: Vec<RunId> = runs.collect();
        let order = NewestFirst::at(SystemTime::now());
        runs.sort_unstable_by(|one, other| order.compare(other, one));
        Ok(runs)
    }

    /// Tells whether the report of a run waits.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn holds(&self, run: &RunId) -> Result<bool, StateError> {
        Ok(self.folder.size_of(&file_of(run))? > 0)
    }

    /// Reads the report of a run, or returns `None` if it is not in the queue any more.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn read(&self, run: &RunId) -> Result<Option<Vec<u8>>, StateError> {
        self.folder.read(&file_of(run))
    }

    /// Renames an unusable report, so that the others can be sent. Returns its new path.
    ///
    /// # Errors
    /// It cannot be renamed.
    pub fn set_aside(&self, run: &RunId) -> Result<PathBuf, StateError> {
        self.folder.set_aside(&file_of(run))
    }

    /// Removes the report of a run, if it still waits.
    ///
    /// # Errors
    /// The file cannot be removed.
    pub fn remove(&self, run: &RunId) -> Result<(), StateError> {
        self.folder.remove(&file_of(run))
    }

    /// Removes the reports of runs that began before a moment, and the folder too if that leaves no report in it. This is for
    /// a destination that is not in the settings any more. Returns the number of removed reports.
    ///
    /// # Errors
    /// Something cannot be read or removed.
    pub fn remove_older(&self, moment: SystemTime) -> Result<usize, StateError> {
        let bound = RunId::new(moment)?;
        let old: Vec<_> = self.waiting()?.into_iter().filter(|run| *run < bound).collect();
        old.iter().try_for_each(|run| self.remove(run))?;
        if !old.is_empty() && self.waiting()?.is_empty() {
            self.queues.remove_folder(&self.key)?;
        }
        Ok(old.len())
    }

    /// Returns the destination in words, or `None` if it is unknown.
    #[must_use]
    pub fn place(&self) -> Option<String> {
        let bytes = self.folder.read(PLACE).ok()??;
        Some(String::from_utf8_lossy(&bytes).trim_end().to_owned())
    }

    /// The path of the folder, for people.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.queues.path_of(&self.key)
    }

    /// Takes the lock for sending, or returns `None` if another process is sending.
    ///
    /// # Errors
    /// The file cannot be opened or locked.
    pub fn lock(&self) -> Result<Option<OutboxLock>, StateError> {
        Ok(self.locked(LOCK)?.map(|file| OutboxLock { _file: file }))
    }

    /// Takes the lock for writing. It is held as long as the returned file is open.
    fn lock_to_write(&self, wait: Duration) -> Result<File, StateError> {
        let until = Instant::now() + wait;
        loop {
            if let Some(file) = self.locked(WRITING_LOCK)? {
                return Ok(file);
            }
            if Instant::now() >= until {
                let why = io::Error::other(format!("another process holds it for more than {} s", wait.as_secs()));
                return Err(StateError::system("lock", &self.folder.path_of(WRITING_LOCK), why));
            }
            std::thread::sleep(LOOK_EVERY);
        }
    }

    /// Opens and locks a file. `None`: another process has locked it.
    fn locked(&self, name: &str) -> Result<Option<File>, StateError> {
        let path = self.folder.path_of(name);
        let file = self.folder.lock_file(name)?;
        loop {
            match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(Some(file)),
                Err(Errno::INTR) => {}
                Err(Errno::WOULDBLOCK) => return Ok(None),
                Err(errno) => return Err(StateError::system("lock", &path, errno)),
            }
        }
    }
}

fn file_of(run: &RunId) -> String {
    format!("{run}{EXTENSION}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StateDirectory;
    use std::path::Path;

    /// A moment in the year 2096.
    const FUTURE: u64 = 4_000_000_000;

    fn run(second: u64) -> RunId {
        RunId::new(moment(second)).unwrap()
    }

    fn moment(second: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(second)
    }

    /// A state directory `s`, and a queue in it.
    fn queue(place: &Path) -> Outbox {
        StateDirectory::open(&place.join("s")).unwrap().outbox("00ff").unwrap()
    }

    #[test]
    fn the_oldest_reports_go_first_and_the_newest_never() {
        let place = tempfile::tempdir().unwrap();
        let state = StateDirectory::open(&place.path().join("s")).unwrap();
        assert!(state.outbox("../x").is_err() && state.outbox("").is_err());
        let outbox = queue(place.path());
        let report = [b'a'; 1_000];
        let runs: Vec<_> = (1..=4).map(run).collect();
        let put = |run: &RunId, bytes: u64| {
            outbox.put(run, &report, "there").unwrap();
            outbox.drop_oldest(run, bytes).unwrap()
        };
        assert_eq!(runs.iter().map(|run| put(run, 2_500)).collect::<Vec<_>>(), [0, 0, 1, 1]);
        assert_eq!(outbox.waiting().unwrap(), runs[2..]);
        assert_eq!(outbox.read(&runs[3]).unwrap().unwrap(), report);
        let last = run(5);
        assert!(!outbox.holds(&last).unwrap());
        assert_eq!(put(&last, 1), 2);
        assert!(outbox.holds(&last).unwrap());
        assert_eq!(outbox.waiting().unwrap(), std::slice::from_ref(&last));
        outbox.remove(&last).unwrap();
        assert_eq!(outbox.read(&last).unwrap(), None);
    }

    #[test]
    fn reports_of_a_clock_that_was_ahead_are_the_oldest() {
        let place = tempfile::tempdir().unwrap();
        let outbox = queue(place.path());
        let runs = [run(FUTURE), run(FUTURE + 1), run(1), run(2)];
        for run in &runs {
            outbox.put(run, b"{}\n", "there").unwrap();
        }
        assert_eq!(outbox.waiting().unwrap(), runs);
        // Two reports of three bytes have room.
        assert_eq!(outbox.drop_oldest(&runs[3], 6).unwrap(), 2);
        assert_eq!(outbox.waiting().unwrap(), runs[2..]);
        // The clock is ahead again: the run that has just ended counts, whatever its name says.
        let ahead = run(FUTURE + 2);
        outbox.put(&ahead, b"{}\n", "there").unwrap();
        assert_eq!(outbox.drop_oldest(&ahead, 1).unwrap(), 2);
        assert_eq!(outbox.waiting().unwrap(), [ahead]);
    }

    #[test]
    fn one_process_sends_at_a_time() {
        let place = tempfile::tempdir().unwrap();
        let (one, other) = (queue(place.path()), queue(place.path()));
        let lock = one.lock().unwrap();
        assert!(lock.is_some() && other.lock().unwrap().is_none());
        drop(lock);
        assert!(other.lock().unwrap().is_some());
    }

    #[test]
    fn a_report_that_another_process_writes_is_not_swept() {
        let place = tempfile::tempdir().unwrap();
        let (one, other) = (queue(place.path()), queue(place.path()));
        // Another process is in the middle of writing its report.
        let writing = other.lock_to_write(Duration::ZERO).unwrap();
        let unfinished = place.path().join("s/reports/00ff/.unfinished-x");
        std::fs::write(&unfinished, "half").unwrap();
        assert!(one.lock().unwrap().is_some(), "reports are sent meanwhile");
        let refused = one.lock_to_write(Duration::ZERO).unwrap_err();
        assert!(refused.to_string().ends_with("/s/reports/00ff/writing.lock"), "{refused}");
        assert!(unfinished.exists());
        // It was killed.
        drop(writing);
        one.put(&run(1), b"{}\n", "there").unwrap();
        assert!(!unfinished.exists());
        assert_eq!(one.waiting().unwrap().len(), 1);
    }

    #[test]
    fn an_unreadable_report_is_set_aside() {
        let place = tempfile::tempdir().unwrap();
        let outbox = queue(place.path());
        let (bad, good) = (run(1), run(2));
        outbox.put(&good, b"{}\n", "there").unwrap();
        std::os::unix::fs::symlink("/etc/passwd", outbox.path().join(file_of(&bad))).unwrap();
        assert_eq!(outbox.waiting().unwrap().len(), 2);
        assert!(outbox.read(&bad).is_err());
        let aside = outbox.set_aside(&bad).unwrap();
        assert!(aside.to_string_lossy().contains(".json.damaged-"), "{}", aside.display());
        assert_eq!(outbox.waiting().unwrap(), [good]);
    }

    #[test]
    fn a_queue_knows_its_place_and_its_old_reports_go() {
        let place = tempfile::tempdir().unwrap();
        let outbox = queue(place.path());
        assert_eq!(outbox.place(), None);
        let (old, new) = (run(1), run(100));
        for run in [&old, &new] {
            outbox.put(run, b"{}\n", "https://there").unwrap();
        }
        assert_eq!(outbox.place().as_deref(), Some("https://there"));
        assert_eq!(outbox.remove_older(moment(0)).unwrap(), 0);
        assert_eq!(outbox.remove_older(moment(50)).unwrap(), 1);
        assert_eq!((outbox.waiting().unwrap(), outbox.path().exists()), (vec![new], true));
        assert_eq!(outbox.remove_older(moment(200)).unwrap(), 1);
        assert!(!outbox.path().exists());
    }
}
