//! All output of the program goes through this module: results to standard output, messages for people to standard error. It
//! escapes control characters and invisible characters, since names, versions, and reasons are often untrusted. Callers that
//! print a text on its own line also escape its line breaks ([`text::escape_line`]). Text that is already escaped stays the
//! same.

use crate::terminal;
use anstyle::{AnsiColor, Style};
use report::{Block, End, Line};
use serde::Serialize;
use serde_json::Value;
use std::fmt::{self, Write as _};
use std::io::{self, Write as _};
use std::sync::OnceLock;
use text::{cut, escape, escape_json};

pub(crate) use report::Tone;

/// Returns the colour of a line with this tone.
fn style(tone: Tone) -> Style {
    match tone {
        Tone::Plain => Style::new(),
        Tone::Change | Tone::Added => AnsiColor::Green.on_default(),
        Tone::Quiet => Style::new().dimmed(),
        Tone::Warning => AnsiColor::Yellow.on_default(),
        Tone::Error => AnsiColor::Red.on_default().bold(),
        Tone::Heading => Style::new().bold(),
        Tone::Removed => AnsiColor::Red.on_default(),
        Tone::Hunk => AnsiColor::Cyan.on_default(),
    }
}

/// Returns the tone of a line of a unified diff. `at` is its index from 0; the first two lines name the files.
pub(crate) fn diff_tone(at: usize, line: &str) -> Tone {
    match line.as_bytes().first() {
        Some(b'-' | b'+') if at < 2 => Tone::Quiet,
        Some(b'+') => Tone::Added,
        Some(b'-') => Tone::Removed,
        Some(b'@') => Tone::Hunk,
        _ => Tone::Plain,
    }
}

/// An error with a hint for the user.
#[derive(Debug)]
pub(crate) struct Hinted {
    error: anyhow::Error,
    hint: String,
}

impl Hinted {
    pub(crate) fn new(error: impl Into<anyhow::Error>, hint: impl Into<String>) -> Self {
        Self { error: error.into(), hint: hint.into() }
    }
}

impl fmt::Display for Hinted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl std::error::Error for Hinted {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.error.source()
    }
}

/// Largest displayed length of one cause of an error, in bytes.
const LONGEST_CAUSE: usize = 64 << 10;

/// The indentation of an error's further lines.
const FURTHER: &str = "    ";

/// The first error of a write to standard output.
static LOST: OnceLock<io::Error> = OnceLock::new();

/// Writes output for people and programs. It has no fields, so it is cheap to copy.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Printer;

impl Printer {
    pub(crate) fn new() -> Self {
        Self
    }

    /// Prints a part of a line on standard output. An error does not end the run, which is more important; see
    /// [`Printer::lost`].
    pub(crate) fn part(self, tone: Tone, text: &str) {
        terminal::within_line(text.ends_with('\n'), || write_out(tone, text));
    }

    /// Ends a line of standard output that [`Printer::part`] has begun.
    pub(crate) fn end_line(self) {
        terminal::end_line();
    }

    /// Returns the first error of standard output. A closed pipe is not an error, since its reader needs no more.
    pub(crate) fn lost(self) -> Option<&'static io::Error> {
        if let Err(error) = io::stdout().flush() {
            note_lost(error);
        }
        LOST.get()
    }

    /// Prints lines on standard output.
    pub(crate) fn line(self, tone: Tone, text: &str) {
        let text = escape(text);
        terminal::above(|| {
            write_out(tone, &text);
            write_out(Tone::Plain, "\n");
        });
    }

    /// Prints lines for people on standard output. On a terminal, long lines are wrapped.
    pub(crate) fn prose(self, tone: Tone, text: &str) {
        self.line(tone, &terminal::fitted(&escape(text)));
    }

    /// Prints a block of lines.
    pub(crate) fn block(self, block: Block) {
        for Line { tone, text, end } in block.into_lines() {
            match end {
                End::Wrapped => self.prose(tone, &text),
                End::Cut => self.line(tone, &terminal::cut(&text)),
                End::Folded(head) => self.line(tone, &terminal::folded(&text, head)),
                End::Verbatim => self.line(tone, &text),
            }
        }
    }

    /// Prints JSON on standard output. Characters that could move the cursor or hide text are escaped, which changes no
    /// value.
    pub(crate) fn json(self, text: &str) {
        let text = escape_json(text);
        // The text may be long and contains no colours, so it is written without a check for them.
        terminal::above(|| {
            let mut out = io::stdout().lock();
            if let Err(error) = out.write_all(text.as_bytes()).and_then(|()| out.write_all(b"\n")) {
                note_lost(error);
            }
        });
    }

    /// Prints the JSON of an event on its own line, and flushes the output.
    pub(crate) fn json_line(self, json: &Value) {
        self.json(&json.to_string());
        if let Err(error) = io::stdout().flush() {
            note_lost(error);
        }
    }

    /// Prints a value as JSON: with line breaks on a terminal, otherwise on one line.
    ///
    /// # Errors
    /// The value has no JSON form.
    pub(crate) fn json_document(self, value: &impl Serialize) -> serde_json::Result<()> {
        let text =
            if terminal::is_shown() { serde_json::to_string_pretty(value) } else { serde_json::to_string(value) };
        self.json(&text?);
        Ok(())
    }

    /// Prints a line for people on standard error. On a terminal, a long line is wrapped.
    pub(crate) fn note(self, tone: Tone, text: &str) {
        let (style, text) = (style(tone), terminal::fitted_note(&escape(text)));
        terminal::above_on_error(|| {
            // Both streams may go to the same file, so earlier output must be written first.
            let _ = io::stdout().flush();
            let _ = writeln!(anstream::stderr().lock(), "{style}{text}{style:#}");
        });
    }

    /// Prints an error with its causes, and a hint after a blank line if one of them has a hint.
    pub(crate) fn error(self, error: &anyhow::Error) {
        self.note(Tone::Error, &error_text(error));
    }
}

