//! Things that a run has to tell beside its outcome: each is a block of lines before the recap.

use crate::printer::{Printer, Tone};
use crate::terminal;
use text::escape_line;

/// Lines that belong together. Each is escaped when it is printed.
pub(crate) struct Block(Vec<Line>);

struct Line {
    tone: Tone,
    text: String,
    end: End,
}

/// What happens to a line that is longer than the terminal is wide.
enum End {
    /// It goes on in the next row.
    Wrapped,
    /// Its end is left out: source code that is broken elsewhere reads as other code.
    Cut,
    /// Nothing: people copy it from the screen.
    Verbatim,
}

impl Block {
    /// A block that begins with this line.
    pub(crate) fn new(tone: Tone, heading: impl Into<String>) -> Self {
        Self(vec![Line { tone, text: heading.into(), end: End::Wrapped }])
    }

    /// The same with one more line, which brings its own margin.
    #[must_use]
    pub(crate) fn line(mut self, tone: Tone, line: impl Into<String>) -> Self {
        self.0.push(Line { tone, text: line.into(), end: End::Wrapped });
        self
    }

    /// The same with one more line that people copy: it is never broken.
    #[must_use]
    pub(crate) fn verbatim(mut self, tone: Tone, line: impl Into<String>) -> Self {
        self.0.push(Line { tone, text: line.into(), end: End::Verbatim });
        self
    }

    /// The same with one more line of source code, whose end is left out where the terminal is too narrow for it.
    #[must_use]
    pub(crate) fn code(mut self, tone: Tone, line: impl Into<String>) -> Self {
        self.0.push(Line { tone, text: line.into(), end: End::Cut });
        self
    }

    /// The same with more lines, all with this margin.
    #[must_use]
    pub(crate) fn lines<'a>(self, tone: Tone, margin: &str, lines: impl IntoIterator<Item = &'a str>) -> Self {
        lines.into_iter().fold(self, |block, line| block.line(tone, format!("{margin}{line}")))
    }

    /// Prints it.
    pub(crate) fn show(&self, printer: Printer) {
        for Line { tone, text, end } in &self.0 {
            let text = escape_line(text).replace("\\t", "\t");
            match end {
                End::Wrapped => printer.prose(*tone, &text),
                End::Cut => printer.line(*tone, &terminal::cut(&text)),
                End::Verbatim => printer.line(*tone, &text),
            }
        }
    }

    /// The lines as they are without a terminal.
    #[cfg(test)]
    pub(crate) fn text(&self) -> String {
        self.0.iter().map(|line| escape_line(&line.text)).collect::<Vec<_>>().join("\n")
    }
}
