//! Access to the terminal. All output goes through [`above`], so that the status line at the bottom never mixes with other
//! text: it is erased, the text is written in whole lines, and it is drawn again.
//!
//! Rejected alternative: a status line in the last line of standard output, after the written part of an action. Other output
//! would then be written into it.

mod status_row;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use rustix::termios::{self, LocalModes};
use status_row::StatusRow;
use std::io::{self, IsTerminal as _, Write};
use std::os::fd::AsFd;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use textwrap::{Options, WordSplitter, WrapAlgorithm};

/// Time between two updates of the status line, which show that a long action is still running.
const TICK: Duration = Duration::from_millis(200);

/// Smallest terminal width at which lines are wrapped, in columns.
const NARROWEST: usize = 20;

/// The indentation of file content that a message shows for copying.
const COPIED: &str = "        ";

/// The additional indentation of the further rows of a wrapped line.
const HANGING: usize = 4;

/// The most rows that one line of code is shown in. A cookbook chooses how long its lines are.
const MAX_FOLDED: usize = 8;

/// The replacement for a tab character. Wrapping needs a fixed width, which a tab does not have.
const TAB: &str = "    ";

struct Door {
    status: Option<ProgressBar>,
    /// Whether the last line of standard output is unfinished.
    open: bool,
}

static DOOR: Mutex<Door> = Mutex::new(Door { status: None, open: false });

fn door() -> MutexGuard<'static, Door> {
    DOOR.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Prints whole lines while the status line is hidden. `print` must not call this module again.
pub(crate) fn above<T>(print: impl FnOnce() -> T) -> T {
    let mut door = door();
    door.end_line();
    door.print(print)
}

/// Prints whole lines of standard error while the status line is hidden. They end an unfinished line of standard output if both
/// streams go to the same place. `print` must not call this module again.
pub(crate) fn above_on_error<T>(print: impl FnOnce() -> T) -> T {
    let mut door = door();
    if is_one_place() {
        door.end_line();
    }
    door.print(print)
}

/// Prints the beginning or the rest of a line of standard output. The next output through [`above`] ends the line first.
pub(crate) fn within_line<T>(ends: bool, print: impl FnOnce() -> T) -> T {
    let mut door = door();
    let printed = door.print(print);
    door.open = !ends;
    printed
}

/// Ends the line of standard output if it is unfinished.
pub(crate) fn end_line() {
    door().end_line();
}

/// Ends the row that the terminal has written `^C` into, so that what is printed next begins in its first column, from where its
/// wrapping counts. The status line's row is taken away with all that is in it.
pub(crate) fn end_typed_row() {
    let door = door();
    let echo = LocalModes::ECHO | LocalModes::ECHOCTL;
    let is_echoed = termios::tcgetattr(io::stderr()).is_ok_and(|modes| modes.local_modes.contains(echo));
    if is_echoed && door.status.is_none() && !(door.open && is_shown()) {
        let _ = io::stderr().write_all(b"\n");
    }
}

impl Door {
    fn end_line(&mut self) {
        if std::mem::take(&mut self.open) {
            let _ = writeln!(io::stdout());
            let _ = io::stdout().flush();
        }
    }

    fn print<T>(&self, print: impl FnOnce() -> T) -> T {
        match &self.status {
            Some(status) => status.suspend(print),
            None => print(),
        }
    }
}

/// Shows a status line from now on, if standard error is a terminal. It shows none if standard output is a pipe: its reader
/// (`less`, `tee`) may draw on the same terminal at any time.
pub(crate) fn show_status() {
    let mut door = door();
    if door.status.is_some() || !is_watched() || plain_files::is_pipe(io::stdout()) {
        return;
    }
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::term_like_with_hz(Box::new(StatusRow), 5));
    // The elapsed time is that of the running action. A count of actions would suggest that the total is known.
    if let Ok(style) = ProgressStyle::with_template("{spinner} [{elapsed}] {msg}") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(TICK);
    door.status = Some(bar);
}

