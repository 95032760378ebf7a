//! Which files of a cookbook only other systems reach.
//!
//! Conditions around a line are found where the file is read. What is found here takes the whole cookbook: its metadata name
//! no Linux platform; a recipe is included for another system only; a recipe or a type declares, without a condition, what
//! only another system has, and nothing on Linux includes that recipe.

use super::facts::{Fact, What};
use super::gather::Gathered;
use std::collections::{BTreeMap, BTreeSet};

/// Platforms that cookbooks name in their metadata and that are not Linux.
const NOT_LINUX: [&str; 15] = [
    "windows",
    "mac_os_x",
    "macos",
    "mac_os_x_server",
    "darwin",
    "freebsd",
    "openbsd",
    "netbsd",
    "dragonflybsd",
    "solaris",
    "solaris2",
    "smartos",
    "omnios",
    "aix",
    "hpux",
];

/// How many files long a chain of recipes and types may be that lead to each other.
const MAX_ROUNDS: usize = 50;

/// Files and the systems that they are for.
type Files = BTreeMap<String, String>;

/// Says of the facts of such files that they are for that system.
pub(super) fn mark(gathered: &mut Gathered) {
    let all = metadata_platform(gathered);
    let files = if all.is_some() { Files::new() } else { files(gathered) };
    for (file, fact) in &mut gathered.facts {
        if fact.platform.is_none() && !file.starts_with("metadata.") {
            fact.platform = all.clone().or_else(|| files.get(file.as_str()).cloned());
        }
    }
    gathered.only_on = all;
}

/// Says of the facts under a condition of other Linux families, or platforms, that they are for those.
pub(super) fn mark_families(gathered: &mut Gathered, node: &[&str]) {
    for (_, fact) in &mut gathered.facts {
        let families = std::mem::take(&mut fact.families);
        if !families.is_empty() && !families.iter().any(|family| node.contains(&family.as_str())) {
            fact.platform.get_or_insert_with(|| families.join(", "));
        }
    }
}

/// The system that all platforms of the metadata are.
fn metadata_platform(gathered: &Gathered) -> Option<String> {
    let platforms = gathered.facts.iter().find_map(|(_, fact)| match &fact.what {
        What::Metadata { platforms, .. } => Some(platforms),
        _ => None,
    })?;
    let first = platforms.first()?;
    platforms.iter().all(|platform| NOT_LINUX.contains(&platform.as_str())).then(|| first.clone())
}

fn files(gathered: &Gathered) -> Files {
    let mut found = Files::new();
    // Each round may find files that were reached by those of the round before.
    for _ in 0..MAX_ROUNDS {
        let next = round(gathered, &found);
        if next == found {
            break;
        }
        found = next;
    }
    found
}

fn round(gathered: &Gathered, known: &Files) -> Files {
    let types = types(gathered, known);
    let mut needs = Files::new();
    let mut included: BTreeMap<&str, Vec<Option<&str>>> = BTreeMap::new();
    for (file, fact) in &gathered.facts {
        match &fact.what {
            What::Resource(resource) if is_certain(fact) => {
                let own = types.get(resource.kind.as_str()).copied();
                let idle = resource.idle.as_deref().filter(|idle| *idle != "nobody");
                if let Some(platform) = own.or(idle) {
                    needs.entry(file.clone()).or_insert_with(|| platform.to_owned());
                }
            }
            What::Recipe { values: Some(names), .. } => {
                let platform = fact.platform.as_deref().or_else(|| known.get(file).map(String::as_str));
                for target in names.iter().filter_map(|name| gathered.recipe_file(name)) {
                    included.entry(target).or_default().push(platform);
                }
            }
            _ => {}
        }
    }
    let starts: BTreeSet<&str> = gathered.recipe_file(&gathered.name).into_iter().collect();
    let mut found = Files::new();
    for file in &gathered.files {
        let from = included.get(file.as_str());
        let platform = if file.starts_with("resources/") {
            needs.get(file).cloned()
        } else if !file.starts_with("recipes/") || starts.contains(file.as_str()) {
            None
        } else if from.is_some_and(|from| from.iter().any(Option::is_none)) {
            // A Linux node reaches it: what it declares there is a problem.
            None
        } else {
            needs.get(file).cloned().or_else(|| from?.first().copied().flatten().map(str::to_owned))
        };
        if let Some(platform) = platform {
            found.insert(file.clone(), platform);
        }
    }
    found
}

/// The cookbook's own types that are for other systems.
fn types<'a>(gathered: &'a Gathered, known: &'a Files) -> BTreeMap<&'a str, &'a str> {
    types_of_others(gathered, |file, _| known.get(file).map(String::as_str))
}

/// The cookbook's own types that are for other systems, each with that of its first declaration. `system` is the system that a
/// declaration in a file is for; a name that is also declared for Linux is one of Linux.
pub(super) fn types_of_others<'a>(
    gathered: &'a Gathered,
    system: impl Fn(&'a str, &'a Fact) -> Option<&'a str>,
) -> BTreeMap<&'a str, &'a str> {
    let mut types: BTreeMap<&str, Option<&str>> = BTreeMap::new();
    for (file, fact) in &gathered.facts {
        if let What::Type { name, .. } = &fact.what {
            let system = system(file, fact);
            let known = types.entry(name).or_insert(system);
            *known = known.and(system);
        }
    }
    types.into_iter().filter_map(|(name, system)| Some((name, system?))).collect()
}

/// Neither for another system by a condition nor something that the cookbook can go without.
fn is_certain(fact: &Fact) -> bool {
    fact.platform.is_none() && !fact.optional
}
