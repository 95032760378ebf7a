//! Tables that choose a value by platform or platform family.

use serde_json::Value;
use thiserror::Error;

use crate::version_constraint::{Version, VersionConstraint, VersionError, VersionStyle};

/// Key of the value to take when nothing else fits.
pub const DEFAULT_KEY: &str = "default";

/// One platform's values by version or version constraint, in order.
pub type VersionTable = Vec<(String, Value)>;

/// A table for [`value_for_platform`].
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PlatformTable {
    platforms: Vec<(String, VersionTable)>,
    default: Option<Value>,
}

/// Why a table is none, or gives no single answer.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PlatformError {
    /// A platform has something other than a table of versions.
    #[error("values for platform {platforms:?} must be an object of versions and values")]
    NotAVersionTable {
        /// The platforms of that row.
        platforms: Vec<String>,
    },
    /// Several constraints fit, and none is the version itself.
    #[error("several entries for platform {platform:?} fit version {version:?}: {}", matches.join(", "))]
    SeveralMatches {
        /// The platform.
        platform: String,
        /// Its version.
        version: String,
        /// The keys that fit.
        matches: Vec<String>,
    },
}

impl PlatformError {
    /// The exception class that Chef raises for it.
    pub fn chef_class(&self) -> &'static str {
        match self {
            Self::NotAVersionTable { .. } => "ArgumentError",
            Self::SeveralMatches { .. } => "RuntimeError",
        }
    }
}

impl PlatformTable {
    /// Adds a row: platforms, and an object of versions and values; `default` alone may have any value. A later row
    /// replaces an earlier one of the same platform. Version keys that stood in one list are given one by one.
    ///
    /// # Errors
    /// [`PlatformError::NotAVersionTable`].
    pub fn add(&mut self, platforms: &[&str], value: &Value) -> Result<(), PlatformError> {
        if let [DEFAULT_KEY] = platforms {
            self.default = Some(value.clone());
            return Ok(());
        }
        let Some(versions) = value.as_object() else {
            let platforms = platforms.iter().map(|platform| (*platform).to_owned()).collect();
            return Err(PlatformError::NotAVersionTable { platforms });
        };
        let table: VersionTable = versions.iter().map(|(version, value)| (version.clone(), value.clone())).collect();
        for platform in platforms {
            match self.platforms.iter_mut().find(|(name, _)| name == platform) {
                Some((_, known)) => known.clone_from(&table),
                None => self.platforms.push(((*platform).to_owned(), table.clone())),
            }
        }
        Ok(())
    }
}

/// The value for a platform and its version: that of the version itself, else of the one constraint that fits, else
/// the platform's default, else the table's.
///
/// # Errors
/// [`PlatformError::SeveralMatches`].
pub fn value_for_platform<'table>(
    table: &'table PlatformTable,
    platform: &str,
    version: &str,
) -> Result<Option<&'table Value>, PlatformError> {
    let versions = table.platforms.iter().find(|(name, _)| name == platform).map(|(_, versions)| versions);
    let Some(versions) = versions else { return Ok(table.default.as_ref()) };
    let of_key = |wanted: &str| versions.iter().find(|(key, _)| key == wanted).map(|(_, value)| value);
    if let Some(exact) = of_key(version) {
        return Ok(Some(exact));
    }
    let matches = matching_keys(versions, version).unwrap_or_default();
    match matches.as_slice() {
        [] => {}
        [only] => {
            if let Some(value) = of_key(only).filter(|value| !matches!(value, Value::Null | Value::Bool(false))) {
                return Ok(Some(value));
            }
        }
        several => {
            return Err(PlatformError::SeveralMatches {
                platform: platform.to_owned(),
                version: version.to_owned(),
                matches: several.iter().map(|key| (*key).to_owned()).collect(),
            });
        }
    }
    Ok(of_key(DEFAULT_KEY).or(table.default.as_ref()))
}

/// The keys that are constraints which the version fulfils. Keys that are no constraints are passed over; a version
/// that cannot be read, the node's or one in a constraint, ends the search without any match, as in Chef.
fn matching_keys<'table>(versions: &'table VersionTable, version: &str) -> Result<Vec<&'table str>, VersionError> {
    let version = Version::parse(version, VersionStyle::Platform)?;
    let mut matches = Vec::new();
    for (key, _) in versions {
        match VersionConstraint::parse(key, VersionStyle::Platform) {
            Ok(constraint) if constraint.includes(version) => matches.push(key.as_str()),
            Ok(_) | Err(VersionError::InvalidConstraint { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(matches)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn table() -> PlatformTable {
        let mut table = PlatformTable::default();
        table
            .add(&["debian", "ubuntu"], &json!({"10": "ten", "< 9": "old", ">= 10": "new", "default": "any"}))
            .unwrap();
        table.add(&["odd"], &json!({"1.x": "broken", ">= 1": "one"})).unwrap();
        table.add(&["twice"], &json!({">= 1": 1, ">= 2": 2})).unwrap();
        table.add(&["empty"], &json!({">= 1": null})).unwrap();
        table.add(&["default"], &json!("nothing fits")).unwrap();
        table
    }

    #[track_caller]
    fn check(platform: &str, version: &str, expect: Result<&str, &str>) {
        let found = value_for_platform(&table(), platform, version).map(|value| value.cloned().unwrap_or_default());
        assert_eq!(found.map_err(|error| error.to_string()), expect.map(|text| json!(text)).map_err(str::to_owned));
    }

    #[test]
    fn exact_then_constraint_then_default() {
        check("debian", "10", Ok("ten"));
        check("ubuntu", "10.1", Ok("new"));
        check("debian", "8.4", Ok("old"));
        check("debian", "9", Ok("any"));
        check("debian", "sid", Ok("any"));
        check("fedora", "40", Ok("nothing fits"));
    }

    #[test]
    fn what_cannot_be_read_ends_the_search() {
        check("odd", "3", Ok("nothing fits"));
        check("empty", "3", Ok("nothing fits"));
        check("twice", "3", Err("several entries for platform \"twice\" fit version \"3\": >= 1, >= 2"));
        let not_a_table = PlatformTable::default().add(&["x"], &json!("y")).unwrap_err();
        assert_eq!(not_a_table.to_string(), "values for platform [\"x\"] must be an object of versions and values");
    }
}
