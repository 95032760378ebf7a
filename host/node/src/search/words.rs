//! Matches terms and phrases against the words of a text.

use super::meter::Meter;

/// Bytes of memory that are cleared in the time of one step.
const BYTES_PER_STEP: u64 = 64;

/// One piece of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Piece {
    /// This character, in any case.
    Character(char),
    /// Any one character of a word.
    One,
    /// Any characters of a word.
    Any,
    /// One character between words.
    Between,
    /// Any further characters between words.
    MoreBetween,
}

impl Piece {
    /// Tells whether it may match nothing.
    fn may_be_empty(self) -> bool {
        matches!(self, Self::Any | Self::MoreBetween)
    }

    fn accepts(self, found: char) -> bool {
        match self {
            Self::Character(wanted) => wanted == found || wanted.to_lowercase().eq(found.to_lowercase()),
            Self::One | Self::Any => is_word(found),
            Self::Between | Self::MoreBetween => !is_word(found),
        }
    }
}

/// A pattern that has to begin and end at the borders of words.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Pattern {
    pub(super) pieces: Vec<Piece>,
}

impl Pattern {
    /// Returns the text itself, if the pattern matches one text only.
    pub(super) fn literal(&self) -> Option<String> {
        self.pieces.iter().map(|piece| if let Piece::Character(one) = piece { Some(*one) } else { None }).collect()
    }

    /// Tells whether it is `*`.
    pub(super) fn is_anything(&self) -> bool {
        self.pieces == [Piece::Any]
    }

    /// Tells whether it is found anywhere in a text. It reads the text once and keeps the set of pieces that can match next.
    /// So a match takes at most the length of the pattern times the length of the text, and little where few pieces can match.
    ///
    /// # Errors
    /// Nobody pays for it.
    pub(super) fn matches<E>(&self, text: &str, meter: &mut Meter<'_, E>) -> Result<bool, E> {
        let end = self.pieces.len();
        meter.step(end as u64 / BYTES_PER_STEP)?;
        let (mut here, mut next) = (Set::new(end + 1), Set::new(end + 1));
        let mut after_border = true;
        let mut characters = text.chars();
        loop {
            let found = characters.next();
            if after_border {
                self.enter(&mut here, 0);
            }
            meter.step(here.members.len() as u64 + 1)?;
            let is_border = found.is_none_or(|found| !is_word(found));
            if is_border && here.has(end) {
                return Ok(true);
            }
            let Some(found) = found else { return Ok(false) };
            for at in &here.members {
                if let Some(piece) = self.pieces.get(*at).filter(|piece| piece.accepts(found)) {
                    let to = if piece.may_be_empty() { *at } else { at + 1 };
                    self.enter(&mut next, to);
                }
            }
            here.clear();
            std::mem::swap(&mut here, &mut next);
            after_border = is_border;
        }
    }

    /// Adds a piece to a set, and the pieces behind it that can be reached through pieces that match nothing.
    fn enter(&self, set: &mut Set, from: usize) {
        for at in from..=self.pieces.len() {
            // If it is in the set, all behind it are, too.
            if !set.add(at) || !self.pieces.get(at).is_some_and(|piece| piece.may_be_empty()) {
                return;
            }
        }
    }
}

/// A set of small numbers whose members can be listed and removed without a look at all numbers.
struct Set {
    is_in: Vec<bool>,
    members: Vec<usize>,
}

impl Set {
    /// Creates an empty set for numbers below a limit.
    fn new(limit: usize) -> Self {
        Self { is_in: vec![false; limit], members: vec![] }
    }

    fn has(&self, number: usize) -> bool {
        self.is_in.get(number).copied().unwrap_or(false)
    }

    /// Adds a number. Returns false if it was in the set already, or is not below the limit.
    fn add(&mut self, number: usize) -> bool {
        match self.is_in.get_mut(number) {
            Some(is_in) if !*is_in => {
                *is_in = true;
                self.members.push(number);
                true
            }
            _ => false,
        }
    }

    fn clear(&mut self) {
        for number in self.members.drain(..) {
            if let Some(is_in) = self.is_in.get_mut(number) {
                *is_in = false;
            }
        }
    }
}

fn is_word(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '@' | '.' | '_' | '\'' | ':' | '-')
}
