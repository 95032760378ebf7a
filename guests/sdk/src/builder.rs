//! How a resource is written down before it is declared. The typed builders in [`crate::resources`] stand on this.

pub use crate::bindings::wrun::cookbook::resources::Timing;
use crate::bindings::wrun::cookbook::resources::{
    self, Command, CommandLine, Declaration, FailureMode, Guard, Notification, Party, Property as HostProperty, Test,
};
use crate::bindings::wrun::cookbook::turns::Errand;
use crate::conversation::errand;
use crate::error::Result;
use crate::table::{Closure, Got, Made, origin, scope, table};
use crate::template;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::panic::Location;
use std::rc::Rc;

/// The root context, which lives as long as the policy.
const ROOT: u32 = 0;

/// Empty marker types: what shape of value a property takes.
pub mod kinds {
    macro_rules! kinds { ($($(#[$doc:meta])* $kind:ident),+ $(,)?) => { $($(#[$doc])* #[derive(Debug)] pub enum $kind {})+ } }
    kinds! {
        /// Any JSON.
        Anything,
        /// True or false.
        Boolean,
        /// True, false or a whole number.
        BooleanOrInteger,
        /// True, false or a text.
        BooleanOrText,
        /// A number.
        Float,
        /// A whole number.
        Integer,
        /// A whole number or a list.
        IntegerOrList,
        /// A list; a single text is a list of one.
        List,
        /// A list or an object.
        ListOrMap,
        /// An object.
        Map,
        /// Permission bits: octal text or a number.
        Mode,
        /// A text.
        Text,
        /// A text or a whole number.
        TextOrInteger,
        /// A text or a list.
        TextOrList,
        /// A text or an object.
        TextOrMap,
    }
}
use kinds::*;

/// A property's value on its way to the host: known now, or computed right before the action.
pub struct Property(Value_);

enum Value_ {
    Plain(Value),
    Bytes(Vec<u8>),
    Lazy(Closure),
}

impl fmt::Debug for Property {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Value_::Plain(value) => value.fmt(f),
            Value_::Bytes(bytes) => write!(f, "{} bytes", bytes.len()),
            Value_::Lazy(_) => f.write_str("lazy"),
        }
    }
}

/// What can be the value of a property that takes a `Kind`.
pub trait IntoProperty<Kind> {
    /// The value for the host.
    fn into_property(self) -> Property;
}

/// A value that is computed right before the action, after the guards.
pub struct Lazy<F>(F);

/// Computes a property's value right before the action: `file("/x").content(lazy(|| Ok(node::text("x")?)))`.
pub fn lazy<T: Into<Value>, F: Fn() -> Result<T> + 'static>(value: F) -> Lazy<F> {
    Lazy(value)
}

impl<Kind, T: Into<Value>, F: Fn() -> Result<T> + 'static> IntoProperty<Kind> for Lazy<F> {
    fn into_property(self) -> Property {
        let value = self.0;
        Property(Value_::Lazy(Rc::new(move |_| Ok(Got::Json(value()?.into())))))
    }
}

macro_rules! plain {
    ($($from:ty => $($kind:ident),+;)+) => { $($(
        impl IntoProperty<$kind> for $from {
            fn into_property(self) -> Property {
                Property(Value_::Plain(Value::from(self)))
            }
        }
    )+)+ };
}
plain! {
    &str => Anything, BooleanOrText, List, IntegerOrList, ListOrMap, Mode, Text, TextOrInteger, TextOrList, TextOrMap;
    String => Anything, BooleanOrText, List, IntegerOrList, ListOrMap, Mode, Text, TextOrInteger, TextOrList, TextOrMap;
    Cow<'_, str> => Anything, BooleanOrText, List, Text, TextOrInteger, TextOrList;
    bool => Anything, Boolean, BooleanOrInteger, BooleanOrText;
    i32 => Anything, BooleanOrInteger, Float, Integer, IntegerOrList, Mode, TextOrInteger;
    i64 => Anything, BooleanOrInteger, Float, Integer, IntegerOrList, TextOrInteger;
    u16 => Anything, BooleanOrInteger, Integer, IntegerOrList, Mode, TextOrInteger;
    u32 => Anything, BooleanOrInteger, Integer, IntegerOrList, Mode, TextOrInteger;
    u64 => Anything, BooleanOrInteger, Integer, IntegerOrList, TextOrInteger;
    usize => Anything, BooleanOrInteger, Integer, IntegerOrList, TextOrInteger;
    f64 => Anything, Float;
}

