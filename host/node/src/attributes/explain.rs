//! Explains the value of an attribute: for each level the writes to it, and whether its value is the one that readers get.

use std::borrow::Cow;

use serde_json::Value;

use super::history::WriteRecord;
use super::merge::{Found, View};
use super::path;
use super::{Attributes, Level};

/// The effect of one level's value on the merged value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The level does not have the attribute.
    NotPresent,
    /// Readers get exactly this level's value.
    Wins,
    /// The level's value is merged with that of others.
    Contributes,
    /// A higher level hides the value.
    Hidden,
}

impl Outcome {
    /// Returns the outcome as one word, for people and for JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotPresent => "not present",
            Self::Wins => "wins",
            Self::Contributes => "contributes",
            Self::Hidden => "hidden",
        }
    }
}

/// What one level adds to an attribute's value.
#[derive(Debug, Clone, PartialEq)]
pub struct LevelExplanation {
    /// The level of precedence that is explained.
    pub level: Level,
    /// The level's own value of the attribute.
    pub value: Option<Value>,
    /// The effect of that value on the merged value.
    pub outcome: Outcome,
    /// The writes to the attribute, to an object around it or to a part of it, oldest first. For the inherited level: the
    /// writes of earlier policies, each with the level it was made in.
    pub writes: Vec<WriteRecord>,
}

/// An attribute's value, with each level's contribution to it.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// The merged value that readers get.
    pub value: Option<Value>,
    /// All levels, lowest first.
    pub levels: Vec<LevelExplanation>,
}

impl Attributes {
    /// Explains the attribute at `path`.
    pub fn explain<Step: AsRef<str>>(&self, path: &[Step]) -> Explanation {
        let visible = self.visible_levels(path);
        let own: Vec<WriteRecord> = self.history().about(path).into_iter().cloned().collect();
        let earlier: Vec<WriteRecord> = self.earlier.iter().flat_map(|history| history.about(path)).cloned().collect();
        let levels = Level::ALL.into_iter().map(|level| {
            let value = self.read_level(level, path).map(Cow::into_owned);
            let outcome = match (&value, visible.contains(&level), visible.len()) {
                (None, _, _) => Outcome::NotPresent,
                (Some(_), false, _) => Outcome::Hidden,
                (Some(_), true, 1) => Outcome::Wins,
                (Some(_), true, _) => Outcome::Contributes,
            };
            let own = own.iter().filter(|record| record.level == level);
            let earlier = earlier.iter().filter(|record| bears_on(record.level, level));
            LevelExplanation { level, value, outcome, writes: earlier.chain(own).cloned().collect() }
        });
        Explanation { value: self.read(path), levels: levels.collect() }
    }

    fn visible_levels<Step: AsRef<str>>(&self, path: &[Step]) -> Vec<Level> {
        (0..=path.len())
            .rev()
            .find_map(|steps| match View::root(&self.trees).follow(path.get(..steps)?)? {
                Found::Shared(view) => {
                    let mut levels: Vec<_> = view.visible().map(|(level, _)| level).collect();
                    levels.dedup();
                    Some(levels)
                }
                Found::Element(_) => None,
            })
            .unwrap_or_default()
    }
}

/// Tells whether this policy sees an earlier policy's write to the level `written` in its own `level`.
fn bears_on(written: Level, level: Level) -> bool {
    match written {
        Level::Normal => level == Level::Normal,
        Level::Automatic | Level::Inherited => false,
        _ => level == Level::Inherited,
    }
}

/// Writes one line for each level that has the attribute, lowest first, and one for each write. Values are left out.
impl std::fmt::Display for Explanation {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for level in self.levels.iter().filter(|level| level.outcome != Outcome::NotPresent) {
            writeln!(out, "{}: {}", level.level, level.outcome.as_str())?;
            for record in &level.writes {
                writeln!(out, "  {} by {}", path::join(&record.path), record.origin)?;
            }
        }
        Ok(())
    }
}
