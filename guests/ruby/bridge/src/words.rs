//! Defines the contract's records in the JSON form that Ruby sends.

use crate::bindings::wrun::node::attributes as node;
use crate::bindings::wrun::output::log as output;
use crate::bindings::wrun::resources::collection as resources;
use crate::bindings::wrun::types::types;
use crate::reply::Reply;
use crate::request::{Bytes, Request};
use serde::Deserialize;
use serde_json::value::RawValue;

/// Defines an enumeration in kebab-case with its conversion to the contract's enumeration.
macro_rules! words {
    ($(#[$doc:meta] $name:ident = $contract:path { $($word:ident),* })*) => {$(
        #[$doc]
        #[derive(Deserialize, Clone, Copy)]
        #[serde(rename_all = "kebab-case")]
        pub(crate) enum $name { $($word),* }
        impl From<$name> for $contract {
            fn from(word: $name) -> Self {
                match word { $($name::$word => Self::$word),* }
            }
        }
    )*};
}

words! {
    /// `node.level`.
    NodeLevel = node::Level { Default, ForceDefault, Normal, Override, ForceOverride }
    /// `node.removal`.
    Removal = node::Removal { All, Default, Normal, Override }
    /// `node.view`.
    View = node::View {
        Merged, Default, ForceDefault, Normal, Override, ForceOverride, Automatic, CombinedDefault, CombinedOverride
    }
    /// `output.level`.
    LogLevel = output::Level { Trace, Debug, Info, Warn, Error, Fatal }
    /// `resources.timing`.
    Timing = resources::Timing { Before, Immediate, Delayed }
    /// `resources.failure-mode`.
    FailureMode = resources::FailureMode { Raise, Ignore, IgnoreQuietly }
}

/// `[cookbook, recipe, file, line]`.
#[derive(Deserialize)]
pub(crate) struct Origin(String, String, String, u32);

impl From<Origin> for types::Origin {
    fn from(Origin(cookbook, recipe, file, line): Origin) -> Self {
        Self { cookbook, recipe, file, line }
    }
}

/// An exception.
#[derive(Deserialize)]
pub(crate) struct Raised {
    class: String,
    message: String,
    #[serde(default)]
    passed: Vec<String>,
    #[serde(default)]
    backtrace: Vec<String>,
    object: Option<u32>,
    hint: Option<String>,
}

impl From<Raised> for types::Raised {
    fn from(Raised { class, message, passed, backtrace, object, hint }: Raised) -> Self {
        Self { class, message, passed, backtrace, object, hint }
    }
}

/// A type that cookbooks define.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct GuestType {
    name: String,
    unified_mode: bool,
    inspects: bool,
    bypassed_in_why_run: bool,
}

impl From<GuestType> for resources::GuestType {
    fn from(GuestType { name, unified_mode, inspects, bypassed_in_why_run }: GuestType) -> Self {
        Self { name, unified_mode, inspects, bypassed_in_why_run }
    }
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "kebab-case")]
enum PropertyKind {
    Text,
    Plain,
    Bytes,
    Lazy,
    Rendered,
    Verify,
}

/// A text in the JSON, or the place of its bytes.
#[derive(Deserialize)]
#[serde(untagged)]
enum Text {
    Said(String),
    Brought(Bytes),
}

/// A property's value `[kind, value]`: a string or the offset and length of its bytes for `text`, any JSON for `plain`, offset
/// and length for `bytes`, or else a callback's number.
#[derive(Deserialize)]
pub(crate) struct Property<'a>(PropertyKind, #[serde(borrow)] &'a RawValue);

impl Property<'_> {
    pub(crate) fn contract(&self, request: &Request<'_>) -> Result<resources::Property, Reply> {
        let Self(kind, value) = self;
        Ok(match kind {
            PropertyKind::Text => resources::Property::Text(match parse(value)? {
                Text::Said(text) => text,
                Text::Brought(at) => request.text(at)?.to_owned(),
            }),
            PropertyKind::Plain => resources::Property::Plain(value.get().to_owned()),
            PropertyKind::Bytes => resources::Property::Bytes(request.bytes(parse(value)?)?.to_vec()),
            PropertyKind::Lazy => resources::Property::Lazy(parse(value)?),
            PropertyKind::Rendered => resources::Property::Rendered(parse(value)?),
            PropertyKind::Verify => resources::Property::Verify(parse(value)?),
        })
    }
}

/// Parses JSON text that was not parsed before.
pub(crate) fn parse<'a, T: Deserialize<'a>>(raw: &'a RawValue) -> Result<T, Reply> {
    serde_json::from_str(raw.get()).map_err(|error| Reply::argument_error(&format!("a call of the bridge: {error}")))
}

/// A command: text for a shell, or a program's arguments.
#[derive(Deserialize)]
#[serde(untagged)]
enum CommandLine {
    Text(String),
    Arguments(Vec<String>),
}

/// A command with its user, environment and limits.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Command {
    line: CommandLine,
    user: Option<String>,
    group: Option<String>,
    cwd: Option<String>,
    #[serde(default)]
    environment: Vec<(String, String)>,
    timeout: Option<u32>,
    umask: Option<u32>,
    interpreter: Option<String>,
    input: Option<Bytes>,
}

