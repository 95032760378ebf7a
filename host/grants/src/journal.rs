//! Records the rights that a run used or was denied: for suggestions, for the list of denials, and for `grants check`.
//!
//! Guests choose how often they ask, and for what. So the number and the length of entries are limited, and dropped entries
//! are counted.

mod places;

use crate::covering::Covering;
use crate::denied::{Capability, Denied, is_plain, literal_entry, quoted};
use crate::edit::Addition;
use crate::file::{json_of, rule_of};
use crate::plain_names::PlainNames;
use crate::policy::{Grants, SENSITIVE, SENSITIVE_HINT};
use crate::risk::{Assessed, MachineView};
use crate::tidy;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Maximum number of recorded denials of a policy.
const MAX_DENIALS: usize = 300;

/// Maximum size of all denials of a policy, in bytes.
const MAX_DENIED: usize = 256 << 10;

/// Maximum number of recorded entries of a policy.
const MAX_ASKED: usize = 20_000;

/// Maximum size of all entries of a policy, in bytes.
const MAX_ASKED_BYTES: usize = 4 << 20;

/// Maximum length of a recorded entry, in bytes of TOML.
pub const MAX_VALUE: usize = 16 << 10;

/// The number of quotation marks around a name.
const QUOTES: usize = 2;

/// Maximum length of the asked thing in a denial, in characters.
const MAX_SHOWN: usize = 512;

/// The code that asks, as far as the host knows it: the resource whose action runs, or the recipe that is compiled.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Asker {
    /// The resource's type, such as `package`; absent outside of actions.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The resource's name, such as `nginx`; absent outside of actions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The action that runs, such as `install`; absent outside of actions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    /// The cookbook that the recipe belongs to.
    pub cookbook: Option<String>,
    /// The recipe, without its cookbook.
    pub recipe: Option<String>,
    /// The file, relative to the cookbook.
    pub file: Option<String>,
    /// The line, from 1.
    pub line: Option<u32>,
}

impl Asker {
    /// Returns the resource as `package[nginx]`; `None` outside of actions.
    pub fn resource(&self) -> Option<String> {
        self.kind.as_ref().zip(self.name.as_ref()).map(|(kind, name)| format!("{kind}[{name}]"))
    }

    /// Returns the place in the cookbooks: `site/recipes/default.rb:3`, or the recipe if the line is unknown. Outside of
    /// cookbooks it is only the file: `policy.toml`.
    pub fn place(&self) -> Option<String> {
        let Some(cookbook) = self.cookbook.as_deref() else { return self.file.clone() };
        match (&self.file, self.line, &self.recipe) {
            (Some(file), Some(line), _) if file.starts_with(&format!("{cookbook}/")) => Some(format!("{file}:{line}")),
            (Some(file), Some(line), _) => {
                // The path of a file of another cookbook begins with `../`.
                let path = file.strip_prefix("../").map_or_else(|| format!("{cookbook}/{file}"), str::to_owned);
                Some(format!("{path}:{line}"))
            }
            (_, _, Some(recipe)) => Some(format!("{cookbook}::{recipe}")),
            _ => None,
        }
    }
}

/// Computes the asker when it is needed. Only a denial needs it, and most actions are not denied anything.
#[derive(Clone)]
pub struct WhoAsks(Arc<dyn Fn() -> Asker + Send + Sync>);

impl WhoAsks {
    /// Wraps a function that computes the asker.
    pub fn new(make: impl Fn() -> Asker + Send + Sync + 'static) -> Self {
        Self(Arc::new(make))
    }
}

impl From<Asker> for WhoAsks {
    fn from(asker: Asker) -> Self {
        Self::new(move || asker.clone())
    }
}

impl std::fmt::Debug for WhoAsks {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        (self.0)().fmt(out)
    }
}

