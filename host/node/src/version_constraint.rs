//! Versions and constraints as cookbooks write them: `x.y` or `x.y.z`, and `=`, `>`, `<`, `>=`, `<=`, `~>`.
//!
//! Platform versions are looser: a single number is one, and so is `10.2-RELEASE-p3`.

use std::fmt;

use errors::ErrorKind;
use thiserror::Error;

/// Which texts count as versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VersionStyle {
    /// Two or three numbers: `x.y` and `x.y.z`.
    Cookbook,
    /// The cookbook forms, a single number `x`, and FreeBSD's `x.y-WORD` and `x.y-WORD-pN`.
    Platform,
}

/// The reasons why a text is not a version or a constraint. The messages are Chef's.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum VersionError {
    /// Not a cookbook version.
    #[error("'{text}' does not match 'x.y.z' or 'x.y'")]
    InvalidCookbookVersion {
        /// The text that was to be a version.
        text: String,
    },
    /// Not a platform version.
    #[error("'{text}' does not match 'x.y.z', 'x.y' or 'x'")]
    InvalidPlatformVersion {
        /// The text that was to be a version.
        text: String,
    },
    /// Not a version constraint such as `~> 1.2`.
    #[error("'{text}'")]
    InvalidConstraint {
        /// The text that was to be a constraint.
        text: String,
    },
}

impl VersionError {
    /// Returns what went wrong, as the kind of the failure that it becomes.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::InvalidCookbookVersion { .. } => ErrorKind::InvalidCookbookVersion,
            Self::InvalidPlatformVersion { .. } => ErrorKind::InvalidPlatformVersion,
            Self::InvalidConstraint { .. } => ErrorKind::InvalidVersionConstraint,
        }
    }
}

/// A version of up to three numbers; those not written are 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    /// First number: 1 in `1.2.3`.
    pub major: u64,
    /// Second number: 2 in `1.2.3`.
    pub minor: u64,
    /// Third number: 3 in `1.2.3`.
    pub patch: u64,
}

impl Version {
    /// Parses a version.
    ///
    /// # Errors
    /// Text that is not a version in that style.
    pub fn parse(text: &str, style: VersionStyle) -> Result<Self, VersionError> {
        let numbers: Option<Vec<u64>> = text.split('.').map(number).collect();
        let plain = match (numbers.as_deref(), style) {
            (Some([major, minor, patch]), _) => Some(Self::new(*major, *minor, *patch)),
            (Some([major, minor]), _) => Some(Self::new(*major, *minor, 0)),
            (Some([major]), VersionStyle::Platform) => Some(Self::new(*major, 0, 0)),
            (_, VersionStyle::Platform) => freebsd(text),
            (_, VersionStyle::Cookbook) => None,
        };
        plain.ok_or_else(|| match style {
            VersionStyle::Cookbook => VersionError::InvalidCookbookVersion { text: text.to_owned() },
            VersionStyle::Platform => VersionError::InvalidPlatformVersion { text: text.to_owned() },
        })
    }

    /// A version of three numbers.
    pub const fn new(major: u64, minor: u64, patch: u64) -> Self {
        Self { major, minor, patch }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    Equal,
    Less,
    Greater,
    LessOrEqual,
    GreaterOrEqual,
    /// `~>` with a third number: the same minor version, from there on.
    SameMinor,
    /// `~>` without: the same major version, from there on.
    SameMajor,
}

/// A constraint on versions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionConstraint {
    operator: Operator,
    version: Version,
    style: VersionStyle,
    written: String,
}

impl VersionConstraint {
    /// Parses a constraint; a version alone means `=`.
    ///
    /// # Errors
    /// The text is not a constraint, or the version in it is invalid.
    pub fn parse(text: &str, style: VersionStyle) -> Result<Self, VersionError> {
        let (sign, version) = if !text.contains(' ') && text.starts_with(|character: char| character.is_ascii_digit()) {
            ("=", text)
        } else {
            split_operator(text).ok_or_else(|| VersionError::InvalidConstraint { text: text.to_owned() })?
        };
        let operator = match sign {
            "<" => Operator::Less,
            ">" => Operator::Greater,
            "<=" => Operator::LessOrEqual,
            ">=" => Operator::GreaterOrEqual,
            "~>" if version.split('.').count() <= 2 => Operator::SameMajor,
            "~>" => Operator::SameMinor,
            _ => Operator::Equal,
        };
        let written = format!("{sign} {version}");
        Ok(Self { operator, version: Version::parse(version, style)?, style, written })
    }