macro_rules! texts {
    ($($kind:ident),+) => { $(
        impl IntoProperty<$kind> for &String {
            fn into_property(self) -> Property {
                Property(Value_::Plain(Value::from(self.as_str())))
            }
        }
    )+ };
}
texts!(Anything, BooleanOrText, List, Mode, Text, TextOrInteger, TextOrList);

macro_rules! json {
    ($($kind:ident),+) => { $(
        impl IntoProperty<$kind> for Value {
            fn into_property(self) -> Property {
                Property(Value_::Plain(self))
            }
        }
    )+ };
}
json!(
    Anything,
    BooleanOrInteger,
    BooleanOrText,
    Float,
    Integer,
    IntegerOrList,
    List,
    ListOrMap,
    Map,
    Text,
    TextOrInteger,
    TextOrList,
    TextOrMap
);

fn list<T: Into<Value>>(items: impl IntoIterator<Item = T>) -> Property {
    Property(Value_::Plain(Value::Array(items.into_iter().map(Into::into).collect())))
}

fn object<K: Into<String>, V: Into<Value>>(entries: impl IntoIterator<Item = (K, V)>) -> Property {
    Property(Value_::Plain(Value::Object(entries.into_iter().map(|(key, value)| (key.into(), value.into())).collect())))
}

macro_rules! lists {
    ($($kind:ident),+) => { $(
        impl<T: Into<Value>> IntoProperty<$kind> for Vec<T> {
            fn into_property(self) -> Property { list(self) }
        }
        impl<T: Into<Value>, const N: usize> IntoProperty<$kind> for [T; N] {
            fn into_property(self) -> Property { list(self) }
        }
        impl<T: Into<Value> + Clone> IntoProperty<$kind> for &[T] {
            fn into_property(self) -> Property { list(self.iter().cloned()) }
        }
        impl<T: Into<Value> + Clone, const N: usize> IntoProperty<$kind> for &[T; N] {
            fn into_property(self) -> Property { list(self.iter().cloned()) }
        }
    )+ };
}
lists!(Anything, IntegerOrList, List, ListOrMap, TextOrList);

macro_rules! objects {
    ($($kind:ident),+) => { $(
        impl<K: Into<String> + Ord, V: Into<Value>> IntoProperty<$kind> for BTreeMap<K, V> {
            fn into_property(self) -> Property { object(self) }
        }
        impl<K: Into<String> + Ord, V: Into<Value>> IntoProperty<$kind> for HashMap<K, V> {
            fn into_property(self) -> Property { object(self.into_iter().collect::<BTreeMap<_, _>>()) }
        }
        impl<K: Into<String>, V: Into<Value>, const N: usize> IntoProperty<$kind> for [(K, V); N] {
            fn into_property(self) -> Property { object(self) }
        }
    )+ };
}
objects!(Map, TextOrMap);

impl IntoProperty<Text> for Vec<u8> {
    fn into_property(self) -> Property {
        Property(Value_::Bytes(self))
    }
}

/// A declared resource: where notifications can be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Declared {
    pub(crate) id: u32,
}

/// Finds `type[name]` here or in what is around this custom resource; of two, the last declared.
pub fn find(key: &str) -> Option<Declared> {
    resources::find(scope().context, key).map(|id| Declared { id })
}

impl Declared {
    /// Its type and its name.
    pub fn describe(&self) -> Option<(String, String)> {
        resources::describe(self.id)
    }

