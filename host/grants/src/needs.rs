//! An author's `[needs]`, and their comparison with an operator's grants.
//!
//! A policy's author writes needs under the keys of the operator's file, with the same patterns, and both are read by the
//! same code ([`crate::file`]): every key that can be granted can also be a need. Needs only inform; the operator alone
//! grants.

use crate::addresses::names_local;
use crate::commands::CommandGrant;
use crate::denied::Capability;
use crate::file::{self, GrantsError, json_of};
use crate::journal::{Asker, Denial};
use crate::limits::Limits;
use crate::pattern::{Asked, Pattern};
use crate::policy::{PolicyGrants, PolicyRules};
use crate::privileged;
use crate::reach::TooWide;
use crate::rules::{Rule, Verdict};
use crate::signs::only_text;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};
use text::{toml_key, toml_string};

/// The name of the table in an author's file.
pub(crate) const TABLE: &str = "needs";

/// The file that an author writes needs into.
const AUTHORS_FILE: &str = "policy.toml";

/// The name in errors for needs that are not in a file: those in an artifact or in a run's record.
const NO_FILE: &str = "needs";

/// The needs of a policy, by key of the operator's file.
#[derive(Debug, Clone, Default)]
pub struct Needs {
    table: Map<String, Value>,
    pub(crate) rules: PolicyRules,
}

/// One entry of [`Needs`], compared with the grants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckedNeed {
    /// The key of the operator's file: `packages`.
    pub key: &'static str,
    /// The entry as TOML: `"nginx"`, `{ argv = ["ls"] }`, `true`. The author's text: escape it before showing.
    pub value: String,
    /// The result of the comparison.
    pub answer: NeedAnswer,
}

/// The result of comparing an entry of [`Needs`] with the grants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NeedAnswer {
    /// The grants allow everything that the entry asks for.
    Granted,
    /// No rule matches the entry.
    Missing,
    /// A matching rule refuses it, or is too wide for it. The reason names the rule's line.
    Refused(String),
}

impl Needs {
    /// Parses the table `needs` of an author's file and ignores other tables. `name` is the file's name in errors.
    ///
    /// # Errors
    /// The file is not TOML, or the table has a key or a rule that is invalid in grants. The error has file and line.
    pub fn parse(text: &str, name: &str) -> Result<Self, GrantsError> {
        let (table, rules) = file::parse_needs(text, name)?;
        Ok(Self { table, rules })
    }

    /// Parses needs from JSON: lists by key, as [`table`](Self::table) returns them.
    ///
    /// # Errors
    /// A key or a rule is invalid in grants.
    pub fn from_json(table: Map<String, Value>) -> Result<Self, GrantsError> {
        let mut text = format!("[{TABLE}]\n");
        for (key, value) in table {
            // A command is one inline value, as in a file of grants, and never a table of its own.
            let mut inline = String::new();
            value.serialize(toml::ser::ValueSerializer::new(&mut inline)).map_err(|error| GrantsError::Syntax {
                file: NO_FILE.into(),
                line: 1,
                message: error.to_string(),
            })?;
            text.push_str(&format!("{} = {inline}\n", toml_key(&key)));
        }
        Self::parse(&text, NO_FILE)
    }

    /// Returns the entries by key, as the author wrote them.
    pub fn table(&self) -> &Map<String, Value> {
        &self.table
    }

    /// Tells whether the author has no needs.
    pub fn is_empty(&self) -> bool {
        self.table.values().all(|value| value.as_array().is_some_and(Vec::is_empty) || *value == Value::Bool(false))
    }

    /// Returns the limits that the author asks for.
    pub fn limits(&self) -> Limits {
        self.rules.limits
    }
}

impl PartialEq for Needs {
    fn eq(&self, other: &Self) -> bool {
        self.table == other.table
    }
}

impl Serialize for Needs {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.table.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Needs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let table = Map::deserialize(deserializer)?;
        Self::from_json(table).map_err(serde::de::Error::custom)
    }
}

impl PolicyGrants {
    /// Compares needs with the grants, entry by entry, in the order of the keys. Writes nothing to the audit log.
    ///
    /// A pattern is granted if one rule covers everything that it matches.
    pub fn hold(&self, needs: &Needs) -> Vec<CheckedNeed> {
        let mut held = Vec::new();
        for (capability, rules) in &needs.rules.lists {
            for rule in rules.iter() {
                let key = if rule.privileged { Capability::PrivilegedPaths } else { *capability }.key();
                held.push(CheckedNeed {
                    key,
                    value: toml_string(&rule.text),
                    answer: self.hold_rule(*capability, rule),
                });
            }
        }
        held.sort_by(|one, other| (one.key, &one.value).cmp(&(other.key, &other.value)));
        for command in &needs.rules.commands {
            let key = Capability::Commands.key();
            held.push(CheckedNeed { key, value: command.text.clone(), answer: self.hold_command(command) });
        }
        for capability in Capability::FLAGS.into_iter().filter(|capability| needs.rules.flag(*capability)) {
            let answer = if self.has_any(capability) { NeedAnswer::Granted } else { NeedAnswer::Missing };
            held.push(CheckedNeed { key: capability.key(), value: "true".into(), answer });
        }
        held
    }

