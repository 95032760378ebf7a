//! Conflicts between the policies of one run. In a dry run, also resources that look unchanged although an earlier action
//! would change them.
//!
//! Each declared resource manages one identity: a real path, a package, a unit, an account. Names of the same thing have the
//! same identity. This module does not read the machine; providers compute the claims.
//!
//! Two policies conflict if the later one sets an aspect of an identity to another value than the earlier one. wrun
//! reports it once, with both origins. Equal values do not conflict, and neither do different aspects. The wanted values
//! are compared and not the changes, because in a dry run the machine is still as it was, and the later policy may have
//! nothing to change. Only where a value is not known beforehand (a download without a checksum) the change itself
//! counts.

use contract::{ABSENT, CONTENT, Claim, Claimant, Conflict, Identity, LINES, PATH, PRESENCE};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Maximum number of identities that one policy may be the first to claim; further ones are not compared. Their memory is
/// charged to the policy, and takes no room from the others.
const MAX_THINGS: usize = 250_000;

/// Maximum number of reported conflicts between two policies. It is counted by pair, so that two policies that disagree about
/// many things do not hide the conflicts of others.
const MAX_CONFLICTS: usize = 100;

/// Maximum number of reported conflicts of one run, beside the first one of each pair.
const MAX_CONFLICTS_OF_RUN: usize = 10_000;

/// Maximum number of claims below the directories that one policy removes with their content. Further ones are not compared.
const MAX_BELOW: usize = 1_000_000;

/// The wanted values of a thing.
type Aspects = BTreeMap<&'static str, Option<String>>;

/// The outcome of a claim's action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ended {
    /// True if the action changed the thing, would change it, or may change it.
    pub(crate) changes: bool,
    /// True in a dry run, in which the thing did not change.
    pub(crate) dry: bool,
}

/// The source of an earlier action that has brought a thing to another state, or would have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ChangedBy {
    /// A resource of another policy, by the policy's name.
    Policy(String),
    /// Another resource of the same policy, as `type[name]`.
    Resource(String),
}

impl fmt::Display for ChangedBy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Policy(name) => write!(formatter, "policy {name}"),
            Self::Resource(key) => formatter.write_str(key),
        }
    }
}

/// All claims of one run.
#[derive(Debug, Default)]
pub(crate) struct Claims {
    things: BTreeMap<Identity, Vec<HeldClaim>>,
    /// The number of identities that each policy was the first to claim, by policy name.
    first: BTreeMap<String, usize>,
    /// The number of claims that each policy's removals of whole directories were compared with, by policy name.
    below: BTreeMap<String, usize>,
    conflicts: Vec<Conflict>,
    /// The places of the conflicts in that list, by thing and later policy.
    known: BTreeMap<(Identity, String), usize>,
    /// The number of conflicts between two policies, by the names of the earlier and the later one.
    between: BTreeMap<(String, String), usize>,
    /// The number of claims that were not compared, and of conflicts that were dropped.
    left_out: usize,
}

#[derive(Debug)]
struct HeldClaim {
    claimant: Claimant,
    aspects: Aspects,
    /// The paths that the policy keeps when it removes everything else below this one.
    kept_below: Option<BTreeSet<String>>,
    changes: bool,
}

/// A difference between an earlier claim and a new one.
struct Difference {
    identity: Identity,
    aspects: Vec<&'static str>,
    earlier: Claimant,
    /// True if the earlier action changed the thing.
    changes: bool,
}

impl Claims {
    /// Adds a claim and compares it with the earlier ones; differences from other policies become conflicts. Returns the
    /// source of an earlier change to another state in this run, if there is one.
    pub(crate) fn claim(&mut self, claim: Claim, claimant: Claimant, ended: Ended) -> Option<ChangedBy> {
        let Claim { identity, aspects, kept_below } = claim;
        if aspects.is_empty() || !self.has_room(&identity, &claimant) {
            return None;
        }
        let mut found: Vec<Difference> = self.at(&identity, &aspects, &claimant, ended).into_iter().collect();
        if identity.kind == PATH {
            match &kept_below {
                Some(kept) => found.extend(self.below(&identity, kept, &claimant, ended)),
                None if !is_absent(&aspects) => found.extend(self.above(&identity, &claimant)),
                None => {}
            }
        }
        let changed = found.iter().find(|difference| difference.changes);
        let changed_by_other = changed.map(|difference| ChangedBy::Policy(difference.earlier.policy.clone()));
        for difference in found {
            self.tell(difference, &claimant);
        }
        self.hold(identity, HeldClaim { claimant, aspects, kept_below, changes: ended.changes }, ended)
            .or(changed_by_other)
    }

