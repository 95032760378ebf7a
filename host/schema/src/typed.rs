//! Typed values of a type's properties, with defaults applied.
//!
//! A provider gets one struct for each resource type, such as [`MountProperties`](crate::types::mount::MountProperties),
//! which is read once from the declaration. An unset property has the schema's default, so that providers need not repeat
//! defaults. A value of the wrong kind is an error and never counts as absent.

use crate::property::{Default, Property};
use crate::resource::ResourceType;
use serde_json::Value as Json;
use std::borrow::Cow;
use std::time::Duration;

/// The values that a declaration sets.
pub trait DeclaredValues {
    /// Returns the resource's name.
    fn name(&self) -> &str;

    /// Returns the value of a property, or `None` if the declaration does not set it.
    fn value(&self, property: &str) -> Option<&Json>;

    /// Tells whether the value of a property is raw bytes and not JSON, such as a file's content.
    fn is_bytes(&self, _property: &str) -> bool {
        false
    }
}

/// The properties of one resource type, or those that several types share.
pub trait TypedProperties: Sized {
    /// Reads the properties of a declaration.
    ///
    /// # Errors
    /// A value is of another kind, or one is absent that has no default.
    fn read(values: &dyn DeclaredValues) -> Result<Self, PropertyError>;

    /// Reads these properties from a declaration of another type that also has them, with that type's defaults.
    ///
    /// # Errors
    /// As [`read`](Self::read); or the other type does not have one of them.
    fn read_as(resource: &'static ResourceType, values: &dyn DeclaredValues) -> Result<Self, PropertyError>;
}

/// The reason why properties cannot be read. It becomes [`ErrorKind::InvalidValue`](errors::ErrorKind::InvalidValue).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PropertyError {
    /// A value is of another kind than the property.
    #[error("{property} must be {expected}, not {found}")]
    WrongKind {
        /// The name of the property with the wrong value.
        property: &'static str,
        /// The kind that it must have, as in `a whole number`.
        expected: &'static str,
        /// The kind of the value, as in `a list`. Values are not shown: they may be secret.
        found: &'static str,
    },
    /// A property without a default is not set.
    #[error("{property} is a required property")]
    Unset {
        /// The name of the property without a value.
        property: &'static str,
    },
    /// A struct has a property that its type does not have: this is a bug in wrun.
    #[error("resource type `{kind}` does not have the property `{property}`")]
    Unknown {
        /// The name of the resource type that was asked.
        kind: &'static str,
        /// The name that the type does not have.
        property: &'static str,
    },
}

/// A kind of value that a property may have.
pub trait PropertyKind: Sized {
    /// The kind in words, as in `a whole number`.
    const EXPECTED: &'static str;

    /// Reads a value; `None` if it is of another kind.
    fn of(value: &Json) -> Option<Self>;

    /// Returns the value of an unset property without a default, or `None` if a value is required.
    fn unset() -> Option<Self> {
        None
    }

    /// Whether the schema's default is ignored, because it matters whether the declaration set the value.
    const WITHOUT_DEFAULT: bool = false;
}

impl PropertyKind for String {
    const EXPECTED: &'static str = "a text";

    /// Numbers and booleans are also accepted as texts.
    fn of(value: &Json) -> Option<Self> {
        match value {
            Json::String(text) => Some(text.clone()),
            Json::Number(number) => Some(number.to_string()),
            Json::Bool(switch) => Some(switch.to_string()),
            _ => None,
        }
    }
}

impl PropertyKind for bool {
    const EXPECTED: &'static str = "true or false";

    fn of(value: &Json) -> Option<Self> {
        value.as_bool()
    }
}

