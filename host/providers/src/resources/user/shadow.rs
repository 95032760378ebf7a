//! The root's shadow file: hashes, locks, expiry.

use machine::root::Root;
use std::fmt;

/// One user's entry in the shadow file. Messages never contain its hash.
#[derive(Clone, Default, PartialEq, Eq)]
pub(super) struct Shadow {
    /// The password hash as in the file.
    pub(super) hash: String,
    /// The number of days from the password's expiry until the account is disabled.
    pub(super) inactive: Option<i64>,
    /// The day on which the account expires, counted since 1970.
    pub(super) expires: Option<i64>,
}

impl Shadow {
    /// Returns a user's entry, or `None` if it does not exist or may not be read.
    pub(super) fn find(root: &Root, name: &str) -> Option<Self> {
        let text = root.read("/etc/shadow").ok()?;
        String::from_utf8_lossy(&text).lines().find_map(|line| Self::parse(line, name))
    }

    fn parse(line: &str, name: &str) -> Option<Self> {
        let mut fields = line.split(':');
        if fields.next()? != name {
            return None;
        }
        let hash = fields.next()?.to_owned();
        // Skips last change, minimum, maximum and warning.
        let mut fields = fields.skip(4);
        let mut number = || fields.next().and_then(|field| field.trim().parse().ok());
        Some(Self { hash, inactive: number(), expires: number() })
    }

    /// Tells whether a login by password is impossible, as `passwd -S` reports it.
    pub(super) fn is_locked(&self) -> bool {
        self.hash.starts_with(['!', '*'])
    }
}

impl fmt::Debug for Shadow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shadow")
            .field("inactive", &self.inactive)
            .field("expires", &self.expires)
            .finish_non_exhaustive()
    }
}

/// Parses a date `YYYY-MM-DD` to a day since 1970.
pub(super) fn parse_day(date: &str) -> Option<i64> {
    let mut parts = date.trim().splitn(3, '-');
    let mut number = || parts.next()?.parse::<i64>().ok();
    let (year, month, day) = (number()?, number()?, number()?);
    if !(1..=9999).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    // Years begin in March here, so that the leap day is the last day of a year.
    let shifted = if month <= 2 { year - 1 } else { year };
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let (era, year_of_era) = (shifted.div_euclid(400), shifted.rem_euclid(400));
    Some(era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468)
}

/// Formats a day since 1970 as `YYYY-MM-DD`.
pub(super) fn format_day(day: i64) -> String {
    // The file may contain any number; the day is limited to years of four digits.
    let day = day.clamp(-719_162, 2_932_896) + 719_468;
    let (era, day_of_era) = (day.div_euclid(146_097), day.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_read() {
        let check = |line: &str, hash: &str, inactive: Option<i64>, expires: Option<i64>| {
            assert_eq!(Shadow::parse(line, "a"), Some(Shadow { hash: hash.into(), inactive, expires }), "{line}");
        };
        check("a:$y$j9T$x:19000:0:99999:7:30:20000:", "$y$j9T$x", Some(30), Some(20000));
        check("a:!:19000::::::", "!", None, None);
        check("a:*", "*", None, None);
        assert_eq!(Shadow::parse("ab:*:1::::::", "a"), None);
        assert_eq!(Shadow::parse("a", "a"), None);
    }

    #[test]
    fn locks_are_told_as_passwd_tells_them() {
        for (hash, expect) in [("!", true), ("!$y$x", true), ("*", true), ("", false), ("$y$x", false)] {
            assert_eq!(Shadow { hash: hash.into(), ..Shadow::default() }.is_locked(), expect, "{hash}");
        }
    }

    #[test]
    fn a_hash_is_never_shown() {
        let shadow = Shadow { hash: "$6$secret".into(), ..Shadow::default() };
        assert!(!format!("{shadow:?}").contains("secret"));
    }

    #[test]
    fn days_and_dates() {
        for (day, date) in [
            (0, "1970-01-01"),
            (19_782, "2024-02-29"),
            (20_000, "2024-10-04"),
            (-1, "1969-12-31"),
            (11_016, "2000-02-29"),
            (22_000, "2030-03-27"),
        ] {
            assert_eq!(parse_day(date), Some(day), "{date}");
            assert_eq!(format_day(day), date);
        }
        assert_eq!(parse_day("2030-3-27"), Some(22_000));
        for bad in ["", "2030", "2030-13-01", "30/01/2030", "2030-01-32"] {
            assert_eq!(parse_day(bad), None, "{bad}");
        }
    }
}
