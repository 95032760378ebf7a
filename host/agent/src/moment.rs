//! A moment of the wall clock, for files and messages.

use jiff::{SignedDuration, Timestamp};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::time::{Duration, SystemTime};

/// A moment in UTC: `2026-11-23T17:50:00Z`. Files contain milliseconds, messages whole seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(Timestamp);

impl Moment {
    /// Converts a time of the system's clock. A time outside of the calendar counts as 1970.
    #[must_use]
    pub fn of(time: SystemTime) -> Self {
        Self(Timestamp::try_from(time).unwrap_or(Timestamp::UNIX_EPOCH))
    }

    /// Returns the moment that is `time` later.
    #[must_use]
    pub fn after(self, time: Duration) -> Self {
        let time = SignedDuration::try_from(time).unwrap_or(SignedDuration::MAX);
        Self(self.0.checked_add(time).unwrap_or(Timestamp::MAX))
    }

    /// Returns the time until another moment, or zero if that has passed.
    #[must_use]
    pub fn until(self, other: Self) -> Duration {
        Duration::try_from(self.0.duration_until(other.0)).unwrap_or(Duration::ZERO)
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.0.strftime("%Y-%m-%dT%H:%M:%SZ"))
    }
}

impl Serialize for Moment {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0.strftime("%Y-%m-%dT%H:%M:%S.%3fZ"))
    }
}

impl<'de> Deserialize<'de> for Moment {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map(Self).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_text_and_comes_back() {
        let moment = Moment::of(SystemTime::UNIX_EPOCH).after(Duration::from_millis(1_500));
        assert_eq!(moment.to_string(), "1970-01-01T00:00:01Z");
        let text = serde_json::to_string(&moment).unwrap();
        assert_eq!(text, "\"1970-01-01T00:00:01.500Z\"");
        assert_eq!(serde_json::from_str::<Moment>(&text).unwrap(), moment);
        assert!(serde_json::from_str::<Moment>("\"soon\"").is_err());
    }

    #[test]
    fn times_that_no_calendar_has_are_cut() {
        let now = Moment::of(SystemTime::UNIX_EPOCH);
        let last = now.after(Duration::MAX);
        assert_eq!(last.after(Duration::from_secs(1)), last);
        assert_eq!(last.until(now), Duration::ZERO);
    }
}
