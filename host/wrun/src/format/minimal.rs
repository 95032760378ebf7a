//! The `minimal` format: one letter per action, and log messages. The recap follows.

use super::doc::{is_panic, shows_printed};
use crate::printer::Printer;
use contract::{Event, LogLevel, Observer, Status};
use report::Tone;
use text::{escape, escape_line};

/// The observer for the `minimal` format.
pub(crate) struct Minimal {
    printer: Printer,
    log_level: LogLevel,
}

impl Minimal {
    pub(crate) fn new(printer: Printer, log_level: LogLevel) -> Self {
        Self { printer, log_level }
    }

    fn letter(&self, tone: Tone, letters: &str) {
        self.printer.part(tone, letters);
    }

    /// Prints a line of its own. The letters go on below it.
    fn line(&self, tone: Tone, text: &str) {
        self.printer.prose(tone, text);
    }
}

impl Observer for Minimal {
    fn notice(&mut self, event: &Event<'_>) {
        match event {
            Event::PolicyStarted { policy, .. } => self.letter(Tone::Plain, &format!("{}: ", escape_line(policy))),
            Event::ActionFinished { status, .. } => {
                let (tone, letter) = match status {
                    Status::Updated => (Tone::Change, "U"),
                    Status::Unknown => (Tone::Warning, "?"),
                    Status::Failed => (Tone::Error, "F"),
                    Status::Interrupted => (Tone::Warning, "I"),
                    Status::Skipped | Status::Bypassed => (Tone::Quiet, "S"),
                    Status::UpToDate | Status::Unprocessed => (Tone::Quiet, "."),
                };
                self.letter(tone, letter);
            }
            // The recap shows panics.
            Event::Log { level, line, .. } if *level >= self.log_level && !is_panic(*level, line) => {
                let tone = if *level >= LogLevel::Warn { Tone::Warning } else { Tone::Plain };
                self.line(tone, &format!("[{}] {}", level.name(), marked(line)));
            }
            Event::Printed { policy, level: LogLevel::Info, line } if shows_printed(self.log_level) => {
                self.line(Tone::Plain, &marked(&format!("[{policy} printed] {line}")));
            }
            Event::Printed { level, line, .. } if *level >= self.log_level => {
                self.line(Tone::Warning, &format!("[{}] {}", level.name(), marked(line)));
            }
            Event::PolicyFinished { .. } | Event::PolicyFailed { .. } => self.printer.end_line(),
            Event::HandlerFailed { policy, handler, failure } => {
                let text = format!("handler {handler} of policy {policy} failed: {failure}");
                self.line(Tone::Warning, &marked(&text));
            }
            _ => {}
        }
    }
}

/// Indents the further lines of a cookbook's text, so that they do not look like wrun's own lines.
fn marked(text: &str) -> String {
    escape(text).replace('\n', "\n    | ")
}
