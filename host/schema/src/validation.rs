//! Checks the declarations of guests: the type, the properties and the actions.
//!
//! Guests also check them, in their own language and with better backtraces. But a guest is not trusted, so the host checks
//! everything again. [`validate_one`] checks a value that is computed later (lazy) when it is known.

use std::collections::HashMap;
use std::sync::LazyLock;

use errors::ErrorKind;
use serde_json::Value as Json;

use crate::property::{Default, Property};
use crate::resource::{NOTHING, ResourceType};
use crate::types::{self, ForeignType, OTHER_PLATFORMS};
use crate::value::{Unacceptable, Value};
use text::nearest;

/// How many properties one declaration may set: more than any type has.
pub const MAX_PROPERTIES: usize = 256;

/// How many bytes the name of a property of a guest's own type may have.
pub const MAX_PROPERTY_NAME_BYTES: usize = 256;

/// How many actions one declaration may name. Chef does not have a limit, but no cookbook needs as many as this.
pub const MAX_ACTIONS: usize = 64;

/// How many bytes a resource's name may have. A command line can be a name, so there is room for a long one.
pub const MAX_NAME_BYTES: usize = 1024 * 1024;

/// A property's value in a declaration.
#[derive(Clone, Debug)]
pub enum Given {
    /// The value, as the cookbook gave it.
    Known(Json),
    /// To be computed by the guest when it is needed.
    Lazy,
}

/// Why a declaration is refused. The message is for people; [`ValidationFailed::class_name`] is the exception that Chef raises.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ValidationFailed {
    /// The type does not exist.
    #[error("resource type `{kind}` does not exist")]
    UnknownType {
        /// The name that was used.
        kind: String,
        /// A name that may have been meant.
        did_you_mean: Option<&'static str>,
    },
    /// The type is known but does not have an implementation. Only the reference refuses it.
    #[error("resource type `{kind}` has no provider")]
    NoProvider {
        /// The name of the type that was declared.
        kind: &'static str,
    },
    /// The Ruby library implements the type, and the cookbook is not in Ruby.
    #[error("resource type `{kind}` exists in Ruby cookbooks only")]
    RubyOnly {
        /// The name of the type that was declared.
        kind: &'static str,
    },
    /// The type is for another platform only.
    #[error("resource type `{kind}` is for {platform} only")]
    OtherPlatform {
        /// The name of the type that was declared.
        kind: &'static str,
        /// The platform that has such things, as people write it.
        platform: &'static str,
    },
    /// The type does not have the property.
    #[error("unknown property `{property}` for resource type `{kind}`")]
    UnknownProperty {
        /// The name of the type that was declared.
        kind: &'static str,
        /// The name that was used, shortened and escaped.
        property: String,
        /// A name that may have been meant.
        did_you_mean: Option<&'static str>,
    },
    /// The type does not have the action.
    #[error("Option action must be equal to one of: {allowed}!  You passed {action}.")]
    UnknownAction {
        /// The name of the type that was declared.
        kind: &'static str,
        /// The allowed ones, as Chef lists them.
        allowed: String,
        /// The name that was used, shortened and escaped, with a colon.
        action: String,
        /// A name that may have been meant.
        did_you_mean: Option<&'static str>,
    },
    /// A check refused a value; the message is Chef's.
    #[error("{message}")]
    Invalid {
        /// The name of the property with the refused value.
        property: &'static str,
        /// The sentence that Chef raises, whole.
        message: String,
    },
    /// A property that the action needs is not set.
    #[error("{property} is a required property")]
    Missing {
        /// The name of the property without a value.
        property: &'static str,
    },
    /// A value is beyond the limits.
    #[error("{property} {reason}")]
    Unacceptable {
        /// The name of the property with the refused value.
        property: &'static str,
        /// The limit that the value exceeds. Part of the message, hence no `source`.
        reason: Unacceptable,
    },
    /// A value of a guest's own type is beyond the limits.
    #[error("{property} {reason}")]
    Oversized {
        /// The property's name, which the guest chose.
        property: String,
        /// The limit that the value exceeds. Part of the message, hence no `source`.
        reason: Unacceptable,
    },
    /// A declaration has more of something than allowed.
    #[error("a resource has more than {limit} {what}")]
    TooMany {
        /// The things that are too many, as in `properties`.
        what: &'static str,
        /// The largest number that is allowed.
        limit: usize,
    },
}

impl ValidationFailed {
    /// Returns the kind of error that the run reports.
    pub const fn kind(&self) -> ErrorKind {
        match self {
            Self::UnknownType { .. } | Self::UnknownProperty { .. } => ErrorKind::NoSuchName,
            Self::NoProvider { .. } | Self::RubyOnly { .. } | Self::OtherPlatform { .. } => ErrorKind::NoProvider,
            Self::UnknownAction { .. }
            | Self::Invalid { .. }
            | Self::Missing { .. }
            | Self::Unacceptable { .. }
            | Self::Oversized { .. }
            | Self::TooMany { .. } => ErrorKind::InvalidValue,
        }
    }