impl Command {
    pub(crate) fn contract(self, request: &Request<'_>) -> Result<types::Command, Reply> {
        let Self { line, user, group, cwd, environment, timeout, umask, interpreter, input } = self;
        let line = match line {
            CommandLine::Text(text) => types::CommandLine::Text(text),
            CommandLine::Arguments(arguments) => types::CommandLine::Arguments(arguments),
        };
        let input = input.map(|at| request.bytes(at).map(<[u8]>::to_vec)).transpose()?;
        let environment = environment.into_iter().map(|(name, value)| types::Variable { name, value }).collect();
        Ok(types::Command { line, user, group, cwd, environment, timeout, umask, interpreter, input })
    }
}

/// A guard's test: a callback's number, or a command.
#[derive(Deserialize)]
#[serde(untagged)]
enum Test {
    Block(u32),
    Command(Box<Command>),
}

/// `[negated, test]`.
#[derive(Deserialize)]
pub(crate) struct Guard(bool, Test);

impl Guard {
    pub(crate) fn contract(self, request: &Request<'_>) -> Result<resources::Guard, Reply> {
        let test = match self.1 {
            Test::Block(callback) => resources::Test::Block(callback),
            Test::Command(command) => resources::Test::Command(command.contract(request)?),
        };
        Ok(resources::Guard { negated: self.0, test })
    }
}

/// `type[name]`, or a declared resource's number.
#[derive(Deserialize)]
#[serde(untagged)]
enum Party {
    Declared(u32),
    Key(String),
}

/// `[action, other party, timing, subscribes]`.
#[derive(Deserialize)]
pub(crate) struct Notification(String, Party, Timing, bool);

impl From<Notification> for resources::Notification {
    fn from(Notification(action, other, timing, subscribes): Notification) -> Self {
        let other = match other {
            Party::Declared(id) => resources::Party::Declared(id),
            Party::Key(key) => resources::Party::Key(key),
        };
        Self { action, other, timing: timing.into(), subscribes }
    }
}

/// A declared resource. Fields with defaults in Chef may be absent.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Declaration<'a> {
    context: u32,
    kind: String,
    name: String,
    origin: Origin,
    #[serde(default)]
    actions: Vec<String>,
    #[serde(borrow, default)]
    properties: Vec<(String, Property<'a>)>,
    #[serde(default)]
    guards: Vec<Guard>,
    #[serde(default)]
    notifications: Vec<Notification>,
    #[serde(default)]
    retries: u32,
    #[serde(default = "retry_delay")]
    retry_delay: u32,
    on_failure: Option<FailureMode>,
    #[serde(default)]
    sensitive: bool,
    umask: Option<u32>,
    #[serde(default)]
    detached: bool,
}

/// Returns Chef's default for `retry_delay`, in seconds.
fn retry_delay() -> u32 {
    2
}

impl Declaration<'_> {
    pub(crate) fn contract(self, request: &Request<'_>) -> Result<resources::Declaration, Reply> {
        let properties = self.properties.into_iter();
        let properties = properties.map(|(name, property)| {
            let value = property.contract(request)?;
            Ok(resources::NamedProperty { name, value })
        });
        let guards = self.guards.into_iter().map(|guard| guard.contract(request));
        Ok(resources::Declaration {
            context: self.context,
            kind: self.kind,
            name: self.name,
            origin: self.origin.into(),
            actions: self.actions,
            properties: properties.collect::<Result<_, Reply>>()?,
            guards: guards.collect::<Result<_, Reply>>()?,
            notifications: self.notifications.into_iter().map(Into::into).collect(),
            retries: self.retries,
            retry_delay: self.retry_delay,
            on_failure: self.on_failure.map_or(resources::FailureMode::Raise, Into::into),
            sensitive: self.sensitive,
            umask: self.umask,
            detached: self.detached,
        })
    }
}

/// One change to a declared resource: `{"actions": [..]}`, `{"property": [name, [kind, value]]}`, ..
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Amendment<'a> {
    Actions(Vec<String>),
    #[serde(borrow)]
    Property((String, Property<'a>)),
    Clear(String),
    Guard(Guard),
    Notification(Notification),
    Delayed(String),
    Retries((u32, u32)),
    OnFailure(FailureMode),
    Sensitive(bool),
}

impl Amendment<'_> {
    pub(crate) fn contract(self, request: &Request<'_>) -> Result<resources::Amendment, Reply> {
        Ok(match self {
            Self::Actions(actions) => resources::Amendment::Actions(actions),
            Self::Property((name, property)) => {
                let value = property.contract(request)?;
                resources::Amendment::Property(resources::NamedProperty { name, value })
            }
            Self::Clear(name) => resources::Amendment::Clear(name),
            Self::Guard(guard) => resources::Amendment::Guard(guard.contract(request)?),
            Self::Notification(notification) => resources::Amendment::Notification(notification.into()),
            Self::Delayed(action) => resources::Amendment::Delayed(action),
            Self::Retries((count, delay)) => resources::Amendment::Retries(resources::Retry { count, delay }),
            Self::OnFailure(mode) => resources::Amendment::OnFailure(mode.into()),
            Self::Sensitive(sensitive) => resources::Amendment::Sensitive(sensitive),
        })
    }
}
