//! The types of settings. Each type parses both the text of an option or a variable and the value in the file, in the same
//! form.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use super::times::TimeLimit;
use contract::LogLevel;
use node::saved_filter::FilterItem;
use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

/// Largest length of a node name, in bytes. It is limited because it is part of file names.
const MAX_NODE_NAME: usize = 200;

/// A whole number between two bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "i64")]
pub(crate) struct Number<const LEAST: u64, const MOST: u64>(u64);

impl<const LEAST: u64, const MOST: u64> Number<LEAST, MOST> {
    /// Returns a constant number. The compiler checks that it is within the bounds.
    pub(crate) const fn constant<const VALUE: u64>() -> Self {
        const { assert!(LEAST <= VALUE && VALUE <= MOST, "out of bounds") };
        Self(VALUE)
    }

    /// Returns the number, such as a number of mebibytes.
    pub(crate) fn get(self) -> u64 {
        self.0
    }
}

impl<const LEAST: u64, const MOST: u64> TryFrom<i64> for Number<LEAST, MOST> {
    type Error = String;

    fn try_from(number: i64) -> Result<Self, String> {
        match u64::try_from(number) {
            Ok(number) if (LEAST..=MOST).contains(&number) => Ok(Self(number)),
            _ => Err(format!("{number} is not between {LEAST} and {MOST}")),
        }
    }
}

impl<const LEAST: u64, const MOST: u64> FromStr for Number<LEAST, MOST> {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number: i64 = text.parse().map_err(|_| format!("this is not a number between {LEAST} and {MOST}"))?;
        Self::try_from(number)
    }
}

/// Defines an enum with one word per variant. Chef's word for it may be another one.
macro_rules! words {
    ($(#[doc = $doc:literal])+ $name:ident { $($(#[doc = $variant_doc:literal])+ $variant:ident = $word:literal $(or $alias:literal)?,)+ }) => {
        $(#[doc = $doc])+
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(try_from = "String")]
        pub(crate) enum $name {
            $($(#[doc = $variant_doc])+ #[serde(rename = $word)] $variant,)+
        }

        impl $name {
            /// All words, for help and error messages.
            pub(crate) const WORDS: &[&str] = &[$($word),+];
        }

        impl FromStr for $name {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, String> {
                match text {
                    $($word $(| $alias)? => Ok(Self::$variant),)+
                    _ => Err(format!("{text:?} is not one of {}", Self::WORDS.join(", "))),
                }
            }
        }

        impl TryFrom<String> for $name {
            type Error = String;

            fn try_from(text: String) -> Result<Self, String> {
                text.parse()
            }
        }
    };
}

words! {
    /// The output format of a run.
    Format {
        /// Every resource and what was done to it.
        Doc = "doc",
        /// One letter per action, then the changes.
        Minimal = "minimal" or "min",
        /// One JSON object at the end, for programs.
        Json = "json",
        /// One JSON object per line as things happen, for programs.
        Ndjson = "ndjson",
    }
}

words! {
    /// The output format of a command that shows data.
    View {
        /// Text that people read line by line.
        Doc = "doc",
        /// One JSON object, for programs.
        Json = "json",
    }
}

impl Format {
    /// Returns whether standard output is read by programs.
    pub(crate) fn is_for_programs(self) -> bool {
        matches!(self, Self::Json | Self::Ndjson)
    }
}

words! {
    /// The minimum level of logged messages.
    Level {
        /// All internal events of the runtime.
        Trace = "trace",
        /// Details that help to find a fault in a cookbook.
        Debug = "debug",
        /// The normal events of a run, for operators.
        Info = "info",
        /// Events that an operator should look at.
        Warn = "warn",
        /// Only errors, including those that end the run.
        Error = "error",
        /// Only errors that ended the run.
        Fatal = "fatal",
    }
}

impl Level {
    /// Returns the log level for runs with the same name.
    pub(crate) fn threshold(self) -> LogLevel {
        match self {
            Self::Trace => LogLevel::Trace,
            Self::Debug => LogLevel::Debug,
            Self::Info => LogLevel::Info,
            Self::Warn => LogLevel::Warn,
            Self::Error => LogLevel::Error,
            Self::Fatal => LogLevel::Fatal,
        }
    }
}

words! {
    /// Whether output has colours.
    Color {
        /// On a terminal, unless `NO_COLOR` is set.
        Auto = "auto",
        /// Always, wherever output goes.
        Always = "always",
        /// Never, not even on terminals.
        Never = "never",
    }
}

words! {
    /// The moments when a handler is called.
    HandlerMoment {
        /// When the run begins.
        Start = "start",
        /// When the run has succeeded.
        Report = "report",
        /// When the run has failed.
        Exception = "exception",
    }
}

/// The destination of the log.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) enum LogLocation {
    /// The standard error of the program.
    Stderr,
    /// The journal of the system.
    Journald,
    /// A file. The log is appended to it.
    File(PathBuf),
}

impl FromStr for LogLocation {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "stderr" => Ok(Self::Stderr),
            "journald" => Ok(Self::Journald),
            path if path.contains('/') => Ok(Self::File(PathBuf::from(path))),
            _ => Err(format!("{text:?} is neither stderr nor journald nor the path of a file (./{text}?)")),
        }
    }
}