    /// A name that may have been meant. The message does not contain it.
    pub const fn did_you_mean(&self) -> Option<&'static str> {
        match self {
            Self::UnknownType { did_you_mean, .. }
            | Self::UnknownProperty { did_you_mean, .. }
            | Self::UnknownAction { did_you_mean, .. } => *did_you_mean,
            _ => None,
        }
    }
}

/// Returns the type with this name or alias that a policy may declare in every language.
pub fn find(kind: &str) -> Option<&'static ResourceType> {
    // The map is built once, because every resource looks its type up several times.
    static BY_NAME: LazyLock<HashMap<&str, &ResourceType>> = LazyLock::new(|| {
        let names =
            |resource: &'static ResourceType| std::iter::once(resource.name).chain(resource.aliases.iter().copied());
        types::builtin().flat_map(|resource| names(resource).map(move |name| (name, resource))).collect()
    });
    BY_NAME.get(kind).copied()
}

/// The type of another platform that has this name or alias, and the platform.
pub fn foreign(kind: &str) -> Option<(&'static ForeignType, &'static str)> {
    OTHER_PLATFORMS.iter().find_map(|(platform, types)| {
        let found = types.iter().find(|one| one.name == kind || one.aliases.contains(&kind))?;
        Some((found, *platform))
    })
}

/// Returns the type with this name or alias, if it does not have an implementation.
pub fn find_without_provider(kind: &str) -> Option<&'static ResourceType> {
    types::without_provider().find(|resource| is_called(resource, kind))
}

/// Returns the reason why a declarable type does not have an implementation, or `None` for other types.
pub fn why_no_provider(kind: &str) -> Option<String> {
    // Each action of each resource asks, and nearly all types have an implementation.
    if find(kind).is_some() {
        return None;
    }
    if let Some(found) = find_without_provider(kind) {
        return Some(format!("wrun cannot act for resources of the type `{}`", found.name));
    }
    foreign(kind).map(|(found, platform)| format!("the resource type `{}` is for {platform} only", found.name))
}

/// Returns the type with this name, if its properties are known and a policy may declare it in every language. The type may
/// lack an implementation: see [`why_no_provider`].
///
/// # Errors
/// [`ValidationFailed::UnknownType`], [`ValidationFailed::RubyOnly`] or [`ValidationFailed::OtherPlatform`].
pub fn require(kind: &str) -> Result<&'static ResourceType, ValidationFailed> {
    if let Some(found) = find(kind) {
        return Ok(found);
    }
    if let Some(described) = types::ruby_only().find(|resource| is_called(resource, kind)) {
        return Err(ValidationFailed::RubyOnly { kind: described.name });
    }
    if let Some(described) = find_without_provider(kind) {
        return Ok(described);
    }
    Err(match foreign(kind) {
        Some((found, platform)) => ValidationFailed::OtherPlatform { kind: found.name, platform },
        None => ValidationFailed::UnknownType {
            kind: Value::text(kind).shown(),
            did_you_mean: nearest(kind, types::builtin().map(|resource| resource.name)),
        },
    })
}

/// Checks a declaration and brings its properties to their canonical names and values, in the order given; a property that is
/// set twice keeps its last value. Lazy properties are left out. A property that is set to `null`, and for which `null` is
/// not a value, is reset and left out too. Defaults are not filled in: see [`typed`](crate::typed). Required properties are
/// checked when the action runs: see [`check_required`].
///
/// # Errors
/// The first thing that is wrong: type, actions, unknown property, value.
pub fn validate(
    kind: &str,
    name: &str,
    properties: Vec<(String, Given)>,
    actions: &[&str],
) -> Result<Vec<(String, Json)>, ValidationFailed> {
    validate_shown(kind, name, properties, actions, true)
}

/// As [`validate`], for a sensitive resource: no message shows a value.
///
/// # Errors
/// As [`validate`].
pub fn validate_sensitive(
    kind: &str,
    name: &str,
    properties: Vec<(String, Given)>,
    actions: &[&str],
) -> Result<Vec<(String, Json)>, ValidationFailed> {
    validate_shown(kind, name, properties, actions, false)
}

fn validate_shown(
    kind: &str,
    name: &str,
    properties: Vec<(String, Given)>,
    actions: &[&str],
    shows_values: bool,
) -> Result<Vec<(String, Json)>, ValidationFailed> {
    let resource = require(kind)?;
    check_limit("properties", properties.len(), MAX_PROPERTIES)?;
    check_limit("bytes in its name", name.len(), MAX_NAME_BYTES)?;
    check_actions(resource, actions)?;
    let mut known: Vec<(String, Json)> = Vec::with_capacity(properties.len());
    for (called, given) in properties {
        let property = find_property(resource, &called)?;
        known.retain(|(other, _)| other != property.name);
        if let Given::Known(json) = given
            && let Some(value) = accept(property, name, json, shows_values)?
        {
            let canonical = if called == property.name { called } else { property.name.to_owned() };
            known.push((canonical, value));
        }
    }
    Ok(known)
}

