//! Finds unused and ineffective rules, for `wrun grants check`.

use crate::denied::Capability;
use crate::needs::Needs;
use crate::pattern::Pattern;
use crate::policy::{Grants, PolicyGrants};
use crate::reach;
use crate::rules::Rule;
use crate::signs::has_bare_bracket;
use crate::tidy;

/// A rule and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RulePlace {
    /// The key of the policy's table, as in `packages`.
    pub key: &'static str,
    /// The rule as the operator wrote it.
    pub text: String,
    /// The line, from 1.
    pub line: usize,
}

impl Grants {
    /// Returns the file and the line where a policy's table begins.
    pub fn place_of(&self, policy: &str) -> Option<(&str, usize)> {
        self.tables().get(policy).map(|rules| (&*rules.file, rules.line))
    }
}

/// A rule with wildcards that covers less than it seems to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShortRule {
    /// The rule, its key and its line.
    pub place: RulePlace,
    /// True if the rule covers nothing at all.
    pub is_empty: bool,
    /// The directories below which the rule covers nothing, since it does not name an application's directory there.
    pub left_out: Vec<&'static str>,
}

impl ShortRule {
    /// Describes the problem and its solution, without the rule's place.
    pub fn sentence(&self) -> String {
        let RulePlace { key, text, .. } = &self.place;
        let below = self.left_out.join(", ");
        let example = self.left_out.first().map(|shared| format!("{shared}/NAME/**")).unwrap_or_default();
        let how = format!("a rule with wildcards must name an application's directory there, as `{example}` does");
        match self.is_empty {
            true => format!("{key} {text} reaches nothing: {how}"),
            false => format!("{key} {text} reaches nothing below {below}: {how}"),
        }
    }
}

impl PolicyGrants {
    /// Returns the path rules that cover less than they match, in the order of their lines.
    pub fn short_rules(&self) -> Vec<ShortRule> {
        let mut short = Vec::new();
        for (capability, rules) in &self.rules.lists {
            for rule in rules.iter().filter(|rule| rule.allow && !rule.privileged) {
                let Pattern::Path(pattern) = &rule.pattern else { continue };
                let nothing = reach::reaches_nothing(pattern);
                let left_out = nothing.map_or_else(|| reach::left_out(pattern), |shared| vec![shared]);
                if !left_out.is_empty() {
                    let place = place(*capability, rule);
                    short.push(ShortRule { place, is_empty: nothing.is_some(), left_out });
                }
            }
        }
        short.sort_by_key(|rule| rule.place.line);
        short
    }

    /// Returns the rules about paths and names with a literal bracket, each as its line and a sentence, in the order of the
    /// lines. The author of `[a-z]` probably expects a set of characters.
    pub fn bare_brackets(&self) -> Vec<(usize, String)> {
        let mut found = Vec::new();
        for (capability, rules) in &self.rules.lists {
            let is_meant = |rule: &&Rule| {
                matches!(rule.pattern, Pattern::Path(_) | Pattern::Name(_)) && has_bare_bracket(&rule.text)
            };
            for rule in rules.iter().filter(is_meant) {
                let RulePlace { key, text, line } = place(*capability, rule);
                let deny = if rule.allow { "" } else { "deny_" };
                found.push((
                    line,
                    format!(
                        "in {deny}{key} {text} the bracket `[` stands for itself: patterns have `*` and `?`, and no sets \
                         of characters such as `[a-z]`"
                    ),
                ));
            }
        }
        found.sort();
        found
    }

    /// The rules about facts whose first key has no wildcards, each with that key, in the order of their lines.
    pub fn named_facts(&self) -> Vec<(RulePlace, String)> {
        let rules = self.rules.lists.get(&Capability::Facts).into_iter().flat_map(|rules| rules.iter());
        let first = |rule: &Rule| match &rule.pattern {
            Pattern::Attribute(pattern) => pattern.exact_beginning().into_iter().next(),
            _ => None,
        };
        let named = |rule: &Rule| Some((place(Capability::Facts, rule), first(rule)?));
        let mut found: Vec<_> = rules.filter_map(named).collect();
        found.sort_by_key(|(rule, _)| rule.line);
        found
    }