/// A whole number that fits, written as number or text.
fn whole_number<N: TryFrom<i64> + std::str::FromStr>(value: &Json) -> Option<N> {
    match value {
        Json::Number(number) => N::try_from(number.as_i64()?).ok(),
        Json::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

impl PropertyKind for i64 {
    const EXPECTED: &'static str = "a whole number";

    fn of(value: &Json) -> Option<Self> {
        whole_number(value)
    }
}

impl PropertyKind for u32 {
    const EXPECTED: &'static str = "a whole number from 0";

    fn of(value: &Json) -> Option<Self> {
        whole_number(value)
    }
}

impl PropertyKind for u64 {
    const EXPECTED: &'static str = "a whole number from 0";

    fn of(value: &Json) -> Option<Self> {
        whole_number(value)
    }
}

/// A number. `false` means 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NumberOrFalse(pub u32);

impl PropertyKind for NumberOrFalse {
    const EXPECTED: &'static str = "a whole number from 0, or false";

    fn of(value: &Json) -> Option<Self> {
        match value {
            Json::Bool(false) => Some(Self(0)),
            other => whole_number(other).map(Self),
        }
    }
}

/// Permission bits, as octal text or a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mode(pub u32);

impl PropertyKind for Mode {
    const EXPECTED: &'static str = "permission bits from 0 to 07777";

    fn of(value: &Json) -> Option<Self> {
        let bits = match value {
            Json::String(octal) => u32::from_str_radix(octal.trim(), 8).ok(),
            other => whole_number(other),
        };
        bits.filter(|bits| *bits <= 0o7777).map(Self)
    }
}

/// A file mode creation mask, as octal text or a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mask(pub u32);

impl PropertyKind for Mask {
    const EXPECTED: &'static str = "a mask from 0 to 0777";

    fn of(value: &Json) -> Option<Self> {
        Mode::of(value).filter(|bits| bits.0 <= 0o777).map(|bits| Self(bits.0))
    }
}

/// A user or a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AccountName {
    /// The name of the account.
    Name(String),
    /// The number of the account.
    Number(u32),
}

impl PropertyKind for AccountName {
    const EXPECTED: &'static str = "a name or a number of an account";

    /// Chef reads a negative number as the kernel's unsigned one: -2 is 4294967294. For the kernel, -1 means "do not change",
    /// so it is not the number of an account.
    fn of(value: &Json) -> Option<Self> {
        match value {
            Json::String(name) => Some(Self::Name(name.clone())),
            Json::Number(number) => {
                let number = number.as_i64()?;
                let number = u32::try_from(number).or_else(|_| i32::try_from(number).map(i32::cast_unsigned)).ok()?;
                (number != u32::MAX).then_some(Self::Number(number))
            }
            _ => None,
        }
    }
}

/// The number of earlier versions of a file that are kept. `false` and negative numbers mean 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backups(pub usize);

impl PropertyKind for Backups {
    const EXPECTED: &'static str = "a whole number, or false";

    fn of(value: &Json) -> Option<Self> {
        match value {
            Json::Bool(false) => Some(Self(0)),
            Json::Number(number) => number.as_i64().map(|number| Self(usize::try_from(number).unwrap_or(0))),
            _ => None,
        }
    }
}

/// A time span, written in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seconds(pub Duration);

impl PropertyKind for Seconds {
    const EXPECTED: &'static str = "a number of seconds";

    fn of(value: &Json) -> Option<Self> {
        let seconds = value.as_f64().or_else(|| value.as_str()?.trim().parse().ok())?;
        Duration::try_from_secs_f64(seconds).ok().map(Self)
    }
}

/// Exit codes that mean success.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExitCodes(pub Vec<i32>);

impl PropertyKind for ExitCodes {
    const EXPECTED: &'static str = "an exit code, or a list of them";

    fn of(value: &Json) -> Option<Self> {
        match value {
            Json::Array(all) => all.iter().map(whole_number).collect::<Option<_>>().map(Self),
            one => whole_number(one).map(|code| Self(vec![code])),
        }
    }
}

/// A command line for a shell. `false` means that there is no line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineOrFalse(pub Option<String>);

impl PropertyKind for LineOrFalse {
    const EXPECTED: &'static str = "a text, or false";

    fn of(value: &Json) -> Option<Self> {
        match value {
            Json::Bool(false) => Some(Self(None)),
            Json::String(line) => Some(Self(Some(line.clone()))),
            _ => None,
        }
    }

    fn unset() -> Option<Self> {
        Some(Self(None))
    }
}

/// A value that the declaration itself sets, or `None` if only the schema's default would apply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declared<T>(pub Option<T>);

impl<T: PropertyKind> PropertyKind for Declared<T> {
    const EXPECTED: &'static str = T::EXPECTED;
    const WITHOUT_DEFAULT: bool = true;

    fn of(value: &Json) -> Option<Self> {
        T::of(value).map(|value| Self(Some(value)))
    }

    fn unset() -> Option<Self> {
        Some(Self(None))
    }
}

impl PropertyKind for Vec<String> {
    const EXPECTED: &'static str = "a list of texts";

    /// A single text is a list of one. Null entries become empty texts, so that the other entries keep their positions.
    fn of(value: &Json) -> Option<Self> {
        let entry = |entry: &Json| if entry.is_null() { Some(String::new()) } else { String::of(entry) };
        match value {
            Json::Array(entries) => entries.iter().map(entry).collect(),
            single => String::of(single).map(|text| vec![text]),
        }
    }

    fn unset() -> Option<Self> {
        Some(vec![])
    }
}

/// A list of texts. `false` means an empty list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ListOrFalse(pub Vec<String>);

impl PropertyKind for ListOrFalse {
    const EXPECTED: &'static str = "a list of texts, or false";

    fn of(value: &Json) -> Option<Self> {
        match value {
            Json::Bool(false) => Some(Self::default()),
            other => Vec::of(other).map(Self),
        }
    }
}

/// A command, or a symbol with its colon, that must accept the new content of a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Verification {
    /// The command as it was written.
    pub line: String,
    /// The user to run it as.
    pub user: Option<String>,
    /// The group to run it as.
    pub group: Option<String>,
    /// The folder to run it in.
    pub cwd: Option<String>,
    /// Environment variables, in addition to those of the run.
    pub environment: TextMap,
    /// The mask of the files that it makes.
    pub umask: Option<u32>,
    /// The longest time that it may take, in seconds.
    pub timeout: Option<u32>,
}

