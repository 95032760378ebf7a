//! Reads and writes the needed parts of DER-encoded certificates and revocation lists (X.690; RFC 5280, 4 and 5).
//!
//! The input files may come from anybody: no length and no part of them is trusted.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

/// The labels of a certificate in PEM format.
pub(super) const CERTIFICATE: [&str; 3] = ["CERTIFICATE", "X509 CERTIFICATE", "TRUSTED CERTIFICATE"];

/// The label of a revocation list in PEM format.
pub(super) const REVOCATION_LIST: [&str; 1] = ["X509 CRL"];

/// The tags of values that are read and written.
pub(super) mod tag {
    pub(in super::super) const INTEGER: u8 = 0x02;
    pub(in super::super) const BITS: u8 = 0x03;
    pub(in super::super) const OCTETS: u8 = 0x04;
    pub(in super::super) const NULL: u8 = 0x05;
    pub(in super::super) const IDENTIFIER: u8 = 0x06;
    pub(in super::super) const ENUMERATED: u8 = 0x0a;
    pub(in super::super) const SHORT_TIME: u8 = 0x17;
    pub(in super::super) const LONG_TIME: u8 = 0x18;
    pub(in super::super) const SEQUENCE: u8 = 0x30;
    /// The first explicit context-specific tag.
    pub(in super::super) const FIRST: u8 = 0xa0;
}

/// Identifiers of extensions and algorithms, encoded.
pub(super) mod identifier {
    pub(in super::super) const SUBJECT_KEY: &[u8] = &[0x55, 0x1d, 0x0e];
    pub(in super::super) const LIST_NUMBER: &[u8] = &[0x55, 0x1d, 0x14];
    pub(in super::super) const REASON: &[u8] = &[0x55, 0x1d, 0x15];
    pub(in super::super) const AUTHORITY_KEY: &[u8] = &[0x55, 0x1d, 0x23];
    pub(in super::super) const RSA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01];
    pub(in super::super) const RSA_WITH_SHA256: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x0b];
    pub(in super::super) const CURVE: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01];
    pub(in super::super) const CURVE_WITH_SHA256: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02];
}

/// One encoded value: its tag and its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Value<'d> {
    /// The byte of its tag.
    pub(super) tag: u8,
    /// The bytes after its length.
    pub(super) content: &'d [u8],
    /// All bytes of the value, with tag and length.
    pub(super) whole: &'d [u8],
}

impl<'d> Value<'d> {
    /// Reads the value at the beginning of some bytes. Returns it with the remaining bytes.
    fn first(bytes: &'d [u8]) -> Option<(Self, &'d [u8])> {
        let (tag, rest) = bytes.split_first()?;
        let (length, rest) = rest.split_first()?;
        let (length, rest) = match length.checked_sub(0x80) {
            None => (usize::from(*length), rest),
            Some(octets) => {
                let (octets, rest) = rest.split_at_checked(usize::from(octets))?;
                let length = (1..=4).contains(&octets.len()).then_some(octets)?;
                (length.iter().fold(0, |length, octet| (length << 8) | usize::from(*octet)), rest)
            }
        };
        let (content, rest) = rest.split_at_checked(length)?;
        let whole = bytes.get(..bytes.len() - rest.len())?;
        Some((Self { tag: *tag, content, whole }, rest))
    }

    /// Returns the values that this value contains.
    pub(super) fn values(&self) -> Option<Vec<Self>> {
        let (mut found, mut rest) = (Vec::new(), self.content);
        while !rest.is_empty() {
            let (value, after) = Self::first(rest)?;
            found.push(value);
            rest = after;
        }
        Some(found)
    }

