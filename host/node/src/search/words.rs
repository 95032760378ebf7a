//! Patterns of words: what a term or a phrase matches.

/// One piece of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Piece {
    /// This character, in any case.
    Character(char),
    /// Any one character of a word.
    One,
    /// Any characters of a word.
    Any,
    /// What stands between two words of a phrase.
    Gap,
}

/// A pattern that has to begin and end at the borders of words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pattern {
    pub(super) pieces: Vec<Piece>,
}

impl Pattern {
    /// The text itself, if the pattern matches one text only.
    pub(super) fn literal(&self) -> Option<String> {
        self.pieces.iter().map(|piece| if let Piece::Character(one) = piece { Some(*one) } else { None }).collect()
    }

    /// Whether it is found anywhere in a text.
    pub(super) fn matches(&self, text: &str) -> bool {
        let text: Vec<char> = text.chars().collect();
        let is_border = |at: usize| at == 0 || text.get(at - 1).is_some_and(|before| !is_word(*before));
        (0..=text.len()).filter(|at| is_border(*at)).any(|at| self.matches_at(&text, at))
    }

    /// Whether it matches from a place to the border of a word: the set of places that each piece can lead to, so that
    /// no pattern takes longer than its length times that of the text.
    fn matches_at(&self, text: &[char], start: usize) -> bool {
        let mut places = vec![start];
        for piece in &self.pieces {
            let mut next = vec![];
            for at in &places {
                let here = text.get(*at).copied();
                match piece {
                    Piece::Character(wanted) => next.extend(here.filter(|found| same(*found, *wanted)).map(|_| at + 1)),
                    Piece::One => next.extend(here.filter(|found| is_word(*found)).map(|_| at + 1)),
                    Piece::Any => next.extend(run(text, *at, is_word)),
                    Piece::Gap => next.extend(run(text, *at, |found| !is_word(found)).skip(1)),
                }
            }
            next.sort_unstable();
            next.dedup();
            places = next;
        }
        places.into_iter().any(|at| text.get(at).is_none_or(|after| !is_word(*after)))
    }
}

/// The places that can be reached over characters of one kind.
fn run(text: &[char], from: usize, wanted: impl Fn(char) -> bool) -> impl Iterator<Item = usize> {
    let length = text.iter().skip(from).take_while(|found| wanted(**found)).count();
    from..=from + length
}

fn same(left: char, right: char) -> bool {
    left == right || left.to_lowercase().eq(right.to_lowercase())
}

fn is_word(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '@' | '.' | '_' | '\'' | ':' | '-')
}
