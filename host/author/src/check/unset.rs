//! Reads of attributes and of templates' variables that nothing sets, but whose names are nearly those of others.
//!
//! A misspelt name gives nil, as in Chef, and often an empty place in a file. Without a near name nothing is said: a role or an
//! environment that is not here may set the attribute, or the operator. Neither is anything said of code that expects nil.

use super::Scope;
use super::facts::{Fact, Resource, What};
use super::gather::Gathered;
use super::typos::meant;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The most keys of a path that are told apart. Anything may be set below.
const MAX_DEPTH: usize = 16;

/// Attributes that every node has besides its facts.
const OF_EVERY_NODE: [&str; 11] = [
    "chef_environment",
    "chef_packages",
    "cookbooks",
    "expanded_run_list",
    "name",
    "policy_group",
    "policy_name",
    "policy_revision",
    "recipes",
    "roles",
    "tags",
];

/// The attributes that are set, as far as the check sees.
pub(super) struct Attributes<'a> {
    root: Level<'a>,
    /// The first keys of those that the cookbook, its dependencies and the policy set.
    own: BTreeSet<&'a str>,
    /// The paths whose value may be missing, as some code says.
    asked: Vec<Vec<&'a str>>,
}

/// The attributes below one path.
#[derive(Default)]
struct Level<'a> {
    below: BTreeMap<&'a str, Self>,
    /// Whether others may be set too.
    is_open: bool,
}

impl<'a> Level<'a> {
    fn set(&mut self, path: impl IntoIterator<Item = &'a str>, is_open: bool) {
        let mut level = self;
        for (depth, key) in path.into_iter().enumerate() {
            if depth == MAX_DEPTH {
                level.is_open = true;
                return;
            }
            level = level.below.entry(key).or_default();
        }
        level.is_open |= is_open;
    }

    /// Sets the members of an object, and those below.
    fn set_value(&mut self, value: &'a Value, depth: usize) {
        let Value::Object(members) = value else { return };
        self.is_open |= depth == MAX_DEPTH;
        for (key, value) in members.iter().filter(|_| depth < MAX_DEPTH) {
            self.below.entry(key).or_default().set_value(value, depth.saturating_add(1));
        }
    }
}

impl<'a> Attributes<'a> {
    /// Collects what a cookbook, those that it depends on, those that are checked with it, the policy, roles and environments
    /// set. `automatic` are the names of the facts that a node has.
    pub(super) fn of(
        gathered: &'a Gathered,
        all: &'a [Gathered],
        automatic: &'a BTreeSet<String>,
        Scope { attributes: policy, set_elsewhere, .. }: &'a Scope,
    ) -> Self {
        let mut root = Level::default();
        let every = automatic.iter().map(String::as_str).chain(OF_EVERY_NODE);
        every.for_each(|name| root.set([name], true));
        policy.iter().chain(set_elsewhere).for_each(|value| root.set_value(value, 0));
        let written = |(_, fact): &'a (String, Fact)| match &fact.what {
            What::Written { path, keys, open } => Some((path, keys, *open)),
            _ => None,
        };
        let own = gathered.facts.iter().chain(&gathered.brought).chain(&gathered.brought_attributes);
        let others = all.iter().filter(|one| one.name != gathered.name).flat_map(|one| &one.facts);
        let first = own.clone().filter_map(written).filter_map(|(path, ..)| Some(path.first()?.as_str()));
        let of_policy = policy.iter().filter_map(Value::as_object).flat_map(|level| level.keys().map(String::as_str));
        let first = first.chain(of_policy).collect();
        for (path, keys, is_open) in own.chain(others).filter_map(written) {
            let path = || path.iter().map(String::as_str);
            root.set(path(), is_open);
            keys.iter().for_each(|key| root.set(path().chain([key.as_str()]), false));
        }
        let asked = gathered.facts.iter().filter_map(|(_, fact)| match &fact.what {
            What::Attribute { name, below, asked: true } => {
                Some(std::iter::once(name).chain(below).map(String::as_str).collect())
            }
            What::AskedAttribute { path } => Some(path.iter().map(String::as_str).collect()),
            _ => None,
        });
        Self { root, own: first, asked: asked.collect() }
    }

    /// Whether the cookbook, its dependencies or the policy set a top-level attribute or a part of it.
    pub(super) fn has(&self, name: &str) -> bool {
        self.own.contains(name)
    }

    /// Returns the path up to the first key that nothing sets, and the key that was most likely meant. Returns `None` if there
    /// is neither, or if code expects that the attribute may be missing.
    pub(super) fn misspelt<'p>(&self, path: &[&'p str]) -> Option<(Vec<&'p str>, &'a str)> {
        let mut level = &self.root;
        for (at, key) in path.iter().enumerate() {
            if level.is_open {
                return None;
            }
            match level.below.get(key) {
                Some(below) => level = below,
                None => {
                    let near = meant(key, level.below.keys().copied())?;
                    let read = path.get(..=at)?;
                    let is_asked = self.asked.iter().any(|asked| asked.starts_with(read));
                    return (!is_asked).then(|| (read.to_vec(), near));
                }
            }
        }
        None
    }
}

/// The variables of a cookbook's templates.
pub(super) struct Variables<'a> {
    /// The resources that render its templates.
    rendered: Vec<Rendered<'a>>,
    /// The names of partials; `None` if one is computed.
    partials: Option<BTreeSet<&'a str>>,
    /// Names of variables that a template sets, or that may be nil there, with the template's file.
    expected: BTreeSet<(&'a str, &'a str)>,
}

