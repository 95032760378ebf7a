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

use contract::{ABSENT, Claim, Claimant, Conflict, Identity, PRESENCE};
use std::collections::BTreeMap;
use std::fmt;

/// Maximum number of identities that one policy may be the first to claim; further ones are not compared. Their memory is
/// charged to the policy, and takes no room from the others.
const MAX_THINGS: usize = 250_000;

/// Maximum number of reported conflicts of one run.
const MAX_CONFLICTS: usize = 1_000;

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
    conflicts: Vec<Conflict>,
    /// The number of claims that were not compared, and of conflicts that were dropped.
    left_out: usize,
}

#[derive(Debug)]
struct HeldClaim {
    claimant: Claimant,
    aspects: BTreeMap<&'static str, Option<String>>,
    changes: bool,
}

impl Claims {
    /// Adds a claim and compares it with the earlier ones; differences from other policies become conflicts. Returns the
    /// source of an earlier change to another state in this run, if there is one.
    pub(crate) fn claim(&mut self, claim: Claim, claimant: Claimant, ended: Ended) -> Option<ChangedBy> {
        let Claim { identity, aspects } = claim;
        if aspects.is_empty() {
            return None;
        }
        if !self.things.contains_key(&identity) {
            let first = self.first.entry(claimant.policy.clone()).or_default();
            if *first >= MAX_THINGS {
                self.left_out += 1;
                return None;
            }
            *first += 1;
        }
        // As recorded in Chef, a dry run sees things other than paths as they are: a service that an earlier resource would
        // have started still counts as stopped.
        let is_path = identity.kind == "path";
        let held = self.things.entry(identity.clone()).or_default();
        let others = held.iter().rev().filter(|other| other.claimant.policy != claimant.policy);
        let mut compared = others.map(|other| (other, differing(other, &aspects, ended)));
        let found = compared.find(|(_, aspects)| !aspects.is_empty());
        let changed_by_other = found
            .as_ref()
            .filter(|(other, _)| other.changes)
            .map(|(other, _)| ChangedBy::Policy(other.claimant.policy.clone()));
        if let Some((other, aspects)) = found {
            let told = &mut self.conflicts;
            let is_full = told.len() >= MAX_CONFLICTS;
            let known = told.iter_mut().find(|one| one.identity == identity && one.later.policy == claimant.policy);
            match known {
                Some(known) => {
                    let new: Vec<_> = aspects.into_iter().filter(|aspect| !known.aspects.contains(aspect)).collect();
                    known.aspects.extend(new);
                }
                None if !is_full => {
                    let (earlier, later) = (other.claimant.clone(), claimant.clone());
                    told.push(Conflict { identity, aspects, earlier, later });
                }
                None => self.left_out += 1,
            }
        }
        let mut changed_by_own = None;
        match held.iter_mut().find(|own| own.claimant.policy == claimant.policy) {
            // Within one policy, the later claim counts.
            Some(own) => {
                if is_path && own.changes && !differing(own, &aspects, ended).is_empty() {
                    changed_by_own = Some(ChangedBy::Resource(own.claimant.resource.clone()));
                }
                if is_absent(&aspects) {
                    own.aspects.clear();
                }
                own.aspects.extend(aspects);
                own.changes |= ended.changes;
                own.claimant = claimant;
            }
            None => held.push(HeldClaim { claimant, aspects, changes: ended.changes }),
        }
        changed_by_own.or(changed_by_other)
    }

    /// Returns the conflicts in the order of their detection, and the number of dropped comparisons and conflicts.
    pub(crate) fn into_conflicts(self) -> (Vec<Conflict>, usize) {
        (self.conflicts, self.left_out)
    }
}

fn is_absent(aspects: &BTreeMap<&'static str, Option<String>>) -> bool {
    aspects.get(PRESENCE).is_some_and(|value| value.as_deref() == Some(ABSENT))
}

/// Returns the aspects for which an earlier claim and a later one have different values.
fn differing(earlier: &HeldClaim, later: &BTreeMap<&'static str, Option<String>>, ended: Ended) -> Vec<&'static str> {
    let common = later.iter().filter_map(|(aspect, value)| Some((*aspect, earlier.aspects.get(aspect)?, value)));
    let differ = common.filter(|(_, earlier_value, value)| match (earlier_value, value) {
        (Some(earlier_value), Some(value)) => earlier_value != value,
        // If a value is unknown, only a change shows a difference. In a dry run, the change may be the one that the earlier
        // policy would make.
        _ => ended.changes && !(ended.dry && earlier.changes),
    });
    differ.map(|(aspect, ..)| aspect).collect()
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

    #[test]
    fn things_and_conflicts_are_bounded() {
        let mut all = Claims::default();
        for at in 0..MAX_CONFLICTS + 10 {
            for policy in ["a", "b"] {
                let claim = Claim::of("path", format!("/{at}")).with("content", policy);
                all.claim(claim, claimant(policy), CHANGED);
            }
        }
        let (told, left_out) = all.into_conflicts();
        assert_eq!((told.len(), left_out), (MAX_CONFLICTS, 10));
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
