//! Collects the log lines for the run's JSON: messages of cookbooks and the host from level `info` on, in order.

use contract::{Event, LogLevel, LogSource, Observer};
use serde_json::{Value, json};
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
    /// Bytes and number of the current policy's lines.
    bytes: usize,
    count: usize,
}

impl KeptLog {
    /// The lines so far: `{source, level, message}`.
    pub fn lines(&self) -> Value {
        Value::Array(self.0.lock().unwrap_or_else(PoisonError::into_inner).lines.clone())
    }
}

impl Observer for KeptLog {
    fn notice(&mut self, event: &Event<'_>) {
        let failed;
        let (source, level, line) = match event {
            Event::Log { source, level, line } => (source, *level, *line),
            Event::Printed { level, line, .. } => (&LogSource::Host, *level, *line),
            Event::HandlerFailed { policy, handler, failure } => {
                failed = format!("Handler {handler} of policy {policy} failed: {failure}");
                (&LogSource::Host, LogLevel::Error, failed.as_str())
            }
            Event::PolicyStarted { .. } => {
                let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
                (kept.bytes, kept.count) = (0, 0);
                return;
            }
            _ => return,
        };
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if level < LogLevel::Info || kept.count >= MAX_LINES {
            return;
        }
        let source = match source {
            LogSource::Cookbook => "resource",
            LogSource::Host => "logger",
        };
        let line = json!({ "source": source, "level": level.name(), "message": line });
        let bytes = line.to_string().len();
        if kept.bytes.saturating_add(bytes) <= MAX_BYTES {
            kept.bytes += bytes;
            kept.count += 1;
            kept.lines.push(line);
        }
    }
}
