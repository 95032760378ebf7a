//! Stores due notifications, so that the run after a killed one carries them out.
//!
//! A journal per node, `pending/NAME.v1`: one line per event, each a JSON array `["due", policy, receiver, action, run]` or
//! `["done", policy, receiver, action]`, each added by one write at the file's end; a line of an older version of wrun does
//! not name the run. A killed process leaves at most an incomplete last line, for an event that was not confirmed; the next
//! run drops it. When the journal is opened and closed, it is rewritten with only the notifications that are still due, so it
//! stays short. A node without due notifications does not have a journal.
//!
//! Lines are not synced to the disk one by one: they are safe if the process is killed, but not after a power cut. Waiting
//! for the disk after each of a hundred notifications would take longer than the run.

use std::collections::HashMap;
use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use crate::folder::{Folder, Survives};
use crate::limits::{JOURNAL_SLACK, MAX_DUE, MAX_DUE_BYTES, MAX_LINE};
use crate::names::check_node_name;
use crate::{RunId, StateError};

pub(crate) const FOLDER: &str = "pending";

const EXTENSION: &str = ".v1";

/// A notification: policy, receiver, action.
type Due = (String, String, String);

/// The journal of one node's due notifications during a run.
///
/// A policy that exceeds the limit of due notifications gets an error and fails. Any other error does not stop the run: the
/// first one is returned by [`finish`](Self::finish).
#[derive(Debug)]
pub struct Pending {
    folder: Arc<Folder>,
    file_name: String,
    due: DueList,
    journal: Option<Journal>,
    failed: Option<StateError>,
    /// The new path of a damaged journal, and the error.
    set_aside: Option<(PathBuf, StateError)>,
    /// The identifier of the current run; empty if it does not have one yet.
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
    /// Sets the current run, so that later runs can tell since when a notification has been due.
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

    /// Returns the new path of a damaged journal, and the error.
    #[must_use]
    pub fn set_aside(&self) -> Option<&(PathBuf, StateError)> {
        self.set_aside.as_ref()
    }

    /// Returns the first error of recording.
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

    /// Records that a notification is due, in the journal and in memory. One that is due already is not written again.
    ///
    /// # Errors
    /// It is more than the policy may have due. Nothing has changed then.
    fn record_due(&mut self, due: Due) -> Result<(), String> {
        let line = line("due", &due, &self.run);
        if self.due.is_known(&due) {
            return Ok(());
        }
        let length = line.len();
        if length > MAX_LINE {
            return Err(format!(
                "has a notification due that is {length} bytes long, more than the {MAX_LINE} allowed"
            ));
        }
        let (count, bytes) = self.due.share(&due.0);
        if count >= MAX_DUE || bytes.saturating_add(length) > MAX_DUE_BYTES {
            return Err(format!("has more than {MAX_DUE} notifications due, or {MAX_DUE_BYTES} bytes of them"));
        }
        self.due.add(due, self.run.clone());
        self.write(&line);
        Ok(())
    }

    /// Records that a notification has run.
    fn record_done(&mut self, due: &Due) {
        if self.due.remove(due) {
            self.write(&line("done", due, ""));
        }
    }

    fn write(&mut self, line: &[u8]) {
        if let Err(error) = self.append(line) {
            self.failed.get_or_insert(error);
        }
    }

    fn append(&mut self, line: &[u8]) -> Result<(), StateError> {
        // The journal still has the lines of notifications that have run, so it is rewritten when it is too long.
        if self.journal.as_ref().is_some_and(|journal| journal.length > self.due.bytes() + JOURNAL_SLACK) {
            return self.compact();
        }
        let path = self.folder.path_of(&self.file_name);
        let failed = |source: std::io::Error| StateError::system("write", &path, source);
        let journal = match &mut self.journal {
            Some(journal) => journal,
            None => {
                self.folder.check_free(&self.file_name)?;
                let file = self.folder.append_file(&self.file_name)?;
                let length = file.metadata().map_err(failed)?.len();
                self.journal.insert(Journal { file, length })
            }
        };
        journal.append(line).map_err(failed)
    }
}

impl Journal {
    /// Appends a line with one write. If the write is incomplete, as on a full disk, the part is removed, so that the next
    /// line does not continue it.
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
    fn due(&mut self, policy: &str, receiver: &str, action: &str) -> Result<(), String> {
        let due = (policy.to_owned(), receiver.to_owned(), action.to_owned());
        self.record_due(due)
    }

    fn done(&mut self, policy: &str, receiver: &str, action: &str) {
        self.record_done(&(policy.to_owned(), receiver.to_owned(), action.to_owned()));
    }

