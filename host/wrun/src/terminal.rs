//! The one way to the terminal. All that the program prints passes [`above`], so that the status line at the bottom is
//! never drawn into somebody's text: it is taken away, the text is written in whole lines, and it is drawn again.
//!
//! Rejected: a status line in standard output's own last line, behind what has been written of an action. Whatever else
//! is printed meanwhile is then drawn into it.

mod status_row;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use rustix::termios::{self, LocalModes};
use status_row::StatusRow;
use std::io::{self, IsTerminal as _, Write};
use std::os::fd::AsFd;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use textwrap::{Options, WordSplitter, WrapAlgorithm};

/// How often the status line moves, so that a long action is seen to go on.
const TICK: Duration = Duration::from_millis(200);

/// The narrowest terminal that lines are wrapped for, in columns.
const NARROWEST: usize = 20;

/// What the lines of a file begin with that a message shows for copying.
const COPIED: &str = "        ";

/// How far the further rows of a wrapped line are indented beyond the first.
const HANGING: usize = 4;

/// Columns of a tab character: lines are wrapped by their width, which a tab does not have.
const TAB: &str = "    ";

struct Door {
    status: Option<ProgressBar>,
    /// Standard output's last line on the terminal is not ended yet.
    open: bool,
}

static DOOR: Mutex<Door> = Mutex::new(Door { status: None, open: false });

fn door() -> MutexGuard<'static, Door> {
    DOOR.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Prints whole lines; the status line is not there meanwhile. The function must not print by another way.
pub(crate) fn above<T>(print: impl FnOnce() -> T) -> T {
    let mut door = door();
    door.end_line();
    door.print(print)
}

/// Prints the beginning or the rest of a line of standard output. Whatever is printed next by [`above`] ends it first.
pub(crate) fn within_line<T>(ends: bool, print: impl FnOnce() -> T) -> T {
    let mut door = door();
    let printed = door.print(print);
    door.open = !ends && is_shown();
    printed
}

/// Ends the row that the terminal has written `^C` into, so that what is printed next begins in its first column, from where its
/// wrapping counts. The status line's row is taken away with all that is in it.
pub(crate) fn end_typed_row() {
    let door = door();
    let echo = LocalModes::ECHO | LocalModes::ECHOCTL;
    let is_echoed = termios::tcgetattr(io::stderr()).is_ok_and(|modes| modes.local_modes.contains(echo));
    if is_echoed && door.status.is_none() && !door.open {
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

/// Shows a status line from now on, if a person watches standard error. Whoever reads standard output through a pipe may
/// draw on the same terminal (`less`, `tee`), at moments that nobody here knows: then there is none.
pub(crate) fn show_status() {
    let mut door = door();
    if door.status.is_some() || !is_watched() || plain_files::is_pipe(io::stdout()) {
        return;
    }
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::term_like_with_hz(Box::new(StatusRow), 5));
    // The elapsed time is the running action's; a number of actions would promise to know how many are to come.
    if let Ok(style) = ProgressStyle::with_template("{spinner} [{elapsed}] {msg}") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(TICK);
    door.status = Some(bar);
}

/// Says what is going on from this moment. The text is one line without control characters.
pub(crate) fn status(text: String) {
    if let Some(status) = &door().status {
        status.reset_elapsed();
        status.set_message(shortened(&text, status_columns()));
    }
}

/// Columns of the status line's text. Beside the clock there is room for the `^C` that a terminal writes behind the line
/// when it is pressed: at the end of a full line it would begin another one.
fn status_columns() -> usize {
    const BESIDE: usize = 24;
    let size = termios::tcgetwinsize(io::stderr()).map_or(0, |size| usize::from(size.ws_col));
    size.saturating_sub(BESIDE).max(NARROWEST)
}

/// The beginning of a text, so many columns wide.
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

/// A status line that says one thing, until this is dropped.
pub(crate) struct Doing;

impl Doing {
    /// Says it at a terminal. The text is one line without control characters.
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

/// Takes the status line away.
pub(crate) fn hide_status() {
    if let Some(status) = door().status.take() {
        status.finish_and_clear();
    }
}

/// Whether a person watches standard error.
pub(crate) fn is_watched() -> bool {
    io::stderr().is_terminal()
}

/// Whether a person watches standard output.
pub(crate) fn is_shown() -> bool {
    use std::sync::OnceLock;
    static SHOWN: OnceLock<bool> = OnceLock::new();
    *SHOWN.get_or_init(|| io::stdout().is_terminal())
}

/// A text as a terminal shows it: each line that is longer than the terminal is wide is wrapped at blanks, if it has any,
/// and its further rows are indented. In pipes and files lines stay as they are.
pub(crate) fn fitted(text: &str) -> String {
    fitted_to(text, columns())
}

/// The same of a text for standard error. Lines that are indented so far are files to be copied, and stay as they are.
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

/// A line as a terminal shows it in one row: the end of a longer one is left out. In pipes and files it stays as it is.
pub(crate) fn cut(line: &str) -> String {
    match columns() {
        Some(columns) => shortened(&line.replace('\t', TAB), columns.max(NARROWEST)),
        None => line.to_owned(),
    }
}

/// Columns of the terminal that standard output is.
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
        // A margin that leaves no room is given up.
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

/// Standard error for the log: each line is written above the status line.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LogStream;

impl Write for LogStream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes).map(|()| bytes.len())
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        above(|| {
            // Both may lead to one file: what was said before comes before.
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
        // Without blanks it is cut.
        check("  aaaaaaaaaabbbbbbbbbbcccccccccc", 20, "  aaaaaaaaaabbbb\n      bbbbbbcccccccc\n      cc");
        // Wide letters take two columns each.
        check(
            "\u{4e2d}\u{4e2d}\u{4e2d}\u{4e2d} \u{4e2d}\u{4e2d}\u{4e2d}\u{4e2d}\u{4e2d}\u{4e2d}\u{4e2d}",
            20,
            "\u{4e2d}\u{4e2d}\u{4e2d}\u{4e2d}\n    \u{4e2d}\u{4e2d}\u{4e2d}\u{4e2d}\u{4e2d}\u{4e2d}\u{4e2d}",
        );
        check("a\tb", 20, "a    b");
        check("first\n\nthird", 20, "first\n\nthird");
        assert_eq!(shortened("execute[a]", 10), "execute[a]");
        assert_eq!(shortened("execute[ab] run", 10), "execute[a\u{2026}");
        assert_eq!(shortened("\u{4e2d}\u{4e2d}\u{4e2d}", 4), "\u{4e2d}\u{2026}");
    }
}
