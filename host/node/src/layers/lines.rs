//! The lines of a layer's attributes as one short text.
//!
//! A node may have twenty thousand attributes, and as a list of numbers their lines would take longer to read than the attributes.
//! The text has the numbers in order, separated by blanks: `7` is one, `2-101` all from 2 to 101, `1x40` forty times 1.

/// Writes lines as a text.
pub(super) fn to_text(lines: &[u32]) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut rest = lines;
    while let Some(&first) = rest.first() {
        let equal = rest.iter().take_while(|line| **line == first).count();
        let rising =
            rest.iter().zip(u64::from(first)..).take_while(|(line, expected)| u64::from(**line) == *expected).count();
        let (taken, part) = match (equal, rising) {
            (1, 1) => (1, first.to_string()),
            (equal, rising) if equal > rising => (equal, format!("{first}x{equal}")),
            (_, rising) => (rising, format!("{first}-{}", u64::from(first) + rising as u64 - 1)),
        };
        parts.push(part);
        rest = rest.get(taken..).unwrap_or_default();
    }
    parts.join(" ")
}

/// Reads lines back. Returns `None` if the text is invalid or does not have `count` lines.
pub(super) fn from_text(text: &str, count: usize) -> Option<Vec<u32>> {
    let mut lines = Vec::new();
    for part in text.split(' ').filter(|part| !part.is_empty()) {
        let left = count.checked_sub(lines.len())?;
        if let Some((line, times)) = part.split_once('x') {
            let (line, times): (u32, usize) = (line.parse().ok()?, times.parse().ok()?);
            lines.extend(std::iter::repeat_n(line, Some(times).filter(|times| *times <= left)?));
        } else {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
            let taken = usize::try_from(last.checked_sub(first)?).ok()?.checked_add(1)?;
            let _fits = Some(taken).filter(|taken| *taken <= left)?;
            lines.extend(first..=last);
        }
    }
    (lines.len() == count).then_some(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_back_as_they_were() {
        for (lines, text) in [
            (vec![], ""),
            (vec![7], "7"),
            (vec![2, 3, 4, 7, 9, 10], "2-4 7 9-10"),
            (vec![1, 1, 1, 2, 3], "1x3 2-3"),
            (vec![0, 0, 5], "0x2 5"),
            (vec![u32::MAX, u32::MAX], "4294967295x2"),
            (vec![u32::MAX - 1, u32::MAX], "4294967294-4294967295"),
        ] {
            assert_eq!(to_text(&lines), text);
            assert_eq!(from_text(text, lines.len()), Some(lines));
        }
    }

    #[test]
    fn texts_with_other_lines_are_refused() {
        for (text, count) in [
            ("2-4", 2),
            ("2-4", 4),
            ("4-2", 1),
            ("1x9999999999999", 3),
            ("x", 1),
            ("1-", 1),
            ("-1", 1),
            ("0-4294967295", 2),
        ] {
            assert_eq!(from_text(text, count), None, "{text}");
        }
    }
}
