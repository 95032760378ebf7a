//! The log as the run's JSON has it: what cookbooks and the host said, from `info` on, in order.

use contract::{Event, LogLevel, LogSource, Observer};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, PoisonError};

/// The most lines that are kept; what follows is in the log itself.
const MAX_LINES: usize = 10_000;

/// Keeps the log's lines.
#[derive(Clone, Default)]
pub(crate) struct KeptLog(Arc<Mutex<Vec<Value>>>);

impl KeptLog {
    /// The lines so far: `{source, level, message}`.
    pub(crate) fn lines(&self) -> Value {
        Value::Array(self.0.lock().unwrap_or_else(PoisonError::into_inner).clone())
    }
}

impl Observer for KeptLog {
    fn notice(&mut self, event: &Event<'_>) {
        let failed;
        let (source, level, line) = match event {
            Event::Log { source, level, line } => (source, *level, *line),
            Event::HandlerFailed { policy, handler, failure } => {
                failed = format!("Handler {handler} of policy {policy} failed: {failure}");
                (&LogSource::Host, LogLevel::Error, failed.as_str())
            }
            _ => return,
        };
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if level < LogLevel::Info || lines.len() >= MAX_LINES {
            return;
        }
        let source = match source {
            LogSource::Cookbook => "resource",
            LogSource::Host => "logger",
        };
        lines.push(json!({ "source": source, "level": level.name(), "message": line }));
    }
}