    fn left(&mut self, policy: &str) -> Vec<(String, String)> {
        let mut left = self.due.of(policy);
        // Notifications that this run itself has made due are in its own queue already.
        left.retain(|(receiver, action)| {
            let run = self.due.since(&(policy.to_owned(), receiver.clone(), action.clone()));
            run.is_empty() || run != self.run
        });
        left
    }

    fn since(&self, policy: &str, receiver: &str, action: &str) -> Option<String> {
        self.due.known_since(policy, receiver, action)
    }
}

/// A notification that an earlier run left due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftDue {
    /// The policy of the receiver.
    pub policy: String,
    /// The receiver, as `type[name]`.
    pub receiver: String,
    /// The action that is due.
    pub action: String,
    /// The identifier of the run that made it due; empty if it is not known.
    pub since: String,
}

/// The journal of a dry run: it has the notifications that earlier runs left, and does not record anything.
#[derive(Debug, Default)]
pub struct Unrecorded {
    due: DueList,
}

impl Unrecorded {
    /// Creates it with the result of [`StateDirectory::left_due`](crate::StateDirectory::left_due).
    #[must_use]
    pub fn new(left: Vec<LeftDue>) -> Self {
        let mut due = DueList::default();
        for LeftDue { policy, receiver, action, since } in left {
            due.add((policy, receiver, action), since);
        }
        Self { due }
    }
}

impl contract::Memory for Unrecorded {
    fn due(&mut self, _policy: &str, _receiver: &str, _action: &str) -> Result<(), String> {
        Ok(())
    }

    fn done(&mut self, _policy: &str, _receiver: &str, _action: &str) {}

    fn left(&mut self, policy: &str) -> Vec<(String, String)> {
        self.due.of(policy)
    }

    fn since(&self, policy: &str, receiver: &str, action: &str) -> Option<String> {
        self.due.known_since(policy, receiver, action)
    }
}

/// The due notifications, each once, in the order in which they became due.
#[derive(Debug, Default)]
struct DueList {
    order: Vec<Due>,
    /// Each with the run that made it due; empty if that is unknown.
    known: HashMap<Due, String>,
    /// For each policy, the number of its notifications and the bytes of their lines.
    shares: HashMap<String, (usize, usize)>,
}

impl DueList {
    fn is_known(&self, due: &Due) -> bool {
        self.known.contains_key(due)
    }

    fn share(&self, policy: &str) -> (usize, usize) {
        self.shares.get(policy).copied().unwrap_or_default()
    }

    /// Returns the bytes of the lines for all due notifications.
    fn bytes(&self) -> u64 {
        self.shares.values().map(|(_, bytes)| *bytes as u64).sum()
    }

    fn add(&mut self, due: Due, run: String) -> bool {
        let new = !self.is_known(&due);
        if new {
            let (count, bytes) = self.shares.entry(due.0.clone()).or_default();
            (*count, *bytes) = (*count + 1, bytes.saturating_add(line("due", &due, &run).len()));
            self.known.insert(due.clone(), run);
            self.order.push(due);
        }
        new
    }

    fn since(&self, due: &Due) -> &str {
        self.known.get(due).map_or("", String::as_str)
    }

    /// Returns the run that made a notification due, if it is known.
    fn known_since(&self, policy: &str, receiver: &str, action: &str) -> Option<String> {
        let due = (policy.to_owned(), receiver.to_owned(), action.to_owned());
        Some(self.since(&due)).filter(|run| !run.is_empty()).map(str::to_owned)
    }

    /// Removes a notification. Runs carry them out from the front, so the search is short.
    fn remove(&mut self, due: &Due) -> bool {
        let Some(run) = self.known.remove(due) else { return false };
        if let Some((count, bytes)) = self.shares.get_mut(&due.0) {
            (*count, *bytes) = (count.saturating_sub(1), bytes.saturating_sub(line("due", due, &run).len()));
        }
        if let Some(index) = self.order.iter().position(|one| one == due) {
            self.order.remove(index);
        }
        true
    }

    fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    fn into_left(self) -> Vec<LeftDue> {
        let since = |due: &Due| self.since(due).to_owned();
        let all = self.order.iter().map(|due| (due.clone(), since(due)));
        all.map(|((policy, receiver, action), since)| LeftDue { policy, receiver, action, since }).collect()
    }

    fn in_order(&self) -> impl Iterator<Item = &Due> {
        self.order.iter()
    }

    fn of(&self, policy: &str) -> Vec<(String, String)> {
        let own = self.order.iter().filter(|(owner, ..)| owner == policy);
        own.map(|(_, receiver, action)| (receiver.clone(), action.clone())).collect()
    }
}

