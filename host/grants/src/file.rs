//! Reads the operator's file. Unknown keys are errors: a misspelt `deny_` list must not be ignored.

use crate::commands::literal_word;
use crate::commands::{CommandGrant, GrantedLine, sha256_of};
use crate::denied::Capability;
use crate::downloads::ServerPattern;
use crate::facts::OnHiddenFact;
use crate::limits::{Limit, LimitUnit, Limits};
use crate::mounts::MountPattern;
use crate::needs::TABLE;
use crate::pattern::{AttributePattern, NamePattern, PathPattern, Pattern};
use crate::policy::PolicyRules;
use crate::rules::Rule;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::time::Duration;
use text::{nearest, toml_key};
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

mod duplicate;

/// The reason why the operator's file cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GrantsError {
    /// The file is not TOML.
    #[error("{file}:{line}: {message}")]
    Syntax {
        /// The file that is not valid TOML, as the operator named it.
        file: String,
        /// The line, from 1.
        line: usize,
        /// The description of the error.
        message: String,
    },
    /// A key that does not exist.
    #[error("{file}:{line}: unknown key `{key}`{}", .near.as_ref().map(|near| format!(", did you mean `{near}`?")).unwrap_or_default())]
    UnknownKey {
        /// The file with the key, as the operator named it.
        file: String,
        /// The line, from 1.
        line: usize,
        /// The key that does not exist, as written.
        key: String,
        /// The existing key with the nearest name, if any.
        near: Option<String>,
    },
    /// A policy has tables in two files.
    #[error("policy {policy:?} has a table in two files: {first} and {second}; put all of it into one of them")]
    Twice {
        /// The policy with two tables, by its name.
        policy: String,
        /// File and line of the first table, as `FILE:LINE`.
        first: String,
        /// File and line of the second table.
        second: String,
    },
    /// A value of a wrong type, or an invalid rule.
    #[error("{file}:{line}: `{key}` {message}")]
    BadValue {
        /// The file with the value, as the operator named it.
        file: String,
        /// The line, from 1.
        line: usize,
        /// The key whose value is refused.
        key: String,
        /// The description of the error.
        message: String,
    },
}

type Entry<'i> = Spanned<DeValue<'i>>;

/// Parses the tables of all policies from a file's text. `name` is the file's name in messages.
pub(crate) fn parse(text: &str, name: &str) -> Result<BTreeMap<String, PolicyRules>, GrantsError> {
    let source = Source::new(text, name);
    let table = source.read()?;
    let mut policies = BTreeMap::new();
    for (key, value) in table.get_ref() {
        if key.get_ref() != "policy" {
            return Err(source.unknown_table(key, value));
        }
        for (policy, value) in source.table("policy", value)? {
            let mut rules = source.policy(policy.get_ref(), value)?;
            rules.line = source.line(policy.span().start);
            policies.insert(policy.get_ref().to_string(), rules);
        }
    }
    Ok(policies)
}

/// Parses an author's `[needs]`, as JSON and as rules.
pub(crate) fn parse_needs(text: &str, name: &str) -> Result<(Map<String, Value>, PolicyRules), GrantsError> {
    let source = Source::new(text, name);
    let table = source.read()?;
    let Some((_, needs)) = table.get_ref().iter().find(|(key, _)| key.get_ref() == TABLE) else {
        return Ok(Default::default());
    };
    let keys = source.table(TABLE, needs)?;
    if let Some(key) = keys.keys().find(|key| key.get_ref().starts_with("deny_") || key.get_ref() == "on_hidden_fact") {
        return Err(source.bad_key(key, "is for operators: an author says what a policy needs"));
    }
    let rules = source.policy(TABLE, needs)?;
    Ok((json_table(keys), rules))
}

fn json_table(table: &DeTable<'_>) -> Map<String, Value> {
    table.iter().map(|(key, value)| (key.get_ref().to_string(), json(value.get_ref()))).collect()
}

fn json(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => Value::from(text.as_ref()),
        DeValue::Boolean(flag) => Value::Bool(*flag),
        DeValue::Integer(number) => {
            i64::from_str_radix(number.as_str(), number.radix()).map_or(Value::Null, Value::from)
        }
        DeValue::Array(array) => array.iter().map(|one| json(one.get_ref())).collect(),
        DeValue::Table(table) => Value::Object(json_table(table)),
        DeValue::Float(number) => number.as_str().parse::<f64>().map_or(Value::Null, Value::from),
        // No key accepts a date, so it was refused before.
        DeValue::Datetime(_) => Value::Null,
    }
}

/// The parsed text, for the line numbers in errors.
struct Source<'s> {
    text: &'s str,
    name: &'s str,
    /// The offsets of line ends, to find the line of an entry.
    line_ends: Vec<usize>,
}