/// Sets the text of the status line. It must be one line without control characters.
pub(crate) fn status(text: String) {
    if let Some(status) = &door().status {
        status.reset_elapsed();
        status.set_message(shortened(&text, status_columns()));
    }
}

/// Returns the width of the status line's text, in columns. It leaves space for the clock and for the `^C` that a terminal
/// prints when it is pressed. At the end of a full line, `^C` would begin another line.
fn status_columns() -> usize {
    const BESIDE: usize = 24;
    let size = termios::tcgetwinsize(io::stderr()).map_or(0, |size| usize::from(size.ws_col));
    size.saturating_sub(BESIDE).max(NARROWEST)
}

/// Shortens a text to a number of columns.
fn shortened(text: &str, columns: usize) -> String {
    if textwrap::core::display_width(text) <= columns {
        return text.to_owned();
    }
    let mut room = columns.saturating_sub(1);
    let mut short = String::new();
    for character in text.chars() {
        let width = textwrap::core::display_width(character.encode_utf8(&mut [0; 4]));
        if width > room {
            break;
        }
        room -= width;
        short.push(character);
    }
    short.push('\u{2026}');
    short
}

/// Shows a status line with a fixed text until it is dropped.
pub(crate) struct Doing;

impl Doing {
    /// Shows the text in the status line. It must be one line without control characters.
    pub(crate) fn say(text: String) -> Self {
        show_status();
        status(text);
        Self
    }
}

impl Drop for Doing {
    fn drop(&mut self) {
        hide_status();
    }
}

/// Removes the status line.
pub(crate) fn hide_status() {
    if let Some(status) = door().status.take() {
        status.finish_and_clear();
    }
}

/// Returns whether standard error is a terminal.
pub(crate) fn is_watched() -> bool {
    io::stderr().is_terminal()
}

/// Returns whether standard output is a terminal.
pub(crate) fn is_shown() -> bool {
    use std::sync::OnceLock;
    static SHOWN: OnceLock<bool> = OnceLock::new();
    *SHOWN.get_or_init(|| io::stdout().is_terminal())
}

/// Returns whether standard output and standard error go to the same terminal, pipe or file.
fn is_one_place() -> bool {
    use std::sync::OnceLock;
    static ONE: OnceLock<bool> = OnceLock::new();
    *ONE.get_or_init(|| plain_files::is_same(io::stdout(), io::stderr()))
}

/// Wraps the lines of a text that are longer than the terminal's width, at blanks if possible. Further rows are indented. For
/// pipes and files the text stays the same.
pub(crate) fn fitted(text: &str) -> String {
    fitted_to(text, columns())
}

/// Does the same as [`fitted`] for standard error. Lines that are indented like files to be copied stay the same.
pub(crate) fn fitted_note(text: &str) -> String {
    let Some(columns) = columns_of(io::stderr()).filter(|_| is_watched()) else { return text.to_owned() };
    let fitted = |line: &str| if line.starts_with(COPIED) { line.to_owned() } else { wrapped(line, columns) };
    text.split('\n').map(fitted).collect::<Vec<_>>().join("\n")
}

fn fitted_to(text: &str, columns: Option<usize>) -> String {
    match columns {
        Some(columns) => wrapped(text, columns),
        None => text.to_owned(),
    }
}

/// Shortens a line to one row of the terminal. For pipes and files the line stays the same.
pub(crate) fn cut(line: &str) -> String {
    match columns() {
        Some(columns) => shortened(&line.replace('\t', TAB), columns.max(NARROWEST)),
        None => line.to_owned(),
    }
}

/// Breaks a line of code into rows of the terminal, at any letter. The further rows begin below `head` columns of the first one,
/// with the sign of a margin. For pipes and files the line stays the same.
pub(crate) fn folded(line: &str, head: usize) -> String {
    match columns() {
        Some(columns) => folded_to(&line.replace('\t', TAB), head, columns.max(NARROWEST)),
        None => line.to_owned(),
    }
}

