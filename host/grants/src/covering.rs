//! Finds the rules of a list that allow what another rule would, without comparing all pairs: policies choose how many
//! entries a list has.
//!
//! A rule without wildcards allows only what is named as it is, or lies below it, so that it is looked up by its name. Rules
//! with wildcards are compared one by one, up to [`MAX_WIDE`] of them; an entry that only a later one allows is kept.

use crate::denied::Capability;
use crate::pattern::{Pattern, join_dots};
use crate::rules::Rule;
use crate::tidy::covers;
use std::collections::HashMap;

/// The most rules with wildcards that a rule is compared with.
const MAX_WIDE: usize = 500;

/// The rules of one list, by what they name.
pub(crate) struct Covering {
    capability: Capability,
    /// By the name of the one thing: the first rule that names it.
    exact: HashMap<String, (usize, Rule)>,
    /// The others, with their places in the list.
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

    /// Whether a rule of the list allows everything that this one allows, and counts. `counts` gets its place in the list.
    pub(crate) fn any(&self, rule: &Rule, counts: impl Fn(usize, &Rule) -> bool) -> bool {
        self.candidates(rule).any(|(at, wider)| covers(self.capability, wider, rule) && counts(*at, wider))
    }

    /// The rules that may allow what this one allows.
    fn candidates<'a>(&'a self, rule: &Rule) -> impl Iterator<Item = &'a (usize, Rule)> {
        let named = names_above(self.capability, rule).into_iter().filter_map(|name| self.exact.get(&name));
        named.chain(&self.wide)
    }
}

/// The name of the one thing that a pattern is about. `None`: it has wildcards, or is of a kind that is compared otherwise.
fn only_thing(pattern: &Pattern) -> Option<String> {
    match pattern {
        Pattern::Path(path) => path.only_path(),
        Pattern::Name(name) => name.only_name(),
        Pattern::Attribute(attribute) if pattern.is_exact() => Some(join_dots(&attribute.keys())),
        Pattern::Attribute(_) | Pattern::Server(_) | Pattern::Mount(_) => None,
    }
}

/// The names of the things whose rules without wildcards would allow what a rule allows.
fn names_above(capability: Capability, rule: &Rule) -> Vec<String> {
    match &rule.pattern {
        Pattern::Attribute(attribute) => {
            let keys = attribute.exact_beginning();
            (1..=keys.len()).filter_map(|length| Some(join_dots(keys.get(..length)?))).collect()
        }
        pattern => {
            // The right to a data bag is the right to its items.
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