    /// Records the missing needs of an artifact as denials, so that a run which ends early lists them.
    pub fn deny_needs(&self, needs: &Needs) {
        let missing = self.hold(needs).into_iter().filter(|held| held.answer == NeedAnswer::Missing);
        let mut missing: Vec<(&str, String)> = missing.map(|held| (held.key, held.value)).collect();
        // Earlier denials of the policy are already recorded, with their place.
        let (denied, _) = self.journal().denials();
        let known = |key: &str, value: &str| {
            let is_it =
                |one: &Denial| one.policy == self.policy && one.key == key && one.value.as_deref() == Some(value);
            denied.iter().any(is_it)
        };
        missing.retain(|(key, value)| !known(key, value));
        let asker = Asker { file: Some(AUTHORS_FILE.to_owned()), ..Asker::default() };
        self.journal().asks(Some(asker.into()));
        for (key, value) in missing {
            let mut known = Capability::FLAGS.into_iter().chain(Capability::LISTS);
            let capability = known.find(|capability| capability.key() == key).unwrap_or(Capability::Commands);
            let text = || json_of(&value).and_then(|value| value.as_str().map(str::to_owned));
            let asked = capability.subject().map(str::to_owned).or_else(text).unwrap_or_else(|| value.clone());
            let _recorded = self.refuse_with(capability, &asked, Some(value), None);
        }
        self.journal().asks(None);
    }

    fn hold_rule(&self, capability: Capability, wanted: &Rule) -> NeedAnswer {
        if self.allows_everything() || self.is_own(capability, &wanted.pattern) {
            return NeedAnswer::Granted;
        }
        match self.verdict(capability, wanted) {
            Verdict::Allowed(_) => NeedAnswer::Granted,
            Verdict::Refused(rule) => NeedAnswer::Refused(format!("line {} refuses it: `{}`", rule.line, rule.text)),
            Verdict::TooWide(rule, why) => NeedAnswer::Refused(why.reason(&rule.text, &format!("line {}", rule.line))),
            // A right to manage a path includes reading it.
            Verdict::Unheard if capability == Capability::ReadPaths => self.hold_rule(Capability::Paths, wanted),
            Verdict::Unheard => NeedAnswer::Missing,
        }
    }

    /// Returns the decision of the rules about everything that another rule matches.
    fn verdict(&self, capability: Capability, wanted: &Rule) -> Verdict<'_> {
        let rules = self.list(capability);
        if wanted.pattern.is_exact() {
            return match &wanted.pattern {
                Pattern::Path(path) => {
                    let path = path.only_path().unwrap_or_default();
                    rules.decide(self.as_path(&path), || self.needs_its_name(capability, wanted))
                }
                Pattern::Name(name) => {
                    let name = name.only_name().unwrap_or_default();
                    let said = rules.decide(Asked::Text(&name), || self.needs_its_name(capability, wanted));
                    match (said, name.split_once('/')) {
                        // A right to a data bag includes its items.
                        (Verdict::Unheard, Some((bag, _))) if capability == Capability::DataBags => {
                            rules.decide(Asked::Text(bag), || false)
                        }
                        (said, _) => said,
                    }
                }
                Pattern::Mount(_) => match rules.iter().find(|rule| rule.pattern.covers(&wanted.pattern)) {
                    Some(rule) if rule.allow => Verdict::Allowed(rule),
                    Some(rule) => Verdict::Refused(rule),
                    None => Verdict::Unheard,
                },
                Pattern::Server(server) => {
                    rules.decide(Asked::Server(&server.0), || self.needs_its_name(capability, wanted))
                }
                Pattern::Attribute(attribute) => rules.decide(Asked::Keys(&attribute.keys()), || false),
            };
        }
        match rules.iter().find(|rule| rule.pattern.covers(&wanted.pattern)) {
            Some(rule) if rule.allow && wanted.privileged && !rule.privileged => {
                Verdict::TooWide(rule, TooWide::Privileged)
            }
            Some(rule) if rule.allow => match rule.leaves_out(wanted) {
                Some(why) => Verdict::TooWide(rule, why),
                None => Verdict::Allowed(rule),
            },
            Some(rule) => Verdict::Refused(rule),
            None => Verdict::Unheard,
        }
    }

    /// Tells whether a rule with wildcards does not cover the one thing that a rule names.
    pub(crate) fn needs_its_name(&self, capability: Capability, rule: &Rule) -> bool {
        let only = only_text(&rule.text);
        let text = only.as_deref().unwrap_or(&rule.text);
        match capability {
            Capability::Paths => self.is_privileged(text),
            Capability::ReadPaths => self.is_secret(text),
            // A new user gets a group of the same name.
            Capability::Users => privileged::user(text) || privileged::group(text),
            Capability::CronUsers => privileged::user(text),
            Capability::Groups => privileged::group(text),
            Capability::Services => privileged::service(text),
            Capability::Packages => privileged::package(text),
            Capability::DownloadHosts => {
                matches!(&rule.pattern, Pattern::Server(server) if names_local(&server.0.host))
            }
            Capability::PackageEnvironment => privileged::variable(text.split_once('=').map_or(text, |(name, _)| name)),
            _ => false,
        }
    }

    /// Tells whether a policy may use an attribute without a rule.
    fn is_own(&self, capability: Capability, pattern: &Pattern) -> bool {
        match pattern {
            Pattern::Attribute(attribute) if capability == Capability::WriteAttributes => {
                attribute.keys().first().is_some_and(|first| self.owns(first))
            }
            Pattern::Attribute(attribute) if capability == Capability::Facts => self.sees_fact(&attribute.keys()),
            _ => false,
        }
    }

    fn hold_command(&self, wanted: &CommandGrant) -> NeedAnswer {
        if self.allows_everything() {
            return NeedAnswer::Granted;
        }
        if let Some(rule) = self.rules.denied_commands.iter().find(|rule| rule.starts(wanted)) {
            return NeedAnswer::Refused(format!("line {} refuses it: `{}`", rule.line, rule.text));
        }
        let granted = self.rules.commands.iter().any(|rule| rule.covers(wanted));
        if granted { NeedAnswer::Granted } else { NeedAnswer::Missing }
    }
}