    /// Parses a time, in seconds since 1970.
    fn seconds(&self) -> Option<i64> {
        let text = std::str::from_utf8(self.content).ok()?.strip_suffix('Z')?;
        let (year, rest) = match self.tag {
            tag::SHORT_TIME => {
                let (year, rest) = text.split_at_checked(2)?;
                let year: i16 = year.parse().ok()?;
                (if year < 50 { 2000 + year } else { 1900 + year }, rest)
            }
            tag::LONG_TIME => {
                let (year, rest) = text.split_at_checked(4)?;
                (year.parse().ok()?, rest)
            }
            _ => return None,
        };
        let part = |at: usize| rest.get(at..at + 2)?.parse::<i8>().ok();
        let moment = DateTime::new(year, part(0)?, part(2)?, part(4)?, part(6)?, part(8)?, 0).ok()?;
        Some(moment.to_zoned(TimeZone::UTC).ok()?.timestamp().as_second())
    }
}

/// The parsed parts of a certificate.
#[derive(Debug)]
pub(super) struct Certificate<'d> {
    /// Serial number, signature algorithm, issuer, validity, subject and key, then the optional parts.
    parts: Vec<Value<'d>>,
}

impl<'d> Certificate<'d> {
    /// Reads an encoded certificate; `None` if it is not one.
    pub(super) fn of(bytes: &'d [u8]) -> Option<Self> {
        let mut parts = Value::first(bytes)?.0.values()?.first()?.values()?;
        // Certificates of version 1 do not have this part.
        if parts.first()?.tag == tag::FIRST {
            parts.remove(0);
        }
        (parts.len() >= 6).then_some(Self { parts })
    }

    fn part(&self, at: usize) -> Option<&Value<'d>> {
        self.parts.get(at)
    }

    /// Returns the encoded number of the certificate.
    pub(super) fn serial(&self) -> Option<&Value<'d>> {
        self.part(0)
    }

    /// Returns the encoded name of the authority that signed it.
    pub(super) fn issuer(&self) -> Option<&Value<'d>> {
        self.part(2)
    }

    /// Returns the end of its validity, in seconds since 1970.
    pub(super) fn not_after(&self) -> Option<i64> {
        self.part(3)?.values()?.get(1)?.seconds()
    }

    /// Returns the encoded name of its subject.
    pub(super) fn subject(&self) -> Option<&Value<'d>> {
        self.part(4)
    }

    /// Returns the identifier of its key's algorithm.
    pub(super) fn key_algorithm(&self) -> Option<&'d [u8]> {
        Some(self.part(5)?.values()?.first()?.values()?.first()?.content)
    }

    /// Returns the identifier of its key.
    pub(super) fn key_identifier(&self) -> Option<&'d [u8]> {
        let list = self.parts.iter().skip(6).find(|part| part.tag == tag::FIRST + 3)?;
        let octets = extension(list.values()?.first()?, identifier::SUBJECT_KEY)?;
        Some(Value::first(octets)?.0.content)
    }
}

/// A list of revoked certificates.
#[derive(Debug)]
pub(super) struct RevocationList<'d> {
    /// The time at which the next list is due, in seconds since 1970.
    pub(super) next_update: Option<i64>,
    /// The entries, one for each revoked certificate.
    pub(super) entries: Vec<Entry<'d>>,
    /// The encoded content of the list's own number.
    pub(super) number: Option<&'d [u8]>,
}

/// An entry of the list, about one certificate.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry<'d> {
    /// The encoded content of the certificate's serial number.
    pub(super) serial: &'d [u8],
    /// All bytes of the entry.
    pub(super) whole: &'d [u8],
}

impl<'d> RevocationList<'d> {
    /// Reads an encoded list; `None` if it is not one.
    pub(super) fn of(bytes: &'d [u8]) -> Option<Self> {
        let parts = Value::first(bytes)?.0.values()?.first()?.values()?;
        let mut parts = parts.into_iter().peekable();
        parts.next_if(|part| part.tag == tag::INTEGER);
        let (_algorithm, _issuer, _update) = (parts.next()?, parts.next()?, parts.next()?);
        let next = parts.next_if(|part| matches!(part.tag, tag::SHORT_TIME | tag::LONG_TIME));
        let revoked = parts.next_if(|part| part.tag == tag::SEQUENCE);
        let mut entries = Vec::new();
        for entry in revoked.map_or(Some(vec![]), |revoked| revoked.values())? {
            entries.push(Entry { serial: entry.values()?.first()?.content, whole: entry.whole });
        }
        let number = match parts.next() {
            Some(list) => extension(list.values()?.first()?, identifier::LIST_NUMBER),
            None => None,
        };
        let number = number.and_then(|octets| Some(Value::first(octets)?.0.content));
        Some(Self { next_update: next.and_then(|next| next.seconds()), entries, number })
    }
}

