//! Things that a run has to tell beside its outcome: each is a block of lines before the recap.

use crate::printer::{Printer, Tone};
use text::escape_line;

/// Lines that belong together. Each is escaped when it is printed.
pub(crate) struct Block(Vec<Line>);

struct Line {
    tone: Tone,
    text: String,
    /// It is broken where the terminal's width ends; not so what people copy from the screen.
    wrapped: bool,
}

impl Block {
    /// A block that begins with this line.
    pub(crate) fn new(tone: Tone, heading: impl Into<String>) -> Self {
        Self(vec![Line { tone, text: heading.into(), wrapped: true }])
    }

    /// The same with one more line, which brings its own margin.
    #[must_use]
    pub(crate) fn line(mut self, tone: Tone, line: impl Into<String>) -> Self {
        self.0.push(Line { tone, text: line.into(), wrapped: true });
        self
    }

    /// The same with one more line that people copy: it is never broken.
    #[must_use]
    pub(crate) fn verbatim(mut self, tone: Tone, line: impl Into<String>) -> Self {
        self.0.push(Line { tone, text: line.into(), wrapped: false });
        self
    }

    /// The same with more lines, all with this margin.
    #[must_use]
    pub(crate) fn lines<'a>(self, tone: Tone, margin: &str, lines: impl IntoIterator<Item = &'a str>) -> Self {
        lines.into_iter().fold(self, |block, line| block.line(tone, format!("{margin}{line}")))
    }

    /// Prints it.
    pub(crate) fn show(&self, printer: Printer) {
        for Line { tone, text, wrapped } in &self.0 {
            let text = escape_line(text).replace("\\t", "\t");
            if *wrapped { printer.prose(*tone, &text) } else { printer.line(*tone, &text) }
        }
    }

    /// The lines as they are without a terminal.
    #[cfg(test)]
    pub(crate) fn text(&self) -> String {
        self.0.iter().map(|line| escape_line(&line.text)).collect::<Vec<_>>().join("\n")
    }
}