impl Serialize for LogLocation {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Stderr => serializer.serialize_str("stderr"),
            Self::Journald => serializer.serialize_str("journald"),
            Self::File(path) => path.serialize(serializer),
        }
    }
}

impl TryFrom<String> for LogLocation {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

/// A node's name. As in Chef, it consists of letters, digits, and `-_:.`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct NodeName(String);

impl NodeName {
    /// Returns the name as text.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for NodeName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let fits = !text.is_empty()
            && text.len() <= MAX_NODE_NAME
            && !text.starts_with('.')
            && text.chars().all(|character| character.is_ascii_alphanumeric() || "-_:.".contains(character));
        if fits {
            return Ok(Self(text.to_owned()));
        }
        Err(format!(
            "{text:?} cannot be a node's name: use up to {MAX_NODE_NAME} letters, digits and the characters - _ : . \
             and no dot at the beginning"
        ))
    }
}

impl TryFrom<String> for NodeName {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl fmt::Display for NodeName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// Names of policies without duplicates, in order. They are written as a list, or as one text with commas.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct PolicyNames(Vec<PolicyName>);

/// A policy, with its policy group if this differs from the node's: `core` or `core@prod`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(into = "String")]
pub(crate) struct PolicyName {
    name: String,
    group: Option<String>,
}

impl FromStr for PolicyName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, group) = text.split_once('@').map_or((text, None), |(name, group)| (name, Some(group)));
        artifact::check_policy_name(name).map_err(|error| error.to_string())?;
        if let Some(group) = group {
            artifact::check_policy_name(group)
                .map_err(|_| format!("{group:?} cannot be the name of a policy group"))?;
        }
        Ok(Self { name: name.to_owned(), group: group.map(str::to_owned) })
    }
}

impl From<PolicyName> for String {
    fn from(policy: PolicyName) -> Self {
        match policy.group {
            Some(group) => format!("{}@{group}", policy.name),
            None => policy.name,
        }
    }
}

impl PolicyNames {
    /// Returns the names, and the groups of policies that name one.
    pub(crate) fn into_names(self) -> (Vec<String>, BTreeMap<String, String>) {
        let groups = self.0.iter().filter_map(|policy| Some((policy.name.clone(), policy.group.clone()?))).collect();
        (self.0.into_iter().map(|policy| policy.name).collect(), groups)
    }
}

impl TryFrom<Vec<String>> for PolicyNames {
    type Error = String;

