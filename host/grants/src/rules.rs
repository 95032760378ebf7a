//! The rule engine for all capabilities: finds the rule that matches a thing, and returns its decision.

use crate::pattern::{Asked, Pattern, Specificity};
use crate::reach::{self, TooWide};
use std::cell::LazyCell;
use std::cmp::Reverse;

/// One entry of a list in the operator's file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rule {
    pub(crate) pattern: Pattern,
    /// False for an entry of a `deny_` list.
    pub(crate) allow: bool,
    /// True if the rule is in a list for privileged things.
    pub(crate) privileged: bool,
    /// The rule as the operator wrote it.
    pub(crate) text: String,
    /// The line of the operator's file, from 1.
    pub(crate) line: usize,
}

impl Rule {
    /// Returns the rank of the rule. The more specific rule has the higher rank; among equals, the one that denies.
    fn rank(&self) -> (Specificity, bool) {
        (self.pattern.specificity(), !self.allow)
    }
}

impl Rule {
    /// Returns why this rule with wildcards does not cover everything of a narrower rule in its list, apart from privileges.
    pub(crate) fn leaves_out(&self, narrower: &Self) -> Option<TooWide> {
        match (&self.pattern, &narrower.pattern) {
            (Pattern::Path(wider), Pattern::Path(narrower)) if !self.privileged && !wider.is_exact() => {
                let shared = reach::nameless(wider, narrower.beginning());
                shared.or_else(|| reach::reaches_nothing(narrower)).map(TooWide::Nameless)
            }
            _ => None,
        }
    }
}

/// The decision of the rules.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Verdict<'a> {
    /// This rule allows the thing.
    Allowed(&'a Rule),
    /// This rule refuses the thing.
    Refused(&'a Rule),
    /// Only rules that are too wide match the thing. This is the most specific of them, with the reason.
    TooWide(&'a Rule, TooWide),
    /// No rule matches the thing.
    Unheard,
}

/// The rules of one capability, highest rank first: the first matching rule decides.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Rules(Vec<Rule>);

impl Rules {
    /// A list without rules, which allows nothing.
    pub(crate) const NONE: Self = Self(vec![]);

    /// Adds rules and keeps the order.
    pub(crate) fn extend(&mut self, rules: impl IntoIterator<Item = Rule>) {
        self.0.extend(rules);
        self.0.sort_by_cached_key(|rule| Reverse(rule.rank()));
    }

    /// Returns all rules, the most specific first.
    pub(crate) fn iter(&self) -> std::slice::Iter<'_, Rule> {
        self.0.iter()
    }

    /// Returns the decision of the rules about a thing. `privileged` is called only if a wide rule would allow it.
    pub(crate) fn decide(&self, asked: Asked<'_>, privileged: impl Fn() -> bool) -> Verdict<'_> {
        let Some(best) = self.best(asked, |_| true) else { return Verdict::Unheard };
        if !best.allow {
            return Verdict::Refused(best);
        }
        let is_privileged = LazyCell::new(privileged);
        let width = |rule: &Rule| {
            if !rule.allow || rule.privileged {
                return None;
            }
            if !rule.pattern.is_exact() && *is_privileged {
                return Some(TooWide::Privileged);
            }
            rule.pattern.too_wide(asked)
        };
        let Some(why) = width(best) else { return Verdict::Allowed(best) };
        match self.best(asked, |rule| width(rule).is_none()) {
            Some(rule) if rule.allow => Verdict::Allowed(rule),
            Some(rule) => Verdict::Refused(rule),
            None => Verdict::TooWide(best, why),
        }
    }

    fn best(&self, asked: Asked<'_>, eligible: impl Fn(&Rule) -> bool) -> Option<&Rule> {
        self.0.iter().find(|rule| eligible(rule) && rule.pattern.matches(asked))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::homes::Homes;
    use crate::pattern::PathPattern;

    fn rules(entries: &[(&str, bool, bool)]) -> Rules {
        let rule = |(text, allow, privileged): &(&str, bool, bool)| Rule {
            pattern: Pattern::Path(PathPattern::new(text).unwrap()),
            allow: *allow,
            privileged: *privileged,
            text: (*text).into(),
            line: 1,
        };
        let mut rules = Rules::NONE;
        rules.extend(entries.iter().map(rule));
        rules
    }

    #[track_caller]
    fn check(entries: &[(&str, bool, bool)], privileged: bool, expect: &str) {
        let rules = rules(entries);
        let said = match rules.decide(Asked::Path("/etc/cron.d/x", &Homes::default()), || privileged) {
            Verdict::Allowed(rule) => format!("allowed by {}", rule.text),
            Verdict::Refused(rule) => format!("refused by {}", rule.text),
            Verdict::TooWide(rule, _) => format!("too wide: {}", rule.text),
            Verdict::Unheard => "unheard".into(),
        };
        assert_eq!(said, expect);
    }

    #[test]
    fn the_most_specific_rule_wins_and_deny_beats_allow() {
        check(&[], false, "unheard");
        check(&[("/srv/**", true, false)], false, "unheard");
        check(&[("/etc/cron.d/**", true, false)], false, "allowed by /etc/cron.d/**");
        check(&[("/etc/**", true, false)], false, "too wide: /etc/**");
        check(&[("/etc/**", true, true)], false, "allowed by /etc/**");
        check(&[("/etc/cron.d/*", false, false), ("/etc/**", true, false)], false, "refused by /etc/cron.d/*");
        check(&[("/etc/**", true, false), ("/etc/**", false, false)], false, "refused by /etc/**");
        check(&[("/etc/**", true, false), ("/etc/cron.d/**", false, false)], false, "refused by /etc/cron.d/**");
        check(&[("/etc/cron.d/x", true, false), ("/etc/cron.d/**", false, false)], false, "allowed by /etc/cron.d/x");
    }

    #[test]
    fn wide_rules_do_not_reach_privileged_things() {
        check(&[("/etc/**", true, false)], true, "too wide: /etc/**");
        check(&[("/etc/**", true, false), ("/etc/cron.d/x", true, false)], true, "allowed by /etc/cron.d/x");
        check(&[("/etc/**", true, false), ("/etc/cron.d/**", true, true)], true, "allowed by /etc/cron.d/**");
        check(&[("/etc/cron.d/**", true, false), ("/etc/**", true, true)], true, "allowed by /etc/**");
        check(
            &[("/etc/cron.d/*", true, false), ("/etc/cron.d/**", false, false), ("/**", true, true)],
            true,
            "refused by /etc/cron.d/**",
        );
    }
}
