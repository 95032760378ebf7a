//! Things that a run has to tell beside its outcome: each is a block of lines before the recap.

use crate::printer::{Printer, Tone, escape_line};

/// Lines that belong together. Each is escaped when it is printed.
pub(crate) struct Block(Vec<(Tone, String)>);

impl Block {
    /// A block that begins with this line.
    pub(crate) fn new(tone: Tone, heading: impl Into<String>) -> Self {
        Self(vec![(tone, heading.into())])
    }

    /// The same with one more line, which brings its own margin.
    #[must_use]
    pub(crate) fn line(mut self, tone: Tone, line: impl Into<String>) -> Self {
        self.0.push((tone, line.into()));
        self
    }

    /// The same with more lines, all with this margin.
    #[must_use]
    pub(crate) fn lines<'a>(self, tone: Tone, margin: &str, lines: impl IntoIterator<Item = &'a str>) -> Self {
        lines.into_iter().fold(self, |block, line| block.line(tone, format!("{margin}{line}")))
    }

    /// Prints it.
    pub(crate) fn show(&self, printer: Printer) {
        for (tone, line) in &self.0 {
            printer.prose(*tone, &escape_line(line).replace("\\t", "\t"));
        }
    }
}
