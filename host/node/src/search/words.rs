//! Matches terms and phrases against the words of a text.

use super::meter::Meter;

/// Characters of a text between two payments.
const CHARACTERS_AT_ONCE: u64 = 256;

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
    /// So a match takes at most the length of the pattern times the length of the text.
    ///
    /// # Errors
    /// Nobody pays for it.
    pub(super) fn matches<E>(&self, text: &str, meter: &mut Meter<'_, E>) -> Result<bool, E> {
        let end = self.pieces.len();
        let steps = end as u64 + 1;
        let mut paid = 0;
        let (mut here, mut next) = (vec![false; end + 1], vec![false; end + 1]);
        let mut after_border = true;
        let mut characters = text.chars().peekable();
        loop {
            if paid == 0 {
                paid = CHARACTERS_AT_ONCE.min(text.len() as u64 + 1);
                meter.step(paid.saturating_mul(steps))?;
            }
            paid -= 1;
            let found = characters.next();
            self.enter(&mut here, 0, after_border);
            let is_border = found.is_none_or(|found| !is_word(found));
            if is_border && here.get(end).copied().unwrap_or(false) {
                return Ok(true);
            }
            let Some(found) = found else { return Ok(false) };
            next.fill(false);
            for (at, piece) in self.pieces.iter().enumerate() {
                if here.get(at).copied().unwrap_or(false) && piece.accepts(found) {
                    let to = if piece.may_be_empty() { at } else { at + 1 };
                    self.enter(&mut next, to, true);
                }
            }
            std::mem::swap(&mut here, &mut next);
            after_border = is_border;
        }
    }

    /// Adds a piece to a set, and the pieces behind it that can be reached through pieces that match nothing.
    fn enter(&self, set: &mut [bool], from: usize, is_wanted: bool) {
        if !is_wanted {
            return;
        }
        for at in from..set.len() {
            match set.get_mut(at) {
                Some(is_in) if !*is_in => *is_in = true,
                // All behind it are in the set.
                _ => return,
            }
            if !self.pieces.get(at).is_some_and(|piece| piece.may_be_empty()) {
                return;
            }
        }
    }
}

fn is_word(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '@' | '.' | '_' | '\'' | ':' | '-')
}
