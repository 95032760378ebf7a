//! `uptime`, `idletime` and their seconds: Ohai's plugin Uptime, from `/proc/uptime`.

use serde_json::Value;

use crate::machine::{Gathered, Machine};
use crate::topics::known;

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

pub(crate) fn gather(machine: &Machine) -> Gathered {
    let line = machine.machine.line("/proc/uptime").unwrap_or_default();
    let mut seconds = line.split_whitespace().map(|word| word.split('.').next()?.parse::<u64>().ok());
    let up = seconds.next().flatten();
    let idle = seconds.next().flatten();
    let number = |seconds: Option<u64>| seconds.map(Value::from);
    let sentence = |seconds: Option<u64>| seconds.map(|seconds| Value::from(in_words(seconds)));
    known([
        ("uptime_seconds", number(up)),
        ("uptime", sentence(up)),
        ("idletime_seconds", number(idle)),
        ("idletime", sentence(idle)),
    ])
}

/// Formats a number of seconds as Ohai does.
fn in_words(seconds: u64) -> String {
    let (days, hours, minutes) = (seconds / DAY, seconds % DAY / HOUR, seconds % HOUR / MINUTE);
    let rest = seconds % MINUTE;
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{rest:02} seconds"),
        (0, 0, _) => format!("{minutes} minutes {rest:02} seconds"),
        (0, _, _) => format!("{hours} hours {minutes:02} minutes {rest:02} seconds"),
        (1, _, _) => format!("1 day {hours:02} hours {minutes:02} minutes {rest:02} seconds"),
        (_, _, _) => format!("{days} days {hours:02} hours {minutes:02} minutes {rest:02} seconds"),
    }
}

#[cfg(test)]
mod tests {
    use super::in_words;

    #[test]
    fn words_as_ohai() {
        for (seconds, expect) in [
            (0, "00 seconds"),
            (59, "59 seconds"),
            (60, "1 minutes 00 seconds"),
            (3600, "1 hours 00 minutes 00 seconds"),
            (86_400 + 61, "1 day 00 hours 01 minutes 01 seconds"),
            (2 * 86_400 + 3 * 3600, "2 days 03 hours 00 minutes 00 seconds"),
        ] {
            assert_eq!(in_words(seconds), expect);
        }
    }
}
