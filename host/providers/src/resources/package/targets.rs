//! Decides the target version of each package of a resource, and the resulting changes. This module is pure: it contains only
//! Chef's rules.

use super::version;
use crate::operation::Operation;
use crate::plan::Step;
use contract::Change;
use std::cmp::Ordering;

/// One package of a resource: declared and present state.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Seen {
    /// Its name in the resource.
    pub(super) name: String,
    /// The version that the resource declares.
    pub(super) wanted: Option<String>,
    /// The version that is installed now.
    pub(super) current: Option<String>,
    /// The available version: the declared one, if it is available.
    pub(super) candidate: Option<String>,
}

/// The aim of an action for its packages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Aim {
    /// The declared version, or any version without one.
    Install,
    /// The newest version that is available.
    Upgrade,
}

/// Returns the version to install, or `None` if the package stays.
pub(super) fn target(aim: Aim, seen: &Seen, allow_downgrade: bool) -> Option<&str> {
    target_by(version::compare, aim, seen, allow_downgrade)
}

/// Does the same with another comparison of versions.
pub(super) fn target_by(
    compare: impl Fn(&str, &str) -> Ordering,
    aim: Aim,
    seen: &Seen,
    allow_downgrade: bool,
) -> Option<&str> {
    let candidate = seen.candidate.as_deref();
    let newer = |than: &str| {
        let current = seen.current.as_deref();
        !allow_downgrade && current.is_some_and(|current| compare(current, than) == Ordering::Greater)
    };
    match (aim, seen.current.as_deref(), seen.wanted.as_deref()) {
        (_, Some(current), Some(wanted)) if current == wanted => None,
        (Aim::Install, Some(_), Some(wanted)) if newer(wanted) => None,
        (Aim::Install, _, Some(wanted)) => Some(wanted),
        (_, None, _) => candidate,
        (Aim::Install, Some(_), None) => None,
        (Aim::Upgrade, Some(current), _) => candidate.filter(|candidate| *candidate != current && !newer(candidate)),
    }
}

/// Tells whether [`target`] needs to know the available version.
pub(super) fn needs_candidate(aim: Aim, seen: &Seen) -> bool {
    match (aim, &seen.current, &seen.wanted) {
        (_, Some(current), Some(wanted)) => current != wanted,
        (Aim::Install, current, None) => current.is_none(),
        _ => true,
    }
}

/// Returns the names without an available version, and the beginning of Chef's sentence about them. Returns `None` if nothing
/// is missing.
pub(super) fn missing(aim: Aim, seen: &[Seen]) -> Option<(&'static str, String)> {
    let names = |chosen: &dyn Fn(&Seen) -> bool| {
        let names = seen.iter().filter(|one| chosen(one)).map(|one| one.name.as_str());
        names.collect::<Vec<_>>().join(", ")
    };
    let forced = names(&|one| {
        let other = one.current.is_some() && one.wanted.is_some() && one.current != one.wanted;
        other && one.candidate.is_none()
    });
    let absent = names(&|one| one.current.is_none() && one.candidate.is_none());
    if aim == Aim::Install && !forced.is_empty() {
        Some(("No version specified, and no candidate version available for", forced))
    } else if !absent.is_empty() {
        Some(("No candidate version available for", absent))
    } else {
        None
    }
}

/// Returns the change of one package's version.
pub(super) fn change(aim: Aim, seen: &Seen, target: &str) -> Change {
    let sentence = match aim {
        Aim::Install => format!("install version {target} of package {}", seen.name),
        Aim::Upgrade => {
            let current = seen.current.as_deref().unwrap_or("uninstalled");
            format!("upgrade package {} from {current} to {target}", seen.name)
        }
    };
    change_of(sentence, &seen.name, seen.current.as_deref(), target)
}

/// Returns the change that gives a package another version.
pub(super) fn change_of(sentence: String, name: &str, current: Option<&str>, target: &str) -> Change {
    Change::new(sentence).sets_of(name, "version", current.map(str::to_owned), Some(target.to_owned()))
}

/// Returns the change that removes packages, each with its installed version.
pub(super) fn removal<'a>(sentence: String, removed: impl IntoIterator<Item = (&'a str, Option<&'a str>)>) -> Change {
    removed.into_iter().fold(Change::new(sentence), |change, (name, version)| {
        change.sets_of(name, "version", version.map(str::to_owned), None)
    })
}

/// Returns the change that removes a package besides the declared one. `why` completes the sentence after *which*.
pub(super) fn also_removed(name: &str, version: Option<&str>, why: &str) -> Change {
    removal(format!("remove package {name}, which {why}"), [(name, version)])
}

/// Returns one step with several changes. The first change describes the step.
pub(super) fn step(changes: Vec<Change>, operation: Operation) -> Option<Step> {
    let mut changes = changes.into_iter();
    let first = Step::new(changes.next()?, operation);
    Some(changes.fold(first, Step::also))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(wanted: &str, current: &str, candidate: &str) -> Seen {
        let some = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        Seen { name: "x".into(), wanted: some(wanted), current: some(current), candidate: some(candidate) }
    }

    /// Wanted, current, candidate; the target of `install`, then of `upgrade`. Empty: it does not exist.
    #[track_caller]
    fn check(one: (&str, &str, &str), allow_downgrade: bool, install: &str, upgrade: &str) {
        let one = seen(one.0, one.1, one.2);
        let target = |aim| target(aim, &one, allow_downgrade).unwrap_or_default();
        assert_eq!((target(Aim::Install), target(Aim::Upgrade)), (install, upgrade), "{one:?}");
    }

    #[test]
    fn targets_are_chefs() {
        check(("", "", "2"), true, "2", "2");
        check(("", "", ""), true, "", "");
        check(("", "1", "2"), true, "", "2");
        check(("", "2", "2"), true, "", "");
        check(("", "1", ""), true, "", "");
        check(("1", "1", "2"), true, "", "");
        check(("1", "", "1"), true, "1", "1");
        check(("1", "2", "1"), true, "1", "1");
        check(("1", "2", "1"), false, "", "");
        check(("3", "2", "3"), false, "3", "3");
        check(("", "2", "1"), true, "", "1");
        check(("", "2", "1"), false, "", "");
    }

    #[test]
    fn what_needs_no_candidate_is_not_asked_for() {
        let check = |one: (&str, &str), install: bool, upgrade: bool| {
            let one = seen(one.0, one.1, "");
            assert_eq!((needs_candidate(Aim::Install, &one), needs_candidate(Aim::Upgrade, &one)), (install, upgrade));
        };
        check(("", ""), true, true);
        check(("", "1"), false, true);
        check(("1", "1"), false, false);
        check(("1", "2"), true, true);
        check(("1", ""), true, true);
    }

    #[test]
    fn missing_candidates_are_named_in_chefs_words() {
        let check = |aim, all: &[Seen], expect: Option<&str>| {
            let found = missing(aim, all).map(|(sentence, names)| format!("{sentence} {names}"));
            assert_eq!(found.as_deref(), expect);
        };
        check(Aim::Install, &[seen("", "1", "")], None);
        check(Aim::Install, &[seen("", "", ""), seen("1", "", "")], Some("No candidate version available for x, x"));
        check(
            Aim::Install,
            &[seen("2", "1", ""), seen("", "", "")],
            Some("No version specified, and no candidate version available for x"),
        );
        check(Aim::Upgrade, &[seen("2", "1", "")], None);
        check(Aim::Upgrade, &[seen("", "", "")], Some("No candidate version available for x"));
    }
}