/// One denied right of a policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Denial {
    /// The policy that was denied, by its name.
    pub policy: String,
    /// The sentence: `may not manage package nginx`. Guest text: escape before showing.
    pub message: String,
    /// The key of the policy's table that would allow it.
    pub key: String,
    /// The entry that would allow it, as TOML: `"nginx"`, `{ argv = ["ls"] }`, `true`. `None` if no single entry would, if it
    /// belongs to a sensitive resource, or if the file would read the text as a pattern.
    pub value: Option<String>,
    /// The path, name or command, shortened if too long. Guest text: escape before showing.
    pub asked: String,
    /// The reason why a rule that seems to match does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The resource or the recipe that asked first.
    #[serde(default)]
    pub by: Option<Asker>,
    /// The number of actions that asked for it.
    pub times: u32,
}

impl Denial {
    /// Tells whether an error's text contains this denial.
    pub fn is_told_in(&self, text: &str) -> bool {
        // The asked thing may have been shortened here.
        let deed = self.message.strip_suffix(&self.asked).unwrap_or(&self.message);
        text.contains(&format!("{deed}`{}", self.asked))
    }

    /// Returns a remark about the entry that would allow it, if the denial does not have that entry.
    pub fn remark(&self) -> Option<&'static str> {
        match &self.value {
            None if self.asked == SENSITIVE => Some(SENSITIVE_HINT),
            None => Some("no new entry would allow it"),
            Some(_) => None,
        }
    }

    /// Returns the resource and the place that asked, in parentheses after two spaces; empty if neither is known.
    pub fn asked_by(&self) -> String {
        let Some(by) = &self.by else { return String::new() };
        let parts: Vec<_> = by.resource().into_iter().chain(by.place()).collect();
        if parts.is_empty() { String::new() } else { format!("  ({})", parts.join(", ")) }
    }
}

/// Entries by key, each as TOML.
pub(crate) type Entries = BTreeMap<String, BTreeSet<String>>;

/// The rights that the policies of one run ask for. Clones share the same records.
#[derive(Debug, Clone, Default)]
pub struct Journal(Arc<Mutex<Pages>>);

#[derive(Debug, Default)]
struct Pages {
    asker: Option<WhoAsks>,
    /// The line of a policy's own code that asks.
    place: Option<Asker>,
    /// True while a survey examines actions that no recipe declares.
    others: bool,
    denials: Vec<Denial>,
    /// The last asker of each denial.
    last_askers: Vec<Option<Asker>>,
    /// The index of the last denial, until its place is told.
    last: Option<usize>,
    denials_left_out: usize,
    /// By policy, so that a policy with many requests takes no room from later ones.
    denied: BTreeMap<String, DeniedOne>,
    asked: BTreeMap<String, Asked>,
}

/// The denials of one policy.
#[derive(Debug, Default)]
struct DeniedOne {
    /// Their indexes in the list of all denials.
    at: Vec<usize>,
    /// The size of these denials, in bytes.
    bytes: usize,
}

impl Pages {
    /// Returns the records of a policy, and creates them if needed. Never returns `None`.
    fn asked_by(&mut self, policy: &str) -> Option<&mut Asked> {
        // The lookup comes first, to avoid an allocation for each request.
        if !self.asked.contains_key(policy) {
            self.asked.insert(policy.to_owned(), Asked::default());
        }
        self.asked.get_mut(policy)
    }
}

/// The rights that one policy asked for.
#[derive(Debug, Clone, Default)]
pub(crate) struct Asked {
    entries: Entries,
    /// Names and paths by key whose entries are the same text in quotation marks. A run asks for thousands, and the entries
    /// are built only when they are read.
    plain: BTreeMap<&'static str, PlainNames>,
    /// Entries of sensitive resources. They are shown only to an operator who requests them, and never stored.
    secret: Entries,
    /// Entries that only other actions than the declared ones would need.
    others: Entries,
    /// Entries for attributes that the operator set. A policy sees those also where it may write.
    given: BTreeSet<String>,
    count: usize,
    /// The size of the entries, in bytes.
    bytes: usize,
    /// True if some entries are not recorded, because there were too many or too long ones, or because they are commands of
    /// sensitive resources.
    left_out: bool,
}