/// Commands that must accept new content, in order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Verifications(pub Vec<Verification>);

impl PropertyKind for Verifications {
    const EXPECTED: &'static str = "a command with its options, or a list of them";

    fn of(value: &Json) -> Option<Self> {
        match value {
            Json::Array(all) => all.iter().map(verification).collect::<Option<_>>().map(Self),
            one => verification(one).map(|one| Self(vec![one])),
        }
    }

    fn unset() -> Option<Self> {
        Some(Self::default())
    }
}

/// Reads one verification, or returns `None` if a value in it is of the wrong kind.
fn verification(value: &Json) -> Option<Verification> {
    let options = match value {
        Json::String(line) => return Some(Verification { line: line.clone(), ..Verification::default() }),
        Json::Object(options) => options,
        _ => return None,
    };
    let text = |name: &str| option::<String>(options.get(name));
    Some(Verification {
        line: options.get("command")?.as_str()?.to_owned(),
        user: text("user")?,
        group: text("group")?,
        cwd: text("cwd")?,
        environment: option(options.get("environment").or_else(|| options.get("env")))?.unwrap_or_default(),
        umask: option::<Mask>(options.get("umask"))?.map(|mask| mask.0),
        timeout: option(options.get("timeout"))?,
    })
}

/// Reads a value that may be absent. The outer `None` means that it is of the wrong kind.
fn option<T: PropertyKind>(value: Option<&Json>) -> Option<Option<T>> {
    value.filter(|value| !value.is_null()).map_or(Some(None), |value| T::of(value).map(Some))
}

/// The entries of a map, in order.
pub type TextMap = Vec<(String, String)>;

impl PropertyKind for TextMap {
    const EXPECTED: &'static str = "a map of texts";

    /// Entries that are null are empty texts.
    fn of(value: &Json) -> Option<Self> {
        let entry = |(key, entry): (&String, &Json)| {
            let text = if entry.is_null() { Some(String::new()) } else { String::of(entry) };
            text.map(|text| (key.clone(), text))
        };
        value.as_object()?.iter().map(entry).collect()
    }

