//! Uses of the cookbook's own resource types, and of those that it depends on: their properties and actions.

use super::facts::{Property, Resource};
use super::judge::{Judge, no_action};
use super::left_out;
use super::shapes::Shape;
use super::verdict::Verdict;
use serde_json::Value;
use std::collections::BTreeSet;
use text::nearest;

/// The most characters that are shown of a value.
const SHOWN_CHARACTERS: usize = 60;

impl Judge<'_> {
    /// Why the properties and actions of own types cannot be told: a cookbook that is missing may add to them.
    fn unknown(&self) -> Option<String> {
        (!self.gathered.missing.is_empty()).then(|| left_out::missing(self.gathered))
    }

    /// Properties and actions that one of the cookbook's own types does not have, values that do not fit, and properties that
    /// are missing.
    pub(super) fn of_own_type(&self, resource: &Resource, shape: &Shape<'_>, line: u32) -> Vec<(u32, Verdict)> {
        let all = resource.properties.iter();
        if let Some(why) = self.unknown() {
            let kind = |property| if is_action(property) { "action" } else { "property" };
            let left_out = |property| (line_of(property), Verdict::left_out(kind(property), why.clone()));
            return all.filter(|property| is_action(property) || !property.common).map(left_out).collect();
        }
        let kind = resource.kind.as_str();
        let judge = |property| -> Vec<Verdict> {
            if is_action(property) {
                return wrong_actions(kind, shape, property);
            }
            self.unknown_property(kind, shape, property).or_else(|| misfit(kind, shape, property)).into_iter().collect()
        };
        let missing = self.missing_own_properties(resource, shape).into_iter().map(|verdict| (line, verdict));
        all.flat_map(|property| judge(property).into_iter().map(|verdict| (line_of(property), verdict)))
            .chain(missing)
            .collect()
    }

    fn unknown_property(&self, kind: &str, shape: &Shape<'_>, property: &Property) -> Option<Verdict> {
        let name = property.name.as_str();
        if property.common || shape.properties.contains_key(name) || self.brought.methods.contains(name) {
            return None;
        }
        let verdict = Verdict::problem("property", format!("resource type `{kind}` has no property `{name}`"));
        Some(verdict.near(nearest(name, shape.properties.keys().copied())))
    }

    /// Actions that a notification wants of resources of the cookbook's own types, and that these do not have.
    pub(super) fn wrong_actions(&self, targets: &[String], actions: &[String]) -> Vec<Verdict> {
        let kinds: BTreeSet<&str> = targets.iter().filter_map(|target| Some(target.split_once('[')?.0)).collect();
        let own = kinds.into_iter().filter(|kind| self.brought.types.contains(kind));
        let shapes = own.filter_map(|kind| Some((kind, self.brought.shapes.of_type(kind)?)));
        let unknown = self.unknown();
        let wrong = shapes.filter(|(_, shape)| !shape.actions.is_empty()).flat_map(|(kind, shape)| {
            let unknown = unknown.clone();
            let named = actions.iter().filter(|action| *action != "nothing");
            named.filter_map(move |action| match &unknown {
                Some(why) => Some(Verdict::left_out("action", why.clone())),
                None => wrong_action(kind, shape, action),
            })
        });
        wrong.collect()
    }

    /// A property that the code of a type asks for and that the type does not have.
    pub(super) fn asked(&self, file: &str, name: &str) -> Option<Verdict> {
        let shape = self.brought.shapes.of_file(file)?;
        let bare = name.trim_end_matches(['=', '?', '!']);
        let is_there =
            shape.properties.contains_key(bare) || [name, bare].iter().any(|name| self.brought.methods.contains(name));
        if is_there {
            return None;
        }
        if let Some(why) = self.unknown() {
            return Some(Verdict::left_out("property", why));
        }
        let message = format!("`new_resource.{name}`: the resource type has no property `{bare}`");
        Some(Verdict::problem("property", message).near(nearest(bare, shape.properties.keys().copied())))
    }
}

fn line_of(property: &Property) -> u32 {
    property.line
}

fn is_action(property: &Property) -> bool {
    property.name == "action"
}

fn wrong_actions(kind: &str, shape: &Shape<'_>, property: &Property) -> Vec<Verdict> {
    let named = property.values.iter().flatten().filter_map(Value::as_str);
    named.filter_map(|action| wrong_action(kind, shape, action)).collect()
}

fn wrong_action(kind: &str, shape: &Shape<'_>, action: &str) -> Option<Verdict> {
    let is_known = action == "nothing" || shape.actions.is_empty() || shape.actions.contains(action);
    (!is_known).then(|| no_action(kind, action, nearest(action, shape.actions.iter().copied())))
}

/// A literal value of another class than those of its property.
fn misfit(kind: &str, shape: &Shape<'_>, property: &Property) -> Option<Verdict> {
    let name = property.name.as_str();
    let [value] = property.values.as_deref().filter(|_| property.fixed)? else { return None };
    let kinds = shape.misfit(name, value)?;
    let shown: String = value.to_string().chars().take(SHOWN_CHARACTERS).collect();
    let message = format!("`{name}` of `{kind}` takes a value of the class {kinds}, not {shown}");
    Some(Verdict::problem("property", message))
}
