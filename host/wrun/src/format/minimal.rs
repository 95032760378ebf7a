//! The `minimal` format: a letter per action, then what failed.

use crate::printer::{Printer, Tone, escape, escape_line};
use converge::{Event, Observer, Status};

/// Shows a run in a few lines.
pub(crate) struct Minimal {
    printer: Printer,
}

impl Minimal {
    pub(crate) fn new(printer: Printer) -> Self {
        Self { printer }
    }
}

impl Observer for Minimal {
    fn notice(&mut self, event: &Event<'_>) {
        match event {
            Event::PolicyStarted { policy, .. } => self.printer.out(Tone::Plain, &format!("{}: ", escape_line(policy))),
            Event::ActionFinished { status, .. } => {
                let (tone, letter) = match status {
                    Status::Updated => (Tone::Change, "U"),
                    Status::Failed => (Tone::Error, "F"),
                    Status::Skipped | Status::Bypassed => (Tone::Quiet, "S"),
                    Status::UpToDate | Status::Unprocessed => (Tone::Quiet, "."),
                };
                self.printer.out(tone, letter);
            }
            Event::PolicyFinished { .. } => self.printer.line(Tone::Plain, ""),
            Event::PolicyFailed { failure, .. } => {
                self.printer.line(Tone::Plain, "");
                self.printer.line(Tone::Error, &escape(&format!("{}: {failure}", failure.class())));
                if let Some(hint) = failure.hint() {
                    self.printer.line(Tone::Warning, &escape(&format!("hint: {hint}")));
                }
            }
            Event::RunFinished { failed, updated, total, seconds } => {
                let word = if *failed { "failed" } else { "finished" };
                self.printer.line(Tone::Heading, &format!("run {word} in {seconds:.2} s, {updated}/{total} updated"));
            }
            _ => {}
        }
    }
}