    fn unset() -> Option<Self> {
        Some(vec![])
    }
}

impl PropertyKind for Json {
    const EXPECTED: &'static str = "a value";

    fn of(value: &Json) -> Option<Self> {
        Some(value.clone())
    }

    fn unset() -> Option<Self> {
        Some(Self::Null)
    }
}

impl<T: PropertyKind> PropertyKind for Option<T> {
    const EXPECTED: &'static str = T::EXPECTED;

    fn of(value: &Json) -> Option<Self> {
        T::of(value).map(Some)
    }

    fn unset() -> Option<Self> {
        Some(None)
    }
}

/// Reads one property of a declaration.
///
/// # Errors
/// As [`TypedProperties::read`].
pub fn read<T: PropertyKind>(
    resource: &'static ResourceType,
    property: &'static str,
    values: &dyn DeclaredValues,
) -> Result<T, PropertyError> {
    let Some(specification) = resource.property(property) else {
        return Err(PropertyError::Unknown { kind: resource.name, property });
    };
    if values.is_bytes(specification.name) {
        return Err(PropertyError::WrongKind { property, expected: T::EXPECTED, found: "bytes" });
    }
    let value = match values.value(specification.name).filter(|value| !value.is_null()) {
        Some(value) => Cow::Borrowed(value),
        None if T::WITHOUT_DEFAULT => Cow::Owned(Json::Null),
        None => default_of(resource, specification, values),
    };
    if value.is_null() {
        return T::unset().ok_or(PropertyError::Unset { property });
    }
    T::of(&value).ok_or(PropertyError::WrongKind { property, expected: T::EXPECTED, found: kind_of(&value) })
}

/// The default of a property in its canonical form; null where the schema has none.
fn default_of<'v>(
    resource: &'static ResourceType,
    property: &'static Property,
    values: &'v dyn DeclaredValues,
) -> Cow<'v, Json> {
    let other = |name: &str| match values.value(name).filter(|value| !value.is_null()) {
        Some(value) => Cow::Borrowed(value),
        // A default that refers to another property never leads to a third one.
        None => resource.property(name).map_or(Cow::Owned(Json::Null), |other| own_default(other, values)),
    };
    match property.default {
        Default::SameAs(name) => other(name),
        Default::BaseNameOf(name) if name != "name" => match &*other(name) {
            Json::String(path) => Cow::Owned(Json::from(crate::property::base_name(path))),
            _ => Cow::Owned(Json::Null),
        },
        _ => own_default(property, values),
    }
}

/// A default that does not depend on other properties. The defaults in the schema's tables are valid, which a test checks.
fn own_default<'v>(property: &Property, values: &'v dyn DeclaredValues) -> Cow<'v, Json> {
    if property.has_no_default() {
        return Cow::Owned(Json::Null);
    }
    Cow::Owned(property.default_value(values.name()).map_or(Json::Null, crate::value::Value::into_json))
}

fn kind_of(value: &Json) -> &'static str {
    match value {
        Json::Null => "null",
        Json::Bool(_) => "true or false",
        Json::Number(_) => "such a number",
        Json::String(_) => "such a text",
        Json::Array(_) => "such a list",
        Json::Object(_) => "a map",
    }
}

