//! Finds the rules of a list that allow everything that another rule allows. It does not compare all pairs, because policies
//! choose the number of entries in a list.
//!
//! A rule without wildcards allows only the named thing, or things below it, so it is looked up by name. Rules with wildcards
//! are compared one by one, up to [`MAX_WIDE`] of them. An entry that only a later rule covers is kept.

use crate::denied::Capability;
use crate::pattern::{Pattern, join_dots};
use crate::rules::Rule;
use crate::tidy::covers;
use std::collections::HashMap;

/// Maximum number of wildcard rules that one rule is compared with.
const MAX_WIDE: usize = 500;

/// The rules of one list, by the names in them.
pub(crate) struct Covering {
    capability: Capability,
    /// Rules without wildcards: the first rule for each name.
    exact: HashMap<String, (usize, Rule)>,
    /// The other rules, with their indexes in the list.
    wide: Vec<(usize, Rule)>,
    count: usize,
}

impl Covering {
    pub(crate) fn new(capability: Capability) -> Self {
        Self { capability, exact: HashMap::new(), wide: vec![], count: 0 }
    }

    pub(crate) fn of(capability: Capability, rules: &[Rule]) -> Self {
        let mut covering = Self::new(capability);
        rules.iter().for_each(|rule| covering.add(rule.clone()));
        covering
    }

    /// Adds a rule at the end of the list.
    pub(crate) fn add(&mut self, rule: Rule) {
        let at = self.count;
        self.count += 1;
        match only_thing(&rule.pattern) {
            Some(name) => drop(self.exact.entry(name).or_insert((at, rule))),
            None if self.wide.len() < MAX_WIDE => self.wide.push((at, rule)),
            None => {}
        }
    }

    /// Tells whether a rule of the list covers this one and satisfies `counts`, which also gets the rule's index in the list.
    pub(crate) fn any(&self, rule: &Rule, counts: impl Fn(usize, &Rule) -> bool) -> bool {
        self.candidates(rule).any(|(at, wider)| covers(self.capability, wider, rule) && counts(*at, wider))
    }

    /// Returns the rules that may cover this one.
    fn candidates<'a>(&'a self, rule: &Rule) -> impl Iterator<Item = &'a (usize, Rule)> {
        let named = names_above(self.capability, rule).into_iter().filter_map(|name| self.exact.get(&name));
        named.chain(&self.wide)
    }
}

/// Returns the name of the only thing that a pattern matches. Returns `None` if it has wildcards, or if its kind is compared
/// in another way.
fn only_thing(pattern: &Pattern) -> Option<String> {
    match pattern {
        Pattern::Path(path) => path.only_path(),
        Pattern::Name(name) => name.only_name(),
        Pattern::Attribute(attribute) if pattern.is_exact() => Some(join_dots(&attribute.keys())),
        Pattern::Attribute(_) | Pattern::Server(_) | Pattern::Mount(_) => None,
    }
}

/// Returns the names whose rules without wildcards would cover a rule.
fn names_above(capability: Capability, rule: &Rule) -> Vec<String> {
    match &rule.pattern {
        Pattern::Attribute(attribute) => {
            let keys = attribute.exact_beginning();
            (1..=keys.len()).filter_map(|length| Some(join_dots(keys.get(..length)?))).collect()
        }
        pattern => {
            // A right to a data bag includes its items.
            let bag = rule.text.split_once('/').filter(|_| capability == Capability::DataBags);
            only_thing(pattern).into_iter().chain(bag.map(|(bag, _)| bag.to_owned())).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::rule_of;

    fn rules(capability: Capability, texts: impl Iterator<Item = String>) -> Vec<Rule> {
        texts.map(|text| rule_of(capability, &format!("{text:?}")).unwrap()).collect()
    }

    /// How many rules are compared to hold each of so many rules against all.
    fn compared(capability: Capability, count: usize, text: impl Fn(usize) -> String) -> usize {
        let rules = rules(capability, (0..count).map(text));
        let covering = Covering::of(capability, &rules);
        rules.iter().map(|rule| covering.candidates(rule).count()).sum()
    }

    #[test]
    fn the_work_is_linear_in_the_number_of_entries() {
        let half = |at: usize| if at < 400 { format!("/srv/{at}/*") } else { format!("/srv/{at}") };
        for (capability, text) in [
            (Capability::Packages, (&|at| format!("p{at}")) as &dyn Fn(usize) -> String),
            (Capability::ReadAttributes, &|at| format!("a.b{at}.c.d")),
            (Capability::DataBags, &|at| format!("bag/item{at}")),
            (Capability::DownloadHosts, &|at| format!("https://h{at}")),
            (Capability::Paths, &half),
            (Capability::Paths, &|at| format!("/srv/*/{at}")),
        ] {
            let (one, two) = (compared(capability, 2_000, text), compared(capability, 4_000, text));
            assert!(two <= 2 * one + one / 10, "{capability:?}: {one} and {two}");
        }
    }

    #[test]
    fn what_is_named_and_what_lies_below_it_is_found() {
        for (capability, wider, rule, expect) in [
            (Capability::Packages, "nginx", "nginx", true),
            (Capability::Packages, "nginx", "nginx2", false),
            (Capability::Packages, "php-*", "php-fpm", true),
            (Capability::Paths, "/srv/[*]", "/srv/[*]", true),
            (Capability::Paths, "/srv/[*]", "/srv/a", false),
            (Capability::Paths, "/srv/**", "/srv/a/b", true),
            (Capability::DataBags, "admins", "admins/ada", true),
            (Capability::DataBags, "admins", "adm/ada", false),
            (Capability::ReadAttributes, "a", "a.b.*", true),
            (Capability::ReadAttributes, "a.[*]", "a.*", false),
            (Capability::ReadAttributes, "a.b", "a", false),
            (Capability::DownloadHosts, "https://*.example.org", "https://a.example.org", true),
        ] {
            let wider_rules = rules(capability, [wider.to_owned()].into_iter());
            let wanted = rule_of(capability, &format!("{rule:?}")).unwrap();
            let found = Covering::of(capability, &wider_rules).any(&wanted, |_, _| true);
            assert_eq!(found, expect, "{wider} and {rule}");
            assert_eq!(found, covers(capability, &wider_rules[0], &wanted), "{wider} and {rule}");
        }
    }
}