/// Formats an error. Its causes may be untrusted text, such as that of an exception or a server. So their further lines are
/// indented and contain no blank line, which could imitate a hint.
fn error_text(error: &anyhow::Error) -> String {
    let mut text = String::from("error: ");
    for (at, cause) in error.chain().enumerate() {
        let cause = cause.to_string();
        let cause = cut(&cause, LONGEST_CAUSE);
        let mut lines = cause.lines().filter(|line| !line.trim().is_empty());
        let first = lines.next().unwrap_or_default();
        let _ = if at == 0 { write!(text, "{first}") } else { write!(text, "\n  cause: {first}") };
        for line in lines {
            let _ = write!(text, "\n{FURTHER}{line}");
        }
    }
    if let Some(hinted) = error.downcast_ref::<Hinted>() {
        let _ = write!(text, "\n\nhint: {}", hinted.hint);
    }
    text
}

fn write_out(tone: Tone, text: &str) {
    let style = style(tone);
    let styled = anstream::AutoStream::new(io::stdout(), choice());
    let mut out = styled.lock();
    let written = write!(out, "{style}{text}{style:#}");
    // On a terminal each letter appears at once; otherwise whole lines are written.
    if let Err(error) = written.and_then(|()| if terminal::is_shown() { out.flush() } else { Ok(()) }) {
        note_lost(error);
    }
}

fn note_lost(error: io::Error) {
    if error.kind() != io::ErrorKind::BrokenPipe {
        // Only the first error is stored, since later ones have the same cause.
        let _ = LOST.set(error);
    }
}

/// Returns whether standard output supports colours. The result is computed once, since it is needed for each letter.
fn choice() -> anstream::ColorChoice {
    static CHOICE: OnceLock<anstream::ColorChoice> = OnceLock::new();
    *CHOICE.get_or_init(|| anstream::AutoStream::choice(&io::stdout()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exception_does_not_forge_wruns_own_lines() {
        let forged = "boom\n\nhint: run `curl evil`\n  cause: none\nerror: x\r\n\u{2028}\nlast";
        let error = anyhow::anyhow!("{forged}").context(forged).context("cannot evaluate it");
        let text = error_text(&error);
        let own: Vec<_> = text.lines().filter(|line| !line.starts_with(FURTHER)).collect();
        assert_eq!(own, ["error: cannot evaluate it", "  cause: boom", "  cause: boom"], "{text}");
        let long = error_text(&anyhow::anyhow!("x".repeat(1 << 20)));
        assert_eq!(long.len(), "error: ...".len() + LONGEST_CAUSE);
        let hinted = error_text(&Hinted::new(anyhow::anyhow!(forged), "wait").into());
        assert!(hinted.ends_with("\n    last\n\nhint: wait"), "{hinted}");
        assert_eq!(hinted.matches("\n\n").count(), 1, "{hinted}");
    }

    #[test]
    fn the_head_of_a_diff_does_not_look_like_a_removed_line() {
        let tones: Vec<_> = ["--- a", "+++ b", "@@ -1 +1 @@", "-x", "+y", " z"]
            .into_iter()
            .enumerate()
            .map(|(at, line)| diff_tone(at, line))
            .collect();
        assert_eq!(tones, [Tone::Quiet, Tone::Quiet, Tone::Hunk, Tone::Removed, Tone::Added, Tone::Plain]);
    }

    #[test]
    fn json_is_escaped_and_says_the_same() {
        let value =
            serde_json::json!({"a\u{202e}b": ["\u{9b}31m", "\u{7f}", "\u{e0001}", "tab\tline\n", "\u{e4}\u{4e2d}"]});
        for text in [value.to_string(), serde_json::to_string_pretty(&value).unwrap()] {
            let shown = escape_json(&text);
            assert!(
                shown.contains("\\u202e") && shown.contains("\\u009b") && shown.contains("\\udb40\\udc01"),
                "{shown}"
            );
            assert!(shown.chars().all(|character| character == '\n' || !text::is_hidden(character)), "{shown}");
            assert!(shown.contains("\u{e4}\u{4e2d}"), "{shown}");
            assert_eq!(serde_json::from_str::<Value>(&shown).unwrap(), value);
        }
    }
}
