//! A person at a terminal: the program on a pseudo-terminal, and the screen that it draws.

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

/// Rows of the screen: enough for a whole test, so that nothing scrolls away.
const ROWS: u16 = 400;

/// How long anything is waited for. A test that works never waits so long, on however busy a machine.
const PATIENCE: Duration = Duration::from_secs(300);

/// The program in the foreground of a terminal of its own.
pub struct Terminal {
    keyboard: File,
    screen: vt100::Parser,
    child: Child,
    /// A row that had been drawn was taken away again.
    erased: bool,
}

/// What takes a row of a terminal away.
const ERASE_ROW: &[u8] = b"\x1b[2K";

impl Terminal {
    /// Starts the program on a terminal of so many columns. `TERM` is xterm's and colours are allowed.
    pub fn start(program: &Program, columns: u16, arguments: &[&str]) -> Result<Self> {
        Self::start_with(program, columns, arguments, &[])
    }

    /// The same with another program between standard output and the terminal, as in `wrun .. | cat`.
    pub fn start_piped(program: &Program, columns: u16, arguments: &[&str]) -> Result<Self> {
        Self::start_with(program, columns, arguments, &["sh", "-c", "\"$@\" | cat", "sh"])
    }

    fn start_with(program: &Program, columns: u16, arguments: &[&str], before: &[&str]) -> Result<Self> {
        let (keyboard, terminal) = pair(columns).context("cannot open a pseudo-terminal")?;
        // `setsid` makes it the terminal that keys send signals from. Whoever starts the tests may have ignored some.
        let mut command = Command::new("setsid");
        command.args(["--ctty", "env", "--default-signal=HUP,INT,TERM"]).args(before);
        command.arg(program.executable()).args(arguments);
        command.env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").envs(program.environment());
        command.env_remove("NO_COLOR").env_remove("COLUMNS").env("TERM", "xterm-256color");
        let [input, output, errors] = [terminal.try_clone()?, terminal.try_clone()?, terminal];
        command.stdin(Stdio::from(input)).stdout(Stdio::from(output)).stderr(Stdio::from(errors));
        let child = command.spawn().context("cannot start the program on a terminal")?;
        // The command holds the terminal's other end: once it is gone, the end of the output is seen.
        drop(command);
        let [rows, columns] = [ROWS, columns].map(|length| NonZero::new(length).unwrap_or(NonZero::<u16>::MIN));
        Ok(Self { keyboard, screen: vt100::Parser::new(rows, columns, 0), child, erased: false })
    }

    /// The process of the program.
    #[must_use]
    pub fn process(&self) -> u32 {
        self.child.id()
    }

    /// The screen.
    #[must_use]
    pub fn screen(&self) -> &vt100::Screen {
        self.screen.screen()
    }

    /// The screen's rows up to the last that is not empty, without blanks at their ends.
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

    /// Whether a row was taken away, as that of the status line is. What is cut in two by a read is overlooked.
    #[must_use]
    pub fn has_erased(&self) -> bool {
        self.erased
    }

    /// The first row that the terminal itself began a new row behind, in the middle of a word.
    #[must_use]
    pub fn torn_row(&self) -> Option<String> {
        let screen = self.screen();
        let torn = (0..ROWS).find(|row| screen.row_wrapped(*row))?;
        screen.rows(0, screen.size().1.get()).nth(usize::from(torn))
    }

    /// Whether the terminal shows what is typed.
    pub fn shows_keys(&self) -> Result<bool> {
        let modes = rustix::termios::tcgetattr(&self.keyboard).context("the terminal is gone")?;
        Ok(modes.local_modes.contains(rustix::termios::LocalModes::ECHO))
    }

    /// Types.
    pub fn press(&mut self, keys: &str) -> Result<()> {
        self.keyboard.write_all(keys.as_bytes()).context("the terminal is gone")
    }

    /// Waits until the screen's text, without its line breaks and margins, contains a text.
    pub fn wait_for(&mut self, text: &str) -> Result<()> {
        let until = Instant::now() + PATIENCE;
        loop {
            if self.words().contains(text) {
                return Ok(());
            }
            ensure!(self.read(until)?, "{text:?} is not on the screen:\n{}", self.rows().join("\n"));
        }
    }

    /// The screen's text with one blank between words, however it is wrapped.
    #[must_use]
    pub fn words(&self) -> String {
        self.rows().join(" ").split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Waits for the program's end.
    pub fn end(&mut self) -> Result<ExitStatus> {
        let until = Instant::now() + PATIENCE;
        while self.read(until)? {}
        self.child.wait().context("the program is gone")
    }

    /// Draws what comes next; false at the end of the output.
    fn read(&mut self, until: Instant) -> Result<bool> {
        let left = until.saturating_duration_since(Instant::now());
        ensure!(!left.is_zero(), "nothing happens any more:\n{}", self.rows().join("\n"));
        let mut polled = [PollFd::new(self.keyboard.as_fd(), PollFlags::POLLIN)];
        if poll(&mut polled, PollTimeout::try_from(left)?)? == 0 {
            return Ok(true);
        }
        let mut buffer = [0; 4096];
        // When the last one who had the other end open is gone, Linux answers with an error.
        let length = self.keyboard.read(&mut buffer).unwrap_or(0);
        let drawn = buffer.get(..length).unwrap_or_default();
        self.erased |= drawn.windows(ERASE_ROW.len()).any(|part| part == ERASE_ROW);
        self.screen.process(drawn);
        Ok(length > 0)
    }
}

/// Both ends of a pseudo-terminal. No other program inherits them: one that outlives the test would keep it open.
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