/// Defines the struct of a type's properties. Each field has the name of its property.
macro_rules! properties {
    ($(#[$about:meta])* pub struct $name:ident for $resource:path { $($field:ident: $kind:ty,)* }) => {
        $(#[$about])*
        #[derive(Debug, Clone, PartialEq)]
        pub struct $name {
            $(#[doc = concat!("The value of the property `", stringify!($field), "`.")] pub $field: $kind,)*
        }

        impl $crate::typed::TypedProperties for $name {
            fn read(values: &dyn $crate::typed::DeclaredValues) -> Result<Self, $crate::typed::PropertyError> {
                Self::read_as(&$resource, values)
            }

            fn read_as(
                resource: &'static $crate::resource::ResourceType,
                values: &dyn $crate::typed::DeclaredValues,
            ) -> Result<Self, $crate::typed::PropertyError> {
                Ok(Self { $($field: $crate::typed::read(resource, stringify!($field), values)?,)* })
            }
        }
    };
}
pub(crate) use properties;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{archive_file, cron, git, mount, reboot, sudo, sysctl};
    use serde_json::{Map, json};

    struct Declared(Map<String, Json>);

    impl DeclaredValues for Declared {
        fn name(&self) -> &str {
            "/x/name"
        }

        fn value(&self, property: &str) -> Option<&Json> {
            self.0.get(property)
        }
    }

    #[track_caller]
    fn from<T: TypedProperties>(values: Json) -> Result<T, String> {
        T::read(&Declared(values.as_object().unwrap().clone())).map_err(|error| error.to_string())
    }

    #[test]
    fn defaults_are_those_of_the_schema() {
        let mount: mount::MountProperties = from(json!({})).unwrap();
        assert_eq!(
            (mount.mount_point.as_str(), mount.fstype.as_str(), mount.pass),
            ("/x/name", "auto", NumberOrFalse(2))
        );
        assert_eq!((mount.options, mount.dump, mount.device), (vec!["defaults".to_owned()], NumberOrFalse(0), None));
        let git: git::GitProperties = from(json!({})).unwrap();
        assert_eq!((git.revision.as_str(), git.remote.as_str(), git.enable_checkout), ("HEAD", "origin", true));
        let cron: cron::CronProperties = from(json!({})).unwrap();
        assert_eq!((cron.minute.as_str(), cron.user.as_str()), ("*", "root"));
        let file: cron::CronDProperties = from(json!({})).unwrap();
        assert_eq!((file.cron_name.as_str(), file.mode), ("/x/name", Mode(0o600)));
        let reboot: reboot::RebootProperties = from(json!({})).unwrap();
        assert_eq!((reboot.delay_mins, reboot.reason.as_str()), (0, "Reboot by Chef Infra Client"));
        let archive: archive_file::ArchiveFileProperties = from(json!({})).unwrap();
        assert_eq!(
            (archive.mode, archive.options, archive.overwrite.as_str()),
            (Mode(0o755), vec!["time".into()], "false")
        );
        let sudo: sudo::SudoProperties = from(json!({})).unwrap();
        assert_eq!((sudo.filename.as_str(), sudo.commands, sudo.nopasswd), ("/x/name", vec!["ALL".to_owned()], false));
        let sysctl: sysctl::SysctlProperties = from(json!({})).unwrap();
        assert_eq!((sysctl.key.as_str(), sysctl.conf_dir.as_str(), sysctl.value), ("/x/name", "/etc/sysctl.d", None));
    }

    #[test]
    fn a_value_of_the_wrong_kind_is_an_error() {
        let check = |values: Json, expected: &str| {
            assert_eq!(from::<mount::MountProperties>(values.clone()).unwrap_err(), expected, "{values}");
        };
        check(json!({ "fstype": ["ext4"] }), "fstype must be a text, not such a list");
        check(json!({ "options": { "a": 1 } }), "options must be a list of texts, not a map");
        check(json!({ "dump": -1 }), "dump must be a whole number from 0, or false, not such a number");
        check(json!({ "dump": true }), "dump must be a whole number from 0, or false, not true or false");
        let delay = from::<reboot::RebootProperties>(json!({ "delay_mins": "soon" })).unwrap_err();
        assert_eq!(delay, "delay_mins must be a whole number, not such a text");
    }

    #[test]
    fn null_is_as_if_nobody_had_set_it() {
        let mount: mount::MountProperties =
            from(json!({ "fstype": null, "pass": false, "device": "/dev/sda" })).unwrap();
        assert_eq!(
            (mount.fstype.as_str(), mount.pass, mount.device.as_deref()),
            ("auto", NumberOrFalse(0), Some("/dev/sda"))
        );
    }
}
