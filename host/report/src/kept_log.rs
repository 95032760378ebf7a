//! Collects the log lines for the run's JSON: messages of cookbooks and the host from level `info` on, in order.

use crate::events::{PRINTED, logged, source_name};
use contract::{Event, LogLevel, LogSource, Observer};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Largest number of lines of one policy. Later lines are only in the log itself.
const MAX_LINES: usize = 10_000;

/// Largest size of the written lines of one policy, in bytes. Later lines are only in the log itself.
const MAX_BYTES: usize = 4 << 20;

/// Keeps the log's lines.
#[derive(Clone, Default)]
pub struct KeptLog(Arc<Mutex<Kept>>);

#[derive(Default)]
struct Kept {
    lines: Vec<Value>,
    /// What has been kept of each policy, by its name. The lines of the run as a whole are under the empty name.
    of_policy: BTreeMap<String, Tally>,
}

/// Bytes and number of the kept lines of one policy.
#[derive(Default)]
struct Tally {
    bytes: usize,
    count: usize,
}

impl KeptLog {
    /// The lines so far: `{policy, source, level, message}`.
    pub fn lines(&self) -> Value {
        Value::Array(self.0.lock().unwrap_or_else(PoisonError::into_inner).lines.clone())
    }
}

impl Observer for KeptLog {
    fn notice(&mut self, event: &Event<'_>) {
        let failed;
        let (policy, source, level, line) = match event {
            Event::Log { policy, source, level, line } => (*policy, source_name(*source), *level, *line),
            Event::Printed { policy, level, line } => (Some(*policy), PRINTED, *level, *line),
            Event::HandlerFailed { policy, handler, failure } => {
                failed = format!("Handler {handler} of policy {policy} failed: {failure}");
                (Some(*policy), source_name(LogSource::Host), LogLevel::Error, failed.as_str())
            }
            _ => return,
        };
        if level < LogLevel::Info {
            return;
        }
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Kept { lines, of_policy } = &mut *kept;
        let tally = of_policy.entry(policy.unwrap_or_default().to_owned()).or_default();
        if tally.count >= MAX_LINES {
            return;
        }
        let line = logged(policy, source, level, line);
        let bytes = line.to_string().len();
        if tally.bytes.saturating_add(bytes) <= MAX_BYTES {
            tally.bytes += bytes;
            tally.count += 1;
            lines.push(line);
        }
    }
}
