//! Reads and writes node attributes.
//!
//! A path is a text with dots (`"ntp.servers"`) or, if keys contain dots themselves, an array of keys (`["filesystem",
//! "/dev/vda1"]`). [`get`] reads the merged levels and converts the value to a type. The levels ([`DEFAULT`], [`OVERRIDE`],
//! ..) write:
//!
//! ```no_run
//! # use wrun_sdk::prelude::*;
//! # fn recipe() -> Result {
//! node::DEFAULT.set("ntp.servers", json!(["a.pool.ntp.org"]))?;
//! let servers: Vec<String> = node::get("ntp.servers")?;
//! let port = node::get::<u16>("ntp.port")?;
//! let key = node::get::<Option<String>>("ntp.key")?; // absent is None
//! if node::is_platform_family(&["debian"])? {
//!     log::info(&format!("{} servers, port {port}, key {key:?}", servers.len()));
//! }
//! # Ok(())
//! # }
//! ```

use crate::bindings::wrun::node::attributes::{
    self as host, AttributeError, LazyPart, LazyValue, Level as HostLevel, Removal, Shape, Value as HostValue, View,
};
use crate::bindings::wrun::node::identity;
use crate::error::{Error, Here as _, Result};
use crate::from_value::{FromValue, Mismatch};
use crate::json::parse;
use crate::near::did_you_mean;
use crate::table::{Closure, Got, origin, table};
use serde_json::Value;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::panic::Location;
use std::rc::Rc;

/// A value from the host, with the parts that closures of this guest compute.
#[derive(Clone)]
struct Found {
    value: Value,
    parts: Rc<[LazyPart]>,
}

/// Cached reads, which are valid until any attribute changes.
#[derive(Default)]
struct Kept {
    version: u64,
    values: HashMap<Vec<String>, Option<Found>>,
}

thread_local! {
    static KEPT: RefCell<Kept> = RefCell::default();
    /// The present version of the attributes, or `None` after a write by this guest.
    static VERSION: Cell<Option<u64>> = const { Cell::new(None) };
}

/// Stores the version that the host sent with the turn.
pub(crate) fn begin_turn(version: u64) {
    VERSION.set(Some(version));
}

fn version() -> u64 {
    VERSION.get().unwrap_or_else(|| {
        let version = host::version();
        VERSION.set(Some(version));
        version
    })
}

impl Found {
    fn read(value: HostValue) -> Result<Self> {
        let (json, parts) = match value {
            HostValue::Plain(json) => (json, vec![]),
            HostValue::Lazy(LazyValue { json, parts }) => (json, parts),
        };
        Ok(Self { value: parse(&json)?, parts: parts.into() })
    }

    /// Returns the value, with its lazy parts computed now.
    fn computed(self) -> Result<Value> {
        let Self { mut value, parts } = self;
        for part in &*parts {
            let place = part.path.iter().try_fold(&mut value, |value, step| match value {
                Value::Array(array) => array.get_mut(step.parse::<usize>().ok()?),
                other => other.get_mut(step),
            });
            if let Some(place) = place {
                *place = call(part.callback)?;
            }
        }
        Ok(value)
    }
}

/// Converts a value for the host.
fn plain(value: impl Into<Value>) -> HostValue {
    HostValue::Plain(value.into().to_string())
}

/// A path of an attribute.
pub trait Path {
    /// Returns the keys that lead to the attribute, outermost first.
    fn keys(&self) -> Vec<String>;
}

impl Path for str {
    fn keys(&self) -> Vec<String> {
        self.split('.').filter(|key| !key.is_empty()).map(str::to_owned).collect()
    }
}

impl Path for String {
    fn keys(&self) -> Vec<String> {
        self.as_str().keys()
    }
}

impl<const N: usize> Path for [&str; N] {
    fn keys(&self) -> Vec<String> {
        self.iter().map(|key| (*key).to_owned()).collect()
    }
}

impl Path for Vec<String> {
    fn keys(&self) -> Vec<String> {
        self.clone()
    }
}

impl<P: Path + ?Sized> Path for &P {
    fn keys(&self) -> Vec<String> {
        (**self).keys()
    }
}

#[track_caller]
fn failed(error: AttributeError) -> Error {
    match error {
        AttributeError::Denied(text) => match text.split_once('\n') {
            Some((message, hint)) => Error::new("Wrun::Denied", message).with_hint(hint),
            None => Error::new("Wrun::Denied", text),
        },
        AttributeError::TypeMismatch(text) => Error::new("Chef::Exceptions::AttributeTypeMismatch", text),
        AttributeError::ReadOnly(text) => Error::new("Chef::Exceptions::ImmutableAttributeModification", text),
        AttributeError::Invalid(text) => Error::new("ArgumentError", text),
    }
}