    /// Sets or replaces a property, from now on.
    ///
    /// # Errors
    /// The type has no such property, or the value does not fit.
    pub fn set(&self, property: &str, value: impl IntoProperty<Anything>) -> Result {
        let value = match value.into_property().0 {
            Value_::Plain(value) => HostProperty::Plain(value.to_string()),
            Value_::Bytes(bytes) => HostProperty::Bytes(bytes),
            // The resource may outlive the context that this is said in.
            Value_::Lazy(closure) => HostProperty::Lazy(table(|table| table.keep(ROOT, closure))),
        };
        Ok(resources::amend(self.id, &resources::Amendment::Property((property.to_owned(), value)))?)
    }

    /// Replaces its actions.
    ///
    /// # Errors
    /// The type has no such action.
    pub fn set_actions(&self, actions: &[&str]) -> Result {
        let actions = actions.iter().map(|action| (*action).to_owned()).collect();
        Ok(resources::amend(self.id, &resources::Amendment::Actions(actions))?)
    }

    /// Has another act when this one changes.
    ///
    /// # Errors
    /// The resource is gone.
    pub fn notify(&self, action: &str, other: impl Target, timing: Timing) -> Result {
        let notification = Notification { action: action.to_owned(), other: other.party(), timing, subscribes: false };
        Ok(resources::amend(self.id, &resources::Amendment::Notification(notification))?)
    }

    /// Takes it out of its collection. What has run already stays in the report.
    ///
    /// # Errors
    /// The resource is gone.
    pub fn retract(self) -> Result {
        Ok(resources::retract(self.id)?)
    }

    /// Whether some action has changed it so far.
    pub fn is_updated(&self) -> bool {
        resources::look(self.id).is_some_and(|status| status.updated)
    }

    /// Runs one of its actions now, while the policy still compiles; without notifications.
    ///
    /// # Errors
    /// The action failed.
    pub fn run_action(&self, action: &str) -> Result {
        errand(Errand::RunAction((self.id, action.to_owned())))
    }

    /// Has an action run once at the end of its context.
    ///
    /// # Errors
    /// The resource has no such context any more.
    pub fn delayed_action(&self, action: &str) -> Result {
        Ok(resources::amend(self.id, &resources::Amendment::Delayed(action.to_owned()))?)
    }
}

/// The other end of a notification: `"service[ntp]"`, which may be declared later, or a declared resource.
pub trait Target {
    /// As the contract has it.
    fn party(&self) -> Party;
}

impl Target for str {
    fn party(&self) -> Party {
        Party::Key(self.to_owned())
    }
}

impl Target for String {
    fn party(&self) -> Party {
        Party::Key(self.clone())
    }
}

impl Target for Declared {
    fn party(&self) -> Party {
        Party::Declared(self.id)
    }
}

impl<T: Target + ?Sized> Target for &T {
    fn party(&self) -> Party {
        (**self).party()
    }
}

/// What guards return: a truth, or a result with one.
pub trait IntoTruth {
    /// The truth.
    fn into_truth(self) -> Result<bool>;
}

impl IntoTruth for bool {
    fn into_truth(self) -> Result<bool> {
        Ok(self)
    }
}

impl IntoTruth for Result<bool> {
    fn into_truth(self) -> Result<bool> {
        self
    }
}

/// A resource on its way to the host.
pub struct Builder {
    kind: String,
    name: String,
    place: &'static Location<'static>,
    actions: Vec<String>,
    properties: Vec<(String, Property)>,
    verify: Vec<Closure>,
    guards: Vec<(bool, Found)>,
    notifications: Vec<Notification>,
    retries: u32,
    retry_delay: u32,
    on_failure: FailureMode,
    sensitive: bool,
    umask: Option<u32>,
    block: Option<Rc<dyn Fn() -> Result>>,
}

enum Found {
    Block(Closure),
    Command(Command),
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[{}]", self.kind, self.name)?;
        f.debug_map()
            .entries(self.properties.iter().filter(|_| !self.sensitive).map(|(name, value)| (name, value)))
            .finish()
    }
}

impl Builder {
    /// A resource of a type, written by the caller.
    #[track_caller]
    pub fn new(kind: &str, name: impl Into<String>) -> Self {
        Self {
            kind: kind.into(),
            name: name.into(),
            place: Location::caller(),
            actions: vec![],
            properties: vec![],
            verify: vec![],
            guards: vec![],
            notifications: vec![],
            retries: 0,
            retry_delay: 2,
            on_failure: FailureMode::Raise,
            sensitive: false,
            umask: None,
            block: None,
        }
    }