/// Returns the octets of one extension from a sequence of extensions.
fn extension<'d>(list: &Value<'d>, name: &[u8]) -> Option<&'d [u8]> {
    list.values()?.into_iter().find_map(|extension| {
        let parts = extension.values()?;
        (parts.first()?.content == name).then_some(parts.last()?.content)
    })
}

/// Decodes a PEM text with one of these labels. Bytes without such a label are returned unchanged.
pub(super) fn unarmoured(bytes: &[u8], labels: &[&str]) -> Vec<u8> {
    let text = String::from_utf8_lossy(bytes);
    let decoded = labels.iter().find_map(|label| {
        let (_, rest) = text.split_once(&format!("-----BEGIN {label}-----"))?;
        let (body, _) = rest.split_once(&format!("-----END {label}-----"))?;
        let lines = body.lines().filter(|line| !line.contains(':'));
        STANDARD.decode(lines.flat_map(str::split_whitespace).collect::<String>()).ok()
    });
    decoded.unwrap_or_else(|| bytes.to_vec())
}

/// Encodes a revocation list as PEM.
pub(super) fn armoured(bytes: &[u8]) -> String {
    let [label] = REVOCATION_LIST;
    let mut text = format!("-----BEGIN {label}-----\n");
    for (at, sign) in STANDARD.encode(bytes).chars().enumerate() {
        if at > 0 && at % 64 == 0 {
            text.push('\n');
        }
        text.push(sign);
    }
    text.push_str(&format!("\n-----END {label}-----\n"));
    text
}

/// Encodes a value with this tag. Its content is given in parts.
pub(super) fn tagged(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    let content = parts.concat();
    let mut encoded = vec![tag];
    match u8::try_from(content.len()).ok().filter(|length| *length < 0x80) {
        Some(length) => encoded.push(length),
        None => {
            let length = content.len().to_be_bytes();
            let length: Vec<u8> = length.into_iter().skip_while(|octet| *octet == 0).collect();
            // The length of a length is at most eight octets.
            encoded.push(0x80 | u8::try_from(length.len()).unwrap_or(0));
            encoded.extend(length);
        }
    }
    encoded.extend(content);
    encoded
}

/// Encodes a sequence of encoded values.
pub(super) fn sequence(parts: &[&[u8]]) -> Vec<u8> {
    tagged(tag::SEQUENCE, parts)
}

/// Encodes an extension that is not critical.
pub(super) fn extended(name: &[u8], value: &[u8]) -> Vec<u8> {
    sequence(&[&tagged(tag::IDENTIFIER, &[name]), &tagged(tag::OCTETS, &[value])])
}

/// Returns the content of a non-negative integer, from its octets, highest first.
pub(super) fn unsigned(octets: &[u8]) -> Vec<u8> {
    let mut content: Vec<u8> = octets.iter().copied().skip_while(|octet| *octet == 0).collect();
    if content.first().is_none_or(|first| *first > 0x7f) {
        content.insert(0, 0);
    }
    content
}

