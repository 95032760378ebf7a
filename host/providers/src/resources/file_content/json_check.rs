//! Checks whether text is JSON without building values: in memory, a megabyte of `[0,0,..]` would take eighty.

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// Checks text as JSON: all of its values, and the same limit of depth as when values are built.
///
/// # Errors
/// The text is not valid JSON; the error has the position.
pub(super) fn check(text: &[u8]) -> Result<(), serde_json::Error> {
    serde_json::from_slice::<Seen>(text).map(|_| ())
}

/// A value that is parsed and dropped. `serde::de::IgnoredAny` would not check strings and numbers.
struct Seen;

impl<'de> Deserialize<'de> for Seen {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Self)
    }
}

impl<'de> Visitor<'de> for Seen {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any valid JSON value")
    }

    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Self, A::Error> {
        while elements.next_element::<Self>()?.is_some() {}
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self, A::Error> {
        while members.next_entry::<Self, Self>()?.is_some() {}
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_judges_as_whoever_reads_the_values_does() {
        let deep = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        let (deep_enough, too_deep) = (deep(100), deep(1000));
        let cases: [&[u8]; 20] = [
            b"{\"a\": [1, -2, 3.5, 1e9, null, true, \"x\\u00e9\"], \"b\": {}}",
            b" 1 ",
            b"[]",
            deep_enough.as_bytes(),
            too_deep.as_bytes(),
            b"",
            b"[1,]",
            b"[1 2]",
            b"{\"a\":1,}",
            b"{1:2}",
            b"{\"a\"}",
            b"[1] x",
            b"01",
            b"1e999",
            b"\"\xff\"",
            b"\"\\ud800\"",
            b"\"a\nb\"",
            b"[\"open",
            b"nul",
            b"// no\n{}",
        ];
        for text in cases {
            let expect = serde_json::from_slice::<serde_json::Value>(text).map(drop).map_err(|error| error.to_string());
            assert_eq!(check(text).map_err(|error| error.to_string()), expect, "{}", String::from_utf8_lossy(text));
        }
    }

    #[test]
    fn nothing_is_kept() {
        assert_eq!(size_of::<Seen>(), 0);
        let many = format!("[{}0]", "0,".repeat(1 << 20));
        assert!(check(many.as_bytes()).is_ok());
    }
}