    /// Tells whether the claim may be kept, and counts its identity if it is a new one.
    fn has_room(&mut self, identity: &Identity, claimant: &Claimant) -> bool {
        if self.things.contains_key(identity) {
            return true;
        }
        let first = self.first.entry(claimant.policy.clone()).or_default();
        if *first >= MAX_THINGS {
            self.left_out += 1;
            return false;
        }
        *first += 1;
        true
    }

    /// Compares a claim with the latest different one of another policy on the same thing.
    fn at(&self, identity: &Identity, aspects: &Aspects, claimant: &Claimant, ended: Ended) -> Option<Difference> {
        let held = self.things.get(identity)?;
        let others = held.iter().rev().filter(|other| other.claimant.policy != claimant.policy);
        let mut compared = others.map(|other| (other, differing(other, aspects, ended)));
        let (other, aspects) = compared.find(|(_, aspects)| !aspects.is_empty())?;
        let (earlier, changes) = (other.claimant.clone(), other.changes);
        Some(Difference { identity: identity.clone(), aspects, earlier, changes })
    }

    /// Compares the removal of a whole directory with what other policies want below it. What its own policy wanted there is
    /// gone from then on.
    fn below(
        &mut self,
        directory: &Identity,
        kept: &BTreeSet<String>,
        claimant: &Claimant,
        ended: Ended,
    ) -> Vec<Difference> {
        let prefix = format!("{}/", directory.name.trim_end_matches('/'));
        let looked = self.below.entry(claimant.policy.clone()).or_default();
        let mut found = Vec::new();
        let first = Identity { kind: PATH, name: prefix.clone() };
        let inside = self.things.range_mut(first..);
        for (identity, held) in inside.take_while(|(other, _)| other.kind == PATH && other.name.starts_with(&prefix)) {
            *looked += 1;
            if *looked > MAX_BELOW {
                self.left_out += 1;
                break;
            }
            // The directory itself is below `/` in this order.
            if kept.contains(&identity.name) || identity == directory {
                continue;
            }
            for own in held.iter_mut().filter(|own| own.claimant.policy == claimant.policy) {
                own.aspects = BTreeMap::from([(PRESENCE, Some(ABSENT.to_owned()))]);
                own.changes |= ended.changes;
            }
            let mut others = held.iter().rev().filter(|other| other.claimant.policy != claimant.policy);
            if let Some(other) = others.find(|other| wants_presence(&other.aspects)) {
                let (identity, earlier) = (identity.clone(), other.claimant.clone());
                found.push(Difference { identity, aspects: vec![PRESENCE], earlier, changes: other.changes });
            }
        }
        found
    }

    /// Compares a claim with the latest removal of a directory above it by another policy.
    fn above(&self, identity: &Identity, claimant: &Claimant) -> Option<Difference> {
        let parents = identity.name.match_indices('/').rev().map(|(at, _)| identity.name.get(..at.max(1)));
        let mut parents = parents.flatten().filter(|parent| *parent != identity.name);
        let removes = |held: &&HeldClaim| {
            let removes = held.kept_below.as_ref().is_some_and(|kept| !kept.contains(&identity.name));
            removes && held.claimant.policy != claimant.policy
        };
        let held = parents.find_map(|parent| {
            let directory = Identity { kind: PATH, name: parent.to_owned() };
            self.things.get(&directory)?.iter().rev().find(removes)
        })?;
        let (earlier, changes) = (held.claimant.clone(), held.changes);
        Some(Difference { identity: identity.clone(), aspects: vec![PRESENCE], earlier, changes })
    }

