//! The reasons why entries should be looked at, in three classes.

use std::borrow::Cow;
use std::fmt;
use text::{cut, escape_line};

/// Maximum length of a path or an account that a reason names, in bytes.
const MAX_SHOWN: usize = 100;

/// Returns a path or an account as a reason names it.
pub(super) fn shown(name: &str) -> String {
    escape_line(&cut(name, MAX_SHOWN))
}

/// What makes an entry one that somebody should look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RiskClass {
    /// The entry gives more than it seems to.
    OpensALot,
    /// The entry is a command of root or of another's account, and wrun does not know what such a command does.
    Unknown,
    /// The entry may concern more than its policy, so that wrun does not add it without a question.
    InQuestion,
}

/// Why an entry is risky.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    /// The class of the risk.
    pub class: RiskClass,
    /// The rest of a sentence that begins with the entry.
    pub text: Cow<'static, str>,
}

impl RiskClass {
    /// All classes, in the order in which they are shown.
    pub const ALL: [Self; 3] = [Self::OpensALot, Self::Unknown, Self::InQuestion];

    /// Returns the word before such an entry in a comment.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::OpensALot => "Opens a lot",
            Self::Unknown => "Not known",
            Self::InQuestion => "Not without a question",
        }
    }

    /// Returns the heading of a list of such entries.
    pub fn heading(self, count: usize) -> String {
        match (self, count) {
            (Self::OpensALot, 1) => "1 entry opens a lot".to_owned(),
            (Self::OpensALot, _) => format!("{count} entries open a lot"),
            (Self::Unknown, 1) => "1 entry is a command that wrun does not know".to_owned(),
            (Self::Unknown, _) => format!("{count} entries are commands that wrun does not know"),
            (Self::InQuestion, 1) => "1 entry needs a question".to_owned(),
            (Self::InQuestion, _) => format!("{count} entries need a question"),
        }
    }

    /// Returns the words for an entry with the reason of the one before it.
    pub fn repeated(self) -> &'static str {
        match self {
            Self::OpensALot => "opens as much, for the same reason",
            Self::Unknown => "is not known, either",
            Self::InQuestion => "likewise",
        }
    }
}

impl Reason {
    /// Returns the reason of a command that wrun does not know.
    pub(crate) const fn unknown(text: &'static str) -> Self {
        Self { class: RiskClass::Unknown, text: Cow::Borrowed(text) }
    }
}

impl From<&'static str> for Reason {
    fn from(text: &'static str) -> Self {
        Self { class: RiskClass::OpensALot, text: Cow::Borrowed(text) }
    }
}

impl From<String> for Reason {
    fn from(text: String) -> Self {
        Self { class: RiskClass::OpensALot, text: Cow::Owned(text) }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
