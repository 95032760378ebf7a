//! Notifications that are due, kept so that a killed run's successor carries them out.
//!
//! A journal per node, `pending/NAME.v1`: one line per event, each a JSON array `["due", policy, receiver, action, run]` or
//! `["done", policy, receiver, action]`, each added by one write at the file's end; a line of an older version of wrun does
//! not name the run. A killed process leaves at most half a line at the very end, which
//! stands for an event whose recorder never returned; the next run drops it. When it is opened and closed the journal is
//! rewritten to what is still due, so it stays as short as one run makes it; a node with nothing due has none.
//!
//! Lines are not forced to the disk one by one: they survive the process, which is what can be killed in the middle of a
//! run. Waiting for the disk after each of a hundred notifications would cost more than the run.

use std::collections::HashMap;
use std::fs::File;
use std::io::Write as _;
use std::sync::Arc;

use rustix::fs::OFlags;

use crate::folder::{Folder, Survives};
use crate::names::check_node_name;
use crate::{RunId, StateError};

pub(crate) const FOLDER: &str = "pending";

const EXTENSION: &str = ".v1";

/// The longest line, in bytes. Names of resources come from guests; a longer one is not recorded, and that is an error.
pub const MAX_LINE: usize = 64 << 10;

/// A notification: policy, receiver, action.
type Due = (String, String, String);

/// The memory of one node's due notifications while a run is under way.
///
/// The runner's trait knows no errors: what could not be recorded does not stop a run that is going well. The first
/// error is kept for [`finish`](Self::finish).
#[derive(Debug)]
pub struct Pending {
    folder: Arc<Folder>,
    file_name: String,
    due: DueList,
    journal: Option<Journal>,
    failed: Option<StateError>,
    /// The run that is under way; empty: it has no name yet.
    run: String,
}

/// The journal, open for adding.
#[derive(Debug)]
struct Journal {
    file: File,
    /// The length of all whole lines, in bytes.
    length: u64,
}

impl Pending {
    /// The same for the run of this name: later runs say since when something has been due.
    #[must_use]
    pub fn of_run(self, run: &RunId) -> Self {
        Self { run: run.to_string(), ..self }
    }

    /// Ends the run's recording: the journal is rewritten to what is still due, and removed if that is nothing.
    ///
    /// # Errors
    /// Something could not be recorded in the course of the run, or cannot be now.
    pub fn finish(mut self) -> Result<(), StateError> {
        let compacted = self.compact();
        match self.failed.take() {
            Some(error) => Err(error),
            None => compacted,
        }
    }

    /// The first thing that could not be recorded.
    #[must_use]
    pub fn failure(&self) -> Option<&StateError> {
        self.failed.as_ref()
    }

    fn compact(&mut self) -> Result<(), StateError> {
        self.journal = None;
        if self.due.is_empty() {
            return self.folder.remove(&self.file_name);
        }
        let mut bytes = vec![];
        for due in self.due.in_order() {
            bytes.extend(line("due", due, self.due.since(due)));
        }
        self.folder.replace(&self.file_name, &bytes, Survives::Kill)
    }

    /// Keeps an event in the journal and in mind; one that changes nothing is not written.
    fn record(&mut self, event: &str, policy: &str, receiver: &str, action: &str) {
        let due = (policy.to_owned(), receiver.to_owned(), action.to_owned());
        let (changed, run) = match event {
            "due" => (self.due.add(due.clone(), self.run.clone()), self.run.as_str()),
            _ => (self.due.remove(&due), ""),
        };
        if !changed {
            return;
        }
        let line = line(event, &due, run);
        if let Err(error) = self.append(policy, &line) {
            self.failed.get_or_insert(error);
        }
    }

    fn append(&mut self, policy: &str, line: &[u8]) -> Result<(), StateError> {
        if line.len() > MAX_LINE {
            let policy = policy.chars().take(100).collect();
            return Err(StateError::LongNotification { policy, length: line.len(), limit: MAX_LINE });
        }
        let path = self.folder.path_of(&self.file_name);
        let failed = |source: std::io::Error| StateError::system("write", &path, source);
        let journal = match &mut self.journal {
            Some(journal) => journal,
            None => {
                let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE;
                let file = self.folder.open_file(&self.file_name, flags)?;
                let file = file.ok_or_else(|| failed(rustix::io::Errno::NOENT.into()))?;
                let length = file.metadata().map_err(failed)?.len();
                self.journal.insert(Journal { file, length })
            }
        };
        journal.append(line).map_err(failed)
    }
}

impl Journal {
    /// Adds a line by one write. A short one (a full disk) is taken back, so that the next line does not continue it.
    fn append(&mut self, line: &[u8]) -> std::io::Result<()> {
        let written = loop {
            match self.file.write(line) {
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                other => break other,
            }
        };
        match written {
            Ok(count) if count == line.len() => {
                self.length += u64::try_from(count).unwrap_or_default();
                Ok(())
            }
            other => {
                self.file.set_len(self.length)?;
                other.and_then(|_| Err(std::io::Error::from(std::io::ErrorKind::WriteZero)))
            }
        }
    }
}