/// Reads the attribute at a path as a type: `node::get::<u16>("web.port")`.
///
/// The type can be any [`FromValue`], such as `Vec<String>`, [`Map`](crate::Map) and [`Value`]. `Option<T>` accepts that the
/// attribute is absent.
///
/// # Errors
/// The attribute is absent or of another kind (the error names the path, the expected and the found kind), or the
/// policy may not read it.
#[track_caller]
pub fn get<T: FromValue>(path: impl Path) -> Result<T> {
    let keys = path.keys();
    let Some(found) = read(&keys)? else { return T::from_absent().ok_or_else(|| not_set(&keys)).here() };
    let wrong = |mismatch: Mismatch| {
        Error::new("TypeError", format!("attribute {} {mismatch}", mismatch.path_from(&keys.join("."))))
    };
    T::from_value(found).map_err(wrong).here()
}

/// Returns the value at a path, or `None` if it is absent.
#[track_caller]
fn read(path: &[String]) -> Result<Option<Value>> {
    let version = version();
    let kept = KEPT.with_borrow_mut(|kept| {
        if kept.version != version {
            *kept = Kept { version, ..Kept::default() };
        }
        kept.values.get(path).cloned()
    });
    let found = match kept {
        Some(found) => found,
        None => {
            let read = host::read(View::Merged, path, Some(&origin(Location::caller()))).map_err(failed).here()?;
            let found = read.map(Found::read).transpose()?;
            KEPT.with_borrow_mut(|kept| kept.values.insert(path.to_vec(), found.clone()));
            found
        }
    };
    match found {
        Some(found) => Ok(Some(found.computed()?)),
        None => behind_computed(path),
    }
}

fn call(callback: u32) -> Result<Value> {
    let closure = table(|table| table.closures.get(&callback).cloned());
    match closure.map(|closure| closure(None)).transpose()? {
        Some(Got::Json(value)) => Ok(value),
        _ => Ok(Value::Null),
    }
}

/// Reads a path that lies inside a computed value.
fn behind_computed(path: &[String]) -> Result<Option<Value>> {
    for steps in (1..path.len()).rev() {
        let (outer, inner) = path.split_at(steps);
        let found = match host::shape_of(View::Merged, outer, None) {
            Ok(Some(Shape::Scalar(found @ HostValue::Lazy(_)))) => found,
            Ok(Some(_)) => return Ok(None),
            Ok(None) | Err(_) => continue,
        };
        let mut value = Found::read(found)?.computed()?;
        for key in inner {
            let below = match &value {
                Value::Array(array) => key.parse().ok().and_then(|at: usize| array.get(at)),
                other => other.get(key),
            };
            match below.cloned() {
                Some(found) => value = found,
                None => return Ok(None),
            }
        }
        return Ok(Some(value));
    }
    Ok(None)
}

#[track_caller]
fn not_set(keys: &[String]) -> Error {
    let error = Error::new("Chef::Exceptions::NoSuchAttribute", format!("attribute {} is not set", keys.join(".")));
    match sibling(keys) {
        Some(hint) => error.with_hint(hint),
        None => error,
    }
}

/// Returns a hint with the most similar key at the place of an absent one.
fn sibling(keys: &[String]) -> Option<String> {
    let (last, parent) = keys.split_last()?;
    match host::shape_of(View::Merged, parent, None) {
        Ok(Some(Shape::Object(there))) => {
            let near = did_you_mean(last, there.iter().map(String::as_str))?;
            let above: String = parent.iter().map(|key| format!("{key}.")).collect();
            Some(near.replacen('`', &format!("`{above}"), 1))
        }
        _ => None,
    }
}

/// Returns true if the path has a value that the policy may read.
///
/// # Errors
/// A closure that computes a value on the path fails.
#[track_caller]
pub fn exists(path: impl Path) -> Result<bool> {
    let path = path.keys();
    let found = host::shape_of(View::Merged, &path, Some(&origin(Location::caller()))).map_err(failed).here()?;
    Ok(found.is_some() || behind_computed(&path)?.is_some())
}

/// Returns the levels' names and own values at a path, lowest level first.
///
/// # Errors
/// The policy may not read it.
#[track_caller]
pub fn debug(path: impl Path) -> Result<Vec<(String, Option<Value>)>> {
    let levels = host::debug(&path.keys()).map_err(failed).here()?;
    let value = |value: HostValue| Found::read(value)?.computed();
    levels.into_iter().map(|it| Ok((it.level, it.value.map(value).transpose()?))).collect()
}

/// Returns the name of the node that is converged.
pub fn name() -> String {
    identity::name()
}

/// Returns the recipes of the expanded run list, as `cookbook::recipe`.
pub fn recipes() -> Vec<String> {
    identity::recipes()
}

/// Returns true if the platform is one of these.
///
/// # Errors
/// The policy may not read it.
#[track_caller]
pub fn is_platform(platforms: &[&str]) -> Result<bool> {
    Ok(get::<Option<String>>("platform")?.is_some_and(|found| platforms.contains(&found.as_str())))
}

/// Returns true if the platform family is one of these.
///
/// # Errors
/// The policy may not read it.
#[track_caller]
pub fn is_platform_family(families: &[&str]) -> Result<bool> {
    Ok(get::<Option<String>>("platform_family")?.is_some_and(|found| families.contains(&found.as_str())))
}