/// Returns the entries of a key as JSON: a list, or `true` for a flag. `plain` has names that equal their entries.
fn value_of(values: &BTreeSet<String>, plain: Option<&PlainNames>) -> Value {
    if values.contains("true") {
        return Value::Bool(true);
    }
    let mut all: Vec<Value> = values.iter().filter_map(|value| json_of(value)).collect();
    all.extend(plain.into_iter().flat_map(PlainNames::sorted).map(Value::from));
    Value::Array(all)
}

impl Asked {
    /// Returns the used rights as entries of the operator's file.
    fn entries(&self) -> Entries {
        let mut all = self.entries.clone();
        for (key, names) in &self.plain {
            all.entry((*key).to_owned()).or_default().extend(names.sorted().into_iter().map(quoted));
        }
        let given = self.needed_given(all.get(Capability::WriteAttributes.key()).into_iter().flatten());
        if !given.is_empty() {
            all.entry(Capability::ReadAttributes.key().to_owned()).or_default().extend(given);
        }
        all
    }

    /// Returns the entries for attributes of the operator that no right to write covers.
    fn needed_given<'e>(&self, written: impl Iterator<Item = &'e String>) -> BTreeSet<String> {
        if self.given.is_empty() {
            return BTreeSet::new();
        }
        let rules: Vec<_> = written.filter_map(|value| rule_of(Capability::WriteAttributes, value)).collect();
        let written = Covering::of(Capability::WriteAttributes, &rules);
        let is_needed = |value: &&String| {
            rule_of(Capability::ReadAttributes, value).is_none_or(|rule| !written.any(&rule, |_, _| true))
        };
        self.given.iter().filter(is_needed).cloned().collect()
    }

    /// Tells whether an entry of this size can still be recorded.
    fn has_room(&self, bytes: usize) -> bool {
        bytes <= MAX_VALUE && self.count < MAX_ASKED && self.bytes + bytes <= MAX_ASKED_BYTES
    }

    /// Does the same, but first merges repeated names if the limit is reached.
    fn finds_room(&mut self, bytes: usize) -> bool {
        if !self.has_room(bytes) && bytes <= MAX_VALUE {
            for names in self.plain.values_mut() {
                let (count, dropped) = names.make_distinct();
                self.count -= count;
                self.bytes -= dropped + count * QUOTES;
            }
        }
        self.has_room(bytes)
    }

    /// Records a name whose entry is the name in quotation marks.
    fn add_plain(&mut self, key: &'static str, name: &str) {
        let bytes = name.len() + QUOTES;
        let has_room = self.finds_room(bytes);
        let names = self.plain.entry(key).or_default();
        if !has_room {
            self.left_out |= !names.contains(name);
        } else if names.add(name) {
            self.count += 1;
            self.bytes += bytes;
        }
    }

    /// Returns the entries that the policy needs; with `sensitive`, also those for its sensitive resources.
    fn wanted(&self, sensitive: bool) -> Entries {
        let mut all = self.entries();
        for (key, values) in self.secret.iter().filter(|_| sensitive) {
            all.entry(key.clone()).or_default().extend(values.iter().cloned());
        }
        all
    }
}

