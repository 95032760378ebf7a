//! Reads the rest of recipes that ended early in a dry run, and finds the grants that their text needs and that are missing.

use crate::open::Ending;
use author::check::{Entry, Line, RestReader};
use contract::{CookbookFiles, EndedRecipe};
use converge::{PolicyReport, RunReport};
use facts::Facts;
use grants::{Denial, Grants, MAX_VALUE, NeedAnswer, Needs, PolicyGrants};
use report::error;
use report::unseen::{UnseenEntry, UnseenRecipe};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The folder of a cookbook's recipes in Ruby.
const RECIPES: &str = "recipes/";

/// Largest number of entries from the text of a policy's recipes, and their largest total size in bytes.
const MAX_ENTRIES: usize = 500;
const MAX_BYTES: usize = 256 << 10;

impl Ending<'_> {
    /// Returns the recipes that did not run to their end, in order, with the needs of the rest of their text.
    pub fn unseen_recipes(
        &self,
        report: &RunReport,
        files: &BTreeMap<String, Arc<dyn CookbookFiles>>,
        denials: &[Denial],
    ) -> Vec<UnseenRecipe> {
        let policies = report.policies.iter().filter(|policy| !policy.ended_recipes.is_empty());
        policies.flat_map(|policy| of_policy(policy, self, files.get(&policy.name), denials)).collect()
    }
}

/// Returns the names of the facts that this program can collect.
pub fn known_facts() -> BTreeSet<String> {
    // No facts are collected here; only their names are asked for.
    let facts = Facts::new(&facts::Settings::new("/", jiff::Timestamp::UNIX_EPOCH));
    facts.map(|facts| facts.keys().into_iter().map(str::to_owned).collect()).unwrap_or_default()
}

fn of_policy(
    policy: &PolicyReport,
    ending: &Ending<'_>,
    files: Option<&Arc<dyn CookbookFiles>>,
    denials: &[Denial],
) -> Vec<UnseenRecipe> {
    let mut unseen: Vec<_> = policy.ended_recipes.iter().map(|ended| begun(policy, ended)).collect();
    let mut lines: Vec<_> = policy
        .ended_recipes
        .iter()
        .map(|ended| lines(ended, |cookbook| ending.is_in_ruby(&policy.name, cookbook)))
        .collect();
    let is_any_in_ruby = |ended: &EndedRecipe| ending.is_in_ruby(&policy.name, cookbook_of(&ended.recipe));
    let runtime = ending.runtime(&policy.name).filter(|_| policy.ended_recipes.iter().any(is_any_in_ruby));
    let (Some(files), Some(runtime)) = (files, runtime) else { return unseen };
    let compiled = policy.node.as_ref().and_then(|node| node.recipes.as_array());
    let compiled: BTreeSet<String> =
        compiled.into_iter().flatten().filter_map(|name| name.as_str().map(str::to_owned)).collect();
    let automatic = known_facts();
    let mut reader = RestReader::new(&**files, &compiled, &automatic);
    let ended = policy.ended_recipes.iter();
    for (at, ((ended, unseen), lines)) in ended.zip(&mut unseen).zip(&mut lines).enumerate() {
        unseen.whole = attributes_line(ended).is_some();
        if unseen.whole && ending.is_in_ruby(&policy.name, cookbook_of(&ended.recipe)) {
            *lines = reader.begin(&ended.recipe).into_iter().collect();
            // The rest of the attributes file is reported only for the first recipe.
            lines.extend(attributes_line(ended).filter(|_| at == 0));
        }
    }
    let asked = ending.ask(runtime, Arc::clone(files), |ask| {
        for (unseen, lines) in unseen.iter_mut().zip(&lines).filter(|(_, lines)| !lines.is_empty()) {
            let rest = reader.read(lines, ask);
            unseen.read = true;
            (unseen.computed, unseen.incomplete) = (rest.computed, rest.incomplete);
            unseen.types = rest.types.into_iter().collect();
            let entry = |one: Entry| UnseenEntry { key: one.key.to_owned(), value: one.value, place: one.place };
            unseen.entries = rest.entries.into_iter().map(entry).collect();
        }
    });
    if asked.is_err() {
        unseen.iter_mut().for_each(|one| one.read = false);
    }
    // If everything is granted, the entries are compared with empty grants instead, so that all needs are listed.
    let cookbooks: Vec<String> = files.cookbooks().into_iter().map(|(name, _)| name).collect();
    let grants = match ending.grants(&policy.name) {
        Some(grants) if !grants.allows_everything() => Arc::clone(grants),
        _ => Grants::nothing().policy(&policy.name, &cookbooks),
    };
    let mut told: BTreeSet<(String, String)> = denials
        .iter()
        .filter(|denial| denial.policy == policy.name)
        .filter_map(|denial| Some((denial.key.clone(), denial.value.clone()?)))
        .collect();
    keep(&mut unseen, |entry| {
        let is_new = told.insert((entry.key.clone(), entry.value.clone()));
        is_new && is_missing(&grants, entry)
    });
    unseen
}

