//! Notifications to resources that no recipe declares.
//!
//! That can be known of a type only if all its resources have literal names: in this cookbook, in the shared code of those that
//! it depends on, and in the recipes that it includes. All of these have to be there.

use super::facts::{Fact, OneOrMany, What};
use super::gather::Gathered;
use super::left_out;
use super::typos::meant;
use super::verdict::Verdict;
use std::collections::{BTreeMap, BTreeSet};

/// The resources that are declared.
pub(super) struct Declared<'a> {
    /// By type, for Linux; `None` where the name of one is computed.
    by_type: BTreeMap<&'a str, Option<BTreeSet<&'a str>>>,
    /// Those of parts that only another system reaches, as `type[name]`, with that system.
    elsewhere: BTreeMap<String, &'a str>,
    /// Why nothing can be said.
    unknown: Option<String>,
    /// Recipes that are not looked at may declare more.
    is_part: bool,
}

impl<'a> Declared<'a> {
    /// `all`: the cookbooks that are checked with it. `is_part`: recipes that are not looked at may include this cookbook's.
    pub(super) fn of(gathered: &'a Gathered, all: &'a [Gathered], is_part: bool) -> Self {
        let mut declared =
            Self { by_type: BTreeMap::new(), elsewhere: BTreeMap::new(), unknown: unknown(gathered), is_part };
        let own = gathered.facts.iter().chain(&gathered.brought).chain(&gathered.included_resources);
        let others = all.iter().filter(|one| one.name != gathered.name).flat_map(|one| &one.facts);
        own.chain(others).for_each(|(_, fact)| declared.add(fact));
        declared
    }

    fn add(&mut self, fact: &'a Fact) {
        let What::Resource(resource) = &fact.what else { return };
        let kind = resource.kind.as_str();
        let names = resource.names.as_ref().filter(|names| names.iter().all(|name| matches!(name, OneOrMany::One(_))));
        let texts = names.iter().copied().flatten().flat_map(OneOrMany::all).map(String::as_str);
        if let Some(platform) = fact.platform.as_deref() {
            self.elsewhere.extend(texts.map(|name| (format!("{kind}[{name}]"), platform)));
            return;
        }
        let known = self.by_type.entry(kind).or_insert_with(|| Some(BTreeSet::new()));
        match known.as_mut().filter(|_| names.is_some()) {
            Some(all) => all.extend(texts),
            None => *known = None,
        }
    }

    /// Whether a resource of a type is declared.
    pub(super) fn has(&self, kind: &str) -> bool {
        self.by_type.contains_key(kind)
    }

    /// Returns the findings about the targets of one notification.
    pub(super) fn missing(&self, targets: &[String]) -> Vec<Verdict> {
        targets.iter().filter_map(|target| self.missing_target(target)).collect()
    }

    fn missing_target(&self, target: &str) -> Option<Verdict> {
        let (kind, name) = target.strip_suffix(']')?.split_once('[')?;
        // Targets with several names, and types with several names, are not judged.
        if name.contains([',', '[', '#']) || kind.ends_with("package") {
            return None;
        }
        let nothing = BTreeSet::new();
        let names = match self.by_type.get(kind) {
            Some(names) => names.as_ref()?,
            None => schema::reference::all().any(|found| found.name == kind).then_some(&nothing)?,
        };
        if names.contains(name) {
            return None;
        }
        if let Some(why) = &self.unknown {
            return Some(Verdict::left_out("notification", why.clone()));
        }
        if let Some(platform) = self.elsewhere.get(target) {
            let message = format!("`{target}` is declared only for {platform}");
            return Some(Verdict::problem("notification", message));
        }
        let near = meant(name, names.iter().copied());
        let message = format!("no recipe of the cookbook declares `{target}`");
        Some(match near {
            Some(near) => {
                let hint = format!("did you mean `{kind}[{near}]`?");
                Verdict::problem("notification", message).hint(Some(hint))
            }
            // A cookbook that includes this one may declare it.
            None if self.is_part => Verdict::note("notification", message),
            None => Verdict::problem("notification", message),
        })
    }
}

/// Why it cannot be known which resources there are.
fn unknown(gathered: &Gathered) -> Option<String> {
    if !gathered.missing.is_empty() {
        return Some(left_out::missing(gathered));
    }
    gathered.includes_unknown.then(|| "a recipe is included that is not here, or whose name is computed".to_owned())
}
