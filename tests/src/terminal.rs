//! Simulates a user at a terminal: runs the program on a pseudo-terminal and keeps the screen that it draws.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::num::NonZero;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::fs::OpenOptionsExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use nix::fcntl::OFlag;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::pty::{grantpt, posix_openpt, ptsname_r, unlockpt};
use rustix::termios::Winsize;

use crate::program::Program;

/// Number of rows of the screen. They are enough for a whole test, so that nothing scrolls away.
const ROWS: u16 = 400;

/// Time limit for all waits. A working test never waits so long, even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(300);

/// The program in the foreground of its own terminal.
pub struct Terminal {
    keyboard: File,
    screen: vt100::Parser,
    child: Child,
    /// Whether a drawn row was erased again.
    erased: bool,
}

/// The escape sequence that erases a row of a terminal.
const ERASE_ROW: &[u8] = b"\x1b[2K";

impl Terminal {
    /// Starts the program on a terminal with a number of columns. `TERM` is that of xterm, and colours are allowed.
    pub fn start(program: &Program, columns: u16, arguments: &[&str]) -> Result<Self> {
        Self::start_with(program, columns, arguments, &[])
    }

    /// The same with another program between standard output and the terminal, as in `wrun .. | cat`.
    pub fn start_piped(program: &Program, columns: u16, arguments: &[&str]) -> Result<Self> {
        Self::start_with(program, columns, arguments, &["sh", "-c", "\"$@\" | cat", "sh"])
    }

    fn start_with(program: &Program, columns: u16, arguments: &[&str], before: &[&str]) -> Result<Self> {
        let (keyboard, terminal) = pair(columns).context("cannot open a pseudo-terminal")?;
        // `setsid` makes this the controlling terminal, so that keys send signals. The parent process of the tests may ignore
        // some signals, so these are reset.
        let mut command = Command::new("setsid");
        command.args(["--ctty", "env", "--default-signal=HUP,INT,TERM"]).args(before);
        command.arg(program.executable()).args(arguments);
        command.env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").envs(program.environment());
        command.env_remove("NO_COLOR").env_remove("COLUMNS").env("TERM", "xterm-256color");
        let [input, output, errors] = [terminal.try_clone()?, terminal.try_clone()?, terminal];
        command.stdin(Stdio::from(input)).stdout(Stdio::from(output)).stderr(Stdio::from(errors));
        let child = command.spawn().context("cannot start the program on a terminal")?;
        // The command holds the other end of the terminal. It is dropped here, so that the end of the output is noticed.
        drop(command);
        let [rows, columns] = [ROWS, columns].map(|length| NonZero::new(length).unwrap_or(NonZero::<u16>::MIN));
        Ok(Self { keyboard, screen: vt100::Parser::new(rows, columns, 0), child, erased: false })
    }

    /// Returns the process ID of the program.
    #[must_use]
    pub fn process(&self) -> u32 {
        self.child.id()
    }

    /// Returns the current screen of the terminal.
    #[must_use]
    pub fn screen(&self) -> &vt100::Screen {
        self.screen.screen()
    }

    /// Returns the screen's rows up to the last non-empty one, without trailing blanks.
    #[must_use]
    pub fn rows(&self) -> Vec<String> {
        let screen = self.screen();
        let rows = screen.rows(0, screen.size().1.get()).map(|row| row.trim_end().to_owned());
        let mut rows: Vec<_> = rows.collect();
        while rows.last().is_some_and(String::is_empty) {
            rows.pop();
        }
        rows
    }

    /// Returns whether a row was erased, like that of the status line. An escape sequence that is split between two reads is
    /// not detected.
    #[must_use]
    pub fn has_erased(&self) -> bool {
        self.erased
    }

    /// Returns the first row that the terminal itself wrapped in the middle of a word.
    #[must_use]
    pub fn torn_row(&self) -> Option<String> {
        let screen = self.screen();
        let torn = (0..ROWS).find(|row| screen.row_wrapped(*row))?;
        screen.rows(0, screen.size().1.get()).nth(usize::from(torn))
    }

    /// Returns whether the terminal echoes typed keys.
    pub fn shows_keys(&self) -> Result<bool> {
        let modes = rustix::termios::tcgetattr(&self.keyboard).context("the terminal is gone")?;
        Ok(modes.local_modes.contains(rustix::termios::LocalModes::ECHO))
    }

    /// Types some keys into the terminal.
    pub fn press(&mut self, keys: &str) -> Result<()> {
        self.keyboard.write_all(keys.as_bytes()).context("the terminal is gone")
    }

    /// Waits until the screen contains a text. Line breaks and indentation are ignored.
    pub fn wait_for(&mut self, text: &str) -> Result<()> {
        let until = Instant::now() + PATIENCE;
        loop {
            if self.words().contains(text) {
                return Ok(());
            }
            ensure!(self.read(until)?, "{text:?} is not on the screen:\n{}", self.rows().join("\n"));
        }
    }

    /// Returns the screen's text with one blank between words, independent of wrapping.
    #[must_use]
    pub fn words(&self) -> String {
        self.rows().join(" ").split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Waits until the program ends.
    pub fn end(&mut self) -> Result<ExitStatus> {
        let until = Instant::now() + PATIENCE;
        while self.read(until)? {}
        self.child.wait().context("the program is gone")
    }

    /// Reads and draws the next output. Returns `false` at the end of the output.
    fn read(&mut self, until: Instant) -> Result<bool> {
        let left = until.saturating_duration_since(Instant::now());
        ensure!(!left.is_zero(), "nothing happens any more:\n{}", self.rows().join("\n"));
        let mut polled = [PollFd::new(self.keyboard.as_fd(), PollFlags::POLLIN)];
        if poll(&mut polled, PollTimeout::try_from(left)?)? == 0 {
            return Ok(true);
        }
        let mut buffer = [0; 4096];
        // When the other end is closed everywhere, Linux returns an error.
        let length = self.keyboard.read(&mut buffer).unwrap_or(0);
        let drawn = buffer.get(..length).unwrap_or_default();
        self.erased |= drawn.windows(ERASE_ROW.len()).any(|part| part == ERASE_ROW);
        self.screen.process(drawn);
        Ok(length > 0)
    }
}

/// Creates both ends of a pseudo-terminal. Other programs do not inherit them, since a program that survives the test would
/// keep the terminal open.
fn pair(columns: u16) -> Result<(File, File)> {
    let keyboard = posix_openpt(OFlag::O_RDWR | OFlag::O_NOCTTY | OFlag::O_CLOEXEC)?;
    grantpt(&keyboard)?;
    unlockpt(&keyboard)?;
    let options = OFlag::O_NOCTTY.bits();
    let terminal = File::options().read(true).write(true).custom_flags(options).open(ptsname_r(&keyboard)?)?;
    let size = Winsize { ws_row: ROWS, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    rustix::termios::tcsetwinsize(&terminal, size)?;
    Ok((File::from(OwnedFd::from(keyboard)), terminal))
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _gone_already = self.child.kill();
        let _collected = self.child.wait();
    }
}
