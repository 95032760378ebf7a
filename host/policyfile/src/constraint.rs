//! Constraints on versions in Policyfiles and locks, and their canonical form in locks.
//!
//! They allow more than the constraints in cookbooks' metadata: `!=`, `~`, and versions of one number. `= 1.0` is written to
//! a lock as `= 1.0.0`. Only `~>` keeps the number of parts, because its meaning depends on it.

use std::fmt;

use node::version_constraint::{Version, VersionStyle};
use pubgrub::Ranges;
use thiserror::Error;

/// Text that is not a constraint.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{text:?} is not a version constraint; write one as in \"~> 1.2\", \">= 1.2.3\" or \"= 1.2.3\"")]
pub struct InvalidConstraint {
    /// The text that was to be a constraint.
    pub text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    Equal,
    NotEqual,
    Greater,
    Less,
    GreaterOrEqual,
    LessOrEqual,
    /// `~>`, or `~`, which means the same.
    Approximate(&'static str),
}

/// Longer operators come first, because `>=` is not `>` followed by `=`.
const OPERATORS: [(&str, Operator); 8] = [
    (">=", Operator::GreaterOrEqual),
    ("<=", Operator::LessOrEqual),
    ("~>", Operator::Approximate("~>")),
    ("!=", Operator::NotEqual),
    ("=", Operator::Equal),
    (">", Operator::Greater),
    ("<", Operator::Less),
    ("~", Operator::Approximate("~")),
];

/// A constraint on a cookbook's version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Constraint {
    operator: Operator,
    major: u64,
    minor: Option<u64>,
    patch: Option<u64>,
}

impl Constraint {
    /// Parses a constraint. A version alone means `=`; an empty text means any version.
    ///
    /// # Errors
    /// The text is not a constraint. Versions of unreleased software (`1.0.0-rc1`) are not supported: no cookbook has one.
    pub fn parse(text: &str) -> Result<Self, InvalidConstraint> {
        let invalid = || InvalidConstraint { text: text.chars().take(200).collect() };
        if text.is_empty() {
            return Ok(Self::any());
        }
        let found = OPERATORS.iter().find_map(|(sign, operator)| Some((*operator, text.strip_prefix(sign)?)));
        let (operator, version) =
            found.map_or((Operator::Equal, text), |(operator, rest)| (operator, rest.trim_start()));
        let numbers: Option<Vec<u64>> = version.split('.').map(number).collect();
        let (major, minor, patch) = match numbers.ok_or_else(invalid)?.as_slice() {
            [major] => (*major, None, None),
            [major, minor] => (*major, Some(*minor), None),
            [major, minor, patch] => (*major, Some(*minor), Some(*patch)),
            _ => return Err(invalid()),
        };
        if matches!(operator, Operator::Approximate(_)) {
            return Ok(Self { operator, major, minor, patch });
        }
        Ok(Self { operator, major, minor: Some(minor.unwrap_or(0)), patch: Some(patch.unwrap_or(0)) })
    }

    /// The constraint that every version satisfies: `>= 0.0.0`.
    #[must_use]
    pub const fn any() -> Self {
        Self { operator: Operator::GreaterOrEqual, major: 0, minor: Some(0), patch: Some(0) }
    }

    /// The constraint that one version satisfies.
    #[must_use]
    pub const fn exactly(version: Version) -> Self {
        let (minor, patch) = (Some(version.minor), Some(version.patch));
        Self { operator: Operator::Equal, major: version.major, minor, patch }
    }

    /// Whether a version satisfies the constraint.
    #[must_use]
    pub fn includes(&self, version: Version) -> bool {
        self.ranges().contains(&version)
    }

    /// The versions that satisfy the constraint.
    pub(crate) fn ranges(&self) -> Ranges<Version> {
        let version = Version::new(self.major, self.minor.unwrap_or(0), self.patch.unwrap_or(0));
        match self.operator {
            Operator::Equal => Ranges::singleton(version),
            Operator::NotEqual => Ranges::singleton(version).complement(),
            Operator::Greater => Ranges::strictly_higher_than(version),
            Operator::Less => Ranges::strictly_lower_than(version),
            Operator::GreaterOrEqual => Ranges::higher_than(version),
            Operator::LessOrEqual => Ranges::lower_than(version),
            Operator::Approximate(_) => {
                let end = match self.patch {
                    None => Version::new(version.major.saturating_add(1), 0, 0),
                    Some(_) => Version::new(version.major, version.minor.saturating_add(1), 0),
                };
                Ranges::between(version, end)
            }
        }
    }
}

impl fmt::Display for Constraint {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = match self.operator {
            Operator::Approximate(sign) => sign,
            other => OPERATORS.iter().find(|(_, operator)| *operator == other).map_or("=", |(sign, _)| sign),
        };
        write!(out, "{sign} {}", self.major)?;
        for part in [self.minor, self.patch].into_iter().flatten() {
            write!(out, ".{part}")?;
        }
        Ok(())
    }
}

/// Parses a cookbook's version, `x.y` or `x.y.z`.
///
/// # Errors
/// The text is not a version.
pub fn version(text: &str) -> Result<Version, InvalidConstraint> {
    Version::parse(text, VersionStyle::Cookbook).map_err(|_| InvalidConstraint { text: text.to_owned() })
}

fn number(text: &str) -> Option<u64> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constraints_have_one_written_form() {
        #[track_caller]
        fn check(text: &str, expect: Option<&str>) {
            assert_eq!(Constraint::parse(text).ok().map(|it| it.to_string()).as_deref(), expect, "{text:?}");
        }
        check("", Some(">= 0.0.0"));
        check("1.2", Some("= 1.2.0"));
        check("=1", Some("= 1.0.0"));
        check("> 1.0", Some("> 1.0.0"));
        check("~> 1.0", Some("~> 1.0"));
        check("~> 1", Some("~> 1"));
        check("~1.2.3", Some("~ 1.2.3"));
        check("!= 2.0.1", Some("!= 2.0.1"));
        check(">=   1.0.0", Some(">= 1.0.0"));
        for bad in ["~>", "a", "1.2.3.4", "1.", "= 1.0.0-rc1", "99999999999999999999", "> > 1", "1 ", "-1"] {
            check(bad, None);
        }
    }

    #[test]
    fn versions_satisfy_constraints() {
        #[track_caller]
        fn check(text: &str, inside: &[&str], outside: &[&str]) {
            let constraint = Constraint::parse(text).unwrap();
            let includes = |text: &&str| constraint.includes(version(text).unwrap());
            assert!(inside.iter().all(includes) && !outside.iter().any(includes), "{text}");
        }
        check("~> 1.2", &["1.2.0", "1.9.9"], &["1.1.9", "2.0.0"]);
        check("~> 1.2.3", &["1.2.3", "1.2.9"], &["1.2.2", "1.3.0"]);
        check("~> 1", &["1.0.0", "1.9.0"], &["2.0.0", "0.9.0"]);
        check("!= 1.0.0", &["1.0.1", "0.9.9"], &["1.0.0"]);
        check("< 2.0", &["1.9.9"], &["2.0.0"]);
        check("<= 2.0", &["2.0.0"], &["2.0.1"]);
        check("> 18446744073709551615", &[], &["1.0.0"]);
        check("~> 18446744073709551615", &[], &["1.0.0"]);
    }
}
