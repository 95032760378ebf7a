//! Entries as lines of the operator's file, without those that a wider one makes needless.

use crate::denied::{Capability, table_name};
use crate::edit::Addition;
use crate::file::rule_of;
use crate::journal::Entries;
use crate::policy::{Grants, PolicyGrants};
use crate::rules::Rule;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The longest line of a list, in characters; a longer one has an entry per line.
const MAX_LINE: usize = 100;

/// The table of a policy with these entries; empty if there are none. Behind them, as comments, those that only others would
/// need: actions that nobody asked for.
pub(crate) fn table(policy: &str, entries: &Entries, others: &Entries) -> String {
    let own = lines(policy, entries, entries);
    let mut all = entries.clone();
    for (key, values) in others {
        all.entry(key.clone()).or_default().extend(values.iter().cloned());
    }
    let mut more = Entries::new();
    for (key, values) in others {
        let known = entries.get(key);
        let needed = needed(key, values, &all).into_iter().map(str::to_owned);
        let new: BTreeSet<_> =
            needed.filter(|value| known.is_none_or(|known| !is_covered(key, value, known))).collect();
        if !new.is_empty() {
            more.insert(key.clone(), new);
        }
    }
    let more = lines(policy, &more, &all);
    if own.is_empty() && more.is_empty() {
        return String::new();
    }
    let mut text = format!("{}\n{own}", table_name(policy));
    if !more.is_empty() {
        text.push_str(
            "# Only actions of these resources that no recipe asks for now (restart, stop, delete ..) would need:\n",
        );
        for line in more.lines() {
            let line = line.strip_prefix("# ").unwrap_or(line);
            text.push_str(&format!("# {line}\n"));
        }
    }
    text
}

/// Whether one of these entries allows what another one would.
fn is_covered(key: &str, value: &str, known: &BTreeSet<String>) -> bool {
    let Some(capability) = Capability::LISTS.into_iter().find(|one| one.key() == key) else {
        return known.contains(value);
    };
    let Some(rule) = rule_of(capability, value) else { return false };
    known.iter().filter_map(|one| rule_of(capability, one)).any(|wider| covers(capability, &wider, &rule))
}

/// The longest beginning of an entry that a comment repeats, in characters.
const MAX_COMMENTED: usize = 60;

/// The lines of a table without its head. Entries that open a lot have a comment above their key, with the reason. `all` are
/// the entries that the policy has in the end.
fn lines(policy: &str, entries: &Entries, all: &Entries) -> String {
    let mut text = String::new();
    let grants = grants_of(policy, all);
    for (key, values) in entries {
        let kept = needed(key, values, entries);
        for value in &kept {
            let addition = Addition { policy: policy.to_owned(), key: key.clone(), value: (*value).to_owned() };
            if let Some(reason) = grants.risk(&addition) {
                text.push_str(&format!("# Opens a lot: {} {reason}.\n", shortened(value)));
            }
        }
        let line = format!("{key} = [{}]", kept.join(", "));
        match kept.as_slice() {
            [] => {}
            [flag @ ("true" | "false")] => text.push_str(&format!("{key} = {flag}\n")),
            [_] => text.push_str(&format!("{line}\n")),
            _ if line.chars().count() <= MAX_LINE => text.push_str(&format!("{line}\n")),
            several => text.push_str(&format!("{key} = [\n    {},\n]\n", several.join(",\n    "))),
        }
    }
    text
}

/// An entry as a comment names it: one line, with its end left out if it is long.
fn shortened(value: &str) -> String {
    let mut begin: String = value.chars().take(MAX_COMMENTED).collect();
    if begin.len() < value.len() {
        begin.push_str("..");
    }
    begin.replace(char::is_control, " ")
}

/// The grants that these entries are. Entries that cannot be read are nobody's rights.
fn grants_of(policy: &str, entries: &Entries) -> Arc<PolicyGrants> {
    let mut text = format!("{}\n", table_name(policy));
    for (key, values) in entries {
        let kept: Vec<_> = values.iter().map(String::as_str).collect();
        match kept.as_slice() {
            [flag @ ("true" | "false")] => text.push_str(&format!("{key} = {flag}\n")),
            several => text.push_str(&format!("{key} = [{}]\n", several.join(", "))),
        }
    }
    Grants::parse(&text, "entries").unwrap_or_default().policy(policy, &[])
}

/// The entries of a key that no other entry makes needless.
pub(crate) fn needed<'e>(key: &str, values: &'e BTreeSet<String>, all: &Entries) -> Vec<&'e str> {
    let Some(capability) = Capability::LISTS.into_iter().find(|one| one.key() == key) else {
        return values.iter().map(String::as_str).collect();
    };
    let rules: Vec<_> = values.iter().filter_map(|value| Some((value.as_str(), rule_of(capability, value)?))).collect();
    let of = |other: Capability| {
        let values = all.get(other.key()).into_iter().flatten();
        values.filter_map(move |value| rule_of(other, value)).collect::<Vec<_>>()
    };
    // What may be managed may be read.
    let managed = if capability == Capability::ReadPaths { of(Capability::Paths) } else { vec![] };
    let nobody = PolicyGrants::default();
    let is_needless = |at: usize, rule: &Rule| {
        let reaches = |wider: &Rule| wider.pattern.is_exact() || !nobody.needs_its_name(capability, rule);
        let by_another = rules.iter().enumerate().any(|(other, (_, wider))| {
            let wins = !covers(capability, rule, wider) || other < at;
            other != at && wins && covers(capability, wider, rule) && reaches(wider)
        });
        by_another || managed.iter().any(|wider| wider.pattern.covers(&rule.pattern) && reaches(wider))
    };
    let kept = rules.iter().enumerate().filter(|(at, (_, rule))| !is_needless(*at, rule));
    kept.map(|(_, (value, _))| *value).collect()
}

/// Whether a rule allows everything that another one of its list allows.
pub(crate) fn covers(capability: Capability, wider: &Rule, rule: &Rule) -> bool {
    // The right to a data bag is the right to its items.
    let bag = rule.text.split_once('/').map(|(bag, _)| bag).filter(|_| capability == Capability::DataBags);
    wider.pattern.covers(&rule.pattern) || bag.is_some_and(|bag| wider.text == bag)
}