    /// The constraint that any version fulfils: `>= 0.0.0`.
    pub fn any(style: VersionStyle) -> Self {
        Self {
            operator: Operator::GreaterOrEqual,
            version: Version::new(0, 0, 0),
            style,
            written: ">= 0.0.0".to_owned(),
        }
    }

    /// Whether a version fulfils the constraint.
    pub fn includes(&self, version: Version) -> bool {
        let wanted = self.version;
        match self.operator {
            Operator::Equal => version == wanted,
            Operator::Less => version < wanted,
            Operator::Greater => version > wanted,
            Operator::LessOrEqual => version <= wanted,
            Operator::GreaterOrEqual => version >= wanted,
            Operator::SameMinor => {
                (version.major, version.minor) == (wanted.major, wanted.minor) && version.patch >= wanted.patch
            }
            Operator::SameMajor => version.major == wanted.major && version.minor >= wanted.minor,
        }
    }
}

impl fmt::Display for VersionConstraint {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.written)
    }
}

/// An operator, any number of spaces, and something that begins with a digit.
fn split_operator(text: &str) -> Option<(&str, &str)> {
    ["<=", ">=", "~>", "<", ">", "="].into_iter().find_map(|sign| {
        let version = text.strip_prefix(sign)?.trim_start_matches(' ');
        version.starts_with(|character: char| character.is_ascii_digit()).then_some((sign, version))
    })
}

fn number(text: &str) -> Option<u64> {
    let is_digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_digits.then(|| text.parse().ok())?
}

/// `10.2-RELEASE`, `10.2-STABLE1-p3`: two numbers with one character between them, a word, perhaps a patch level.
fn freebsd(text: &str) -> Option<Version> {
    let with_patch = text.rsplit_once('-').and_then(|(before, last)| {
        let patch = last.strip_prefix(['p', 'P'])?;
        Some((before, number(patch)?))
    });
    with_patch.into_iter().chain([(text, 0)]).find_map(|(body, patch)| {
        let (numbers, word) = body.rsplit_once('-')?;
        let letters = word.strip_suffix(|last: char| last.is_ascii_digit()).unwrap_or(word);
        if letters.is_empty() || !letters.bytes().all(|byte| byte.is_ascii_alphabetic()) {
            return None;
        }
        let (major, minor) = two_numbers(numbers)?;
        Some(Version::new(major, minor, patch))
    })
}

/// Two numbers with any one character between them; the first takes as many digits as it can.
fn two_numbers(text: &str) -> Option<(u64, u64)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    (1..=digits).rev().find_map(|length| {
        let (major, rest) = text.split_at_checked(length)?;
        let mut characters = rest.chars();
        characters.next()?;
        Some((number(major)?, number(characters.as_str())?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn platform_versions_are_looser() {
        #[track_caller]
        fn check(text: &str, expect: Option<(u64, u64, u64)>) {
            let found = Version::parse(text, VersionStyle::Platform).ok();
            assert_eq!(found, expect.map(|(major, minor, patch)| Version::new(major, minor, patch)), "{text}");
        }
        check("12", Some((12, 0, 0)));
        check("22.04", Some((22, 4, 0)));
        check("10.2-RELEASE", Some((10, 2, 0)));
        check("10.2-RELEASE-p3", Some((10, 2, 3)));
        check("10.2-release1-P12", Some((10, 2, 12)));
        check("10.2-p3", Some((10, 2, 0)));
        check("1023-x", Some((10, 3, 0)));
        check("10.2.1-RELEASE", None);
        check("10.2-", None);
        check("", None);
        check("trixie/sid", None);
        check("99999999999999999999", None);
    }
}