/// Keeps a policy's new entries up to the limits. Entries beyond the limits are only counted and not checked.
fn keep(unseen: &mut [UnseenRecipe], mut is_new: impl FnMut(&UnseenEntry) -> bool) {
    let (mut count, mut bytes) = (0, 0);
    for one in unseen {
        let left_out = &mut one.left_out;
        one.entries.retain(|entry| {
            let more = entry.value.len();
            if count >= MAX_ENTRIES || more > MAX_VALUE || bytes + more > MAX_BYTES {
                *left_out += 1;
                return false;
            }
            let kept = is_new(entry);
            count += usize::from(kept);
            bytes += if kept { more } else { 0 };
            kept
        });
    }
}

fn begun(policy: &PolicyReport, ended: &EndedRecipe) -> UnseenRecipe {
    UnseenRecipe {
        policy: policy.name.clone(),
        recipe: ended.recipe.clone(),
        ended_at: error::place(&ended.failure).and_then(|place| report::place(&place)),
        ..UnseenRecipe::default()
    }
}

/// Returns the lines at which files of Ruby recipes ended. The list is empty if the recipe is not in Ruby or its place is
/// unknown.
fn lines(ended: &EndedRecipe, is_ruby: impl Fn(&str) -> bool) -> Vec<Line> {
    let places = error::places(&ended.failure).into_iter().filter_map(|place| {
        let (cookbook, file, line) = (place.cookbook?, place.file?, place.line?);
        let is_recipe = file.starts_with(RECIPES) || file == "recipe.rb";
        (is_recipe && is_ruby(&cookbook)).then_some(Line { cookbook, file, line })
    });
    let mut lines: Vec<Line> = Vec::new();
    for line in places {
        // Of several frames in one file, the outermost one is the line that the file has reached.
        match lines.iter_mut().find(|one| (&one.cookbook, &one.file) == (&line.cookbook, &line.file)) {
            Some(known) => known.line = line.line,
            None => lines.push(line),
        }
    }
    lines
}

/// Returns the line of an attributes file that failed before any recipe was compiled.
fn attributes_line(ended: &EndedRecipe) -> Option<Line> {
    error::places(&ended.failure).into_iter().find_map(|place| {
        let (cookbook, file, line) = (place.cookbook?, place.file?, place.line?);
        let is_of_attributes = file.starts_with("attributes/") || file == "attributes.rb";
        is_of_attributes.then_some(Line { cookbook, file, line })
    })
}

fn cookbook_of(recipe: &str) -> &str {
    recipe.split_once("::").map_or(recipe, |(cookbook, _)| cookbook)
}

/// Tells whether the grants lack an entry.
fn is_missing(grants: &PolicyGrants, entry: &UnseenEntry) -> bool {
    let value = if entry.value == "true" { entry.value.clone() } else { format!("[{}]", entry.value) };
    // A text that is not a valid entry cannot be added.
    let Ok(needs) = Needs::parse(&format!("[needs]\n{} = {value}\n", entry.key), "text") else { return false };
    grants.hold(&needs).iter().any(|held| held.answer == NeedAnswer::Missing)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recipe(values: impl Iterator<Item = String>) -> UnseenRecipe {
        let entry = |value| UnseenEntry { key: "packages".into(), value, place: "a/recipes/b.rb:1".into() };
        UnseenRecipe { entries: values.map(entry).collect(), ..UnseenRecipe::default() }
    }

    #[test]
    fn what_is_kept_of_a_policys_recipes_is_bounded_and_the_rest_is_counted() {
        let names = |from: usize| (from..from + 300).map(|number| format!("\"p{number}\""));
        let mut unseen = [recipe(names(0)), recipe(names(300)), recipe(names(600))];
        let mut asked = 0;
        keep(&mut unseen, |_| {
            asked += 1;
            asked > 10
        });
        let counts = unseen.each_ref().map(|one| (one.entries.len(), one.left_out));
        assert_eq!((counts, asked), ([(290, 0), (210, 90), (0, 300)], MAX_ENTRIES + 10));
        let mut unseen = [
            recipe((0..300).map(|_| "x".repeat(1_024))),
            recipe([20_000, 16_384].map(|long| "x".repeat(long)).into_iter()),
        ];
        keep(&mut unseen, |_| true);
        assert_eq!(unseen.each_ref().map(|one| (one.entries.len(), one.left_out)), [(256, 44), (0, 2)]);
    }
}
