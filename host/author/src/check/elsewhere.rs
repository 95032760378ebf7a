//! Finds the files of a cookbook that only other systems than Linux use.
//!
//! Conditions around single lines are found when a file is read. This module looks at the whole cookbook. It finds metadata
//! without any Linux platform, and recipes that are included only for another system. It also finds recipes and types that
//! declare resources of another system without a condition, unless code for Linux includes the recipe. Libraries of Windows
//! count like such resources.

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

/// Largest length of a chain of recipes and types that lead to each other.
const MAX_ROUNDS: usize = 50;

/// Files, each with the system that it is for.
type Files = BTreeMap<String, String>;

/// Marks the facts in such files with the other system.
pub(super) fn mark(gathered: &mut Gathered) {
    let all = metadata_platform(gathered);
    let files = if all.is_some() { Files::new() } else { files(gathered) };
    for (file, fact) in &mut gathered.facts {
        if fact.platform.is_none() && !file.starts_with("metadata.") {
            let own = fact.conditional.then(|| library_of_others(fact)).flatten();
            fact.platform =
                all.clone().or_else(|| files.get(file.as_str()).cloned()).or_else(|| own.map(str::to_owned));
        }
    }
    gathered.only_on = all;
}

/// Marks the facts under a condition for other Linux families or platforms with these.
pub(super) fn mark_families(gathered: &mut Gathered, node: &[&str]) {
    for (_, fact) in &mut gathered.facts {
        let families = std::mem::take(&mut fact.families);
        if !families.is_empty() && !families.iter().any(|family| node.contains(&family.as_str())) {
            fact.platform.get_or_insert_with(|| families.join(", "));
        }
    }
}

/// Returns the other system, if all platforms of the metadata are that system.
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
    // Each round may find files that are used by the files of the round before.
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
            What::Library { .. } if is_certain(fact) && !fact.conditional => {
                if let Some(platform) = library_of_others(fact) {
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
            // A Linux node uses this file, so its resources of another system are problems.
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

/// Returns the other system whose library a fact is about: `win32ole`, `win32/registry`. Code that may not run on Linux is for
/// that system; a library file that always requires one fails on Linux.
fn library_of_others(fact: &Fact) -> Option<&'static str> {
    let What::Library { name, .. } = &fact.what else { return None };
    name.to_ascii_lowercase().starts_with("win32").then_some("windows")
}

/// Tells whether a fact holds on Linux and is not optional.
fn is_certain(fact: &Fact) -> bool {
    fact.platform.is_none() && !fact.optional
}