fn folded_to(line: &str, head: usize, columns: usize) -> String {
    let margin = format!("{}| ", " ".repeat(head));
    let (mut rows, mut used) = (vec![String::new()], 0);
    for character in line.chars() {
        let width = textwrap::core::display_width(character.encode_utf8(&mut [0; 4]));
        if used + width > columns && used > margin.len() {
            if rows.len() == MAX_FOLDED {
                rows.push(format!("{margin}\u{2026}"));
                break;
            }
            rows.push(margin.clone());
            used = margin.len();
        }
        used += width;
        if let Some(row) = rows.last_mut() {
            row.push(character);
        }
    }
    rows.join("\n")
}

/// Returns the width of the terminal in columns, or `None` if standard output is not a terminal.
pub(crate) fn columns() -> Option<usize> {
    if is_shown() { columns_of(io::stdout()) } else { None }
}

fn columns_of(terminal: impl AsFd) -> Option<usize> {
    let size = termios::tcgetwinsize(terminal).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

fn wrapped(text: &str, columns: usize) -> String {
    let columns = columns.max(NARROWEST);
    let lines = text.split('\n').map(|line| {
        let line = line.replace('\t', TAB);
        if textwrap::core::display_width(&line) <= columns {
            return line;
        }
        let body = line.trim_start_matches(' ');
        // The indentation is limited, so that it leaves space for the text.
        let margin = " ".repeat((line.len() - body.len()).min(columns / 3));
        let hanging = format!("{margin}{}", " ".repeat(HANGING));
        let options = Options::new(columns)
            .initial_indent(&margin)
            .subsequent_indent(&hanging)
            .word_splitter(WordSplitter::NoHyphenation)
            .wrap_algorithm(WrapAlgorithm::FirstFit);
        textwrap::wrap(body, options).join("\n")
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Writes the log to standard error. Each line is written above the status line.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LogStream;

impl Write for LogStream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes).map(|()| bytes.len())
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        above_on_error(|| {
            // Both streams may go to the same file, so earlier output must be written first.
            let _ = io::stdout().flush();
            io::stderr().write_all(bytes)
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_wrapped_with_their_margin_and_short_ones_stay() {
        let check = |text: &str, columns: usize, expected: &str| assert_eq!(wrapped(text, columns), expected, "{text}");
        check("    * short", 60, "    * short");
        check("    - one two three four five", 24, "    - one two three four\n        five");
        // A text without blanks is split.
        check("  aaaaaaaaaabbbbbbbbbbcccccccccc", 20, "  aaaaaaaaaabbbb\n      bbbbbbcccccccc\n      cc");
        // Wide letters take two columns each.
        check(
            "\u{4e2d}\u{4e2d}\u{4e2d}\u{4e2d} \u{4e2d}\u{4e2d}\u{4e2d}\u{4e2d}\u{4e2d}\u{4e2d}\u{4e2d}",
            20,
            "\u{4e2d}\u{4e2d}\u{4e2d}\u{4e2d}\n    \u{4e2d}\u{4e2d}\u{4e2d}\u{4e2d}\u{4e2d}\u{4e2d}\u{4e2d}",
        );
        check("a\tb", 20, "a    b");
        let code = "    >   12 | raise 'one two'";
        assert_eq!(folded_to(code, 11, 40), code);
        assert_eq!(folded_to(code, 11, 22), "    >   12 | raise 'on\n           | e two'");
        let cut = folded_to(&format!("> 1 | {}", "x".repeat(1000)), 4, 20);
        assert!(cut.lines().count() == MAX_FOLDED + 1 && cut.ends_with("\n    | \u{2026}"), "{cut}");
        check("first\n\nthird", 20, "first\n\nthird");
        assert_eq!(shortened("execute[a]", 10), "execute[a]");
        assert_eq!(shortened("execute[ab] run", 10), "execute[a\u{2026}");
        assert_eq!(shortened("\u{4e2d}\u{4e2d}\u{4e2d}", 4), "\u{4e2d}\u{2026}");
    }
}
