//! Records the writes to attributes with their origins, also those that were overwritten later.
//!
//! Records are kept per level and path. Of each path the first and the newest records are kept. Equal writes in a row are one
//! record with a count. So a loop in a recipe costs only a few records. A short value is stored in the record; of a long one
//! only the size is. The levels themselves hold the current values.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::Level;
use super::path::{self, Kind, kind_of};
use crate::origin::Origin;

/// Records kept per level and path: the first, and the newest after it.
pub const MAX_RECORDS_PER_PATH: usize = 16;

/// Bytes that the records of one policy may take. Later writes of a policy that exceeds it are not recorded. The attributes
/// themselves are not affected.
pub const MAX_HISTORY_BYTES: usize = 64 * 1024 * 1024;

/// Bytes that a record takes in memory without its texts.
const BYTES_PER_RECORD: usize = 160;

/// Bytes of text up to which a written value is kept in its record.
pub const MAX_KEPT_VALUE_BYTES: usize = 256;

/// The value that a write stored, or its size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WrittenValue {
    /// A number, a boolean, null or a short text, as written.
    Value(Value),
    /// Text of that many bytes.
    LongText(usize),
    /// An array of that many elements.
    Array(usize),
    /// An object with that many keys.
    Object(usize),
    /// A value that is not shown, because the attributes of its level are saved in part only.
    Withheld,
}

impl WrittenValue {
    /// The value itself if it is short, else its size.
    pub fn summary(value: &Value) -> Self {
        match (kind_of(value), value) {
            (Kind::Object, Value::Object(object)) => Self::Object(object.len()),
            (Kind::Array, Value::Array(array)) => Self::Array(array.len()),
            (_, Value::String(text)) if text.len() > MAX_KEPT_VALUE_BYTES => Self::LongText(text.len()),
            (_, value) => Self::Value(value.clone()),
        }
    }
}

/// The kind of change that a record describes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// A value was written.
    Set(WrittenValue),
    /// A value was merged with the level's earlier value: both are parts of the result.
    Joined(WrittenValue),
    /// The attribute was removed.
    Removed,
}

/// One write or removal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WriteRecord {
    /// Place in the order of all writes of this policy, from 0.
    pub sequence: u64,
    /// Where it was written.
    pub level: Level,
    /// The keys that lead to the attribute, outermost first.
    pub path: Vec<String>,
    /// Whether a value was set or removed, and which.
    pub change: Change,
    /// How often the same origin did the same thing in a row; at least 1.
    pub times: u64,
    /// The policy, recipe and line of the write.
    pub origin: Arc<Origin>,
}

/// The records of one policy's writes.
#[derive(Debug, Clone, Default)]
pub struct History {
    by_level_and_path: HashMap<(Level, Vec<String>), Vec<WriteRecord>>,
    origins: HashMap<Origin, Arc<Origin>>,
    next_sequence: u64,
    bytes: usize,
    is_incomplete: bool,
}

/// Histories are equal if their records are: the other fields follow from them.
impl PartialEq for History {
    fn eq(&self, other: &Self) -> bool {
        self.is_incomplete == other.is_incomplete && self.by_level_and_path == other.by_level_and_path
    }
}

impl History {
    /// Bytes that the records take.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether records are missing because the policy wrote more than is kept.
    pub fn is_incomplete(&self) -> bool {
        self.is_incomplete
    }

    /// Returns the records of writes to `path`, to an object around it or to a part of it, in the order of writing.
    pub fn about<Step: AsRef<str>>(&self, path: &[Step]) -> Vec<&WriteRecord> {
        let bears_on = |written: &[String]| written.iter().zip(path).all(|(one, other)| one == other.as_ref());
        let records = self.by_level_and_path.iter().filter(|((_, written), _)| bears_on(written));
        let mut found: Vec<_> = records.flat_map(|(_, records)| records).collect();
        found.sort_by_key(|record| record.sequence);
        found
    }

    /// Every record, in the order of writing.
    pub fn all(&self) -> Vec<&WriteRecord> {
        self.about::<&str>(&[])
    }

