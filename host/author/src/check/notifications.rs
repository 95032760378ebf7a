//! Notifications to resources that no recipe declares.
//!
//! That can be known of a type only if all its resources have literal names, in this cookbook and in the shared code of those
//! that it depends on; if all of these are there; and if no recipe of another cookbook is included.

use super::facts::{OneOrMany, What};
use super::gather::Gathered;
use super::judge::Verdict;
use std::collections::{BTreeMap, BTreeSet};
use text::nearest;

/// The resources that are declared, by type; `None` where the name of one is computed.
pub(super) struct Declared<'a> {
    by_type: BTreeMap<&'a str, Option<BTreeSet<&'a str>>>,
    is_whole: bool,
}

impl<'a> Declared<'a> {
    pub(super) fn of(gathered: &'a Gathered) -> Self {
        let mut by_type: BTreeMap<&str, Option<BTreeSet<&str>>> = BTreeMap::new();
        for (_, fact) in gathered.facts.iter().chain(&gathered.brought) {
            let What::Resource(resource) = &fact.what else { continue };
            let known = by_type.entry(resource.kind.as_str()).or_insert_with(|| Some(BTreeSet::new()));
            let names =
                resource.names.as_ref().filter(|names| names.iter().all(|name| matches!(name, OneOrMany::One(_))));
            match (known.as_mut(), names) {
                (Some(all), Some(names)) => all.extend(names.iter().flat_map(OneOrMany::all).map(String::as_str)),
                _ => *known = None,
            }
        }
        // A recipe of another cookbook may declare what is named here.
        let is_whole = gathered.missing.is_empty() && !includes_unknown(gathered);
        Self { by_type, is_whole }
    }

    /// What is said of the targets of one notification.
    pub(super) fn missing(&self, targets: &'a [String]) -> impl Iterator<Item = Verdict> {
        let verdict = |target: &String| {
            let (kind, name) = target.strip_suffix(']')?.split_once('[')?;
            // Several names in one target, and types that are known under several names, are left alone.
            if !self.is_whole || name.contains([',', '[', '#']) || kind.ends_with("package") {
                return None;
            }
            let names = self.by_type.get(kind)?.as_ref()?;
            if names.contains(name) {
                return None;
            }
            let near = nearest(name, names.iter().copied()).filter(|near| is_typo(name, near));
            let message = format!("no recipe of the cookbook declares `{target}`");
            let hint = near.map(|near| format!("did you mean `{kind}[{near}]`?"));
            Some(match hint {
                Some(_) => Verdict::problem("notification", message).hint(hint),
                // A cookbook that includes this one may declare it.
                None => Verdict::note("notification", message),
            })
        };
        targets.iter().filter_map(verdict).collect::<Vec<_>>().into_iter()
    }
}

/// Whether two names differ only in one place, by at most two characters that are not digits: `ngnix` and `nginx`. Names of
/// several versions of one thing differ by digits.
fn is_typo(one: &str, other: &str) -> bool {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let same = |pairs: &mut dyn Iterator<Item = (&char, &char)>| pairs.take_while(|(a, b)| a == b).count();
    let before = same(&mut one.iter().zip(&other));
    let after = same(&mut one.iter().rev().zip(other.iter().rev()));
    let middle = |name: &[char]| name.get(before..name.len().saturating_sub(after)).unwrap_or_default().to_vec();
    let (mine, theirs) = (middle(&one), middle(&other));
    let has_digits = mine.iter().chain(&theirs).any(char::is_ascii_digit);
    one.len() > 3 && mine.len().max(theirs.len()) <= 2 && !has_digits
}

/// Whether a recipe is included that is computed or another cookbook's.
fn includes_unknown(gathered: &Gathered) -> bool {
    gathered.facts.iter().any(|(_, fact)| match &fact.what {
        What::Recipe { values: Some(names), .. } => {
            names.iter().any(|name| gathered.recipe_name(name).0 != gathered.name)
        }
        What::Recipe { values: None, .. } => true,
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::is_typo;

    #[test]
    fn typos_are_told_from_other_names() {
        for (one, other, expected) in [
            ("nginx", "ngnix", true),
            ("/etc/web/site.conf", "/etc/web/sites.conf", true),
            ("php7.4-fpm", "php8.2-fpm", false),
            ("/etc/ldap.conf", "/etc/nscd.conf", false),
            ("a", "b", false),
        ] {
            assert_eq!(is_typo(one, other), expected, "{one} {other}");
        }
    }
}
