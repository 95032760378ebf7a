//! The literal parts of a command, as a grant states them.

use super::facts::{OneOrMany, Resource};
use grants::{CommandAsked, LineAsked};
use serde_json::Value;

/// Properties that a grant of a command contains, besides the command's text.
pub(super) const CONTEXT: [&str; 7] = ["user", "group", "cwd", "environment", "umask", "input", "login"];

/// The literal parts of a command's grant besides its text.
pub(super) struct CommandContext {
    user: Option<String>,
    group: Option<String>,
    cwd: Option<String>,
    environment: Vec<(String, String)>,
}

impl CommandContext {
    /// Returns the parts, or `None` if one is computed, has several values, or cannot be written in a grant here.
    pub(super) fn of(resource: &Resource) -> Option<Self> {
        if ["umask", "input", "login"].iter().any(|name| resource.property(name).is_some()) {
            return None;
        }
        let text = |name: &str| match resource.property(name) {
            None => Some(None),
            Some(property) => match property.values.as_deref()? {
                [Value::String(text)] => Some(Some(text.clone())),
                [Value::Null] => Some(None),
                _ => None,
            },
        };
        let environment = match resource.property("environment") {
            None => vec![],
            Some(property) => match property.values.as_deref()? {
                [Value::Object(variables)] => {
                    let pair = |(name, value): (&String, &Value)| Some((name.clone(), value.as_str()?.to_owned()));
                    variables.iter().map(pair).collect::<Option<Vec<_>>>()?
                }
                _ => return None,
            },
        };
        Some(Self { user: text("user")?, group: text("group")?, cwd: text("cwd")?, environment })
    }

    pub(super) fn asked<'a>(&'a self, line: LineAsked<'a>) -> CommandAsked<'a> {
        CommandAsked {
            line,
            user: self.user.as_deref(),
            group: self.group.as_deref(),
            cwd: self.cwd.as_deref(),
            umask: None,
            environment: &self.environment,
            input: None,
            sensitive: false,
        }
    }
}

/// The commands that an `execute` may run. `None`: they are computed.
pub(super) fn command_values(resource: &Resource) -> Option<Vec<Value>> {
    match resource.property("command") {
        Some(property) => property.values.clone(),
        None => Some(resource.named_by("command")?.into_iter().map(Value::String).collect()),
    }
}

/// A command as one line.
pub(super) fn line(words: &OneOrMany) -> String {
    match words {
        OneOrMany::One(line) => line.clone(),
        OneOrMany::Several(words) => words.join(" "),
    }
}