    /// Sets a property; the last call wins.
    pub fn set(&mut self, property: &str, value: Property) {
        match self.properties.iter_mut().find(|(name, _)| name == property) {
            Some((_, old)) => *old = value,
            None => self.properties.push((property.into(), value)),
        }
    }

    /// Adds to a property that collects over several calls.
    pub fn append(&mut self, property: &str, value: Property) {
        let items = |value: Property| match value.0 {
            Value_::Plain(Value::Array(items)) => Ok(items),
            Value_::Plain(item) => Ok(vec![item]),
            other => Err(Property(other)),
        };
        let at = self.properties.iter().position(|(name, _)| name == property);
        let before = at.map(|at| self.properties.remove(at).1);
        match (before.map(items).unwrap_or(Ok(vec![])), items(value)) {
            (Ok(mut all), Ok(more)) => {
                all.extend(more);
                self.properties.push((property.into(), Property(Value_::Plain(Value::Array(all)))));
            }
            // A lazy list takes the place of what was there.
            (_, Err(value)) | (Err(value), _) => self.properties.push((property.into(), value)),
        }
    }

    /// Adds an action; the first takes the default action's place.
    pub fn action(&mut self, action: &str) {
        self.actions.push(action.into());
    }

    pub(crate) fn set_block(&mut self, block: impl Fn() -> Result + 'static) {
        self.block = Some(Rc::new(block));
    }

    #[doc(hidden)]
    pub fn guard(&mut self, negated: bool, block: impl Fn() -> Result<bool> + 'static) {
        self.guards.push((negated, Found::Block(Rc::new(move |_| Ok(Got::Json(block()?.into()))))));
    }

    #[doc(hidden)]
    pub fn guard_command(&mut self, negated: bool, line: &str) {
        let command = Command {
            line: CommandLine::Text(line.into()),
            user: None,
            group: None,
            cwd: None,
            environment: vec![],
            timeout: None,
            umask: None,
            interpreter: None,
            input: None,
        };
        self.guards.push((negated, Found::Command(command)));
    }

    #[doc(hidden)]
    pub fn verify_block(&mut self, block: impl Fn(&str) -> Result<bool> + 'static) {
        self.verify.push(Rc::new(move |input| {
            let path = input.as_ref().and_then(Value::as_str).unwrap_or_default().to_owned();
            Ok(Got::Json(block(&path)?.into()))
        }));
    }

    #[doc(hidden)]
    pub fn notify(&mut self, subscribes: bool, timing: Timing, action: &str, other: &(impl Target + ?Sized)) {
        self.notifications.push(Notification { action: action.into(), other: other.party(), timing, subscribes });
    }

    #[doc(hidden)]
    pub fn retries(&mut self, retries: u32, delay: u32) {
        (self.retries, self.retry_delay) = (retries, delay);
    }

    #[doc(hidden)]
    pub fn ignore_failure(&mut self, quietly: bool) {
        self.on_failure = if quietly { FailureMode::IgnoreQuietly } else { FailureMode::Ignore };
    }

    #[doc(hidden)]
    pub fn sensitive(&mut self, sensitive: bool) {
        self.sensitive = sensitive;
    }

    #[doc(hidden)]
    pub fn umask(&mut self, umask: u32) {
        self.umask = Some(umask);
    }

    fn plain(&self, name: &str) -> Option<&Value> {
        self.properties.iter().find(|(other, _)| other == name).and_then(|(_, property)| match &property.0 {
            Value_::Plain(value) => Some(value),
            _ => None,
        })
    }

