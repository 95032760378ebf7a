//! Blocks of lines for the terminal: each is one part of a run's report before the recap.

use text::escape_line;

/// The meaning of a line. It is never shown by colour alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// A line like any other.
    Plain,
    /// The machine was changed, or would be.
    Change,
    /// An expected result that needs no attention.
    Quiet,
    /// A warning that somebody should look at.
    Warning,
    /// An error, such as a failed policy.
    Error,
    /// A heading of the lines that follow.
    Heading,
    /// A line of a diff that is new.
    Added,
    /// A line of a diff that is gone.
    Removed,
    /// The place of a diff's lines in the file.
    Hunk,
}

/// Lines that belong together.
pub struct Block(Vec<Line>);

/// A line of a block.
pub struct Line {
    /// The meaning, from which the formatter takes a colour.
    pub tone: Tone,
    /// The text to show, already escaped.
    pub text: String,
    /// What happens to the line if it is too long for the terminal.
    pub end: End,
}

/// The treatment of a line that is longer than the terminal is wide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// It goes on in the next row.
    Wrapped,
    /// Its end is cut off: wrapped source code could be misread.
    Cut,
    /// It goes on in the next rows, below its own beginning of so many columns, with the sign of a margin before it: source
    /// code that is shown whole, wherever in the line the error is.
    Folded(usize),
    /// It is not changed, because people copy it from the screen.
    Verbatim,
}

impl Block {
    /// A block that begins with this line.
    pub fn new(tone: Tone, heading: impl Into<String>) -> Self {
        Self(vec![Line { tone, text: heading.into(), end: End::Wrapped }])
    }

    /// Adds a line, which has its own margin.
    #[must_use]
    pub fn line(mut self, tone: Tone, line: impl Into<String>) -> Self {
        self.0.push(Line { tone, text: line.into(), end: End::Wrapped });
        self
    }

    /// Adds a line that people copy, so it is never broken.
    #[must_use]
    pub fn verbatim(mut self, tone: Tone, line: impl Into<String>) -> Self {
        self.0.push(Line { tone, text: line.into(), end: End::Verbatim });
        self
    }

    /// Adds a line of source code. Its end is cut off if the terminal is too narrow.
    #[must_use]
    pub fn code(mut self, tone: Tone, line: impl Into<String>) -> Self {
        self.0.push(Line { tone, text: line.into(), end: End::Cut });
        self
    }

    /// Adds the line of source code that an error is in. `head` is the number of columns before the sign of its margin.
    #[must_use]
    pub fn whole_code(mut self, tone: Tone, head: usize, line: impl Into<String>) -> Self {
        self.0.push(Line { tone, text: line.into(), end: End::Folded(head) });
        self
    }

    /// Adds several lines, all with this margin.
    #[must_use]
    pub fn lines<'a>(self, tone: Tone, margin: &str, lines: impl IntoIterator<Item = &'a str>) -> Self {
        lines.into_iter().fold(self, |block, line| block.line(tone, format!("{margin}{line}")))
    }

    /// Returns the lines, escaped but for tabulators.
    pub fn into_lines(self) -> impl Iterator<Item = Line> {
        let escaped = |text: &str| escape_line(text).replace("\\t", "\t");
        self.0.into_iter().map(move |line| Line { text: escaped(&line.text), ..line })
    }

    /// Returns the lines as plain text, without a terminal.
    #[cfg(test)]
    pub fn text(&self) -> String {
        self.0.iter().map(|line| escape_line(&line.text)).collect::<Vec<_>>().join("\n")
    }
}