    /// Adds a conflict, or its aspects to the one that is known.
    fn tell(&mut self, difference: Difference, later: &Claimant) {
        let Difference { identity, aspects, earlier, changes: _ } = difference;
        let thing = (identity, later.policy.clone());
        if let Some(known) = self.known.get(&thing).and_then(|at| self.conflicts.get_mut(*at)) {
            let new: Vec<_> = aspects.into_iter().filter(|aspect| !known.aspects.contains(aspect)).collect();
            known.aspects.extend(new);
            return;
        }
        let count = self.between.entry((earlier.policy.clone(), later.policy.clone())).or_default();
        let is_full = *count >= MAX_CONFLICTS || (*count > 0 && self.conflicts.len() >= MAX_CONFLICTS_OF_RUN);
        if is_full {
            self.left_out += 1;
            return;
        }
        *count += 1;
        self.known.insert(thing.clone(), self.conflicts.len());
        self.conflicts.push(Conflict { identity: thing.0, aspects, earlier, later: later.clone() });
    }

    /// Keeps a claim for later ones. Within one policy, the later claim counts. Returns the resource of the same policy that
    /// changed a path to another state.
    fn hold(&mut self, identity: Identity, claim: HeldClaim, ended: Ended) -> Option<ChangedBy> {
        // As recorded in Chef, a dry run sees things other than paths as they are: a service that an earlier resource would
        // have started still counts as stopped.
        let is_path = identity.kind == PATH;
        let held = self.things.entry(identity).or_default();
        let Some(own) = held.iter_mut().find(|own| own.claimant.policy == claim.claimant.policy) else {
            held.push(claim);
            return None;
        };
        let is_changed = is_path && own.changes && !differing(own, &claim.aspects, ended).is_empty();
        let changed_by = is_changed.then(|| ChangedBy::Resource(own.claimant.resource.clone()));
        if is_absent(&claim.aspects) {
            own.aspects.clear();
        }
        own.aspects.extend(claim.aspects);
        own.changes |= claim.changes;
        own.claimant = claim.claimant;
        // A policy that makes the directory again has removed what others had there all the same.
        own.kept_below = claim.kept_below.or(own.kept_below.take());
        changed_by
    }

    /// Returns the conflicts, and the number of dropped comparisons and conflicts. First comes the first one of each pair of
    /// policies, then the second ones, and so on: readers do not look at all of a long list.
    pub(crate) fn into_conflicts(self) -> (Vec<Conflict>, usize) {
        let mut ranks: BTreeMap<(String, String), usize> = BTreeMap::new();
        let ranked = self.conflicts.into_iter().map(|conflict| {
            let rank = ranks.entry((conflict.earlier.policy.clone(), conflict.later.policy.clone())).or_default();
            *rank += 1;
            (*rank, conflict)
        });
        let mut ranked: Vec<_> = ranked.collect();
        ranked.sort_by_key(|(rank, _)| *rank);
        (ranked.into_iter().map(|(_, conflict)| conflict).collect(), self.left_out)
    }
}

fn is_absent(aspects: &Aspects) -> bool {
    aspects.get(PRESENCE).is_some_and(|value| value.as_deref() == Some(ABSENT))
}

fn wants_presence(aspects: &Aspects) -> bool {
    aspects.contains_key(PRESENCE) && !is_absent(aspects)
}

/// Returns the aspects for which an earlier claim and a later one have different values.
fn differing(earlier: &HeldClaim, later: &Aspects, ended: Ended) -> Vec<&'static str> {
    // If a value is unknown, only a change shows a difference. In a dry run, the change may be the one that the earlier
    // policy would make.
    let shows = ended.changes && !(ended.dry && earlier.changes);
    let common = later.iter().filter_map(|(aspect, value)| Some((*aspect, earlier.aspects.get(aspect)?, value)));
    let differ = common.filter(|(_, earlier_value, value)| match (earlier_value, value) {
        (Some(earlier_value), Some(value)) => earlier_value != value,
        _ => shows,
    });
    let mut differ: Vec<_> = differ.map(|(aspect, ..)| aspect).collect();
    // Whether a file's wanted content has a line that another resource wants is not known either.
    let has = |aspects: &Aspects, aspect| aspects.contains_key(aspect);
    let is_edited =
        (has(&earlier.aspects, CONTENT) && has(later, LINES)) || (has(&earlier.aspects, LINES) && has(later, CONTENT));
    if is_edited && shows && !differ.contains(&CONTENT) {
        differ.push(CONTENT);
    }
    differ
}

#[cfg(test)]
mod tests {
    use super::*;
    use node::origin::Origin;
    use std::sync::Arc;

