//! Escapes text for terminals and logs. A guest's text could otherwise move the cursor, change the writing direction, or make
//! a name look like another one.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Invisible characters that are not control characters, in order: Unicode's `Default_Ignorable_Code_Point` and
/// `Bidi_Control`, the line and paragraph separators, and the marks of interlinear annotations.
const HIDDEN: [(char, char); 20] = [
    ('\u{ad}', '\u{ad}'),
    ('\u{34f}', '\u{34f}'),
    ('\u{61c}', '\u{61c}'),
    ('\u{115f}', '\u{1160}'),
    ('\u{17b4}', '\u{17b5}'),
    ('\u{180b}', '\u{180f}'),
    ('\u{200b}', '\u{200f}'),
    ('\u{2028}', '\u{202e}'),
    ('\u{2060}', '\u{206f}'),
    ('\u{2800}', '\u{2800}'),
    ('\u{3164}', '\u{3164}'),
    ('\u{fe00}', '\u{fe0f}'),
    ('\u{feff}', '\u{feff}'),
    ('\u{ffa0}', '\u{ffa0}'),
    ('\u{fff0}', '\u{fffb}'),
    ('\u{13430}', '\u{1345f}'),
    ('\u{16fe4}', '\u{16fe4}'),
    ('\u{1bca0}', '\u{1bca3}'),
    ('\u{1d173}', '\u{1d17a}'),
    ('\u{e0000}', '\u{e0fff}'),
];

/// Largest number of consecutive blanks that are shown.
const BLANKS: usize = 24;

/// Returns whether a character controls a terminal, changes the writing direction, or is invisible.
pub fn is_hidden(character: char) -> bool {
    character.is_control()
        || HIDDEN.iter().take_while(|(first, _)| *first <= character).any(|(_, last)| character <= *last)
}

/// Returns a guest's text for display. Hidden characters are replaced by escapes such as `\u{1b}`. Line breaks and tabs stay.
pub fn escape(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' | '\t' => shown.push(character),
            hidden if is_hidden(hidden) => drop(write!(shown, "\\u{{{:x}}}", u32::from(hidden))),
            plain => shown.push(plain),
        }
    }
    shown
}

/// Does the same as [`escape`] for text that must stay on one line. Line breaks and tabs become `\n` and `\t`. Blanks beyond
/// 24 in a row become `\u{20}{NUMBER}`, since a terminal would wrap a long sequence.
pub fn escape_line(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut blanks = 0;
    for character in text.chars() {
        if character.is_whitespace() && !is_hidden(character) {
            blanks += 1;
            if blanks > BLANKS {
                continue;
            }
        } else {
            shown_blanks(blanks, &mut shown);
            blanks = 0;
        }
        match character {
            '\n' => shown.push_str("\\n"),
            '\t' => shown.push_str("\\t"),
            hidden if is_hidden(hidden) => drop(write!(shown, "\\u{{{:x}}}", u32::from(hidden))),
            plain => shown.push(plain),
        }
    }
    shown_blanks(blanks, &mut shown);
    shown
}

/// Appends the number of omitted blanks to the text.
fn shown_blanks(blanks: usize, shown: &mut String) {
    if let Some(more @ 1..) = blanks.checked_sub(BLANKS) {
        let _ = write!(shown, "\\u{{20}}{{{more}}}");
    }
}

/// Returns the beginning of a text, at most `most` bytes, followed by `...` if it was shortened.
pub fn cut(text: &str, most: usize) -> Cow<'_, str> {
    if text.len() <= most {
        return text.into();
    }
    let end = (0..=most).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    format!("{}...", text.get(..end).unwrap_or_default()).into()
}

/// Returns JSON with the same values but without hidden characters. These occur only in strings, where JSON has escapes for
/// them. Line breaks belong to the layout and stay.
pub fn escape_json(json: &str) -> Cow<'_, str> {
    // Most JSON, and the longest, contains only printable ASCII and needs no change.
    if json.bytes().all(|byte| byte == b'\n' || (b' '..=b'~').contains(&byte)) {
        return Cow::Borrowed(json);
    }
    let mut shown = String::with_capacity(json.len());
    for character in json.chars() {
        if character == '\n' || !is_hidden(character) {
            shown.push(character);
            continue;
        }
        for unit in character.encode_utf16(&mut [0; 2]) {
            let _ = write!(shown, "\\u{unit:04x}");
        }
    }
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guests_texts_are_escaped() {
        for (text, shown) in [
            ("plain \u{e4}\u{4e2d}", "plain \u{e4}\u{4e2d}"),
            ("\u{1b}[2J\u{7}", "\\u{1b}[2J\\u{7}"),
            ("a\u{202e}b\u{200b}", "a\\u{202e}b\\u{200b}"),
            ("two\nlines\r", "two\nlines\\u{d}"),
            ("\u{9b}31m", "\\u{9b}31m"),
            ("a\u{61c}\u{180e}\u{2028}\u{fff9}\u{e0041}\u{fe0f}\u{3164}", {
                "a\\u{61c}\\u{180e}\\u{2028}\\u{fff9}\\u{e0041}\\u{fe0f}\\u{3164}"
            }),
        ] {
            assert_eq!(escape(text), shown);
        }
        assert_eq!(escape_line("a\nb\tc\u{1b}"), "a\\nb\\tc\\u{1b}");
    }

    #[test]
    fn blanks_in_a_row_do_not_look_like_the_end_of_a_line() {
        let blanks = |count: usize| " ".repeat(count);
        let check = |text: String, shown: String| assert_eq!(escape_line(&text), shown);
        check(format!("a{}b", blanks(BLANKS)), format!("a{}b", blanks(BLANKS)));
        check(format!("a{}Run succeeded", blanks(200)), format!("a{}\\u{{20}}{{176}}Run succeeded", blanks(24)));
        check(format!("a{}", "\u{2003}".repeat(30)), format!("a{}\\u{{20}}{{6}}", "\u{2003}".repeat(24)));
    }

    #[test]
    fn a_text_is_cut_between_characters() {
        for (text, shown) in [("abc", "abc"), ("abcd", "abc..."), ("ab\u{e4}", "ab..."), ("", "")] {
            assert_eq!(cut(text, 3), shown);
        }
    }

    #[test]
    fn json_keeps_its_layout_and_hides_nothing() {
        let json = "{\n  \"a\u{202e}\": \"\u{9b}31m\u{7f}\u{e0001}\u{e4}\u{4e2d}\"\n}";
        let shown = escape_json(json);
        assert_eq!(shown, "{\n  \"a\\u202e\": \"\\u009b31m\\u007f\\udb40\\udc01\u{e4}\u{4e2d}\"\n}");
    }

    #[test]
    fn the_table_is_in_order() {
        assert!(HIDDEN.iter().all(|(first, last)| first <= last));
        assert!(HIDDEN.windows(2).all(|pair| pair[0].1 < pair[1].0));
    }
}
