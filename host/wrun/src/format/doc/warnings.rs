//! Warnings that a policy repeats. A warning with the same text from many resources is shown once, and counted.

use text::cut;

/// The most texts of one policy that are compared. A policy chooses what it warns of.
const MAX_TEXTS: usize = 100;

/// Largest length of a repeated text where it is counted, in bytes.
const MAX_SHOWN: usize = 100;

/// The warnings of a policy so far: each text, and how often it came again.
#[derive(Debug, Default)]
pub(super) struct Warnings(Vec<(String, usize)>);

impl Warnings {
    /// Returns whether a warning is new. Otherwise it is counted.
    pub(super) fn is_new(&mut self, line: &str) -> bool {
        if let Some((_, more)) = self.0.iter_mut().find(|(text, _)| text == line) {
            *more += 1;
            return false;
        }
        if self.0.len() < MAX_TEXTS {
            self.0.push((line.to_owned(), 0));
        }
        true
    }

    /// Returns a line for each warning that was repeated, and forgets all.
    pub(super) fn repeated(&mut self) -> Vec<String> {
        let all = std::mem::take(&mut self.0).into_iter().filter(|(_, more)| *more > 0);
        all.map(|(text, more)| {
            format!("{more} more like it: {}", cut(text.lines().next().unwrap_or_default(), MAX_SHOWN))
        })
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_new_once_and_then_counted() {
        let mut warnings = Warnings::default();
        let new: Vec<_> = ["a", "b", "a", "a"].iter().map(|text| warnings.is_new(text)).collect();
        assert_eq!(new, [true, true, false, false]);
        assert_eq!(warnings.repeated(), ["2 more like it: a"]);
        assert!(warnings.is_new("a") && warnings.repeated().is_empty(), "each policy begins anew");
        let texts = (0..MAX_TEXTS + 5).map(|number| number.to_string());
        assert!(texts.chain(["104".to_owned()]).all(|text| warnings.is_new(&text)), "what finds no room is shown");
    }
}
