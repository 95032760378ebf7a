//! What settings can be. Each type reads the text of a flag or a variable, and the value in the file; both say the same.

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

/// The longest node name, in bytes: it is part of file names.
const MAX_NODE_NAME: usize = 200;

/// A whole number between two bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "i64")]
pub(crate) struct Number<const LEAST: u64, const MOST: u64>(u64);

impl<const LEAST: u64, const MOST: u64> Number<LEAST, MOST> {
    /// A number that the compiler finds to be within the bounds.
    pub(crate) const fn constant<const VALUE: u64>() -> Self {
        const { assert!(LEAST <= VALUE && VALUE <= MOST, "out of bounds") };
        Self(VALUE)
    }

    /// Returns the number of mebibytes.
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

/// A choice between words.
macro_rules! words {
    ($(#[doc = $doc:literal])+ $name:ident { $($(#[doc = $variant_doc:literal])+ $variant:ident = $word:literal,)+ }) => {
        $(#[doc = $doc])+
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(try_from = "String")]
        pub(crate) enum $name {
            $($(#[doc = $variant_doc])+ #[serde(rename = $word)] $variant,)+
        }

        impl $name {
            /// The words, for help and for errors.
            pub(crate) const WORDS: &[&str] = &[$($word),+];
        }

        impl FromStr for $name {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, String> {
                match text {
                    $($word => Ok(Self::$variant),)+
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
    /// How a run is shown.
    Format {
        /// Every resource and what was done to it.
        Doc = "doc",
        /// A sign per resource, then the changes.
        Minimal = "minimal",
        /// One JSON object at the end, for programs.
        Json = "json",
        /// One JSON object per line as things happen, for programs.
        Ndjson = "ndjson",
    }
}

words! {
    /// How the answer of a command that looks something up is shown.
    View {
        /// Text that people read line by line.
        Doc = "doc",
        /// One JSON object, for programs.
        Json = "json",
    }
}

impl Format {
    /// Whether standard output belongs to programs.
    pub(crate) fn is_for_programs(self) -> bool {
        matches!(self, Self::Json | Self::Ndjson)
    }
}

words! {
    /// How much is logged.
    Level {
        /// Everything that happens in the runtime.
        Trace = "trace",
        /// What helps to find a fault in a cookbook.
        Debug = "debug",
        /// What happens, as operators want to know it.
        Info = "info",
        /// What someone should look at.
        Warn = "warn",
        /// What went wrong, and nothing else.
        Error = "error",
        /// What ended the run.
        Fatal = "fatal",
    }
}

impl Level {
    /// The run's level of that name.
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
        /// Never, on terminals neither.
        Never = "never",
    }
}

words! {
    /// When a handler is called.
    HandlerMoment {
        /// When the run begins.
        Start = "start",
        /// When it has ended well.
        Report = "report",
        /// When it has failed.
        Exception = "exception",
    }
}

/// Where the log goes.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) enum LogLocation {
    /// The standard error of the program.
    Stderr,
    /// The journal of the system.
    Journald,
    /// A file, to whose end is added.
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

/// A node's name: letters, digits and `-_:.`, as Chef has it.
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

/// Names of policies, each once, in order: a list, or one text with commas.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct PolicyNames(Vec<PolicyName>);

/// A policy, and the group whose revision runs where it is another than the node's: `core` or `core@prod`.
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
    /// The names, and the groups of those that name one.
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

/// Attributes by path: `"a/b"`, or `["a", "b"]` where a key has a slash in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AttributePaths(Vec<FilterItem>);

impl AttributePaths {
    /// Returns the paths that are named.
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

/// Programs that hear of runs. A variable holds them as JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Handlers(Vec<Handler>);

impl Handlers {
    /// The handlers, in order.
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

/// A program of the operator's that hears of a run: it gets the run's status as JSON on standard input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Handler {
    /// When it is called.
    pub(crate) on: Vec<HandlerMoment>,
    /// The program and its arguments; no shell.
    #[serde(deserialize_with = "program")]
    pub(crate) command: Vec<String>,
    /// How long it may take.
    #[serde(default = "Handler::default_seconds")]
    pub(crate) seconds: TimeLimit<1, 3600>,
}

impl Handler {
    fn default_seconds() -> TimeLimit<1, 3600> {
        TimeLimit::constant::<60>()
    }
}

/// A program with its arguments: without one there is nothing to start.
fn program<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let words = Vec::<String>::deserialize(deserializer)?;
    match words.first() {
        Some(program) if !program.is_empty() => Ok(words),
        _ => Err(D::Error::custom("a handler's `command` begins with the program to start; this one has none")),
    }
}
