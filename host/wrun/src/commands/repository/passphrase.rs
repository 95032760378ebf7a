//! Reads passphrases of keys from a file that an environment variable names, or from the user at the terminal.

use crate::printer::{Printer, Tone};
use crate::settings::PASSPHRASE_VARIABLE;
use crate::signals::die_after;
use crate::terminal;
use anyhow::Context as _;
use repository::key_file::KeyFile;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Largest length of a passphrase, in bytes.
const MAX_LENGTH: u64 = 4096;

/// Returns the passphrase for new keys. An empty one means that the keys have no passphrase, as they do if wrun cannot ask.
pub(crate) fn new_passphrase(printer: Printer) -> anyhow::Result<String> {
    if let Some(given) = from_file()? {
        return Ok(given);
    }
    if !std::io::stdin().is_terminal() {
        return Ok(String::new());
    }
    let first = unseen(|| printer.note(Tone::Heading, "Passphrase for new keys (empty for none):"))?;
    if !first.is_empty() {
        let second = unseen(|| printer.note(Tone::Heading, "The same once more:"))?;
        anyhow::ensure!(second == first, "the passphrases differ");
    }
    Ok(first)
}

/// Returns the passphrase of an existing key.
pub(crate) fn existing_passphrase(key: &KeyFile) -> Result<String, String> {
    if let Some(given) = from_file().map_err(|error| format!("{error:#}"))? {
        return Ok(given);
    }
    if !std::io::stdin().is_terminal() {
        return Err(format!(
            "it has a passphrase, and nobody can be asked for it; name its file in {PASSPHRASE_VARIABLE}"
        ));
    }
    let ask = || Printer::new().note(Tone::Heading, &format!("Passphrase of {}:", key.path().display()));
    unseen(ask).map_err(|error| format!("{error:#}"))
}

/// Returns the first line of the file that the environment variable names.
fn from_file() -> anyhow::Result<Option<String>> {
    let Some(path) = std::env::var_os(PASSPHRASE_VARIABLE).filter(|path| !path.is_empty()).map(PathBuf::from) else {
        return Ok(None);
    };
    let text = plain_files::read_text(&path, MAX_LENGTH);
    let text = text.with_context(|| format!("{PASSPHRASE_VARIABLE}: {} cannot be read", path.display()))?;
    Ok(Some(text.lines().next().unwrap_or_default().to_owned()))
}

/// Asks a question and reads a line without echo. The echo is already off when the question appears.
pub(crate) fn unseen(ask: impl FnOnce()) -> anyhow::Result<String> {
    // The status line must not be drawn while the user types.
    terminal::hide_status();
    let input = std::io::stdin();
    let before = tcgetattr(&input).context("the terminal cannot be asked")?;
    let mut quiet = before.clone();
    quiet.local_modes.remove(LocalModes::ECHO);
    die_after(show_again).context("the terminal cannot be asked")?;
    *hidden() = Some(before.clone());
    let mut line = String::new();
    let asked = tcsetattr(&input, OptionalActions::Flush, &quiet).map_err(std::io::Error::from).and_then(|()| {
        ask();
        input.read_line(&mut line)
    });
    *hidden() = None;
    tcsetattr(&input, OptionalActions::Flush, &before).context("the terminal cannot be set back")?;
    asked.context("the passphrase cannot be read")?;
    Ok(line.trim_end_matches(['\n', '\r']).to_owned())
}

/// Returns the terminal's original settings while the echo is off.
fn hidden() -> MutexGuard<'static, Option<Termios>> {
    static HIDDEN: Mutex<Option<Termios>> = Mutex::new(None);
    HIDDEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Restores the terminal, since a user who interrupts a question continues in a shell.
fn show_again() {
    if let Some(before) = hidden().take() {
        let _ = tcsetattr(std::io::stdin(), OptionalActions::Flush, &before);
    }
}