const COMMAND_KEYS: [&str; 11] = [
    "argv",
    "shell",
    "script",
    "script_sha256",
    "interpreter",
    "user",
    "group",
    "cwd",
    "umask",
    "environment",
    "input",
];

impl<'s> Source<'s> {
    fn new(text: &'s str, name: &'s str) -> Self {
        Self { text, name, line_ends: text.match_indices('\n').map(|(at, _)| at).collect() }
    }

    fn line(&self, offset: usize) -> usize {
        self.line_ends.partition_point(|end| *end < offset) + 1
    }

    fn read(&self) -> Result<Spanned<DeTable<'_>>, GrantsError> {
        DeTable::parse(self.text).map_err(|error| {
            let span = error.span().unwrap_or_default();
            let (line, what) = text::toml_fault(self.text, span.start, error.message());
            let twice = duplicate::explain(self.text, &span, error.message());
            let message = twice.unwrap_or_else(|| what.replace('\n', " "));
            GrantsError::Syntax { file: self.name.into(), line, message }
        })
    }

    fn bad_key(&self, key: &Spanned<DeString<'_>>, message: &str) -> GrantsError {
        let line = self.line(key.span().start);
        let key = key.get_ref().to_string();
        GrantsError::BadValue { file: self.name.into(), line, key, message: message.into() }
    }

    fn bad(&self, key: &str, at: &Entry<'_>, message: impl Into<String>) -> GrantsError {
        let line = self.line(at.span().start);
        GrantsError::BadValue { file: self.name.into(), line, key: key.into(), message: message.into() }
    }

    fn unknown(&self, key: &str, offset: usize, known: &[&str]) -> GrantsError {
        GrantsError::UnknownKey {
            file: self.name.into(),
            line: self.line(offset),
            key: key.into(),
            near: nearest(key, known.iter().copied()).map(Into::into),
        }
    }

    /// Returns the error for a table of the file that is not `policy`: the name of a policy alone, or a misspelt `policy`.
    fn unknown_table(&self, key: &Spanned<DeString<'_>>, value: &Entry<'_>) -> GrantsError {
        let name: &str = key.get_ref();
        let is_word = name == "policies" || nearest(name, ["policy"]).is_some();
        let inner = value.get_ref().as_table().map(|table| table.keys().next().map(|first| first.get_ref().as_ref()));
        let meant = match inner {
            Some(Some(policy)) if is_word => Some(format!("[policy.{}]", toml_key(policy))),
            Some(_) if !is_word && name != TABLE => Some(format!("[policy.{}]", toml_key(name))),
            _ => is_word.then(|| "policy".to_owned()),
        };
        GrantsError::UnknownKey {
            file: self.name.into(),
            line: self.line(key.span().start),
            key: name.into(),
            near: meant,
        }
    }

    fn table<'v, 'i>(&self, key: &str, value: &'v Entry<'i>) -> Result<&'v DeTable<'i>, GrantsError> {
        value.get_ref().as_table().ok_or_else(|| self.bad(key, value, "must be a table"))
    }

    fn array<'v, 'i>(&self, key: &str, value: &'v Entry<'i>) -> Result<&'v [Entry<'i>], GrantsError> {
        match value.get_ref() {
            DeValue::Array(array) => Ok(array.as_ref()),
            _ => Err(self.bad(key, value, "must be a list")),
        }
    }

    fn text<'v>(&self, key: &str, value: &'v Entry<'_>) -> Result<&'v str, GrantsError> {
        value.get_ref().as_str().ok_or_else(|| self.bad(key, value, "must hold text"))
    }

    fn boolean(&self, key: &str, value: &Entry<'_>) -> Result<bool, GrantsError> {
        value.get_ref().as_bool().ok_or_else(|| self.bad(key, value, "must be true or false"))
    }

    fn texts(&self, key: &str, value: &Entry<'_>) -> Result<Vec<String>, GrantsError> {
        self.array(key, value)?.iter().map(|one| self.text(key, one).map(Into::into)).collect()
    }

    fn policy(&self, policy: &str, value: &Entry<'_>) -> Result<PolicyRules, GrantsError> {
        let mut rules = PolicyRules { file: self.name.into(), ..PolicyRules::default() };
        for (key, value) in self.table(policy, value)? {
            let name: &str = key.get_ref();
            match name {
                "clock" => rules.clock = self.boolean(name, value)?,
                "random" => rules.random = self.boolean(name, value)?,
                "reboot" => rules.reboot = self.boolean(name, value)?,
                "on_hidden_fact" => rules.on_hidden_fact = self.on_hidden_fact(value)?,
                "limits" => rules.limits = self.limits(value)?,
                "commands" => rules.commands = self.commands(name, value)?,
                "deny_commands" => rules.denied_commands = self.commands(name, value)?,
                _ => self.list(&mut rules, name, key.span().start, value)?,
            }
        }
        Ok(rules)
    }

    fn list(&self, rules: &mut PolicyRules, key: &str, offset: usize, value: &Entry<'_>) -> Result<(), GrantsError> {
        let plain = key.strip_prefix("deny_").unwrap_or(key);
        let Some(capability) = Capability::LISTS.into_iter().find(|one| one.key() == plain) else {
            let keys: Vec<String> =
                Capability::LISTS.iter().flat_map(|one| [one.key().into(), format!("deny_{}", one.key())]).collect();
            let others = ["commands", "deny_commands", "clock", "random", "reboot", "limits", "on_hidden_fact"];
            let known: Vec<&str> = keys.iter().map(String::as_str).chain(others).collect();
            return Err(self.unknown(key, offset, &known));
        };
        let privileged = capability == Capability::PrivilegedPaths;
        let mut new = Vec::new();
        for one in self.array(key, value)? {
            let text = self.text(key, one)?;
            let pattern = pattern(capability, text)
                .map_err(|message| self.bad(key, one, format!("has a bad rule: {message}")))?;
            let line = self.line(one.span().start);
            new.push(Rule { pattern, allow: plain == key, privileged, text: text.into(), line });
        }
        rules.lists.entry(if privileged { Capability::Paths } else { capability }).or_default().extend(new);
        Ok(())
    }

    fn on_hidden_fact(&self, value: &Entry<'_>) -> Result<OnHiddenFact, GrantsError> {
        let key = "on_hidden_fact";
        let said = self.text(key, value)?;
        let known = OnHiddenFact::WORDS.into_iter().find(|(word, _)| *word == said);
        known.map(|(_, meaning)| meaning).ok_or_else(|| {
            let near = nearest(said, OnHiddenFact::WORDS.iter().map(|(word, _)| *word));
            let near = near.map(|near| format!(", did you mean \"{near}\"?")).unwrap_or_default();
            self.bad(key, value, format!("must be \"error\" or \"warn\"{near}"))
        })
    }

    fn limits(&self, value: &Entry<'_>) -> Result<Limits, GrantsError> {
        let mut limits = Limits::default();
        for (key, value) in self.table("limits", value)? {
            let name: &str = key.get_ref();
            let Some(limit) = Limit::with_key(name) else {
                return Err(self.unknown(name, key.span().start, &Limit::ALL.map(|limit| limit.setting().key)));
            };
            let (number, form) = match limit.setting().unit {
                LimitUnit::Seconds => {
                    (milliseconds(value.get_ref()), "must be seconds, at least 0.001, such as 60 or 0.5")
                }
                LimitUnit::Mebibytes | LimitUnit::Count => (whole(value.get_ref()), "must be a whole number above 0"),
            };
            let number = number.filter(|number| *number > 0).ok_or_else(|| self.bad(name, value, form))?;
            limits.set(limit, number);
        }
        Ok(limits)
    }

    fn commands(&self, key: &str, value: &Entry<'_>) -> Result<Vec<CommandGrant>, GrantsError> {
        self.array(key, value)?.iter().map(|one| self.command(key, one)).collect()
    }

    fn command(&self, key: &str, value: &Entry<'_>) -> Result<CommandGrant, GrantsError> {
        let mut grant = CommandGrant {
            what: GrantedLine::PathSource(vec![]),
            user: None,
            group: None,
            cwd: None,
            umask: None,
            environment: BTreeMap::new(),
            input: false,
            text: self.text.get(value.span()).unwrap_or_default().into(),
            line: self.line(value.span().start),
        };
        if let Some(text) = value.get_ref().as_str() {
            grant.what = GrantedLine::line(text);
            return Ok(grant);
        }
        let Some(table) = value.get_ref().as_table() else {
            return Err(self.bad(key, value, "must hold command lines or tables"));
        };
        for (field, value) in table {
            let name: &str = field.get_ref();
            match name {
                "user" => grant.user = Some(self.text(name, value)?.to_owned()).filter(|user| user != "root"),
                "group" => grant.group = Some(self.text(name, value)?.into()),
                "cwd" => {
                    let pattern = PathPattern::new(self.text(name, value)?);
                    grant.cwd = Some(pattern.map_err(|message| self.bad(name, value, format!("is bad: {message}")))?);
                }
                "umask" => grant.umask = Some(self.umask(value)?),
                "environment" => grant.environment = self.environment(value)?,
                "input" => grant.input = self.boolean(name, value)?,
                "argv" | "shell" | "script" | "script_sha256" | "interpreter" => {}
                _ => return Err(self.unknown(name, field.span().start, &COMMAND_KEYS)),
            }
        }
        grant.what = self.command_line(key, value, table)?;
        Ok(grant)
    }

    /// Parses the line of a command's table: exactly one of `argv`, `shell`, and a script with its interpreter.
    fn command_line(&self, key: &str, whole: &Entry<'_>, table: &DeTable<'_>) -> Result<GrantedLine, GrantsError> {
        let get = |name: &str| table.iter().find(|(field, _)| field.get_ref() == name).map(|(_, value)| value);
        let script = get("script").or_else(|| get("script_sha256"));
        match (get("argv"), get("shell"), get("interpreter"), script) {
            (Some(argv), None, None, None) => {
                let words = self.texts("argv", argv)?;
                GrantedLine::words(&words).map_err(|message| self.bad("argv", argv, format!("is bad: {message}")))
            }
            (None, Some(shell), None, None) => match self.text("shell", shell)? {
                "<any>" => Ok(GrantedLine::AnyShell),
                line => Ok(GrantedLine::Shell(literal_word(line).unwrap_or(line).into())),
            },
            (None, None, Some(interpreter), Some(script)) => {
                let text = self.text("script", script)?;
                let sha256 = match (get("script"), text) {
                    (Some(_), "<any>") => None,
                    (Some(_), code) => Some(sha256_of(code)),
                    (None, digest) => Some(digest.to_ascii_lowercase()),
                };
                let interpreter = match self.text("interpreter", interpreter) {
                    Ok(one) => vec![one.to_owned()],
                    Err(_) => self.texts("interpreter", interpreter)?,
                };
                Ok(GrantedLine::Script { interpreter, sha256 })
            }
            _ => Err(self.bad(
                key,
                whole,
                "must have one of `argv`, `shell`, or `interpreter` with `script` or `script_sha256`",
            )),
        }
    }

    fn umask(&self, value: &Entry<'_>) -> Result<u32, GrantsError> {
        let text = self.text("umask", value)?;
        let mask = u32::from_str_radix(text, 8).ok().filter(|mask| *mask <= 0o777);
        mask.ok_or_else(|| self.bad("umask", value, "must be octal text, as in \"022\""))
    }

    fn environment(&self, value: &Entry<'_>) -> Result<BTreeMap<String, String>, GrantsError> {
        let mut all = BTreeMap::new();
        for (name, value) in self.table("environment", value)? {
            all.insert(name.get_ref().to_string(), self.text("environment", value)?.to_owned());
        }
        Ok(all)
    }
}

