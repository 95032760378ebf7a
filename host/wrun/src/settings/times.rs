//! Durations in settings, options, and variables. All use the same forms: `30d`, `12h`, `90m`, `3600s`, or 3600 for seconds.

use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize, Serializer};
use std::str::FromStr;
use std::time::Duration;

/// Largest duration in a setting: a hundred years.
const MAX_AGE: u64 = 36_525 * 24 * 60 * 60;

/// A duration such as `30d`, or a number of seconds. `LEAST` is its minimum in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Age<const LEAST: u64 = 0>(Duration);

impl<const LEAST: u64> Age<LEAST> {
    /// Returns the duration as written.
    pub(crate) fn duration(self) -> Duration {
        self.0
    }
}

impl<const LEAST: u64> FromStr for Age<LEAST> {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        time(text, LEAST, MAX_AGE).map(Self)
    }
}

impl<const LEAST: u64> Serialize for Age<LEAST> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&short_time(self.0))
    }
}

/// A time limit between `LEAST` and `MOST` seconds. It is written like an [`Age`], and displayed in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TimeLimit<const LEAST: u64, const MOST: u64>(Duration);

impl<const LEAST: u64, const MOST: u64> TimeLimit<LEAST, MOST> {
    /// Returns a constant limit. The compiler checks that it is within the bounds.
    pub(crate) const fn constant<const SECONDS: u64>() -> Self {
        const { assert!(LEAST <= SECONDS && SECONDS <= MOST, "out of bounds") };
        Self(Duration::from_secs(SECONDS))
    }

    /// Returns the time limit as a duration.
    pub(crate) fn duration(self) -> Duration {
        self.0
    }
}

impl<const LEAST: u64, const MOST: u64> FromStr for TimeLimit<LEAST, MOST> {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        time(text, LEAST, MOST).map(Self)
    }
}

impl<const LEAST: u64, const MOST: u64> Serialize for TimeLimit<LEAST, MOST> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(self.0.as_secs())
    }
}

/// Parses a duration in days, hours, minutes, or seconds. Without a unit it is in seconds.
fn time(text: &str, least: u64, most: u64) -> Result<Duration, String> {
    let wrong = || format!("{text:?} is not a time such as 30d, 12h, 90m, 3600s or 3600 (seconds)");
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let number: u32 = digits.parse().map_err(|_| wrong())?;
    let unit = match text.strip_prefix(digits).unwrap_or_default() {
        "d" => 24 * 60 * 60,
        "h" => 60 * 60,
        "m" => 60,
        "s" | "" => 1,
        _ => return Err(wrong()),
    };
    match u64::from(number) * unit {
        seconds if seconds < least => Err(format!("{text:?} is less than {least}s")),
        seconds if seconds > most && most == MAX_AGE => Err(format!("{text:?} is more than a hundred years")),
        seconds if seconds > most => Err(format!("{text:?} is more than {}", short_time(Duration::from_secs(most)))),
        seconds => Ok(Duration::from_secs(seconds)),
    }
}

/// Deserializes a duration from a file: text, or a number of seconds.
fn written_time<'de, D: Deserializer<'de>, T: FromStr<Err = String>>(deserializer: D) -> Result<T, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "expected a time such as \"30d\", \"12h\", \"90m\", \"3600s\" or 3600 (seconds)")]
    enum Written {
        Seconds(i64),
        Text(String),
    }

    let text = match Written::deserialize(deserializer)? {
        Written::Seconds(seconds) => seconds.to_string(),
        Written::Text(text) => text,
    };
    text.parse().map_err(D::Error::custom)
}

/// Formats a duration as in a setting, in the largest unit that gives a whole number: `30m`.
pub(super) fn short_time(time: Duration) -> String {
    let seconds = time.as_secs();
    let units = [(24 * 60 * 60, "d"), (60 * 60, "h"), (60, "m")];
    let unit = units.into_iter().find(|(unit, _)| seconds > 0 && seconds.is_multiple_of(*unit));
    let (unit, name) = unit.unwrap_or((1, "s"));
    format!("{}{name}", seconds / unit)
}

impl<'de, const LEAST: u64> Deserialize<'de> for Age<LEAST> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        written_time(deserializer)
    }
}

impl<'de, const LEAST: u64, const MOST: u64> Deserialize<'de> for TimeLimit<LEAST, MOST> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        written_time(deserializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_times_have_the_same_forms() {
        for (text, seconds) in [("5m", 300), ("300", 300), ("300s", 300), ("1h", 3600), ("0", 0)] {
            assert_eq!(text.parse::<TimeLimit<0, 86_400>>().unwrap().duration().as_secs(), seconds);
            assert_eq!(text.parse::<Age>().unwrap().duration().as_secs(), seconds);
        }
        let wrong = |text: &str| text.parse::<TimeLimit<1, 86_400>>().unwrap_err();
        assert_eq!(wrong("2d"), "\"2d\" is more than 1d");
        assert_eq!(wrong("0m"), "\"0m\" is less than 1s");
        for text in ["", "m", "5 m", "5min", "-5", "1.5h", "\u{e4}"] {
            assert!(wrong(text).contains("is not a time such as 30d, 12h, 90m, 3600s or 3600 (seconds)"), "{text}");
        }
    }

    #[test]
    fn a_file_may_say_it_as_text_or_as_a_number() {
        #[derive(Deserialize)]
        struct Both {
            limit: TimeLimit<1, 3600>,
            age: Age,
        }
        let both: Both = toml::from_str("limit = \"2m\"\nage = 90").unwrap();
        assert_eq!((both.limit.duration().as_secs(), both.age.duration().as_secs()), (120, 90));
        let error = toml::from_str::<Both>("limit = true\nage = 1").map(drop).unwrap_err();
        assert!(error.message().contains("expected a time such as"), "{error}");
        assert_eq!(serde_json::to_string(&(both.limit, both.age)).unwrap(), "[120,\"90s\"]");
    }
}