    /// Takes over an earlier run's records of writes to `normal`, if the attribute still exists and this run has not written
    /// it. They come before this run's records.
    pub(crate) fn keep_normal_of(&mut self, earlier: &Self, normal: &Map<String, Value>) {
        let is_there = |path: &[String]| {
            let (first, rest) = path.split_first()?;
            path::descend(normal.get(first)?, rest)
        };
        let is_still_true = |record: &WriteRecord| {
            record.level == Level::Normal
                && !self.by_level_and_path.contains_key(&(Level::Normal, record.path.clone()))
                && is_there(&record.path).is_some()
        };
        let kept: Vec<WriteRecord> =
            earlier.all().into_iter().filter(|record| is_still_true(record)).cloned().collect();
        if kept.is_empty() {
            return;
        }
        let own: Vec<WriteRecord> = self.all().into_iter().cloned().collect();
        *self = Self { is_incomplete: self.is_incomplete, ..Self::default() };
        for record in kept.into_iter().chain(own) {
            self.add(record.level, &record.path, record.change, &record.origin, record.times);
        }
    }

    pub(super) fn record<Step: AsRef<str>>(
        &mut self,
        level: Level,
        path: &[Step],
        written: WrittenValue,
        origin: &Origin,
    ) {
        self.add(level, path, Change::Set(written), origin, 1);
    }

    pub(super) fn record_removal<Step: AsRef<str>>(&mut self, level: Level, path: &[Step], origin: &Origin) {
        self.add(level, path, Change::Removed, origin, 1);
    }

    /// Skips one number in the order of writes, for a record that is left out. So later records keep their numbers.
    pub(super) fn skip(&mut self) {
        self.next_sequence = self.next_sequence.saturating_add(1);
    }

    pub(super) fn add<Step: AsRef<str>>(
        &mut self,
        level: Level,
        path: &[Step],
        change: Change,
        origin: &Origin,
        times: u64,
    ) {
        let path: Vec<String> = path.iter().map(|step| step.as_ref().to_owned()).collect();
        let cost = cost_of(&path, &change);
        let Some(origin) = self.shared(origin).filter(|_| self.bytes.saturating_add(cost) <= MAX_HISTORY_BYTES) else {
            self.is_incomplete = true;
            return;
        };
        let sequence = self.next_sequence;
        self.next_sequence = sequence.saturating_add(1);
        let records = self.by_level_and_path.entry((level, path.clone())).or_default();
        match records.last_mut() {
            Some(last) if last.origin == origin && last.change == change => {
                last.times = last.times.saturating_add(times);
                last.sequence = sequence;
            }
            _ => {
                if records.len() >= MAX_RECORDS_PER_PATH {
                    let forgotten = records.remove(1);
                    self.bytes = self.bytes.saturating_sub(cost_of(&forgotten.path, &forgotten.change));
                }
                self.bytes = self.bytes.saturating_add(cost);
                records.push(WriteRecord { sequence, level, path, change, times, origin });
            }
        }
    }

    /// Returns the shared copy of an origin, or `None` if another one would exceed the limit.
    fn shared(&mut self, origin: &Origin) -> Option<Arc<Origin>> {
        if let Some(known) = self.origins.get(origin) {
            return Some(Arc::clone(known));
        }
        let cost = cost_of_origin(origin);
        if self.bytes.saturating_add(cost) > MAX_HISTORY_BYTES {
            return None;
        }
        self.bytes += cost;
        let shared = Arc::new(origin.clone());
        self.origins.insert(origin.clone(), Arc::clone(&shared));
        Some(shared)
    }
}

/// Returns the largest size, in bytes, of the records of one change. A change may remove from all levels before it writes.
pub(super) fn most_bytes(path: &[String], origin: &Origin) -> u64 {
    let records = (Level::ALL.len() + 1) * cost_of(path, &Change::Removed);
    (records + MAX_KEPT_VALUE_BYTES + cost_of_origin(origin)) as u64
}

fn cost_of_origin(origin: &Origin) -> usize {
    let texts = [Some(&origin.policy), origin.cookbook.as_ref(), origin.recipe.as_ref(), origin.file.as_ref()];
    BYTES_PER_RECORD + 2 * texts.into_iter().flatten().map(String::len).sum::<usize>()
}

/// Estimates the bytes that a record takes. Its path is stored twice.
fn cost_of(path: &[String], change: &Change) -> usize {
    let value = match change {
        Change::Set(WrittenValue::Value(Value::String(text))) => text.len(),
        _ => 0,
    };
    let steps: usize = path.iter().map(|step| 2 * (step.len() + size_of::<String>())).sum();
    BYTES_PER_RECORD + steps + value
}