    const CHANGED: Ended = Ended { changes: true, dry: false };
    const UNCHANGED: Ended = Ended { changes: false, dry: false };

    fn claimant(policy: &str) -> Claimant {
        let origin = Arc::new(Origin::policy(policy));
        Claimant { policy: policy.into(), resource: "file[/x]".into(), action: "create".into(), origin }
    }

    fn file(content: &str) -> Claim {
        Claim::of("path", "/x").with(PRESENCE, "file").with("content", content)
    }

    fn absent() -> Claim {
        Claim::of("path", "/x").with(PRESENCE, ABSENT)
    }

    fn check(claims: &[(&str, Claim, Ended)], expected: &[(&str, &str, &[&str])]) {
        let mut all = Claims::default();
        for (policy, claim, ended) in claims {
            all.claim(claim.clone(), claimant(policy), *ended);
        }
        let (found, _) = all.into_conflicts();
        let found: Vec<_> = found
            .iter()
            .map(|one| (one.earlier.policy.as_str(), one.later.policy.as_str(), one.aspects.as_slice()))
            .collect();
        assert_eq!(found, expected, "{claims:?}");
    }

    #[test]
    fn different_wishes_are_told_once_and_equal_ones_are_not() {
        check(&[("a", file("1"), CHANGED), ("b", file("1"), UNCHANGED)], &[]);
        check(&[("a", file("1"), CHANGED), ("a", file("2"), CHANGED)], &[]);
        check(&[("a", file("1"), CHANGED), ("b", file("2"), CHANGED)], &[("a", "b", &["content"])]);
        let twice = [("a", file("1"), CHANGED), ("b", file("2"), CHANGED), ("b", file("3"), CHANGED)];
        check(&twice, &[("a", "b", &["content"])]);
        check(&[("a", file("1"), CHANGED), ("b", absent(), CHANGED)], &[("a", "b", &[PRESENCE])]);
        // Other aspects of the same thing, and other things.
        let mode = Claim::of("path", "/x").with("mode", "600");
        check(&[("a", file("1"), CHANGED), ("b", mode, CHANGED)], &[]);
        check(&[("a", file("1"), CHANGED), ("b", Claim::of("package", "/x").with(PRESENCE, ABSENT), CHANGED)], &[]);
        // A third policy is held against the latest that differs.
        let three = [("a", file("1"), CHANGED), ("b", file("2"), CHANGED), ("c", file("1"), CHANGED)];
        check(&three, &[("a", "b", &["content"]), ("b", "c", &["content"])]);
    }

    #[test]
    fn a_policys_own_last_word_counts() {
        let moved = [("a", file("1"), CHANGED), ("a", absent(), CHANGED), ("b", absent(), UNCHANGED)];
        check(&moved, &[]);
        check(
            &[("a", file("1"), CHANGED), ("a", absent(), CHANGED), ("b", file("1"), CHANGED)],
            &[("a", "b", &[PRESENCE])],
        );
    }

    #[test]
    fn a_policys_own_earlier_change_is_told() {
        let mut all = Claims::default();
        let mut claim = |resource: &str, claim: Claim, changes| {
            let claimant = Claimant { resource: resource.into(), ..claimant("a") };
            all.claim(claim, claimant, Ended { changes, dry: true }).map(|by| by.to_string())
        };
        // The machine has "2".
        assert_eq!(claim("file[1]", file("1"), true), None);
        assert_eq!(claim("file[one]", file("1"), false), None);
        assert_eq!(claim("file[2]", file("2"), false), Some("file[one]".to_owned()));
        assert_eq!(claim("file[gone]", absent(), false), Some("file[2]".to_owned()));
        assert_eq!(claim("mode", Claim::of("path", "/x").with("mode", "600"), false), None);
        let (conflicts, _) = all.into_conflicts();
        assert!(conflicts.is_empty(), "they are one policy's");
    }

    #[test]
    fn of_unknown_values_the_change_tells() {
        let unknown = || Claim::of("path", "/x").with_unknown("content");
        let dry = |changes| Ended { changes, dry: true };
        check(&[("a", unknown(), CHANGED), ("b", unknown(), UNCHANGED)], &[]);
        check(&[("a", unknown(), CHANGED), ("b", unknown(), CHANGED)], &[("a", "b", &["content"])]);
        check(&[("a", unknown(), dry(true)), ("b", unknown(), dry(true))], &[]);
        check(&[("a", unknown(), dry(false)), ("b", unknown(), dry(true))], &[("a", "b", &["content"])]);
    }