    /// A template's text is rendered by the guest, right before the action.
    fn render_late(&mut self) {
        let has_content = self.properties.iter().any(|(name, _)| name == "content");
        if self.kind != "template" || has_content {
            return;
        }
        let text = |name: &str| self.plain(name).and_then(Value::as_str).map(str::to_owned);
        let sources = match self.plain("source") {
            Some(Value::String(source)) => vec![source.clone()],
            Some(Value::Array(sources)) => sources.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            _ => {
                let path = text("path").unwrap_or_else(|| self.name.clone());
                vec![format!("{}.j2", path.rsplit('/').next().unwrap_or(&path))]
            }
        };
        let cookbook = text("cookbook").unwrap_or_else(|| scope().cookbook);
        let at = self.properties.iter().position(|(name, _)| name == "variables");
        let variables = at.map(|at| self.properties.remove(at).1.0);
        let render: Closure = Rc::new(move |_| {
            let variables = match &variables {
                Some(Value_::Plain(value)) => value.clone(),
                Some(Value_::Lazy(closure)) => match closure(None)? {
                    Got::Json(value) => value,
                    Got::Bytes(_) => Value::Null,
                },
                _ => Value::Null,
            };
            template::render(&cookbook, &sources, variables).map(Got::Bytes)
        });
        self.properties.push(("content".into(), Property(Value_::Lazy(render))));
    }

    /// Hands the resource to the host.
    ///
    /// # Errors
    /// The host refuses it: an unknown property, a wrong type, ..; or, where resources converge as they are declared,
    /// it failed.
    pub fn declare(self) -> Result<Declared> {
        self.declare_as(false)
    }

    /// As [`declare`](Self::declare), but it stands in no collection: only [`Declared::run_action`] runs it.
    ///
    /// # Errors
    /// The host refuses it.
    pub fn build(self) -> Result<Declared> {
        self.declare_as(true)
    }

    fn declare_as(mut self, detached: bool) -> Result<Declared> {
        self.render_late();
        let scope = scope();
        let context = scope.context;
        let keep = |closure: Closure| table(|table| table.keep(context, closure));
        let mut properties: Vec<_> = std::mem::take(&mut self.properties)
            .into_iter()
            .map(|(name, value)| {
                let value = match value.0 {
                    Value_::Plain(value) => HostProperty::Plain(value.to_string()),
                    Value_::Bytes(bytes) => HostProperty::Bytes(bytes),
                    Value_::Lazy(closure) => HostProperty::Lazy(keep(closure)),
                };
                (name, value)
            })
            .collect();
        let checks = std::mem::take(&mut self.verify);
        properties.extend(checks.into_iter().map(|check| ("verify".into(), HostProperty::Verify(keep(check)))));
        let guards = std::mem::take(&mut self.guards).into_iter().map(|(negated, found)| {
            let test = match found {
                Found::Block(closure) => Test::Block(keep(closure)),
                Found::Command(command) => Test::Command(command),
            };
            Guard { negated, test }
        });
        let declaration = Declaration {
            context,
            kind: self.kind.clone(),
            name: self.name.clone(),
            origin: origin(self.place),
            actions: std::mem::take(&mut self.actions),
            properties,
            guards: guards.collect(),
            notifications: std::mem::take(&mut self.notifications),
            retries: self.retries,
            retry_delay: self.retry_delay,
            on_failure: self.on_failure,
            sensitive: self.sensitive,
            umask: self.umask,
            detached,
        };
        let declaration = crate::custom::complete(declaration)?;
        let id = resources::declare(&declaration)?;
        let settles = table(|table| {
            if self.block.is_some() || table.types.contains_key(&self.kind) {
                let made = Made { kind: self.kind, name: self.name, scope, block: self.block };
                table.made(context, id, made);
            }
            table.unified.contains(&context) && !detached
        });
        if settles {
            errand(Errand::Settle(id))?;
        }
        Ok(Declared { id })
    }
}

