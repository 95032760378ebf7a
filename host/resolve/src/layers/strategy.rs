//! Merge strategies: how a value of one file is combined with the values of earlier files.

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use super::CombineError;

/// How a value is combined with the values of earlier files.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Strategy {
    /// The later value replaces the earlier one.
    Overwrite,
    /// Texts are joined, lists are appended, the members of an object replace those of the earlier one.
    Merge,
    /// Like `merge`, but members of objects are combined recursively.
    DeepMerge,
    /// A word that is not a strategy. Heat overwrites with it, but treats it as a different strategy from `overwrite`.
    Unknown(String),
}

impl Strategy {
    /// The words of the known strategies.
    pub const WORDS: [&'static str; 3] = ["overwrite", "merge", "deep_merge"];

    /// Returns the strategy of a word.
    pub fn of_word(word: &str) -> Self {
        match word {
            "overwrite" => Self::Overwrite,
            "merge" => Self::Merge,
            "deep_merge" => Self::DeepMerge,
            other => Self::Unknown(other.to_owned()),
        }
    }

    /// Returns the strategy's word.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Overwrite => "overwrite",
            Self::Merge => "merge",
            Self::DeepMerge => "deep_merge",
            Self::Unknown(word) => word,
        }
    }

    /// Tells whether earlier values are kept, at least in part.
    pub(super) fn keeps_earlier(&self) -> bool {
        matches!(self, Self::Merge | Self::DeepMerge)
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}

/// The strategies of one file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Strategies {
    /// The strategy of values without one of their own.
    pub default: Option<Strategy>,
    /// Strategies by the path of the value.
    pub named: BTreeMap<Vec<String>, Strategy>,
}

impl Strategies {
    /// Tells whether the file names no strategy.
    pub fn is_empty(&self) -> bool {
        self.default.is_none() && self.named.is_empty()
    }

    /// Returns the strategy of values without one of their own.
    fn default_or_overwrite(&self) -> Strategy {
        self.default.clone().unwrap_or(Strategy::Overwrite)
    }
}

/// The strategy that a value had when a file set it first, and the number of that file.
#[derive(Debug, Clone)]
struct Fixed {
    strategy: Strategy,
    file: usize,
    /// Whether the file names the value itself.
    is_named: bool,
}

/// The strategies of all values so far. A value keeps the strategy of the first file that sets it.
#[derive(Debug, Default)]
pub(super) struct FixedStrategies {
    by_path: HashMap<Vec<String>, Fixed>,
}

/// The strategy of a value in one file.
#[derive(Debug, Clone)]
pub(super) struct Chosen {
    pub(super) strategy: Strategy,
    /// Whether this file or an earlier one names the value itself.
    pub(super) is_named: bool,
}

impl FixedStrategies {
    /// Returns the strategy with which a file sets a value, and stores it for later files. `fallback` replaces the file's
    /// default strategy for a value that no file names. `names` are the names of all files.
    ///
    /// # Errors
    /// An earlier file set the value with another strategy.
    pub(super) fn choose(
        &mut self,
        path: &[String],
        file: usize,
        strategies: &Strategies,
        fallback: Option<Strategy>,
        names: &dyn Fn(usize) -> String,
    ) -> Result<Chosen, CombineError> {
        let earlier = self.by_path.get(path);
        let named = strategies.named.get(path);
        let usual = || fallback.clone().unwrap_or_else(|| strategies.default_or_overwrite());
        let chosen = match named.or(earlier.map(|earlier| &earlier.strategy)) {
            None => usual(),
            Some(Strategy::Unknown(_)) => strategies.default_or_overwrite(),
            Some(known) => known.clone(),
        };
        match earlier {
            Some(earlier) if earlier.strategy != chosen => Err(CombineError::ConflictingStrategies {
                path: path.to_vec(),
                strategy: chosen,
                file: names(file),
                earlier: earlier.strategy.clone(),
                earlier_file: names(earlier.file),
            }),
            Some(earlier) => Ok(Chosen { strategy: chosen, is_named: named.is_some() || earlier.is_named }),
            None => {
                let is_named = named.is_some();
                self.by_path.insert(path.to_vec(), Fixed { strategy: chosen.clone(), file, is_named });
                Ok(Chosen { strategy: chosen, is_named })
            }
        }
    }
}