impl contract::Memory for Pending {
    fn due(&mut self, policy: &str, receiver: &str, action: &str) {
        self.record("due", policy, receiver, action);
    }

    fn done(&mut self, policy: &str, receiver: &str, action: &str) {
        self.record("done", policy, receiver, action);
    }

    fn left(&mut self, policy: &str) -> Vec<(String, String)> {
        self.due.of(policy)
    }

    fn since(&self, policy: &str, receiver: &str, action: &str) -> Option<String> {
        let due = (policy.to_owned(), receiver.to_owned(), action.to_owned());
        Some(self.due.since(&due)).filter(|run| !run.is_empty()).map(str::to_owned)
    }
}

/// The memory of a dry run: it knows what is left and records nothing.
#[derive(Debug, Default)]
pub struct Unrecorded {
    due: DueList,
}

impl Unrecorded {
    /// A memory that begins with what [`StateDirectory::left_due`](crate::StateDirectory::left_due) found.
    #[must_use]
    pub fn new(left: Vec<(String, String, String)>) -> Self {
        let mut due = DueList::default();
        for one in left {
            due.add(one, String::new());
        }
        Self { due }
    }
}

impl contract::Memory for Unrecorded {
    fn due(&mut self, _policy: &str, _receiver: &str, _action: &str) {}

    fn done(&mut self, _policy: &str, _receiver: &str, _action: &str) {}

    fn left(&mut self, policy: &str) -> Vec<(String, String)> {
        self.due.of(policy)
    }
}

/// What is due, each once, in the order in which it became so.
#[derive(Debug, Default)]
struct DueList {
    order: Vec<Due>,
    /// With the run that it has been due since; empty: that is not known.
    known: HashMap<Due, String>,
}

impl DueList {
    fn add(&mut self, due: Due, run: String) -> bool {
        let new = !self.known.contains_key(&due);
        if new {
            self.known.insert(due.clone(), run);
            self.order.push(due);
        }
        new
    }

    fn since(&self, due: &Due) -> &str {
        self.known.get(due).map_or("", String::as_str)
    }

    /// Runs carry out what is due from the front, so the search is short.
    fn remove(&mut self, due: &Due) -> bool {
        let known = self.known.remove(due).is_some();
        if known && let Some(index) = self.order.iter().position(|one| one == due) {
            self.order.remove(index);
        }
        known
    }

    fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    fn in_order(&self) -> impl Iterator<Item = &Due> {
        self.order.iter()
    }

    fn of(&self, policy: &str) -> Vec<(String, String)> {
        let own = self.order.iter().filter(|(owner, ..)| owner == policy);
        own.map(|(_, receiver, action)| (receiver.clone(), action.clone())).collect()
    }
}

pub(crate) fn open(state: &Arc<Folder>, node: &str) -> Result<Pending, StateError> {
    check_node_name(node)?;
    let folder = Arc::new(state.make(FOLDER)?);
    let file_name = format!("{node}{EXTENSION}");
    let bytes = folder.read(&file_name)?;
    let due = parse(bytes.as_deref().unwrap_or_default()).map_err(|bad| bad.in_file(&folder, &file_name))?;
    let mut pending = Pending { folder, file_name, due, journal: None, failed: None, run: String::new() };
    if bytes.is_some() {
        pending.compact()?;
    }
    Ok(pending)
}

pub(crate) fn left_due(state: &Folder, node: &str) -> Result<Vec<Due>, StateError> {
    check_node_name(node)?;
    let Some(folder) = state.open(FOLDER)? else { return Ok(vec![]) };
    let file_name = format!("{node}{EXTENSION}");
    let bytes = folder.read(&file_name)?.unwrap_or_default();
    Ok(parse(&bytes).map_err(|bad| bad.in_file(&folder, &file_name))?.order)
}

fn line(event: &str, (policy, receiver, action): &Due, run: &str) -> Vec<u8> {
    let mut words = vec![event, policy, receiver, action];
    words.extend(Some(run).filter(|run| !run.is_empty()));
    format!("{}\n", serde_json::json!(words)).into_bytes()
}

/// A line that no run of ours wrote.
#[derive(Debug)]
struct BadLine {
    line: usize,
    reason: String,
}

impl BadLine {
    fn in_file(self, folder: &Folder, name: &str) -> StateError {
        StateError::Malformed { path: folder.path_of(name), line: self.line, reason: self.reason }
    }
}