/// Checks a declaration of a guest's own type against the limits for built-in types: the number of its properties and
/// actions, the lengths of its name and its properties' names, and the sizes of known values.
///
/// # Errors
/// The first limit that is exceeded.
pub fn check_sizes<'a>(
    name: &str,
    properties: impl Iterator<Item = (&'a str, Option<&'a Json>)>,
    actions: usize,
) -> Result<(), ValidationFailed> {
    check_limit("bytes in its name", name.len(), MAX_NAME_BYTES)?;
    check_limit("actions", actions, MAX_ACTIONS)?;
    let mut count = 0;
    for (property, value) in properties {
        count += 1;
        check_limit("properties", count, MAX_PROPERTIES)?;
        check_limit("bytes in a property's name", property.len(), MAX_PROPERTY_NAME_BYTES)?;
        let checked = value.map_or(Ok(()), Value::check_json);
        checked.map_err(|reason| ValidationFailed::Oversized { property: property.to_owned(), reason })?;
    }
    Ok(())
}

/// Checks one property's value, for instance of a lazy one when it is known, and brings it to its canonical form. `None`: the value
/// resets the property.
///
/// # Errors
/// Unknown type or property, or what is wrong with the value.
pub fn validate_one(kind: &str, name: &str, property: &str, value: Json) -> Result<Option<Json>, ValidationFailed> {
    accept(find_property(require(kind)?, property)?, name, value, true)
}

/// Checks that the type has these actions.
///
/// # Errors
/// The first that it has not.
pub fn check_actions(resource: &'static ResourceType, actions: &[&str]) -> Result<(), ValidationFailed> {
    check_limit("actions", actions.len(), MAX_ACTIONS)?;
    match actions.iter().find(|action| resource.action(action).is_none()) {
        None => Ok(()),
        Some(unknown) => {
            let symbols: Vec<String> = allowed_actions(resource).map(|name| format!(":{name}")).collect();
            Err(ValidationFailed::UnknownAction {
                kind: resource.name,
                allowed: symbols.join(", "),
                action: Value::Symbol((*unknown).to_owned()).inspect(),
                did_you_mean: nearest(unknown, allowed_actions(resource)),
            })
        }
    }
}

/// Checks that all properties that an action requires are set. `is_set` gets canonical names. As in Chef, this happens when
/// the action runs, also for an action from a notification. `nothing` does not require properties.
///
/// # Errors
/// The first property that is missing.
pub fn check_required(
    resource: &'static ResourceType,
    action: &str,
    is_set: impl Fn(&str) -> bool,
) -> Result<(), ValidationFailed> {
    if action == NOTHING.name {
        return Ok(());
    }
    let is_missing = |property: &&Property| {
        property.is_required_for(action) && property.default == Default::Unset && !is_set(property.name)
    };
    match resource.own_properties().find(is_missing) {
        Some(property) => Err(ValidationFailed::Missing { property: property.name }),
        None => Ok(()),
    }
}

fn is_called(resource: &ResourceType, name: &str) -> bool {
    resource.name == name || resource.aliases.contains(&name)
}

fn allowed_actions(resource: &'static ResourceType) -> impl Iterator<Item = &'static str> {
    std::iter::once(NOTHING.name).chain(resource.actions.iter().map(|action| action.name))
}

fn find_property(resource: &'static ResourceType, name: &str) -> Result<&'static Property, ValidationFailed> {
    resource.property(name).ok_or_else(|| {
        let common = crate::common::COMMON.iter();
        let known = resource
            .own_properties()
            .chain(common)
            .flat_map(|property| property.aliases.iter().copied().chain([property.name]));
        ValidationFailed::UnknownProperty {
            kind: resource.name,
            property: Value::text(name).shown(),
            did_you_mean: nearest(name, known),
        }
    })
}

fn accept(
    property: &'static Property,
    name: &str,
    json: Json,
    shows_value: bool,
) -> Result<Option<Json>, ValidationFailed> {
    let value =
        Value::from_json(json).map_err(|reason| ValidationFailed::Unacceptable { property: property.name, reason })?;
    let is_reset = value.is_nil() && !property.explicitly_accepts_nil();
    let shown = Property { sensitive: property.sensitive || !shows_value, ..*property };
    let value = shown.accept(value, name).map_err(|invalid| invalid_value(property, invalid.message))?;
    Ok((!is_reset).then(|| value.into_json()))
}

const fn invalid_value(property: &'static Property, message: String) -> ValidationFailed {
    ValidationFailed::Invalid { property: property.name, message }
}

const fn check_limit(what: &'static str, count: usize, limit: usize) -> Result<(), ValidationFailed> {
    if count > limit { Err(ValidationFailed::TooMany { what, limit }) } else { Ok(()) }
}
