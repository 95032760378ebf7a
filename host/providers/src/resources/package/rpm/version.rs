//! Versions of rpm: epoch, version, release.

use std::cmp::Ordering;

/// A version of a package on one architecture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Version {
    pub(super) epoch: String,
    pub(super) version: String,
    pub(super) release: String,
    pub(super) architecture: String,
}

impl Version {
    /// Formats the version as Chef does: `0:1.2-3.x86_64`.
    pub(super) fn text(&self) -> String {
        format!("{}:{}-{}.{}", self.epoch, self.version, self.release, self.architecture)
    }

    /// Tells whether this version matches a declared one, which may omit epoch, release and architecture.
    pub(super) fn answers(&self, asked: &str) -> bool {
        let Self { epoch, version, release, architecture } = self;
        let asked = asked.strip_prefix(&format!("{epoch}:")).unwrap_or(asked);
        let asked = asked.strip_suffix(&format!(".{architecture}")).unwrap_or(asked);
        asked == version || asked == format!("{version}-{release}")
    }

    /// Compares epoch, version and release, as rpm does.
    pub(super) fn compare(&self, other: &Self) -> Ordering {
        let number = |epoch: &str| epoch.parse::<u64>().unwrap_or(0);
        number(&self.epoch)
            .cmp(&number(&other.epoch))
            .then_with(|| compare(&self.version, &other.version))
            .then_with(|| compare(&self.release, &other.release))
    }
}

/// Compares runs of digits and of letters one by one. `~` sorts before the end of the text. `^` sorts after the end, but
/// before everything else.
pub(super) fn compare(one: &str, other: &str) -> Ordering {
    let (mut one, mut other) = (one, other);
    loop {
        let separator = |c: char| !c.is_ascii_alphanumeric() && !matches!(c, '~' | '^');
        one = one.trim_start_matches(separator);
        other = other.trim_start_matches(separator);
        let order = match (one.chars().next(), other.chars().next()) {
            (Some('~'), Some('~')) | (Some('^'), Some('^')) => {
                one = one.get(1..).unwrap_or_default();
                other = other.get(1..).unwrap_or_default();
                continue;
            }
            (Some('~'), _) | (None, Some('^')) => Ordering::Less,
            (_, Some('~')) | (Some('^'), None) => Ordering::Greater,
            (Some('^'), _) => Ordering::Less,
            (_, Some('^')) => Ordering::Greater,
            (None, None) => return Ordering::Equal,
            (None, Some(_)) => Ordering::Less,
            (Some(_), None) => Ordering::Greater,
            _ => {
                let (part, rest) = segment(one);
                let (other_part, other_rest) = segment(other);
                (one, other) = (rest, other_rest);
                compare_segments(part, other_part)
            }
        };
        if order != Ordering::Equal {
            return order;
        }
    }
}

/// Splits off the first run of digits or letters.
fn segment(text: &str) -> (&str, &str) {
    let digits = text.starts_with(|c: char| c.is_ascii_digit());
    let end = text.find(|c: char| if digits { !c.is_ascii_digit() } else { !c.is_ascii_alphabetic() });
    text.split_at_checked(end.unwrap_or(text.len())).unwrap_or((text, ""))
}

/// Compares two runs; numbers are newer than letters.
fn compare_segments(one: &str, other: &str) -> Ordering {
    let is_number = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
    match (is_number(one), is_number(other)) {
        (true, true) => {
            let (one, other) = (one.trim_start_matches('0'), other.trim_start_matches('0'));
            one.len().cmp(&other.len()).then_with(|| one.cmp(other))
        }
        (true, false) => Ordering::Greater,
        (false, true) => Ordering::Less,
        (false, false) => one.cmp(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_rpm_does() {
        let check = |one: &str, other: &str, expect: Ordering| {
            assert_eq!(compare(one, other), expect, "{one} {other}");
            assert_eq!(compare(other, one), expect.reverse(), "{other} {one}");
        };
        check("1.0", "1.0", Ordering::Equal);
        check("1.0", "2.0", Ordering::Less);
        check("2.0.1", "2.0", Ordering::Greater);
        check("2.0.1a", "2.0.1", Ordering::Greater);
        check("5.5p1", "5.5p10", Ordering::Less);
        check("10xyz", "10.1xyz", Ordering::Less);
        check("xyz.4", "8", Ordering::Less);
        check("xyz.4", "2", Ordering::Less);
        check("6.0.rc1", "6.0", Ordering::Greater);
        check("10b2", "10a1", Ordering::Greater);
        check("7.4.052", "7.4.52", Ordering::Equal);
        check("2_0", "2.0", Ordering::Equal);
        check("1.0~rc1", "1.0", Ordering::Less);
        check("1.0~rc1", "1.0~rc2", Ordering::Less);
        check("1.0~rc1~git123", "1.0~rc1", Ordering::Less);
        check("1.0^", "1.0", Ordering::Greater);
        check("1.0^git1", "1.01", Ordering::Less);
        check("1.0^git1~pre", "1.0^git1", Ordering::Less);
    }

    #[test]
    fn parts_may_be_left_out() {
        let [epoch, version, release, architecture] = ["1", "2.3", "4.el9", "x86_64"].map(str::to_owned);
        let version = Version { epoch, version, release, architecture };
        assert_eq!(version.text(), "1:2.3-4.el9.x86_64");
        for asked in ["2.3", "2.3-4.el9", "1:2.3", "1:2.3-4.el9.x86_64", "2.3-4.el9.x86_64"] {
            assert!(version.answers(asked), "{asked}");
        }
        for asked in ["2", "2.3-4", "0:2.3", "2.3-4.el9.i686", ""] {
            assert!(!version.answers(asked), "{asked}");
        }
    }
}
