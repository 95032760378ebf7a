//! Formats entries as lines of the operator's file, without entries that a wider one makes unnecessary.

use crate::covering::Covering;
use crate::denied::{Capability, table_name};
use crate::edit::Addition;
use crate::file::rule_of;
use crate::journal::Entries;
use crate::policy::{Grants, PolicyGrants};
use crate::risk::{Assessed, comment, risk_comments};
use crate::rules::Rule;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Maximum length of a list's line, in characters. A longer list has one entry per line.
const MAX_LINE: usize = 100;

/// The text above entries that only other actions than the declared ones would need.
const OF_OTHER_ACTIONS: &str =
    "Only actions of these resources that no recipe asks for now (restart, stop, delete ..) would need:";

/// Returns the table of a policy with these entries; empty if there are none. After them, as comments, it has the entries
/// that only other actions than the declared ones would need. `assessed` are the grants of the entries, and those with the
/// others.
pub(crate) fn table(policy: &str, entries: &Entries, others: &Entries, assessed: &[Assessed<'_>; 2]) -> String {
    let [with_own, with_all] = assessed;
    let own = lines(policy, entries, with_own);
    let all = merged(entries, others);
    let mut more = Entries::new();
    for (key, values) in others {
        let new = uncovered(key, needed(key, values, &all), entries.get(key));
        if !new.is_empty() {
            more.insert(key.clone(), new);
        }
    }
    let more = lines(policy, &more, with_all);
    if own.is_empty() && more.is_empty() {
        return String::new();
    }
    let mut text = format!("{}\n{own}", table_name(policy));
    if !more.is_empty() {
        comment(OF_OTHER_ACTIONS).iter().for_each(|line| text.push_str(&format!("{line}\n")));
        for line in more.lines() {
            let line = line.strip_prefix("# ").unwrap_or(line);
            text.push_str(&format!("# {line}\n"));
        }
    }
    text
}

/// Returns the entries of both.
pub(crate) fn merged(entries: &Entries, others: &Entries) -> Entries {
    let mut all = entries.clone();
    for (key, values) in others {
        all.entry(key.clone()).or_default().extend(values.iter().cloned());
    }
    all
}

/// Returns the new entries that no known entry of the key covers.
fn uncovered(key: &str, new: Vec<&str>, known: Option<&BTreeSet<String>>) -> BTreeSet<String> {
    let owned = |new: Vec<&str>| new.into_iter().map(str::to_owned).collect();
    let Some(known) = known else { return owned(new) };
    let Some(capability) = Capability::LISTS.into_iter().find(|one| one.key() == key) else {
        return owned(new.into_iter().filter(|value| !known.contains(*value)).collect());
    };
    let rules: Vec<Rule> = known.iter().filter_map(|value| rule_of(capability, value)).collect();
    let covering = Covering::of(capability, &rules);
    let is_new = |value: &&str| rule_of(capability, value).is_none_or(|rule| !covering.any(&rule, |_, _| true));
    owned(new.into_iter().filter(is_new).collect())
}

/// Returns the lines of a table without its head. Risky entries have a comment above their key, with the reason.
fn lines(policy: &str, entries: &Entries, assessed: &Assessed<'_>) -> String {
    let mut text = String::new();
    for (key, values) in entries {
        let kept = needed(key, values, entries);
        let found = kept.iter().filter_map(|value| {
            let addition = Addition { policy: policy.to_owned(), key: key.clone(), value: (*value).to_owned() };
            Some((*value, assessed.risk(&addition)?))
        });
        risk_comments(found).iter().for_each(|line| text.push_str(&format!("{line}\n")));
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

/// Parses a policy's entries as grants. Entries that cannot be parsed give no rights.
pub(crate) fn grants_of(policy: &str, entries: &Entries) -> Arc<PolicyGrants> {
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

/// Returns the entries of a key that no other entry makes unnecessary.
pub(crate) fn needed<'e>(key: &str, values: &'e BTreeSet<String>, all: &Entries) -> Vec<&'e str> {
    let Some(capability) = Capability::LISTS.into_iter().find(|one| one.key() == key) else {
        return values.iter().map(String::as_str).collect();
    };
    let (texts, rules): (Vec<&str>, Vec<Rule>) =
        values.iter().filter_map(|value| Some((value.as_str(), rule_of(capability, value)?))).unzip();
    let covering = Covering::of(capability, &rules);
    // A right to manage a path includes reading it.
    let managed: Vec<Rule> = match capability {
        Capability::ReadPaths => {
            let paths = all.get(Capability::Paths.key()).into_iter().flatten();
            paths.filter_map(|value| rule_of(Capability::Paths, value)).collect()
        }
        _ => vec![],
    };
    let managed = Covering::of(Capability::Paths, &managed);
    let nobody = PolicyGrants::default();
    let is_needless = |at: usize, rule: &Rule| {
        let reaches = |wider: &Rule| wider.pattern.is_exact() || !nobody.needs_its_name(capability, rule);
        let by_another = covering.any(rule, |other, wider| {
            other != at && (other < at || !covers(capability, rule, wider)) && reaches(wider)
        });
        by_another || managed.any(rule, |_, wider| reaches(wider))
    };
    let kept = texts.iter().zip(&rules).enumerate().filter(|(at, (_, rule))| !is_needless(*at, rule));
    kept.map(|(_, (text, _))| *text).collect()
}

/// Tells whether a rule allows everything that another rule of its list allows.
pub(crate) fn covers(capability: Capability, wider: &Rule, rule: &Rule) -> bool {
    // A right to a data bag includes its items.
    let bag = rule.text.split_once('/').map(|(bag, _)| bag).filter(|_| capability == Capability::DataBags);
    wider.pattern.covers(&rule.pattern) || bag.is_some_and(|bag| wider.text == bag)
}