    /// Returns the allowing rules that none of these needs uses, in the order of their lines.
    pub fn unused(&self, needs: &[&Needs]) -> Vec<RulePlace> {
        let mut unused = Vec::new();
        for (capability, rules) in &self.rules.lists {
            let wanted = |one: &Needs| {
                let also = (*capability == Capability::Paths).then_some(Capability::ReadPaths);
                let lists = [Some(*capability), also].into_iter().flatten();
                lists
                    .filter_map(|one_of| one.rules.lists.get(&one_of))
                    .flat_map(|list| list.iter())
                    .cloned()
                    .collect::<Vec<_>>()
            };
            let wanted: Vec<Rule> = needs.iter().flat_map(|one| wanted(one)).collect();
            let is_used = |rule: &Rule| {
                wanted.iter().any(|one| tidy::covers(*capability, rule, one) || tidy::covers(*capability, one, rule))
                    || self.is_cron_file_of(*capability, rule, needs)
            };
            unused
                .extend(rules.iter().filter(|rule| rule.allow && !is_used(rule)).map(|rule| place(*capability, rule)));
        }
        let wanted = || needs.iter().flat_map(|one| &one.rules.commands);
        for rule in &self.rules.commands {
            if !wanted().any(|one| rule.covers(one) || one.covers(rule)) {
                unused.push(RulePlace { key: Capability::Commands.key(), text: rule.text.clone(), line: rule.line });
            }
        }
        unused.sort_by_key(|rule| rule.line);
        unused
    }

    /// Tells whether a `cron_users` rule may be in use, although only the job's file is known.
    fn is_cron_file_of(&self, capability: Capability, _rule: &Rule, needs: &[&Needs]) -> bool {
        let is_job = |rule: &Rule| rule.text.starts_with("/etc/cron.d/");
        capability == Capability::CronUsers
            && needs
                .iter()
                .filter_map(|one| one.rules.lists.get(&Capability::Paths))
                .any(|list| list.iter().any(is_job))
    }

    /// Returns the rules that another rule makes unnecessary, each with that rule, in the order of their lines. The other rule
    /// is in the same list, or a rule of `paths` for one of `read_paths`.
    pub fn covered(&self) -> Vec<(RulePlace, RulePlace)> {
        let mut covered = Vec::new();
        for (capability, rules) in &self.rules.lists {
            let all: Vec<&Rule> = rules.iter().collect();
            let is_disputed = |rule: &Rule| all.iter().any(|deny| !deny.allow && meet(&deny.pattern, &rule.pattern));
            for rule in all.iter().filter(|rule| rule.allow && !is_disputed(rule)) {
                let reaches = |wider: &Rule| {
                    wider.privileged
                        || (!rule.privileged && (wider.pattern.is_exact() || !self.needs_its_name(*capability, rule)))
                };
                let by = all.iter().find(|wider| {
                    let equal = tidy::covers(*capability, rule, wider);
                    let first = !equal || (wider.line, !wider.privileged) < (rule.line, !rule.privileged);
                    let reaches = reaches(wider) && wider.leaves_out(rule).is_none();
                    wider.allow && *wider != rule && first && tidy::covers(*capability, wider, rule) && reaches
                });
                covered.extend(by.map(|by| (place(*capability, rule), place(*capability, by))));
            }
        }
        covered.extend(self.managed_reads());
        for (at, rule) in self.rules.commands.iter().enumerate() {
            let by = self
                .rules
                .commands
                .iter()
                .enumerate()
                .find(|(other, wider)| *other != at && wider.covers(rule) && (!rule.covers(wider) || *other < at));
            let place =
                |line: usize, text: &str| RulePlace { key: Capability::Commands.key(), text: text.into(), line };
            covered.extend(by.map(|(_, by)| (place(rule.line, &rule.text), place(by.line, &by.text))));
        }
        covered.sort_by_key(|(rule, _)| rule.line);
        covered
    }

    /// Returns the rules of `read_paths` whose paths the policy may manage, each with the rule that allows it. Managing a path
    /// includes reading it.
    fn managed_reads(&self) -> Vec<(RulePlace, RulePlace)> {
        let (managed, read) = (self.list(Capability::Paths), self.list(Capability::ReadPaths));
        let is_denied = |rule: &Rule| {
            managed.iter().chain(read.iter()).any(|deny| !deny.allow && meet(&deny.pattern, &rule.pattern))
        };
        let by_another = |rule: &&Rule| {
            read.iter().any(|one| one != *rule && one.allow && tidy::covers(Capability::ReadPaths, one, rule))
        };
        let found = read.iter().filter(|rule| rule.allow && !is_denied(rule) && !by_another(rule));
        let found = found.filter_map(|rule| {
            let by = managed.iter().find(|wider| {
                let reaches = wider.pattern.is_exact() || !self.needs_its_name(Capability::Paths, rule);
                wider.allow && reaches && wider.leaves_out(rule).is_none() && wider.pattern.covers(&rule.pattern)
            })?;
            Some((place(Capability::ReadPaths, rule), place(Capability::Paths, by)))
        });
        found.collect()
    }
}

fn place(capability: Capability, rule: &Rule) -> RulePlace {
    let capability = if rule.privileged { Capability::PrivilegedPaths } else { capability };
    RulePlace { key: capability.key(), text: rule.text.clone(), line: rule.line }
}

/// Tells whether one pattern covers the other.
fn meet(one: &Pattern, other: &Pattern) -> bool {
    one.covers(other) || other.covers(one)
}
