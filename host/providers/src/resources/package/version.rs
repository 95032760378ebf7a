//! Debian versions, ordered as dpkg orders them.
//!
//! This module implements the rules itself, since deb-version(7) has only two. Rejected: a crate, which would add a parser
//! library; `dpkg --compare-versions`, which needs a process per comparison.

use std::cmp::Ordering;

/// Compares two versions: epoch, upstream version, revision. Invalid versions are ordered too.
pub(crate) fn compare(left: &str, right: &str) -> Ordering {
    let (left_epoch, left_upstream, left_revision) = parts(left);
    let (right_epoch, right_upstream, right_revision) = parts(right);
    left_epoch
        .cmp(&right_epoch)
        .then_with(|| compare_part(left_upstream, right_upstream))
        .then_with(|| compare_part(left_revision, right_revision))
}

/// Splits `[epoch:]upstream[-revision]`. A missing epoch is 0. A missing revision is empty, which equals `0`.
fn parts(version: &str) -> (u64, &str, &str) {
    let (epoch, rest) = match version.split_once(':') {
        Some((epoch, rest)) => (epoch.trim().parse().unwrap_or(0), rest),
        None => (0, version),
    };
    let (upstream, revision) = rest.rsplit_once('-').unwrap_or((rest, ""));
    (epoch, upstream, revision)
}

/// Compares alternating parts: texts without digits, character by character, and numbers.
fn compare_part(left: &str, right: &str) -> Ordering {
    let (mut left, mut right) = (left, right);
    while !left.is_empty() || !right.is_empty() {
        let (left_words, left_rest) = split(left, |c| !c.is_ascii_digit());
        let (right_words, right_rest) = split(right, |c| !c.is_ascii_digit());
        let (left_number, left_end) = split(left_rest, |c| c.is_ascii_digit());
        let (right_number, right_end) = split(right_rest, |c| c.is_ascii_digit());
        let order = compare_words(left_words, right_words).then_with(|| compare_numbers(left_number, right_number));
        if order != Ordering::Equal {
            return order;
        }
        (left, right) = (left_end, right_end);
    }
    Ordering::Equal
}

fn split(text: &str, belongs: impl Fn(char) -> bool) -> (&str, &str) {
    let end = text.find(|c| !belongs(c)).unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or((text, ""))
}

/// Compares two texts without digits. A tilde sorts before the end of the text, the end before letters, and letters before
/// other characters.
fn compare_words(left: &str, right: &str) -> Ordering {
    let weight = |character: Option<char>| match character {
        Some('~') => -1,
        None => 0,
        Some(letter) if letter.is_ascii_alphabetic() => i64::from(u32::from(letter)),
        Some(other) => i64::from(u32::from(other)) + 0x100,
    };
    let (mut left, mut right) = (left.chars(), right.chars());
    loop {
        let (one, other) = (left.next(), right.next());
        let order = weight(one).cmp(&weight(other));
        if order != Ordering::Equal || (one.is_none() && other.is_none()) {
            return order;
        }
    }
}

/// Compares numbers of any length without parsing them: without leading zeros, the longer one is greater.
fn compare_numbers(left: &str, right: &str) -> Ordering {
    let (left, right) = (left.trim_start_matches('0'), right.trim_start_matches('0'));
    left.len().cmp(&right.len()).then_with(|| left.cmp(right))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(left: &str, order: &str, right: &str) {
        let expected = match order {
            "<" => Ordering::Less,
            ">" => Ordering::Greater,
            _ => Ordering::Equal,
        };
        assert_eq!(compare(left, right), expected, "{left} {order} {right}");
        assert_eq!(compare(right, left), expected.reverse(), "{right} against {left}");
    }

    #[test]
    fn versions_are_ordered_as_dpkg_orders_them() {
        check("1.0", "=", "1.0");
        check("1.0", "=", "1.00");
        check("1.0", "=", "0:1.0");
        check("1.0-0", "=", "1.0");
        check("1.0", "<", "1.0-1");
        check("1.9", "<", "1.10");
        check("1.0~rc1", "<", "1.0");
        check("1.0~rc1", "<", "1.0~rc2");
        check("1.0~~", "<", "1.0~");
        check("1.0~~a", "<", "1.0~");
        check("1:0.1", ">", "9.9");
        check("1.0a", ">", "1.0");
        check("1.0a", "<", "1.0+");
        check("1.0+b1", ">", "1.0");
        check("2.10-3", ">", "2.9-3");
        check("2:4.13.13+dfsg-1~deb12u1", "<", "2:4.13.13+dfsg-1");
        check("1.2.3-4-5", ">", "1.2.3-4");
        check("5.02-1+b1", ">", "5.02-1");
        check("99999999999999999999999", ">", "99999999999999999999998");
        check("1.a", ">", "1.1");
        check("", "<", "1");
        check("é", ">", "z");
    }
}
