//! How much of the saved node is one policy's, counted as it is written.
//!
//! In memory a control character is one byte, in JSON it is six; a policy's levels stand in the saved node twice; and what
//! several runs add to `normal` stays. So what a policy leaves is measured as JSON before it is taken over, and a policy that
//! leaves too much fails, with none of its attributes kept. What was saved is never too large to be read again.

use std::io;

use serde_json::{Map, Value, json};

use super::{NodeObject, ObjectError, PolicyRecord};

/// Bytes that the levels of one policy may take in the saved node, where they stand twice: by themselves and merged.
pub const MAX_SAVED_BYTES: u64 = 16 << 20;

/// Bytes that one policy may have added to `normal`, in all runs together.
pub const MAX_NORMAL_BYTES: u64 = 4 << 20;

/// Bytes of the records of one policy's writes. Those that do not fit are left out: they only explain.
pub(super) const MAX_HISTORY_BYTES: u64 = 4 << 20;

/// How deep the levels of a policy stand in the saved file: each line is indented by as many steps more.
const INDENTED: u64 = 5;

/// Counts what is written.
#[derive(Default)]
struct Counter {
    bytes: u64,
    lines: u64,
    limit: u64,
}

impl Counter {
    fn total(&self) -> u64 {
        self.bytes.saturating_add(self.lines.saturating_mul(2 * INDENTED))
    }
}

impl io::Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes = self.bytes.saturating_add(bytes.len() as u64);
        self.lines = self.lines.saturating_add(bytes.iter().filter(|byte| **byte == b'\n').count() as u64);
        if self.total() > self.limit { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(bytes.len()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The bytes of a value as the saved node has it. `None`: more than `limit`.
pub fn written_bytes(value: &Value, limit: u64) -> Option<u64> {
    let mut counter = Counter { limit, ..Counter::default() };
    serde_json::to_writer_pretty(&mut counter, value).ok()?;
    Some(counter.total())
}

impl NodeObject {
    /// Checks what a policy leaves, and returns how many bytes of `normal` it has written in all runs. `own` is its part
    /// of `normal`.
    pub(super) fn check_size(
        &self,
        record: &PolicyRecord,
        own: Option<&Map<String, Value>>,
    ) -> Result<u64, ObjectError> {
        let levels = json!([record.default, record.r#override]);
        if written_bytes(&levels, MAX_SAVED_BYTES / 2).is_none() {
            return Err(ObjectError::PolicyTooLarge { limit: MAX_SAVED_BYTES });
        }
        let size = |own: Option<&Map<String, Value>>| {
            own.map_or(0, |own| written_bytes(&json!(own), u64::MAX).unwrap_or(u64::MAX))
        };
        let before = size(self.normal.own(record.name.as_deref().unwrap_or_default()));
        let after = size(own);
        // A policy that leaves less than it found is not refused for what it left before.
        if after > MAX_NORMAL_BYTES && after > before {
            return Err(ObjectError::NormalTooLarge { limit: MAX_NORMAL_BYTES });
        }
        Ok(after)
    }
}