/// What every resource has: guards, notifications, retries, and how it is declared.
macro_rules! common_methods {
    ($builder:ident) => {
        impl $builder {
            /// Acts only if this is true. All `only_if` are tested before all `not_if`.
            pub fn only_if<T: $crate::builder::IntoTruth>(mut self, test: impl Fn() -> T + 'static) -> Self {
                self.0.guard(false, move || test().into_truth());
                self
            }

            /// Acts only if this is false.
            pub fn not_if<T: $crate::builder::IntoTruth>(mut self, test: impl Fn() -> T + 'static) -> Self {
                self.0.guard(true, move || test().into_truth());
                self
            }

            /// Acts only if this command exits with 0. The policy needs a grant for it.
            pub fn only_if_command(mut self, line: &str) -> Self {
                self.0.guard_command(false, line);
                self
            }

            /// Acts only if this command exits with something else than 0. The policy needs a grant for it.
            pub fn not_if_command(mut self, line: &str) -> Self {
                self.0.guard_command(true, line);
                self
            }

            /// Once at the end, if this resource changed, the other acts: `.notifies("restart", "service[ntp]")`.
            pub fn notifies(mut self, action: &str, other: impl $crate::builder::Target) -> Self {
                self.0.notify(false, $crate::builder::Timing::Delayed, action, &other);
                self
            }

            /// Right after this resource changed, the other acts.
            pub fn notifies_immediately(mut self, action: &str, other: impl $crate::builder::Target) -> Self {
                self.0.notify(false, $crate::builder::Timing::Immediate, action, &other);
                self
            }

            /// Right before this resource changes, the other acts.
            pub fn notifies_before(mut self, action: &str, other: impl $crate::builder::Target) -> Self {
                self.0.notify(false, $crate::builder::Timing::Before, action, &other);
                self
            }

            /// Once at the end, if the other resource changed, this one acts.
            pub fn subscribes(mut self, action: &str, other: impl $crate::builder::Target) -> Self {
                self.0.notify(true, $crate::builder::Timing::Delayed, action, &other);
                self
            }

            /// Right after the other resource changed, this one acts.
            pub fn subscribes_immediately(mut self, action: &str, other: impl $crate::builder::Target) -> Self {
                self.0.notify(true, $crate::builder::Timing::Immediate, action, &other);
                self
            }

            /// Right before the other resource changes, this one acts.
            pub fn subscribes_before(mut self, action: &str, other: impl $crate::builder::Target) -> Self {
                self.0.notify(true, $crate::builder::Timing::Before, action, &other);
                self
            }

            /// Tries again after a failure, this often, after this many seconds each.
            pub fn retries(mut self, retries: u32, seconds: u32) -> Self {
                self.0.retries(retries, seconds);
                self
            }

            /// A failure is shown, and the run goes on.
            pub fn ignore_failure(mut self) -> Self {
                self.0.ignore_failure(false);
                self
            }

            /// A failure is recorded, and the run goes on.
            pub fn ignore_failure_quietly(mut self) -> Self {
                self.0.ignore_failure(true);
                self
            }

            /// Properties, content and diffs are shown nowhere.
            pub fn sensitive(mut self) -> Self {
                self.0.sensitive(true);
                self
            }

            /// The file mode creation mask while it acts.
            pub fn umask(mut self, umask: u32) -> Self {
                self.0.umask(umask);
                self
            }

            /// What to do, by name, in order.
            pub fn actions(mut self, actions: &[&str]) -> Self {
                actions.iter().for_each(|action| self.0.action(action));
                self
            }

            /// Hands the resource to the host.
            ///
            /// # Errors
            /// The host refuses it: an unknown property, a wrong type, ..; or, inside an action of a custom resource,
            /// it failed.
            pub fn declare(self) -> $crate::Result<$crate::builder::Declared> {
                self.0.declare()
            }

            /// As `declare`, but it stands in no collection: only `run_action` runs it.
            ///
            /// # Errors
            /// The host refuses it.
            pub fn build(self) -> $crate::Result<$crate::builder::Declared> {
                self.0.build()
            }
        }
    };
}
pub(crate) use common_methods;

macro_rules! verified {
    ($($builder:ident),+) => { $(
        impl crate::resources::$builder {
            /// A block that must approve the new content, staged at the path that it gets, before it is put in place.
            pub fn verify_block(mut self, block: impl Fn(&str) -> Result<bool> + 'static) -> Self {
                self.0.verify_block(block);
                self
            }
        }
    )+ };
}
verified!(CookbookFile, File, RemoteFile, Template);