/// Removes the journal of a node, if it is there.
pub(crate) fn remove(state: &Folder, node: &str) -> Result<(), StateError> {
    check_node_name(node)?;
    let Some(folder) = state.open(FOLDER)? else { return Ok(()) };
    folder.remove(&format!("{node}{EXTENSION}"))
}

pub(crate) fn open(state: &Arc<Folder>, node: &str) -> Result<Pending, StateError> {
    check_node_name(node)?;
    let folder = Arc::new(state.make(FOLDER)?);
    let file_name = format!("{node}{EXTENSION}");
    let (is_there, due, damage) = match folder.read(&file_name) {
        Ok(None) => (false, DueList::default(), None),
        Ok(Some(bytes)) => {
            let (due, bad) = parse(&bytes);
            (true, due, bad.map(|bad| bad.in_file(&folder, &file_name)))
        }
        Err(error) if error.is_damage() => (true, DueList::default(), Some(error)),
        Err(error) => return Err(error),
    };
    let set_aside = damage.map(|why| Ok::<_, StateError>((folder.set_aside(&file_name)?, why))).transpose()?;
    let mut pending = Pending { folder, file_name, due, journal: None, failed: None, set_aside, run: String::new() };
    if is_there {
        pending.compact()?;
    }
    Ok(pending)
}

pub(crate) fn left_due(state: &Folder, node: &str) -> Result<Vec<LeftDue>, StateError> {
    check_node_name(node)?;
    let Some(folder) = state.open(FOLDER)? else { return Ok(vec![]) };
    match folder.read(&format!("{node}{EXTENSION}")) {
        Ok(bytes) => Ok(parse(&bytes.unwrap_or_default()).0.into_left()),
        Err(error) if error.is_damage() => Ok(vec![]),
        Err(error) => Err(error),
    }
}

fn line(event: &str, (policy, receiver, action): &Due, run: &str) -> Vec<u8> {
    let mut words = vec![event, policy, receiver, action];
    words.extend(Some(run).filter(|run| !run.is_empty()));
    format!("{}\n", serde_json::json!(words)).into_bytes()
}

/// A damaged line of the journal.
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

/// Reads a journal. An incomplete last line is dropped. Damaged lines are ignored; the second value is the first of them.
fn parse(bytes: &[u8]) -> (DueList, Option<BadLine>) {
    let (mut due, mut bad) = (DueList::default(), None);
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').and_then(|end| bytes.get(..end));
    let lines = whole.into_iter().flat_map(|whole| whole.split(|byte| *byte == b'\n'));
    for (index, text) in lines.enumerate() {
        if let Err(reason) = parse_line(text, &mut due) {
            bad.get_or_insert(BadLine { line: index + 1, reason });
        }
    }
    (due, bad)
}

fn parse_line(text: &[u8], due: &mut DueList) -> Result<(), String> {
    let words: Vec<String> = serde_json::from_slice(text).map_err(|error| error.to_string())?;
    let mut words = words.into_iter();
    let (Some(event), Some(policy), Some(receiver), Some(action), run, None) =
        (words.next(), words.next(), words.next(), words.next(), words.next(), words.next())
    else {
        return Err("a notification has four or five words".into());
    };
    let one = (policy, receiver, action);
    match event.as_str() {
        "due" => due.add(one, run.unwrap_or_default()),
        "done" => due.remove(&one),
        _ => return Err(format!("a notification is `due` or `done`, not {event:?}")),
    };
    Ok(())
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
            ((due, None), Ok(expect)) => assert_eq!(names(&due), expect, "{journal}"),
            ((_, Some(bad)), Err((line, part))) => assert!(bad.line == line && bad.reason.contains(part), "{bad:?}"),
            (got, expect) => panic!("{journal}: {got:?} is not {expect:?}"),
        }
    }

    #[test]
    fn a_damaged_line_takes_no_other_with_it() {
        let (due, bad) = parse(b"[\"due\",\"p\",\"a\",\"x\"]\n\0\0\n[\"due\",\"p\",\"b\",\"x\"]\n");
        assert_eq!((names(&due), bad.unwrap().line), (vec!["p a x".to_owned(), "p b x".to_owned()], 2));
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
        let (due, _) = parse(journal);
        let since = |receiver: &str| due.since(&("p".to_owned(), receiver.to_owned(), "x".to_owned())).to_owned();
        assert_eq!((since("a"), since("b")), ("first".to_owned(), String::new()));
    }

    proptest! {
        /// A killed process has written a prefix of its journal. Every prefix can be read, and gives the same as its complete
        /// lines.
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
            let (read, bad) = parse(&bytes[..cut]);
            prop_assert!(bad.is_none());
            prop_assert_eq!(&names(&read), expect);
        }
    }
}
