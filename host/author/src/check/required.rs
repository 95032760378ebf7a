//! Resources that are declared without a property that their type requires.
//!
//! A finding needs certainty: the declaration shows all that it sets, and no code looks the resource up to set more.

use super::facts::{Resource, What};
use super::gather::Gathered;
use super::judge::Judge;
use super::shapes::Shape;
use super::verdict::Verdict;
use serde_json::Value;
use std::collections::BTreeSet;

/// The types whose resources code may change after their declaration.
#[derive(Debug, Default)]
pub(super) struct LookedUp<'a> {
    types: BTreeSet<&'a str>,
    /// Whether the type of a resource that is looked up is computed.
    is_any: bool,
}

impl<'a> LookedUp<'a> {
    /// Collects the look-ups of cookbooks that are checked together. A recipe that is included and not seen may look up anything.
    pub(super) fn of(all: &'a [Gathered]) -> Self {
        let mut found = Self { is_any: all.iter().any(|one| one.includes_unknown), ..Self::default() };
        let facts = all.iter().flat_map(|one| one.facts.iter().chain(&one.brought).chain(&one.included_resources));
        for (_, fact) in facts {
            match &fact.what {
                What::LookedUp { types: Some(types) } => found.types.extend(types.iter().map(String::as_str)),
                What::LookedUp { types: None } => found.is_any = true,
                _ => {}
            }
        }
        found
    }

    fn has(&self, kind: &str) -> bool {
        self.is_any || self.types.contains(kind)
    }
}

impl Judge<'_> {
    /// Returns the findings about properties that a resource of a built-in type lacks.
    pub(super) fn missing_properties(&self, resource: &Resource) -> Vec<Verdict> {
        // A cookbook may open the class again.
        let parts = resource.kind.split('_').map(capitalized);
        if self.brought.constant(&format!("Resource::{}", parts.collect::<String>())) {
            return vec![];
        }
        let missing = resource.missing.iter().flatten().map(String::as_str);
        self.lacking(resource, missing.collect())
    }

    /// Returns the findings about properties that a resource of one of the cookbook's own types lacks.
    pub(super) fn missing_own_properties(&self, resource: &Resource, shape: &Shape<'_>) -> Vec<Verdict> {
        let Some(words) = resource.words.as_ref().filter(|_| !shape.fills) else { return vec![] };
        if !words.iter().all(|word| shape.properties.contains_key(word.as_str())) {
            return vec![];
        }
        let Some(actions) = actions(resource, shape) else { return vec![] };
        let is_missing = |name: &str, required: &[String]| {
            let is_needed =
                required.is_empty() || actions.iter().all(|action| required.iter().any(|one| one == action));
            is_needed && resource.property(name).is_none()
        };
        let members = shape.properties.iter();
        let missing = members.filter(|(name, member)| member.required.is_some_and(|actions| is_missing(name, actions)));
        self.lacking(resource, missing.map(|(name, _)| *name).collect())
    }

    fn lacking(&self, resource: &Resource, missing: Vec<&str>) -> Vec<Verdict> {
        let kind = resource.kind.as_str();
        if !resource.sure || self.looked_up.has(kind) {
            return vec![];
        }
        // A cookbook's method of this name may set the property under another name.
        let certain = missing.into_iter().filter(|name| !self.brought.methods.contains(name));
        certain
            .map(|name| {
                Verdict::problem("property", format!("`{kind}` is declared without its required property `{name}`"))
            })
            .collect()
    }
}

/// Returns a word of a type's name as in the name of its class.
fn capitalized(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect()
}

/// Returns the actions of a resource, or `None` if they are computed or do nothing. Without an action in its block, the
/// resource has one of those of its type.
fn actions<'a>(resource: &'a Resource, shape: &Shape<'a>) -> Option<Vec<&'a str>> {
    let mut found = vec![];
    for property in resource.properties.iter().filter(|property| property.name == "action") {
        found.extend(property.values.as_ref()?.iter().filter_map(Value::as_str));
    }
    if found.is_empty() {
        found.extend(&shape.actions);
    }
    (!found.is_empty() && !found.contains(&"nothing")).then_some(found)
}