/// Reads a journal. What follows the last line's end was never finished and is dropped.
fn parse(bytes: &[u8]) -> Result<DueList, BadLine> {
    let mut due = DueList::default();
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').and_then(|end| bytes.get(..end));
    let Some(whole) = whole else { return Ok(due) };
    for (index, text) in whole.split(|byte| *byte == b'\n').enumerate() {
        let bad = |reason: String| BadLine { line: index + 1, reason };
        let words: Vec<String> = serde_json::from_slice(text).map_err(|error| bad(error.to_string()))?;
        let mut words = words.into_iter();
        let (Some(event), Some(policy), Some(receiver), Some(action), run, None) =
            (words.next(), words.next(), words.next(), words.next(), words.next(), words.next())
        else {
            return Err(bad("a notification has four or five words".into()));
        };
        let one = (policy, receiver, action);
        match event.as_str() {
            "due" => due.add(one, run.unwrap_or_default()),
            "done" => due.remove(&one),
            _ => return Err(bad(format!("a notification is `due` or `done`, not {event:?}"))),
        };
    }
    Ok(due)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn names(due: &DueList) -> Vec<String> {
        due.in_order().map(|(policy, receiver, action)| format!("{policy} {receiver} {action}")).collect()
    }

    #[track_caller]
    fn check(journal: &str, expect: Result<&[&str], (usize, &str)>) {
        match (parse(journal.as_bytes()), expect) {
            (Ok(due), Ok(expect)) => assert_eq!(names(&due), expect, "{journal}"),
            (Err(bad), Err((line, part))) => assert!(bad.line == line && bad.reason.contains(part), "{bad:?}"),
            (got, expect) => panic!("{journal}: {got:?} is not {expect:?}"),
        }
    }

    #[test]
    fn journals_say_what_is_due_in_order() {
        check("", Ok(&[]));
        check(
            "[\"due\",\"p\",\"a[1]\",\"run\"]\n[\"due\",\"p\",\"b[1]\",\"run\"]\n",
            Ok(&["p a[1] run", "p b[1] run"]),
        );
        check(
            "[\"due\",\"p\",\"a\",\"x\"]\n[\"due\",\"p\",\"b\",\"x\"]\n[\"done\",\"p\",\"a\",\"x\"]\n",
            Ok(&["p b x"]),
        );
        check("[\"due\",\"p\",\"a\",\"x\"]\n[\"due\",\"p\",\"a\",\"x\"]\n[\"done\",\"p\",\"a\",\"x\"]\n", Ok(&[]));
        check("[\"due\",\"p\",\"a\",\"x\"]\n[\"due\",\"q\",\"a\",\"x\"]\n", Ok(&["p a x", "q a x"]));
    }

    #[test]
    fn half_a_line_at_the_end_never_happened() {
        check("[\"due\",\"p\",\"a\",\"x\"]\n[\"due\",\"p\",\"b\",\"x\"]", Ok(&["p a x"]));
        check("[\"due\",\"p\"", Ok(&[]));
    }

    #[test]
    fn a_damaged_line_is_named() {
        check("[\"due\",\"p\",\"a\",\"x\"]\nnonsense\n", Err((2, "expected")));
        check("[\"late\",\"p\",\"a\",\"x\"]\n", Err((1, "`due` or `done`")));
        check("[\"due\",\"p\",\"a\"]\n", Err((1, "four or five words")));
        check("[\"due\",\"p\",\"a\",\"x\",\"r\",\"y\"]\n", Err((1, "four or five words")));
    }

    #[test]
    fn the_first_run_that_left_it_due_is_remembered() {
        let journal = b"[\"due\",\"p\",\"a\",\"x\",\"first\"]\n[\"due\",\"p\",\"a\",\"x\",\"second\"]\n[\"due\",\"p\",\"b\",\"x\"]\n";
        let due = parse(journal).unwrap();
        let since = |receiver: &str| due.since(&("p".to_owned(), receiver.to_owned(), "x".to_owned())).to_owned();
        assert_eq!((since("a"), since("b")), ("first".to_owned(), String::new()));
    }

    proptest! {
        /// A process that is killed has written a prefix of its journal. Whatever prefix: it reads, and it says what the
        /// whole lines of it say.
        #[test]
        fn every_prefix_of_a_journal_reads(
            events in prop::collection::vec((any::<bool>(), 0..4_u8, "[a-z\\PC\n\"]{0,6}"), 0..20),
            cut in any::<prop::sample::Index>(),
        ) {
            let mut bytes = vec![];
            let mut states = vec![(0, vec![])];
            let mut due = DueList::default();
            for (is_due, policy, receiver) in &events {
                let one = (format!("p{policy}"), receiver.clone(), "run".to_owned());
                let run = if *is_due { "20261122T092748.123Z-1692af93" } else { "" };
                bytes.extend(line(if *is_due { "due" } else { "done" }, &one, run));
                if *is_due { due.add(one, run.to_owned()) } else { due.remove(&one) };
                states.push((bytes.len(), names(&due)));
            }
            let cut = cut.index(bytes.len() + 1);
            let (_, expect) = states.iter().rev().find(|(length, _)| *length <= cut).unwrap();
            prop_assert_eq!(&names(&parse(&bytes[..cut]).unwrap()), expect);
        }
    }
}