/// A resource that renders a template.
struct Rendered<'a> {
    /// The possible names of the template; `None` if they are computed.
    sources: Option<Vec<String>>,
    /// The names of its variables; `None` if there may be others.
    variables: Option<Vec<&'a str>>,
}

impl<'a> Variables<'a> {
    /// `all`: the cookbooks that are checked with this one.
    pub(super) fn of(gathered: &'a Gathered, all: &'a [Gathered]) -> Self {
        let own = gathered.facts.iter().filter_map(|(_, fact)| rendered(gathered, fact, true));
        let others = all.iter().filter(|one| one.name != gathered.name).flat_map(|one| &one.facts);
        let others = gathered.brought.iter().chain(others).filter_map(|(_, fact)| rendered(gathered, fact, false));
        let partials = gathered.facts.iter().filter_map(|(_, fact)| match &fact.what {
            What::Partial { values } => Some(values.as_ref()),
            _ => None,
        });
        let partials: Option<Vec<_>> = partials.collect();
        let expected = gathered.facts.iter().filter_map(|(file, fact)| match &fact.what {
            What::Variable { name, asked, set } if *asked || *set => Some((file.as_str(), name.as_str())),
            _ => None,
        });
        Self {
            rendered: own.chain(others).collect(),
            partials: partials.map(|all| all.into_iter().flatten().map(String::as_str).collect()),
            expected: expected.collect(),
        }
    }

    /// Returns the variable that was most likely meant in a template, if nothing gives it one of this name.
    pub(super) fn misspelt(&self, file: &str, name: &str) -> Option<&'a str> {
        if self.expected.contains(&(file, name)) {
            return None;
        }
        let template = file.strip_prefix("templates/")?;
        let is_it = |source: &str| {
            let source = source.trim_matches('/');
            template == source || template.split_once('/').is_some_and(|(_, inside)| inside == source)
        };
        if self.partials.as_ref()?.iter().any(|partial| is_it(partial)) {
            return None;
        }
        let mut given = BTreeSet::new();
        for rendered in &self.rendered {
            if rendered.sources.as_ref()?.iter().any(|source| is_it(source)) {
                given.extend(rendered.variables.as_ref()?);
            }
        }
        if given.contains(name) { None } else { meant(name, given) }
    }
}

/// Returns a resource that may render a template of this cookbook. `is_own`: the cookbook declares it itself.
fn rendered<'a>(gathered: &Gathered, fact: &'a Fact, is_own: bool) -> Option<Rendered<'a>> {
    let What::Resource(resource) = &fact.what else { return None };
    if resource.kind != "template" || resource.property("local").is_some() {
        return None;
    }
    let is_here = match resource.property("cookbook") {
        // A resource of another cookbook's type takes the files of the cookbook whose recipe declares it.
        None => true,
        Some(_) => resource.texts("cookbook").map_or(is_own, |names| names.contains(&gathered.name)),
    };
    is_here.then(|| Rendered { sources: sources(resource), variables: resource.variables() })
}

fn sources(resource: &Resource) -> Option<Vec<String>> {
    match resource.property("source") {
        Some(_) => resource.texts("source"),
        None => super::files::default_sources(resource, ".erb"),
    }
}

#[cfg(test)]
mod tests {
    use super::{Attributes, Level, MAX_DEPTH};
    use serde_json::json;
    use std::collections::BTreeSet;

    #[test]
    fn a_misspelt_attribute_is_told_from_one_that_others_may_set() {
        let mut root = Level::default();
        for (path, is_open) in [
            (&["mail", "greeting"][..], false),
            (&["mail", "hosts", "main"], false),
            (&["mail", "parts"], true),
            (&["ipaddress"], true),
        ] {
            root.set(path.iter().copied(), is_open);
        }
        let attributes = Attributes { root, own: BTreeSet::new(), asked: vec![vec!["mail", "grreting", "x"]] };
        for (path, near) in [
            (&["mail", "greeting"][..], None),
            (&["mail", "greting"], Some("greeting")),
            (&["mail", "greting", "x"], Some("greeting")),
            (&["mail", "grreting"], None),
            (&["mail", "other"], None),
            (&["mail", "hosts", "mian"], Some("main")),
            (&["mail", "parts", "anything"], None),
            (&["mail", "greeting", "below"], None),
            (&["ipaddres"], Some("ipaddress")),
            (&["ipaddress", "x"], None),
        ] {
            assert_eq!(attributes.misspelt(path).map(|(_, near)| near), near, "{path:?}");
        }
    }

    #[test]
    fn what_a_policy_sets_counts_and_depth_is_bounded() {
        let mut deep = json!({ "leaf": 1 });
        for _ in 0..100 {
            deep = json!({ "a": deep });
        }
        let mut root = Level::default();
        root.set_value(&deep, 0);
        root.set(std::iter::repeat_n("b", 100), false);
        let attributes = Attributes { root, own: BTreeSet::new(), asked: vec![] };
        assert_eq!(attributes.misspelt(&["a"; 100]), None);
        assert_eq!(attributes.misspelt(&["b"; 100]), None);
        assert_eq!(attributes.misspelt(&[&["b"; MAX_DEPTH][..], &["x"]].concat()), None);
    }
}
