//! Draws the status line in one row of standard error.

use indicatif::TermLike;
use std::io::{self, Write as _};

/// The row of the status line. indicatif fills it with blanks up to the terminal's last column; these are left out. Otherwise
/// the `^C` that a terminal prints at the cursor would begin another row, and the old row would not be erased.
#[derive(Debug)]
pub(super) struct StatusRow;

impl StatusRow {
    fn moved(count: usize, direction: char) -> io::Result<()> {
        if count == 0 { Ok(()) } else { write!(io::stderr(), "\x1b[{count}{direction}") }
    }
}

impl TermLike for StatusRow {
    fn width(&self) -> u16 {
        rustix::termios::tcgetwinsize(io::stderr()).map_or(0, |size| size.ws_col)
    }

    fn height(&self) -> u16 {
        rustix::termios::tcgetwinsize(io::stderr()).map_or(0, |size| size.ws_row)
    }

    fn move_cursor_up(&self, count: usize) -> io::Result<()> {
        Self::moved(count, 'A')
    }

    fn move_cursor_down(&self, count: usize) -> io::Result<()> {
        Self::moved(count, 'B')
    }

    fn move_cursor_right(&self, count: usize) -> io::Result<()> {
        Self::moved(count, 'C')
    }

    fn move_cursor_left(&self, count: usize) -> io::Result<()> {
        Self::moved(count, 'D')
    }

    fn write_line(&self, text: &str) -> io::Result<()> {
        io::stderr().write_all(format!("{text}\n").as_bytes())
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        let is_filler = !text.is_empty() && text.chars().all(|character| character == ' ');
        if is_filler { Ok(()) } else { io::stderr().write_all(text.as_bytes()) }
    }

    fn clear_line(&self) -> io::Result<()> {
        io::stderr().write_all(b"\r\x1b[2K")
    }

    fn flush(&self) -> io::Result<()> {
        io::stderr().flush()
    }
}