/// A level to write to: one of the constants below.
#[derive(Clone, Copy)]
pub struct Level(HostLevel);

/// `node.default` in Chef: the cookbook's default values.
pub const DEFAULT: Level = Level(HostLevel::Default);

/// `node.force_default` in Chef: above the defaults of roles and policies.
pub const FORCE_DEFAULT: Level = Level(HostLevel::ForceDefault);

/// `node.normal` in Chef: belongs to the node and is kept for later runs.
pub const NORMAL: Level = Level(HostLevel::Normal);

/// `node.override` in Chef: values with precedence over `default` and `normal`.
pub const OVERRIDE: Level = Level(HostLevel::Override);

/// `node.force_override` in Chef: above everything but facts.
pub const FORCE_OVERRIDE: Level = Level(HostLevel::ForceOverride);

impl Level {
    /// Sets a value. It replaces values on the path that cannot hold members.
    ///
    /// # Errors
    /// The policy may not write it.
    #[track_caller]
    pub fn set(self, path: impl Path, value: impl Into<Value>) -> Result {
        let origin = origin(Location::caller());
        VERSION.set(None);
        host::write(self.0, &path.keys(), &plain(value), &origin).map_err(failed).here()
    }

    /// Sets a value that is computed at each read. When the policy ends, its present value is stored.
    ///
    /// # Errors
    /// The policy may not write it.
    #[track_caller]
    pub fn set_lazy<T: Into<Value>>(self, path: impl Path, value: impl Fn() -> Result<T> + 'static) -> Result {
        let origin = origin(Location::caller());
        let closure: Closure = Rc::new(move |_| Ok(Got::Json(value()?.into())));
        let number = table(|table| table.keep_always(closure));
        let parts = vec![LazyPart { path: vec![], callback: number }];
        let value = HostValue::Lazy(LazyValue { json: "null".into(), parts });
        VERSION.set(None);
        host::write(self.0, &path.keys(), &value, &origin).map_err(failed).here()
    }

    /// Sets a value if this level has no value at the path. Returns true if it was set.
    ///
    /// # Errors
    /// The policy may not write it.
    #[track_caller]
    pub fn set_unless(self, path: impl Path, value: impl Into<Value>) -> Result<bool> {
        let origin = origin(Location::caller());
        VERSION.set(None);
        host::write_unless(self.0, &path.keys(), &plain(value), &origin).map_err(failed).here()
    }

    /// Sets a value, but only if all values on the path can hold members (`write!`).
    ///
    /// # Errors
    /// A value on the path cannot hold members, or the policy may not write the attribute.
    #[track_caller]
    pub fn set_strict(self, path: impl Path, value: impl Into<Value>) -> Result {
        let origin = origin(Location::caller());
        VERSION.set(None);
        host::write_strict(self.0, &path.keys(), &plain(value), &origin).map_err(failed).here()
    }

    /// Sets a value and removes the values with which it would be merged (`default!`, `force_default!`, ..).
    ///
    /// # Errors
    /// The policy may not write it.
    #[track_caller]
    pub fn replace(self, path: impl Path, value: impl Into<Value>) -> Result {
        let origin = origin(Location::caller());
        VERSION.set(None);
        host::replace(self.0, &path.keys(), &plain(value), &origin).map_err(failed).here()
    }

    /// Removes this level's own value at a path, and returns it.
    ///
    /// # Errors
    /// The policy may not write it.
    #[track_caller]
    pub fn unset(self, path: impl Path) -> Result<Option<Value>> {
        let origin = origin(Location::caller());
        VERSION.set(None);
        let removed = host::unlink(self.0, &path.keys(), false, &origin).map_err(failed).here()?;
        removed.map(|value| Found::read(value)?.computed()).transpose()
    }
}

#[track_caller]
fn removed(what: Removal, path: impl Path) -> Result<Option<Value>> {
    let origin = origin(Location::caller());
    VERSION.set(None);
    let removed = host::remove(what, &path.keys(), &origin).map_err(failed).here()?;
    removed.map(|value| Found::read(value)?.computed()).transpose()
}

/// Removes the values at a path from all levels except facts (`rm`), and returns the previous merged value.
///
/// # Errors
/// The policy may not write it.
#[track_caller]
pub fn remove(path: impl Path) -> Result<Option<Value>> {
    removed(Removal::All, path)
}

/// Removes the values at a path from the four default levels (`rm_default`).
///
/// # Errors
/// The policy may not write it.
#[track_caller]
pub fn remove_default(path: impl Path) -> Result<Option<Value>> {
    removed(Removal::Default, path)
}

/// Removes the value at a path from the level normal (`rm_normal`).
///
/// # Errors
/// The policy may not write it.
#[track_caller]
pub fn remove_normal(path: impl Path) -> Result<Option<Value>> {
    removed(Removal::Normal, path)
}

/// Removes the values at a path from the four override levels (`rm_override`).
///
/// # Errors
/// The policy may not write it.
#[track_caller]
pub fn remove_override(path: impl Path) -> Result<Option<Value>> {
    removed(Removal::Override, path)
}