impl Journal {
    fn pages(&self) -> MutexGuard<'_, Pages> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn asker(&self) -> Option<Asker> {
        let asker = self.pages().asker.clone();
        asker.map(|asker| (asker.0)())
    }

    /// Sets the present asker. `None` means that it is unknown.
    pub fn asks(&self, asker: Option<WhoAsks>) {
        self.pages().asker = asker;
    }

    /// Returns all denials in the order of their first request, and the number of dropped ones.
    pub fn denials(&self) -> (Vec<Denial>, usize) {
        let pages = self.pages();
        (pages.denials.clone(), pages.denials_left_out)
    }

    /// Returns the rights that policies asked for and got, in the format of [`Needs`](crate::Needs): by policy, then by key.
    /// The last value of each tuple is true if nothing was left out.
    pub fn asked(&self) -> Vec<(String, Map<String, Value>, bool)> {
        let pages = self.pages();
        let table = |asked: &Asked| {
            let none = BTreeSet::new();
            let mut keys: BTreeSet<&str> =
                asked.entries.keys().map(String::as_str).chain(asked.plain.keys().copied()).collect();
            let read = Capability::ReadAttributes.key();
            let with_given = if asked.given.is_empty() { None } else { asked.entries().remove(read) };
            keys.extend(with_given.iter().map(|_| read));
            let value = |key: &str| match &with_given {
                Some(values) if key == read => value_of(values, None),
                _ => value_of(asked.entries.get(key).unwrap_or(&none), asked.plain.get(key)),
            };
            keys.into_iter().map(|key| (key.to_owned(), value(key))).collect()
        };
        pages.asked.iter().map(|(policy, asked)| (policy.clone(), table(asked), !asked.left_out)).collect()
    }

    /// Returns the smallest file that allows everything that was asked for. Entries of sensitive resources are included only
    /// if `sensitive` is true. Entries that are risky on this machine, or beside the grants of other policies (`granted`), get
    /// a comment.
    pub fn suggestion(&self, machine: &MachineView, sensitive: bool, granted: &Grants) -> String {
        let pages = self.pages();
        let wanted: Vec<_> =
            pages.asked.iter().map(|(policy, asked)| (policy, asked.wanted(sensitive), &asked.others)).collect();
        // The reasons of the entries are those with which they are added to a file, without the comments about other actions.
        let own = wanted.iter().map(|(policy, wanted, _)| tidy::grants_of(policy, wanted));
        let all = wanted.iter().map(|(policy, wanted, others)| tidy::grants_of(policy, &tidy::merged(wanted, others)));
        let (mut own, mut all): (Vec<_>, Vec<_>) = (own.collect(), all.collect());
        for policy in granted.policy_names().filter(|policy| !pages.asked.contains_key(*policy)) {
            let others = granted.policy(policy, &[]);
            own.push(Arc::clone(&others));
            all.push(others);
        }
        let assessed = [&own, &all].map(|grants| Assessed::of(grants, machine));
        let tables = wanted.iter().map(|(policy, wanted, others)| tidy::table(policy, wanted, others, &assessed));
        tables.filter(|table| !table.is_empty()).collect::<Vec<_>>().join("\n")
    }

    /// Returns how many entries for sensitive resources each policy needs.
    pub fn sensitive_entries(&self) -> Vec<(String, usize)> {
        let count = |asked: &Asked| asked.secret.values().map(BTreeSet::len).sum();
        let all = self.pages().asked.iter().map(|(policy, asked)| (policy.clone(), count(asked))).collect::<Vec<_>>();
        all.into_iter().filter(|(_, count)| *count > 0).collect()
    }

    /// Returns the suggestion as entries to add to a file.
    pub fn additions(&self, sensitive: bool) -> Vec<Addition> {
        let pages = self.pages();
        let of = |policy: &String, asked: &Asked| {
            let wanted = asked.wanted(sensitive);
            let kept = wanted.iter().flat_map(|(key, values)| {
                tidy::needed(key, values, &wanted).into_iter().map(move |value| (key.clone(), value.to_owned()))
            });
            kept.map(|(key, value)| Addition { policy: policy.clone(), key, value }).collect::<Vec<_>>()
        };
        pages.asked.iter().flat_map(|(policy, asked)| of(policy, asked)).collect()
    }

    /// Adds entries to the suggestion that the run did not need, but that the text of its cookbooks names.
    pub fn reads_in_text(&self, entries: impl Iterator<Item = Addition>) {
        for Addition { policy, key, value } in entries {
            self.allow(&policy, &key, Some(value), false);
        }
    }

    /// Sets whether the following requests belong to actions that no recipe declares.
    pub fn looks_at_others(&self, others: bool) {
        self.pages().others = others;
    }

    /// Records the name or path of an allowed thing. `secret` has the same meaning as for [`allow`](Self::allow).
    pub(crate) fn allow_name(&self, policy: &str, key: &'static str, name: &str, secret: bool) {
        if !secret && is_plain(name) {
            let mut pages = self.pages();
            if !pages.others {
                if let Some(asked) = pages.asked_by(policy) {
                    asked.add_plain(key, name);
                }
                return;
            }
        }
        self.allow(policy, key, Some(literal_entry(name)), secret);
    }

    /// Records an entry. A secret one is never stored, and shown only to an operator who requests such entries.
    pub(crate) fn allow(&self, policy: &str, key: &str, value: Option<String>, secret: bool) {
        let mut pages = self.pages();
        let others = pages.others;
        let Some(asked) = pages.asked_by(policy) else { return };
        let Some(value) = value.filter(|value| asked.finds_room(value.len())) else {
            asked.left_out = true;
            return;
        };
        asked.left_out |= secret;
        let entries = match (others, secret) {
            (_, true) => &mut asked.secret,
            (true, false) => &mut asked.others,
            (false, false) => &mut asked.entries,
        };
        if !entries.contains_key(key) {
            entries.insert(key.to_owned(), BTreeSet::new());
        }
        let bytes = value.len();
        if entries.get_mut(key).is_some_and(|values| values.insert(value)) {
            asked.count += 1;
            asked.bytes += bytes;
        }
    }

    /// Records the entry for an attribute that the operator set and that the policy read.
    pub(crate) fn allow_given(&self, policy: &str, value: Option<String>) {
        let mut pages = self.pages();
        let Some(asked) = pages.asked_by(policy) else { return };
        let Some(value) = value.filter(|value| asked.finds_room(value.len())) else {
            asked.left_out = true;
            return;
        };
        let bytes = value.len();
        if asked.given.insert(value) {
            asked.count += 1;
            asked.bytes += bytes;
        }
    }

    pub(crate) fn deny(&self, denied: &Denied, secret: bool) {
        let mut pages = self.pages();
        let shown = if secret { SENSITIVE } else { denied.asked.as_str() };
        let asked: String = shown.chars().take(MAX_SHOWN).collect();
        let value = denied.value.clone().filter(|value| !secret && value.len() <= MAX_VALUE);
        let key = denied.capability.key();
        let asker = pages.asker.as_ref().map(|asker| (asker.0)());
        let asker = match &pages.place {
            Some(Asker { cookbook, file, line, .. }) if asker.as_ref().is_none_or(|asker| asker.line.is_none()) => {
                let (cookbook, file) = (cookbook.clone(), file.clone());
                Some(Asker { cookbook, file, line: *line, ..asker.unwrap_or_default() })
            }
            _ => asker,
        };
        // The texts of secret ones are the same, so they are told apart by what asked.
        let is_by_same = |at: usize| !secret || pages.last_askers.get(at) == Some(&asker);
        let is_same = |one: &Denial| one.key == key && one.asked == asked && one.value == value;
        let own = pages.denied.get(&denied.policy);
        let (count, taken) = own.map_or((0, 0), |own| (own.at.len(), own.bytes));
        let mut known = own.into_iter().flat_map(|own| own.at.iter().copied());
        let known = known.find(|at| pages.denials.get(*at).is_some_and(is_same) && is_by_same(*at));
        pages.last = known;
        if let Some(at) = known {
            // One action may ask for the same right several times.
            let another = pages.last_askers.get(at).is_none_or(|last| *last != asker);
            if let Some(same) = pages.denials.get_mut(at).filter(|_| another) {
                same.times = same.times.saturating_add(1);
            }
            if let Some(last) = pages.last_askers.get_mut(at) {
                *last = asker;
            }
            return;
        }
        // The denial's sentence repeats the asked thing.
        let bytes = 2 * asked.len() + value.as_ref().map_or(0, String::len);
        if count >= MAX_DENIALS || taken + bytes > MAX_DENIED {
            pages.denials_left_out += 1;
            return;
        }
        let denial = Denial {
            policy: denied.policy.clone(),
            message: format!("may not {} {asked}", denied.capability.deed()),
            key: key.to_owned(),
            value,
            asked,
            reason: denied.reason.clone(),
            by: asker.clone(),
            times: 1,
        };
        let at = pages.denials.len();
        let own = pages.denied.entry(denied.policy.clone()).or_default();
        own.bytes += bytes;
        own.at.push(at);
        pages.denials.push(denial);
        pages.last_askers.push(asker);
        pages.last = Some(at);
    }
}