/// Returns a non-negative integer.
fn whole(value: &DeValue<'_>) -> Option<u64> {
    value.as_integer().and_then(|number| u64::from_str_radix(number.as_str(), number.radix()).ok())
}

/// Returns a number of seconds, which may be fractional, in milliseconds.
fn milliseconds(value: &DeValue<'_>) -> Option<u64> {
    if let Some(seconds) = whole(value) {
        return Some(seconds.saturating_mul(1000));
    }
    let seconds = value.as_float()?.as_str().parse().ok()?;
    let time = Duration::try_from_secs_f64(seconds).ok()?;
    u64::try_from(time.as_millis()).ok()
}

/// Converts a TOML entry to JSON.
pub(crate) fn json_of(value: &str) -> Option<Value> {
    DeValue::parse(value).ok().map(|value| json(value.get_ref()))
}

/// Parses an entry of `commands` as a rule.
pub(crate) fn command_of(value: &str) -> Option<CommandGrant> {
    let (_, rules) = parse_needs(&format!("[needs]\ncommands = [{value}]\n"), "entry").ok()?;
    rules.commands.into_iter().next()
}

/// Parses an entry as a rule. This crate has written the entry, as a basic string.
pub(crate) fn rule_of(capability: Capability, value: &str) -> Option<Rule> {
    let text = DeValue::parse(value).ok()?.get_ref().as_str()?.to_owned();
    let pattern = pattern(capability, &text).ok()?;
    let privileged = capability == Capability::PrivilegedPaths;
    Some(Rule { pattern, allow: true, privileged, text, line: 0 })
}

fn pattern(capability: Capability, text: &str) -> Result<Pattern, String> {
    use Capability as C;
    if text.is_empty() {
        return Err("it is empty".into());
    }
    match capability {
        C::Paths | C::PrivilegedPaths | C::ReadPaths | C::SetId | C::PackageSources => {
            PathPattern::new(text).map(Pattern::Path)
        }
        C::Mounts => MountPattern::new(text).map(Pattern::Mount),
        C::DownloadHosts => ServerPattern::new(text).map(Pattern::Server),
        C::WriteAttributes | C::ReadAttributes | C::Facts => AttributePattern::new(text).map(Pattern::Attribute),
        // The kernel takes both signs for the same.
        C::KernelModules => Ok(Pattern::Name(NamePattern::new(&text.replace('-', "_")))),
        C::Services => Ok(Pattern::Name(NamePattern::new(text.strip_suffix(".service").unwrap_or(text)))),
        _ => Ok(Pattern::Name(NamePattern::new(text))),
    }
}
