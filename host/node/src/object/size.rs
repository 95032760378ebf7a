//! Measures how many bytes of the saved node belong to one policy.
//!
//! The size in memory does not tell the size on disk: a control character is one byte in memory and six in JSON, the saved
//! node has a policy's levels twice, and additions to `normal` stay over several runs. So the host measures a policy's
//! attributes as JSON before it takes them over. A policy that leaves too much fails, and none of its attributes are saved. A
//! saved node is never too large to be read again.

use std::io;

use serde_json::{Map, Value, json};

use super::{NodeObject, ObjectError, PolicyRecord};

/// Bytes that the levels of one policy may take in the saved node, where they stand twice: by themselves and merged.
pub const MAX_SAVED_BYTES: u64 = 16 << 20;

/// Bytes that one policy may have added to `normal`, in all runs together.
pub const MAX_NORMAL_BYTES: u64 = 4 << 20;

/// Bytes of the records of one policy's writes. Those that do not fit are left out: they only explain.
pub(super) const MAX_HISTORY_BYTES: u64 = 4 << 20;

/// Nesting depth of a policy's levels in the saved file. Each of their lines is indented by this many steps more.
const INDENTED: u64 = 5;

/// A writer that only counts bytes and lines, up to a limit.
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

/// Returns the number of bytes that a value takes in the saved node, or `None` if it is more than `limit`.
pub fn written_bytes(value: &Value, limit: u64) -> Option<u64> {
    let mut counter = Counter { limit, ..Counter::default() };
    serde_json::to_writer_pretty(&mut counter, value).ok()?;
    Some(counter.total())
}

impl NodeObject {
    /// Checks the size of a policy's attributes, and returns the bytes of its own part of `normal`, which is `own`.
    pub(super) fn check_size(
        &self,
        record: &PolicyRecord,
        own: Option<&Map<String, Value>>,
    ) -> Result<u64, ObjectError> {
        let hidden = [record.hidden_inherited.to_saved(), record.hidden_normal.to_saved()];
        let levels = json!([record.default, record.r#override, hidden]);
        if written_bytes(&levels, MAX_SAVED_BYTES / 2).is_none() {
            return Err(ObjectError::PolicyTooLarge { limit: MAX_SAVED_BYTES });
        }
        let size = |own: Option<&Map<String, Value>>| {
            own.map_or(0, |own| written_bytes(&json!(own), u64::MAX).unwrap_or(u64::MAX))
        };
        let before = size(self.normal.own(record.name.as_deref().unwrap_or_default()));
        let after = size(own);
        // A policy that is over the limit already is not refused if it does not add more.
        if after > MAX_NORMAL_BYTES && after > before {
            return Err(ObjectError::NormalTooLarge { limit: MAX_NORMAL_BYTES });
        }
        Ok(after)
    }
}