    fn at(path: &str) -> Claim {
        Claim::of("path", path).with(PRESENCE, "file")
    }

    fn removal(path: &str, kept: &[&str]) -> Claim {
        let claim = Claim::of("path", path).with(PRESENCE, ABSENT);
        claim.keeping_below(kept.iter().map(|path| (*path).to_owned()).collect())
    }

    #[test]
    fn a_removed_directory_takes_everything_below_it() {
        let told: &[(&str, &str, &[&str])] = &[("a", "b", &[PRESENCE])];
        for (first, second, expected) in [
            (at("/srv/app/x"), removal("/srv/app", &[]), told),
            (removal("/srv/app", &[]), at("/srv/app/a/x"), told),
            (at("/x"), removal("/", &[]), told),
            (removal("/", &[]), at("/x"), told),
            (at("/srv/apple"), removal("/srv/app", &[]), &[]),
            (at("/srv/app/x"), removal("/srv/app", &["/srv/app/x"]), &[]),
            (removal("/srv/app", &["/srv/app/x"]), at("/srv/app/x"), &[]),
            (at("/srv/app/x"), Claim::of("path", "/srv/app").with(PRESENCE, ABSENT), &[]),
            (removal("/srv/app/x", &[]), removal("/srv/app", &[]), &[]),
        ] {
            check(&[("a", first, CHANGED), ("b", second, CHANGED)], expected);
        }
        // Its own policy's files are gone with it, but the directory is removed on each run, even if it is made again.
        let tidy = [("a", at("/srv/app/x"), CHANGED), ("a", removal("/srv/app", &[]), CHANGED)];
        check(&[&tidy[..], &[("b", removal("/srv/app", &[]), UNCHANGED)]].concat(), &[]);
        let made = Claim::of("path", "/srv/app").with(PRESENCE, "directory");
        check(&[&tidy[..], &[("a", made, CHANGED), ("b", at("/srv/app/x"), CHANGED)]].concat(), told);
    }

    #[test]
    fn lines_of_a_shared_file_stand_against_its_whole_content() {
        let lines = || Claim::of("path", "/x").with(LINES, "some");
        check(&[("a", lines(), CHANGED), ("b", lines(), CHANGED)], &[]);
        check(&[("a", file("1"), UNCHANGED), ("b", lines(), UNCHANGED)], &[]);
        check(&[("a", file("1"), CHANGED), ("b", lines(), CHANGED)], &[("a", "b", &[CONTENT])]);
        check(&[("a", lines(), CHANGED), ("b", file("1"), CHANGED)], &[("a", "b", &[CONTENT])]);
    }

    #[test]
    fn things_and_conflicts_are_bounded() {
        let mut all = Claims::default();
        for at in 0..MAX_CONFLICTS + 10 {
            for policy in ["a", "b"] {
                let claim = Claim::of("path", format!("/{at}")).with("content", policy);
                all.claim(claim, claimant(policy), CHANGED);
            }
        }
        for policy in ["c", "d"] {
            all.claim(file(policy), claimant(policy), CHANGED);
        }
        let (told, left_out) = all.into_conflicts();
        assert_eq!((told.len(), left_out), (MAX_CONFLICTS + 1, 10));
        let pairs = told.iter().map(|one| [one.earlier.policy.as_str(), one.later.policy.as_str()]);
        assert_eq!(pairs.take(3).collect::<Vec<_>>(), [["a", "b"], ["c", "d"], ["a", "b"]]);
    }

    /// One table for all let two policies fill it, and the conflicts of others were not found.
    #[test]
    fn attack_a_policy_with_many_things_leaves_room_for_others() {
        let mut all = Claims::default();
        for at in 0..MAX_THINGS + 10 {
            let claim = Claim::of("path", format!("/srv/evil/{at}")).with(PRESENCE, ABSENT);
            all.claim(claim, claimant("evil"), UNCHANGED);
        }
        all.claim(file("1"), claimant("one"), CHANGED);
        all.claim(file("2"), claimant("two"), CHANGED);
        let (told, left_out) = all.into_conflicts();
        assert_eq!((told.len(), left_out), (1, 10));
    }
}