/// Encodes a time, given in seconds since 1970. Returns `None` if it is out of range. Years before 2050 have two digits,
/// later ones four (RFC 5280, 5.1.2.4).
pub(super) fn time(seconds: i64) -> Option<Vec<u8>> {
    let moment = Timestamp::from_second(seconds).ok()?.to_zoned(TimeZone::UTC);
    match moment.year() {
        1950..2050 => Some(tagged(tag::SHORT_TIME, &[moment.strftime("%y%m%d%H%M%SZ").to_string().as_bytes()])),
        2050.. => Some(tagged(tag::LONG_TIME, &[moment.strftime("%Y%m%d%H%M%SZ").to_string().as_bytes()])),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_and_numbers_are_as_short_as_can_be() {
        assert_eq!(tagged(4, &[&[1, 2]]), [4, 2, 1, 2]);
        assert_eq!(tagged(4, &[&[0; 127]])[..2], [4, 127]);
        assert_eq!(tagged(4, &[&[0; 128]])[..3], [4, 0x81, 128]);
        assert_eq!(tagged(4, &[&[0; 300]])[..4], [4, 0x82, 1, 44]);
        for (octets, content) in [(&[][..], &[0][..]), (&[0, 0, 5], &[5]), (&[0x80], &[0, 0x80]), (&[1, 0], &[1, 0])] {
            assert_eq!(unsigned(octets), content);
        }
    }

    #[test]
    fn moments_are_read_as_they_are_written() {
        for seconds in [0, 1_800_000_000, 2_524_607_999, 2_524_608_000, 100_000_000_000] {
            let encoded = time(seconds).unwrap();
            assert_eq!(Value::first(&encoded).unwrap().0.seconds(), Some(seconds));
        }
        assert_eq!(time(0).unwrap(), [&[0x17, 13][..], b"700101000000Z"].concat());
        assert_eq!(time(2_524_608_000).unwrap(), [&[0x18, 15][..], b"20500101000000Z"].concat());
        assert!(time(-1_000_000_000).is_none() && time(i64::MAX).is_none() && time(253_402_300_800).is_none());
        for wrong in ["7001010000", "70010100000Z", "701301000000Z", "\u{e4}01010000000Z", "70-10100+000Z"] {
            let encoded = tagged(tag::SHORT_TIME, &[wrong.as_bytes()]);
            assert_eq!(Value::first(&encoded).unwrap().0.seconds(), None, "{wrong}");
        }
    }

    #[test]
    fn nothing_is_as_long_as_it_says() {
        for bytes in [
            &[][..],
            &[0x30],
            &[0x30, 5, 1],
            &[0x30, 0x80],
            &[0x30, 0x85, 1, 1, 1, 1, 1],
            &[0x30, 0x84, 255, 255, 255, 255],
        ] {
            assert_eq!(Value::first(bytes), None, "{bytes:?}");
            assert!(Certificate::of(bytes).is_none() && RevocationList::of(bytes).is_none());
        }
        // A sequence whose first value is longer than the sequence.
        let (value, _) = Value::first(&[0x30, 3, 2, 9, 1]).unwrap();
        assert_eq!(value.values(), None);
        let nested = (0..1_000).fold(vec![5, 0], |inner, _| sequence(&[&inner]));
        assert!(Certificate::of(&nested).is_none() && RevocationList::of(&nested).is_none());
    }

    #[test]
    fn armour_is_taken_off_and_put_on() {
        let bytes: Vec<u8> = (0..100).collect();
        let text = armoured(&bytes);
        assert!(text.lines().all(|line| line.len() <= 64) && text.ends_with("\n-----END X509 CRL-----\n"), "{text}");
        assert_eq!(unarmoured(text.as_bytes(), &REVOCATION_LIST), bytes);
        let with_text = text.replace("CRL-----\nAAEC", "CRL-----\nProc-Type: 4\n\nAAEC");
        assert_eq!(unarmoured(format!("Certificate:\n{with_text}").as_bytes(), &REVOCATION_LIST), bytes);
        assert_eq!(unarmoured(&bytes, &CERTIFICATE), bytes);
        assert_eq!(unarmoured(b"-----BEGIN X509 CRL-----\n*", &REVOCATION_LIST), b"-----BEGIN X509 CRL-----\n*");
    }
}
