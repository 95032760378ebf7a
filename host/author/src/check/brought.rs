//! What a cookbook and those that it depends on bring along: such names are not unknown.

use super::elsewhere::types_of_others;
use super::facts::What;
use super::gather::Gathered;
use super::shapes::Shapes;
use std::collections::{BTreeMap, BTreeSet};

/// The types, methods and constants that the cookbook and its dependencies define.
pub(super) struct Brought<'a> {
    pub(super) types: BTreeSet<&'a str>,
    pub(super) methods: BTreeSet<&'a str>,
    /// The properties of all its types.
    pub(super) members: BTreeSet<&'a str>,
    constants: BTreeSet<&'a str>,
    /// The cookbook's own types that are for another system, and that system.
    pub(super) elsewhere: BTreeMap<&'a str, &'a str>,
    pub(super) shapes: Shapes<'a>,
}

impl<'a> Brought<'a> {
    pub(super) fn of(gathered: &'a Gathered) -> Self {
        let all = || gathered.facts.iter().chain(&gathered.brought).map(|(file, fact)| (file.as_str(), fact));
        let mut brought = Self {
            types: BTreeSet::new(),
            methods: BTreeSet::new(),
            members: BTreeSet::new(),
            constants: BTreeSet::new(),
            elsewhere: types_of_others(gathered, |_, fact| fact.platform.as_deref()),
            shapes: Shapes::of(all()),
        };
        for (file, fact) in all() {
            match &fact.what {
                What::Type { name, .. } => {
                    brought.types.insert(name);
                }
                What::Method { name } => {
                    brought.methods.insert(name);
                }
                // A property in a library's module belongs to the types that include the module.
                What::Member { name, .. } if !file.contains("resources/") => {
                    brought.methods.insert(name);
                }
                What::Member { name, .. } => {
                    brought.members.insert(name);
                }
                What::Defined { name } => {
                    brought.constants.insert(name);
                }
                _ => {}
            }
        }
        brought
    }

    /// Whether a constant, or one that it lies in, is defined by a cookbook.
    pub(super) fn constant(&self, name: &str) -> bool {
        let [at_start, inside, at_end] = [format!("{name}::"), format!("::{name}::"), format!("::{name}")];
        let has_it = |defined: &&str| {
            *defined == name
                || defined.starts_with(&at_start)
                || defined.contains(&inside)
                || defined.ends_with(&at_end)
        };
        self.constants.iter().any(has_it)
    }
}