    fn try_from(names: Vec<String>) -> Result<Self, String> {
        let policies = names.iter().map(|name| name.parse()).collect::<Result<Vec<PolicyName>, _>>()?;
        for (index, policy) in policies.iter().enumerate() {
            if policies.iter().take(index).any(|earlier| earlier.name == policy.name) {
                return Err(format!("policy {:?} is named twice", policy.name));
            }
        }
        Ok(Self(policies))
    }
}

impl FromStr for PolicyNames {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::try_from(text.split(',').map(|name| name.trim().to_owned()).collect::<Vec<_>>())
    }
}

impl<'de> Deserialize<'de> for PolicyNames {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "expected a list of names, or one text with commas")]
        enum Written {
            Text(String),
            List(Vec<String>),
        }

        let names = match Written::deserialize(deserializer)? {
            Written::Text(text) => text.parse(),
            Written::List(names) => Self::try_from(names),
        };
        names.map_err(D::Error::custom)
    }
}

/// Paths of attributes: `"a/b"`, or `["a", "b"]` if a key contains a slash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AttributePaths(Vec<FilterItem>);

impl AttributePaths {
    /// Returns the paths of the attributes.
    pub(crate) fn into_items(self) -> Vec<FilterItem> {
        self.0
    }
}

impl Serialize for AttributePaths {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let item = |item: &FilterItem| match item.keys() {
            keys if keys.iter().any(|key| key.contains('/')) => Value::from(keys.to_vec()),
            keys => Value::from(keys.join("/")),
        };
        serializer.collect_seq(self.0.iter().map(item))
    }
}

impl FromStr for AttributePaths {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(Self(text.split(',').map(|item| FilterItem::from_text(item.trim())).collect()))
    }
}

impl<'de> Deserialize<'de> for AttributePaths {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let items = Vec::<Value>::deserialize(deserializer)?;
        let items = items.iter().map(FilterItem::from_json).collect::<Result<_, _>>();
        items.map(Self).map_err(D::Error::custom)
    }
}

/// Programs that are called for runs. An environment variable contains them as JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Handlers(Vec<Handler>);

impl Handlers {
    /// Returns the handlers, in order.
    pub(crate) fn into_list(self) -> Vec<Handler> {
        self.0
    }
}

impl FromStr for Handlers {
    type Err = serde_json::Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        serde_json::from_str(text)
    }
}

/// The environment files of policy groups, as `[layers.GROUP]` with `files = [..]`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct GroupLayers(BTreeMap<String, GroupFiles>);

/// The environment files of one policy group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct GroupFiles {
    /// The files, in order.
    files: Vec<PathBuf>,
}

impl GroupLayers {
    /// Returns the files by group.
    pub(crate) fn into_files(self) -> BTreeMap<String, Vec<PathBuf>> {
        self.0.into_iter().map(|(group, files)| (group, files.files)).collect()
    }
}

impl FromStr for GroupLayers {
    type Err = serde_json::Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        serde_json::from_str(text)
    }
}

/// A program of the operator that is called for a run. It receives the run's status as JSON on standard input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Handler {
    /// The moments when the program is called.
    pub(crate) on: Vec<HandlerMoment>,
    /// The program and its arguments. It is started without a shell.
    #[serde(deserialize_with = "program")]
    pub(crate) command: Vec<String>,
    /// The time limit for the program.
    #[serde(default = "Handler::default_seconds")]
    pub(crate) seconds: TimeLimit<1, 3600>,
}

impl Handler {
    fn default_seconds() -> TimeLimit<1, 3600> {
        TimeLimit::constant::<60>()
    }
}

/// Deserializes a program with its arguments. An empty list is an error.
fn program<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let words = Vec::<String>::deserialize(deserializer)?;
    match words.first() {
        Some(program) if !program.is_empty() => Ok(words),
        _ => Err(D::Error::custom("a handler's `command` begins with the program to start; this one has none")),
    }
}
