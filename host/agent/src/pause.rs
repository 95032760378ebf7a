//! A pause: an operator's order that no runs begin for some time. It is a file, so that it survives the end of the agent and
//! reboots, and applies to the agent and to timers.

use crate::Moment;
use serde::{Deserialize, Serialize};
use state::{AgentFile, AgentFolder, StateError};
use std::path::Path;
use std::time::Duration;

/// Largest length of a reason, in characters.
pub const MAX_REASON: usize = 200;

/// The version of the file format.
const FORMAT: u32 = 1;

/// A pause: its end, its reason, and its author.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pause {
    /// The moment of the request.
    pub since: Moment,
    /// The moment when the pause ends.
    pub until: Moment,
    /// The reason, as the user wrote it.
    pub because: String,
    /// The account of the user who asked for it.
    pub by: String,
}

/// The reasons why a pause cannot be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PauseError {
    /// The reason is empty.
    NoReason,
    /// The reason is too long, or has several lines.
    BadReason,
}

impl std::fmt::Display for PauseError {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NoReason => out.write_str("a pause needs a reason: others will wonder why the node is not converged"),
            Self::BadReason => write!(out, "the reason of a pause is one line of up to {MAX_REASON} characters"),
        }
    }
}

impl std::error::Error for PauseError {}

#[derive(Serialize, Deserialize)]
struct Kept {
    format: u32,
    #[serde(flatten)]
    pause: Pause,
}

impl Pause {
    /// Creates a pause that begins now.
    ///
    /// # Errors
    /// The reason is empty, too long, or has several lines.
    pub fn new(now: Moment, time: Duration, because: &str, by: &str) -> Result<Self, PauseError> {
        let because = because.trim();
        if because.is_empty() {
            return Err(PauseError::NoReason);
        }
        if because.chars().count() > MAX_REASON || because.contains(['\n', '\r']) {
            return Err(PauseError::BadReason);
        }
        let by = by.chars().take(MAX_REASON).collect();
        Ok(Self { since: now, until: now.after(time), because: because.to_owned(), by })
    }

    /// Returns the pause that applies at a moment, if any. A pause that has ended or was written by a newer version does not
    /// apply.
    ///
    /// # Errors
    /// The file cannot be read or is damaged.
    pub fn holding(folder: &AgentFolder, now: Moment) -> Result<Option<Self>, StateError> {
        let kept: Option<Kept> = folder.read(AgentFile::Pause)?;
        Ok(kept.filter(|kept| kept.format == FORMAT && kept.pause.until > now).map(|kept| kept.pause))
    }

    /// Returns the current pause of a state directory. Returns `None` if the directory is missing or this user may not read
    /// it.
    #[must_use]
    pub fn of_state(state_dir: &Path, now: Moment) -> Option<Self> {
        let state = state::StateDirectory::open_existing(state_dir).ok()??;
        Self::holding(&state.existing_agent().ok()??, now).ok()?
    }

    /// Writes the pause to its file, and replaces an earlier pause.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn keep(&self, folder: &AgentFolder) -> Result<(), StateError> {
        folder.save(AgentFile::Pause, &Kept { format: FORMAT, pause: self.clone() })
    }

    /// Removes the stored pause, if any.
    ///
    /// # Errors
    /// The file cannot be removed.
    pub fn end(folder: &AgentFolder) -> Result<(), StateError> {
        folder.remove(AgentFile::Pause)
    }

    /// Returns the pause as a sentence: `paused until 2026-11-23T20:00:00Z by alice: the disk is being replaced`.
    #[must_use]
    pub fn sentence(&self) -> String {
        format!("paused until {} by {}: {}", self.until, self.by, self.because)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use state::StateDirectory;
    use std::time::SystemTime;

    #[test]
    fn a_pause_is_kept_and_ends() {
        let place = tempfile::tempdir().unwrap();
        let place = place.path().join("s");
        let now = Moment::of(SystemTime::UNIX_EPOCH);
        assert_eq!(Pause::of_state(&place, now), None);
        let folder = StateDirectory::open(&place).unwrap().agent().unwrap();
        let pause = Pause::new(now, Duration::from_secs(3600), " the disk is being replaced ", "alice").unwrap();
        pause.keep(&folder).unwrap();
        assert_eq!(Pause::of_state(&place, now), Some(pause.clone()));
        assert_eq!(pause.sentence(), "paused until 1970-01-01T01:00:00Z by alice: the disk is being replaced");
        let later = now.after(Duration::from_secs(3600));
        assert_eq!(Pause::holding(&folder, later).unwrap(), None, "it ends by itself");
        Pause::end(&folder).unwrap();
        assert_eq!(Pause::holding(&folder, now).unwrap(), None);
    }

    #[test]
    fn a_pause_has_one_line_of_reason() {
        let now = Moment::of(SystemTime::UNIX_EPOCH);
        let check = |because: &str| Pause::new(now, Duration::ZERO, because, "a").unwrap_err();
        assert_eq!(check(" "), PauseError::NoReason);
        assert_eq!(check("a\nb"), PauseError::BadReason);
        assert_eq!(check(&"a".repeat(201)), PauseError::BadReason);
    }
}
