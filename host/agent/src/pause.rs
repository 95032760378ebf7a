//! A pause: an operator's word that no runs begin for a while. It is a file, so that it outlives the agent and the machine's
//! next start, and holds for an agent and for a timer alike.

use crate::Moment;
use serde::{Deserialize, Serialize};
use state::{AgentFile, AgentFolder, StateError};
use std::path::Path;
use std::time::Duration;

/// The longest reason, in characters.
pub const MAX_REASON: usize = 200;

/// The format that is written.
const FORMAT: u32 = 1;

/// Until when no runs begin, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pause {
    /// The moment at which somebody asked for it.
    pub since: Moment,
    /// The moment at which it ends by itself.
    pub until: Moment,
    /// The reason, in the words of whoever asked for it.
    pub because: String,
    /// The account of whoever asked for it.
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
    /// A pause from now on.
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

    /// The pause that holds at a moment, if any. A pause that has ended, or that a newer version wrote, holds no longer.
    ///
    /// # Errors
    /// The file cannot be read or is damaged.
    pub fn holding(folder: &AgentFolder, now: Moment) -> Result<Option<Self>, StateError> {
        let kept: Option<Kept> = folder.read(AgentFile::Pause)?;
        Ok(kept.filter(|kept| kept.format == FORMAT && kept.pause.until > now).map(|kept| kept.pause))
    }

    /// The pause of a state directory that need not be there, or that this user need not be able to read.
    #[must_use]
    pub fn of_state(state_dir: &Path, now: Moment) -> Option<Self> {
        let state = state::StateDirectory::open_existing(state_dir).ok()??;
        Self::holding(&state.existing_agent().ok()??, now).ok()?
    }

    /// Keeps the pause, in the place of an earlier one.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn keep(&self, folder: &AgentFolder) -> Result<(), StateError> {
        folder.save(AgentFile::Pause, &Kept { format: FORMAT, pause: self.clone() })
    }

    /// Ends the pause that is kept, if any.
    ///
    /// # Errors
    /// The file cannot be removed.
    pub fn end(folder: &AgentFolder) -> Result<(), StateError> {
        folder.remove(AgentFile::Pause)
    }

    /// The pause as a sentence: `paused until 2026-11-23T20:00:00Z by alice: the disk is being replaced`.
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
